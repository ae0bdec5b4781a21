"""Where a wrong answer went wrong, computed from evidence, facts and context before any model is asked.

Words are compared without case, articles and endings. A date in a gold counts as said by evidence whose session is
dated: dialogue says "last Friday", and the extraction is to work it out.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from trimem import times
from trimem.evolution.base import Miss
from trimem.types import Fact, Turn

SMALL = frozenset(
    ["a", "an", "the", "of", "in", "on", "at", "to", "and", "or", "for", "with", "by", "from", "is", "was"]
)
DATED = (*times.MONTHS, "week", "weekend", "day", "month", "year")


@dataclass(frozen=True)
class Trace:
    """All that is known of one answered question: `shown` are the turn ids behind what the reasoner was given."""

    gold: str
    prediction: str
    evidence: Sequence[Turn]
    facts: Sequence[Fact]
    """Facts of the evidence turns."""
    shown: Collection[str]
    inferred: bool = False
    """Whether the gold is a conclusion, whose words need not have been said."""


def attribute(trace: Trace) -> Miss:
    """The earliest stage that could have caused the wrong answer (method of the dossier, B.3)."""
    gold = _words(trace.gold)
    if gold and gold <= _words(trace.prediction):
        return "format"
    if not trace.evidence:
        return "gold doubtful"
    said = _words(" ".join(turn.content for turn in trace.evidence))
    if any(turn.time for turn in trace.evidence):
        said |= {word for word in gold if _is_dated(word)}
    written = _words(" ".join(f"{fact.statement} {times.say(fact.time) if fact.time else ''}" for fact in trace.facts))
    if not gold & said and not trace.inferred:
        return "gold doubtful"
    if (gold & said) - written or not trace.facts:
        return "extraction"
    if any(turn.id not in trace.shown for turn in trace.evidence):
        return "retrieval"
    return "reasoning"


def _is_dated(word: str) -> bool:
    return word in map(_stem, DATED) or re.fullmatch(r"\d{1,4}", word) is not None


def _words(text: str) -> set[str]:
    return {_stem(word) for word in re.findall(r"\w+", text.lower()) if word not in SMALL}


@cache
def _stemmer() -> Any:
    import Stemmer

    return Stemmer.Stemmer("english")


def _stem(word: str) -> str:
    return str(_stemmer().stemWord(word))
