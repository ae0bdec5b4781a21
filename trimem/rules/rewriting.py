"""First and second person resolved to names, so that a sentence says who it is about wherever it is read."""

import re
from typing import Any

from trimem import people

_OPENING = re.compile(
    r"^(?:(?:(?:hey|hi|hello)\b[,!.]*|(?:wow|thanks|thank you|yeah|yep|yes|yup|no|nope|oh|aww?|haha|well|cool|nice"
    r"|great|awesome|congrats|sure|absolutely|definitely|ok|okay|by the way|btw|anyway|so)\b *[,!.]+) *)+",
    re.IGNORECASE,
)
_SUBJECTS = {"nsubj", "nsubjpass"}
_CONTRACTED = {"'m": "is", "'re": "is", "'ve": "has", "'ll": "will", "'d": "would"}
_PLURAL = {"'re": "are", "'ve": "have"}
_THIRD = {"am": "is", "are": "is", "have": "has", "do": "does", "were": "was"}


def third_person(sentence: Any, speaker: str, listener: str | None) -> str:
    """The sentence (a spaCy Span) with "I" and "you" named, verbs agreeing, all other words as they were said.

    "We" becomes "<speaker> and others": a sentence does not tell whom it counts in.
    """
    words: list[str] = []
    for token in sentence:
        contracted = _CONTRACTED.get(token.lower_.replace("’", "'"))
        before = token.nbor(-1) if token.i > sentence.start else None
        if contracted and before is not None and _name(before, speaker, listener):
            words[-1] += " "
            word = _PLURAL.get(token.lower_.replace("’", "'"), contracted) if before.lower_ == "we" else contracted
        else:
            word = _name(token, speaker, listener) or _verb(token, listener) or token.text
        words.append(word + token.whitespace_)
    return _subject_added("".join(words).strip(), sentence, speaker, listener)


def without_address(text: str, names: tuple[str, ...]) -> str:
    """The sentence without opening interjections and without the name of the person spoken to."""
    called = "|".join(re.escape(name) for name in names if name)
    if called:
        text = re.sub(rf"^({_OPENING.pattern[1:]})?(?:{called})[,!]+ *", "", text, flags=re.IGNORECASE)
        text = re.sub(rf",? (?:{called})(?=[.!?]*$)", "", text) if re.search(rf", (?:{called})[.!?]*$", text) else text
    bare = _OPENING.sub("", text)
    bare = bare if bare else text
    return bare[:1].upper() + bare[1:]


def _name(token: Any, speaker: str, listener: str | None) -> str | None:
    word = token.lower_
    if token.tag_ not in {"PRP", "PRP$"}:
        return None
    if word in {"i", "me"}:
        return speaker
    if word in {"my", "mine", "our", "ours"}:
        return _possessive(speaker)
    if word in {"we", "us"} and token.text != "'s":
        return f"{speaker} and others"
    if word in {"myself", "yourself"}:
        return "themself"
    if listener and word == "you":
        return listener
    return _possessive(listener) if listener and word in {"your", "yours"} else None


def _possessive(name: str) -> str:
    return f"{name}'" if name.endswith("s") else f"{name}'s"


def _verb(token: Any, listener: str | None) -> str | None:
    """The third-person form of a verb whose subject is "I" or "you"; None where it stays as it is."""
    subject = _subject(token)
    if subject is None or subject.lower_ not in ({"i", "you"} if listener else {"i"}):
        return None
    if token.lower_ in _THIRD and token.tag_ in {"VBP", "VBD"}:
        return _THIRD[token.lower_]
    joined = token.tag_ == "VB" and token.dep_ == "conj" and token.head.tag_ == "VBP"  # the tagger's habit after "and"
    return _with_s(token.text) if token.tag_ == "VBP" or joined else None


def _subject(verb: Any) -> Any:
    """The subject of a verb, of the verb it helps, or of the verb it is joined to by "and"."""
    if verb.pos_ not in {"VERB", "AUX"}:
        return None
    for _ in range(4):
        own = [child for child in verb.children if child.dep_ in _SUBJECTS]
        if own:
            return own[0] if not any(child.dep_ == "conj" for child in own[0].children) else None
        if verb.dep_ not in {"aux", "auxpass", "conj"}:
            return None
        verb = verb.head
    return None


def _with_s(verb: str) -> str:
    if re.search(r"(?:[sxz]|ch|sh|o)$", verb):
        return verb + "es"
    return verb[:-1] + "ies" if re.search(r"[^aeiou]y$", verb) else verb + "s"


def _subject_added(text: str, sentence: Any, speaker: str, listener: str | None) -> str:
    """ "Went rowing today" is the speaker's; what names nobody is told as said by the speaker."""
    root = sentence.root
    headless = not any(child.dep_ in {*_SUBJECTS, "expl"} for child in root.children)
    if headless and root.i == sentence.start and root.tag_ == "VBD":
        return f"{speaker} {text[:1].lower()}{text[1:]}"
    named = people.mentioned(text, (speaker, listener or speaker)) or any(
        ent.label_ == "PERSON" for ent in sentence.ents
    )
    return text if named else f"{speaker} said: {text}"
