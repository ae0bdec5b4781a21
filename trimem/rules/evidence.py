"""What the reasoner is given, read back into sentences: who said them, when, and how well they fit the question."""

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache

from trimem import people, times
from trimem.rules.language import parse, stems
from trimem.types import Context, Item

_TURN_LINE = re.compile(r"^\[(\d{4}-\d\d-\d\d)[^\]]*\] ([^:\n]{1,60}): (.+)")
_TRAILER = re.compile(r" \(([^()]*)\)$")
_UNRANKED = 40  # what was brought along without a rank stands behind all that was retrieved


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence with the unit (turn, chunk line) it stands in. `time` is the fact's own, `said` its session's."""

    text: str
    speaker: str
    said: datetime | None
    time: str | None
    rank: int
    unit: str
    stems: frozenset[str] = field(hash=False)

    def about(self, person: str) -> bool:
        """Whether `person` says it or is named in it."""
        return people.key(self.speaker) == people.key(person) or bool(people.mentioned(self.text, (person,)))


@dataclass(frozen=True, slots=True)
class Scored:
    """A sentence and how well it fits: `score` sums overlap, person and rank; `overlap` is the share of words met."""

    sentence: Sentence
    score: float
    overlap: float


def read(context: Context) -> list[Sentence]:
    """All sentences of facts and dated lines in the context (profiles aside, which are read by section)."""
    lines = {item.id: line for item in context.turns if (line := _TURN_LINE.match(item.text))}
    ranks: dict[str, int] = {}
    for item in context.items:
        for source in item.sources if item.rank else ():
            ranks[source] = min(item.rank, ranks.get(source, item.rank))
    sentences = [s for item in context.items if item.kind != "profile" for s in _sentences(item, lines, ranks)]
    return list({(s.unit, s.text): s for s in sentences}.values())


def rank(sentences: Iterable[Sentence], words: frozenset[str], persons: tuple[str, ...]) -> list[Scored]:
    """Sentences by fit, best first: the share of question words they have, alone and with their unit; person; rank."""
    sentences = list(sentences)
    total = len(words) or 1
    units: dict[str, frozenset[str]] = {}
    for s in sentences:
        units[s.unit] = units.get(s.unit, frozenset()) | s.stems
    scored = []
    for s in sentences:
        own, around = len(s.stems & words) / total, len(units[s.unit] & words) / total
        by_asked = bool(persons) and people.key(s.speaker) == people.key(persons[0])
        scored.append(Scored(s, own + 0.5 * around + 0.3 * by_asked + 0.2 / math.sqrt(s.rank), around))
    return sorted(scored, key=lambda item: -item.score)


def _sentences(item: Item, lines: Mapping[str, re.Match[str]], ranks: Mapping[str, int]) -> Iterator[Sentence]:
    unit = item.sources[-1] if item.sources else item.id
    rank_of = item.rank or min((ranks[s] for s in item.sources if s in ranks), default=_UNRANKED)
    if item.kind == "fact":
        line, (text, time) = lines.get(unit), _statement(item.text)
        speaker, said = (line[2], datetime.fromisoformat(line[1])) if line else ("", None)
        yield Sentence(text, speaker, said, time, rank_of, unit, _stems(text))
        return
    for number, text in enumerate(item.text.splitlines()):
        line = _TURN_LINE.match(text)
        speaker, said = (line[2], datetime.fromisoformat(line[1])) if line else ("", None)
        for sentence in _split(line[3] if line else text):
            yield Sentence(
                sentence, speaker, said, None, rank_of, unit if not number else f"{unit}/{number}", _stems(sentence)
            )


def _statement(text: str) -> tuple[str, str | None]:
    """A fact's statement and time, from "statement (time; place)"."""
    if not (trailer := _TRAILER.search(text)):
        return text, None
    time = next((iso for part in trailer[1].split(";") if (iso := times.normalise(part))), None)
    return text[: trailer.start()], time


@lru_cache(maxsize=8192)
def _stems(text: str) -> frozenset[str]:
    return stems(parse(text))


@lru_cache(maxsize=8192)
def _split(text: str) -> tuple[str, ...]:
    return tuple(sentence.text.strip() for sentence in parse(text).sents if sentence.text.strip())
