"""Spans of a sentence that can answer: dates, people, places, numbers, phrases; each with what speaks for it."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from trimem import people, times
from trimem.rules.evidence import Scored
from trimem.rules.language import parse, stem, stems
from trimem.rules.question_types import Asked

_KIN_WORDS = (
    "mother mom mum father dad parent sister brother family friend husband wife kid child son daughter partner "
    "grandma grandmother grandpa grandfather aunt uncle cousin mentor teacher colleague team neighbor"
)
_KIN = frozenset(_KIN_WORDS.split())
"""Nouns that stand for people without naming them."""
_NUMBER_WORDS = {"once": "once", "twice": "twice"}
_DURATION = re.compile(
    r"\b((?:\d+|an?|one|two|three|four|five|six|seven|eight|nine|ten|a couple of|a few|several|many) (?:more )?"
    r"(?:minute|hour|day|week|month|year|decade)s?)\b(?! ago)|\bsince ((?:19|20)\d\d)\b",
    re.IGNORECASE,
)
_LAST = re.compile(r"(?:the )?(?:this )?(?:last|past) (week(?:end)?)", re.IGNORECASE)
_REASON = re.compile(r"\b(?:because(?: of)?|since|so that|in order to|due to|thanks to)\b (.+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Span:
    """A candidate answer with the fit of its sentence and its own."""

    text: str
    score: float


def when(ranked: Sequence[Scored]) -> str | None:
    """The time told in the best unit, in its precision, else the day on which it was said."""
    best = ranked[0].sentence
    for s in (item.sentence for item in ranked if item.sentence.unit == best.unit):
        if found := times.find(s.text, s.said):
            return _said(*found[0], s.said)
        if s.time:
            return times.say(s.time)
    return times.say(best.said.date().isoformat()) if best.said else None


def _said(phrase: str, iso: str, said: datetime | None) -> str:
    """A last week or weekend as it is counted ("the week before 9 June 2023"), other times by their own date."""
    if said and (match := _LAST.fullmatch(phrase)):
        return f"the {match[1].lower()} before {times.say(said.date().isoformat())}"
    return times.say(iso)


def of_people(item: Scored, names: frozenset[str]) -> Iterator[Span]:
    """People named beside those asked about, else the nouns that stand for people ("her mentors")."""
    doc = parse(item.sentence.text)
    for ent in doc.ents:
        if ent.label_ == "PERSON" and people.key(ent.text.removesuffix("'s")) not in names:
            yield Span(ent.text.removesuffix("'s"), item.score + 0.5)
    for chunk in doc.noun_chunks:
        if chunk.root.lemma_.lower() in _KIN:
            yield Span(_with_conjuncts(chunk, names), item.score + 0.3)


def of_places(item: Scored, names: frozenset[str]) -> Iterator[Span]:
    """Places by name, else where something is said to be ("at the lake")."""
    doc = parse(item.sentence.text)
    for ent in doc.ents:
        if ent.label_ in {"GPE", "LOC", "FAC"} and people.key(ent.text.removesuffix("'s")) not in names:
            yield Span(ent.text, item.score + 0.5)
    for token in doc:
        place = token.dep_ == "pobj" and token.head.lower_ in {"in", "at", "to", "from", "near", "on"}
        if place and token.pos_ != "PRON" and token.ent_type_ not in {"DATE", "TIME", "PERSON"}:
            yield Span(_bare(doc[token.left_edge.i : token.i + 1], names), item.score + 0.1)


def of_numbers(item: Scored, noun: str | None) -> Iterator[Span]:
    """Numbers, best where they count the noun that is asked for."""
    for token in parse(item.sentence.text):
        word = token.lower_
        if word in _NUMBER_WORDS or (token.like_num and token.ent_type_ not in {"DATE", "TIME", "MONEY"}):
            counted = noun is not None and stem(token.head.lemma_) == noun
            yield Span(token.text, item.score + (0.8 if counted else 0.0) - (0.3 if word == "one" else 0.0))


def of_durations(item: Scored) -> Iterator[Span]:
    """Lengths of time, and years since when something lasts."""
    for match in _DURATION.finditer(item.sentence.text):
        yield Span(match[1] or f"since {match[2]}", item.score)


def of_reasons(item: Scored) -> Iterator[Span]:
    """What follows a word of reason."""
    if match := _REASON.search(item.sentence.text):
        yield Span(match[1].rstrip(".! "), item.score + 0.3)


def polarity(item: Scored, unsure: bool) -> str:
    """Yes or no by whether the best sentence denies; "likely" where the question asks for a likelihood."""
    denied = any(token.dep_ == "neg" for token in parse(item.sentence.text))
    answer = "no" if denied else "yes"
    return f"Likely {answer}" if unsure else answer.capitalize()


def of_predicates(item: Scored, names: frozenset[str]) -> Iterator[Span]:
    """What the sentence says of its subject, without the subject."""
    doc = parse(item.sentence.text)
    sentence = next(iter(doc.sents), None)
    if sentence is None:
        return
    root = sentence.root
    start = root.i + 1 if root.lemma_ in {"be", "feel"} or root.pos_ == "AUX" else root.i
    text = _bare(doc[start : min(sentence.end, start + 14)], names)
    if text:
        yield Span(text, item.score)


def of_arguments(item: Scored, asked: Asked, names: frozenset[str]) -> Iterator[Span]:
    """What fills the asked place of the question's verb: "what helps Ana?" its subject, "what did Ana buy?" its object.

    For "what is Ana's hobby?" the other side of "is"; for "what is it for?" what follows "for".
    """
    for token in parse(item.sentence.text):
        if token.lemma_ == "be":
            yield from _other_side(item, token, asked.stems, names)
        elif stem(token.lemma_) == asked.verb and token.pos_ == "VERB":
            wanted = {"nsubj"} if asked.role == "subject" else {"dobj", "attr", "oprd", "ccomp", "xcomp", "acomp"}
            for child in token.children:
                if child.dep_ in wanted and child.pos_ != "PRON":
                    yield Span(_phrase(child, names), item.score + 0.9)
        if token.dep_ == "prep" and token.lower_ == asked.preposition and stem(token.head.lemma_) in asked.stems:
            for child in token.children:
                yield Span(_phrase(child, names), item.score + 1.0)


def _other_side(item: Scored, copula: Any, asked_stems: frozenset[str], names: frozenset[str]) -> Iterator[Span]:
    sides = {child.dep_: child for child in copula.children if child.dep_ in {"nsubj", "attr", "acomp"}}
    subject, said = sides.get("nsubj"), sides.get("attr", sides.get("acomp"))
    if subject is None or said is None:
        return
    for known, wanted in ((subject, said), (said, subject)):
        if stem(known.lemma_) in asked_stems and stem(wanted.lemma_) not in asked_stems and wanted.pos_ != "PRON":
            yield Span(_phrase(wanted, names), item.score + 0.6)


def _phrase(head: Any, names: frozenset[str]) -> str:
    """The words that hang on `head`, as far as a short answer goes."""
    end = min(head.right_edge.i + 1, head.left_edge.i + 12)
    return _bare(head.doc[head.left_edge.i : end], names)


def of_things(item: Scored, asked: Asked, names: frozenset[str]) -> Iterator[Span]:
    """Noun phrases that are not the question's own words, best near those and of the kind that is asked for."""
    for chunk in parse(item.sentence.text).noun_chunks:
        text = _with_conjuncts(chunk, names)
        own = stems(chunk)
        if not own or not text or chunk.root.pos_ == "PRON" or own <= asked.stems | names:
            continue
        if chunk.root.ent_type_ in {"DATE", "TIME", "PERSON"} or people.key(text) in names:
            continue
        yield Span(text, item.score + _fit(chunk, asked.stems, asked.noun))


def _fit(chunk: Any, asked_stems: frozenset[str], noun: str | None) -> float:
    root, fit = chunk.root, 0.0
    if noun and stem(root.lemma_) == noun:
        fit += 0.7
    ancestors = list(root.ancestors)[:3]
    for distance, ancestor in enumerate(ancestors):
        if stem(ancestor.lemma_) in asked_stems:
            fit += 0.5 / (1 + distance)
            break
    return fit


def _with_conjuncts(chunk: Any, names: frozenset[str]) -> str:
    """The phrase with what is joined to it by "and" or commas."""
    tokens = sorted((chunk.root, *chunk.root.conjuncts), key=lambda token: token.i)
    parts = [_bare(chunk.doc[token.left_edge.i : token.i + 1], names) for token in tokens]
    return ", ".join(dict.fromkeys(part for part in parts if part))


def _bare(span: Any, names: frozenset[str]) -> str:
    """The words without leading articles, pronouns and names, and without closing punctuation."""
    tokens = list(span)
    while tokens and (
        tokens[0].pos_ in {"DET", "PUNCT", "CCONJ", "SPACE"}
        or tokens[0].tag_ in {"PRP$", "POS"}
        or tokens[0].lower_ in names
    ):
        tokens = tokens[1:]
    return "".join(t.text_with_ws for t in tokens).strip(" .,!?;:")
