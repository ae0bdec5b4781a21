"""Sentences as facts: the floor's extractor, which reads every sentence and knows no more than it says."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import NonNegativeInt, PositiveInt

from trimem import people, times
from trimem.rules.language import content, parse_all
from trimem.rules.rewriting import third_person, without_address
from trimem.rules.sections import section_of
from trimem.types import Extraction, Fact, Turn

_PLACES = {"GPE", "LOC", "FAC"}
_THINGS = {*_PLACES, "ORG", "WORK_OF_ART", "PRODUCT", "EVENT", "NORP", "LAW", "LANGUAGE"}
_QUOTED = re.compile(r"[\"“]([^\"“”]{2,60})[\"”]")
_YES_NO = re.compile(r"(?:yes|yeah|yep|yup|no|nope|not|never|definitely|absolutely|totally|of course)\b", re.IGNORECASE)
_KEYWORDS = 8  # a fact is one sentence: more words than this are its whole text again


@dataclass
class RulesExtractor:
    """Windows of turns -> one fact a sentence with content, the speaker named, relative time resolved. No LLM."""

    window: PositiveInt = 40
    overlap: NonNegativeInt = 2

    def extract(self, window: Sequence[Turn]) -> Extraction:
        """Never fails: what has no content (greetings, praise, unanswered questions) gives no fact."""
        speakers = tuple(dict.fromkeys(turn.speaker for turn in window))
        reader = _Reader(speakers, people.find_aliases(window, speakers))
        docs = parse_all([turn.text for turn in window])
        facts = [fact for i in range(len(window)) for fact in reader.facts_of(window, docs, i)]
        return Extraction(tuple({fact.id: fact for fact in facts}.values()))


@dataclass(frozen=True)
class _Reader:
    speakers: tuple[str, ...]
    aliases: tuple[people.Alias, ...]

    def facts_of(self, window: Sequence[Turn], docs: Sequence[Any], i: int) -> Iterator[Fact]:
        turn, listener = window[i], self._listener(window, i)
        sentences = [s for s in docs[i].sents if not s.text.rstrip().endswith("?")]
        question = _last_question(docs[i - 1]) if i and window[i - 1].speaker == listener else None
        if question is not None and sentences and (answer := _fragment_answer(sentences)):
            yield self._joined(window[i - 1], question, turn, answer[-1:])
            sentences = sentences[len(answer) :]
        for sentence in sentences:
            if len(content(sentence)) > sum(self._is_name(token.text) for token in content(sentence)) + 1:
                statement = self._named(sentence, turn.speaker, listener)
                yield self._fact(
                    statement, [sentence], turn, self._persons(sentence, turn.speaker, listener), (turn.id,)
                )
        if turn.caption:
            caption = f"{turn.speaker} shared an image: {turn.caption.strip().rstrip('.')}."
            yield Fact(caption, _words(turn.caption), persons=(turn.speaker,), sources=(turn.id,))

    def _listener(self, window: Sequence[Turn], i: int) -> str | None:
        """Whom the speaker of turn `i` talks to: the nearest other speaker, the one before first."""
        near = [*reversed(window[:i]), *window[i + 1 :]]
        return next((turn.speaker for turn in near if turn.speaker != window[i].speaker), None)

    def _named(self, sentence: Any, speaker: str, listener: str | None) -> str:
        called = [alias.name for alias in self.aliases if alias.person == listener]
        text = third_person(sentence, speaker, listener)
        return without_address(text, (listener or "", *called))

    def _joined(self, asked: Turn, question: Any, turn: Turn, answer: list[Any]) -> Fact:
        """Question and answer as one fact of both turns; it is about whom the question is about."""
        words = self._named(question, asked.speaker, turn.speaker).removeprefix(f"{asked.speaker} said: ")
        said = " ".join(
            self._named(s, turn.speaker, asked.speaker).removeprefix(f"{turn.speaker} said: ") for s in answer
        )
        persons = self._persons(question, asked.speaker, turn.speaker)
        if persons == (asked.speaker,):
            persons = (turn.speaker, *persons)
        statement = f"{asked.speaker} asked: {words} {turn.speaker} answered: {said}"
        return self._fact(statement, [question, *answer], turn, persons, (asked.id, turn.id))

    def _fact(
        self, statement: str, sentences: list[Any], turn: Turn, persons: tuple[str, ...], sources: tuple[str, ...]
    ) -> Fact:
        tokens = [token for sentence in sentences for token in sentence]
        titles = _QUOTED.findall(statement)
        entities = [ent for sentence in sentences for ent in sentence.ents if ent.label_ in _THINGS]
        entities = [ent for ent in entities if not any(ent.text in title for title in titles)]
        names = [ent.text for ent in entities if not self._is_name(ent.text)]
        found = times.find(" ".join(sentence.text for sentence in sentences), turn.time)
        about_other = persons[0] in self.speakers and persons[0] != turn.speaker and len(sources) == 1
        return Fact(
            statement=statement,
            keywords=tuple(dict.fromkeys(t.lemma_.lower() for t in content(tokens) if not self._is_name(t.text)))[
                :_KEYWORDS
            ],
            time=found[0][1] if found else None,
            location=next((ent.text for ent in entities if ent.label_ in _PLACES and ent.text in names), None),
            persons=persons,
            entities=tuple(dict.fromkeys([*names, *titles])),
            topic="how others describe them" if about_other else section_of(t.lemma_ for t in tokens),
            sources=sources,
        )

    def _persons(self, sentence: Any, speaker: str, listener: str | None) -> tuple[str, ...]:
        """Whom a sentence is about, its subject first; the speaker where it names nobody.

        Someone who only owns the subject ("my sister Lena") is not who the sentence is about.
        """
        subject = next((t for t in sentence.root.children if t.dep_ in {"nsubj", "nsubjpass"}), None)
        in_subject = {t.i for t in subject.subtree} if subject is not None else set()
        first: list[tuple[str, bool]] = []
        rest: list[tuple[str, bool]] = []
        for token in sentence:
            if person := self._person(token, speaker, listener):
                (first if token.i in in_subject else rest).append((person, token.tag_ == "PRP$"))
        owners = {person for person, owner in first if owner}
        subjects = [person for person, owner in first if not owner]
        named = [*subjects, *(p for p, _ in rest if not subjects or p not in owners)] or [*sorted(owners)]
        return tuple(dict.fromkeys(named)) or (speaker,)

    def _person(self, token: Any, speaker: str, listener: str | None) -> str | None:
        if token.tag_ in {"PRP", "PRP$"}:
            word = token.lower_
            if word in {"i", "me", "my", "mine", "myself", "we", "us", "our", "ours"}:
                return speaker
            return listener if word in {"you", "your", "yours", "yourself"} else None
        if token.ent_type_ == "PERSON" or (token.pos_ == "PROPN" and self._is_name(token.text)):
            name = people.resolve(token.text, self.speakers, self.aliases)
            begins = token.ent_iob_ != "I" and token.text[:1].isupper()
            entity = next((e.text for e in token.sent.ents if e.start == token.i and e.label_ == "PERSON"), name)
            known = name in self.speakers
            return name if known else entity if begins and _is_person_name(entity) else None
        return None

    def _is_name(self, text: str) -> bool:
        return people.resolve(text, self.speakers, self.aliases) in self.speakers


def _is_person_name(text: str) -> bool:
    return all(part[:1].isupper() for part in text.split()) and text.replace(" ", "").replace("-", "").isalpha()


def _last_question(doc: Any) -> Any:
    """The sentence with which a turn ends, if it is a question."""
    last = list(doc.sents)[-1:]
    return last[0] if last and last[0].text.rstrip().endswith("?") else None


def _fragment_answer(sentences: list[Any]) -> list[Any]:
    """The first sentence of a reply that is more than thanks, with what stands before it, if alone it means nothing:

    it is short, or has no subject of its own.
    """
    for i, sentence in enumerate(sentences[:3]):
        if not content(sentence) and not _YES_NO.match(sentence.text):
            continue
        subject = next((t for t in sentence.root.children if t.dep_ in {"nsubj", "nsubjpass"}), None)
        bare = subject is None or subject.lower_ in {"it", "that", "this", "they", "those", "these"}
        return sentences[: i + 1] if len(content(sentence)) < 2 or (bare and len(sentence) < 30) else []
    return []


def _words(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word.lower() for word in re.findall(r"[^\W\d_]{4,}", text)))[:_KEYWORDS]
