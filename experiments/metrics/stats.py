"""Means with honest intervals: questions of one conversation are not independent, so conversations are the unit.

With `MIN_CONVERSATIONS` or more: Student's t over conversation means, each weighing as much as its questions.
With fewer: over questions, which says nothing beyond these conversations.
"""

import math
from collections import defaultdict
from collections.abc import Hashable, Sequence
from typing import TypedDict

MIN_CONVERSATIONS = 8


class Cell(TypedDict):
    """A mean (None: not measured), the number of questions, a 95% interval (None: no two units, or no spread)."""

    mean: float | None
    n: int
    ci: list[float] | None


NOT_MEASURED: Cell = {"mean": None, "n": 0, "ci": None}


def unit_of(conversations: int, conversation: str, question: str) -> str:
    """What is independent of the rest among so many conversations: a conversation, or with few of them a question."""
    return conversation if conversations >= MIN_CONVERSATIONS else question


def mean_cell(
    values: Sequence[float],
    units: Sequence[Hashable],
    groups: Sequence[Hashable] | None = None,
    limits: tuple[float, float] = (-math.inf, math.inf),
) -> Cell:
    """Mean of `values` with its 95% interval.

    `units`: what is independent, one for each value: its conversation, or its question. `groups`: the category
    of each value, for the macro mean (the mean of the groups' means); None: the micro mean. The error is that of
    a weighted mean, by linearisation: with units of equal size it is the textbook t interval over their means.
    The interval is cut at `limits`, beyond which no mean can lie.
    """
    if not values:
        return NOT_MEASURED.copy()
    mean, errors = _unit_errors(values, units, groups)
    half = _half_width(errors)
    interval = [max(limits[0], mean - half), min(limits[1], mean + half)]
    return {"mean": mean, "n": len(values), "ci": interval if half else None}


def interval_note(conversations: int) -> str:
    """What the intervals of a run over so many conversations mean, in words."""
    if conversations >= MIN_CONVERSATIONS:
        return f"95%, t over {conversations} conversations"
    return f"95%, t over questions, within these {conversations} conversations only"


def _unit_errors(
    values: Sequence[float], units: Sequence[Hashable], groups: Sequence[Hashable] | None
) -> tuple[float, list[float]]:
    """The mean, and what each unit adds to its error."""
    groups = [0] * len(values) if groups is None else groups
    of_group: dict[Hashable, list[float]] = defaultdict(list)
    for value, group in zip(values, groups, strict=True):
        of_group[group].append(value)
    means = {group: math.fsum(members) / len(members) for group, members in of_group.items()}
    errors: dict[Hashable, float] = defaultdict(float)
    for value, unit, group in zip(values, units, groups, strict=True):
        errors[unit] += (value - means[group]) / len(of_group[group]) / len(means)
    return math.fsum(means.values()) / len(means), list(errors.values())


def _half_width(errors: Sequence[float]) -> float:
    """t quantile times the standard error; 0 if there are no two units or no spread."""
    count = len(errors)
    spread = math.sqrt(math.fsum(error * error for error in errors))
    if count < 2 or spread < 1e-12:
        return 0.0
    from scipy.stats import t

    return float(t.ppf(0.975, count - 1)) * spread * math.sqrt(count / (count - 1))
