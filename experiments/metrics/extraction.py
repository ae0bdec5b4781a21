"""Extraction precision and recall: extracted facts against the true facts of a sidecar (`trimem.llm.script`)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from trimem.llm.script import Told
from trimem.types import Fact

ENOUGH = 0.4
"""Token F1 from which an extracted and a true fact of the same turn may be taken for the same."""


@dataclass(frozen=True)
class ExtractionScores:
    """Fractions 0-1. A matched pair counts by its token F1, so a lost detail costs; `time` is the share of matched
    pairs with equal times among those where either has one (None: there is none)."""

    precision: float
    recall: float
    time: float | None
    extracted: int
    true: int
    matched: int


def extraction_scores(facts: Sequence[Fact], told: Told) -> ExtractionScores:
    """Match facts to true facts one to one, within a shared source turn, the closest statements first."""
    true = [(turn, fact) for turn, facts_of_turn in told.facts.items() for fact in facts_of_turn]
    words = [_words(fact.text()) for _, fact in true]
    closeness = sorted(
        (-_overlap(_words(fact.statement), words[j]), i, j)
        for i, fact in enumerate(facts)
        for j, (turn, _) in enumerate(true)
        if turn in fact.sources
    )
    pairs: dict[int, int] = {}
    credit = 0.0
    for overlap, i, j in closeness:
        if -overlap >= ENOUGH and i not in pairs and j not in pairs.values():
            pairs[i] = j
            credit -= overlap
    times = [(facts[i].time, true[j][1].time) for i, j in pairs.items()]
    timed = [found == actual for found, actual in times if found or actual]
    return ExtractionScores(
        precision=credit / len(facts) if facts else 0.0,
        recall=credit / len(true) if true else 0.0,
        time=sum(timed) / len(timed) if timed else None,
        extracted=len(facts),
        true=len(true),
        matched=len(pairs),
    )


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))


def _overlap(one: set[str], other: set[str]) -> float:
    """F1 of two sets of words."""
    return 2 * len(one & other) / (len(one) + len(other)) if one and other else 0.0
