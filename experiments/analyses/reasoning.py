"""B.3: given all the evidence, are questions that need several turns answered worse than those that need one?

Kept are questions whose evidence was all in the context (strict), or any of it (loose), so that retrieval is no excuse.
Golds of several turns are longer, and longer golds score lower by themselves: the control weighs the one-turn questions
so that their golds are as long as those of the others.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from experiments.analyses.words import words
from experiments.data.types import GoldBook
from experiments.metrics.stats import Cell, mean_cell
from experiments.metrics.summary import Scored

METRIC = "f1_set"
LONGEST = 8
"""Words of a gold; longer ones count as this."""
RESAMPLES = 2000


@dataclass(frozen=True)
class Comparison:
    """Scores of questions with one and with several evidence turns; `matched`: one turn, golds as long as of several.

    `left_out` counts the questions of several turns for whose length no one-turn gold exists.
    """

    one: Cell
    several: Cell
    matched: Cell
    left_out: int


def compare(scored: Sequence[Scored], golds: GoldBook, headline: Sequence[int], least: float) -> Comparison:
    """Of headline questions at least `least` of whose evidence was in the context (1: all of it)."""
    kept = [
        q
        for q in scored
        if q.category in headline and 0 < q.retrieval.get("context_recall", 0.0) >= least and METRIC in q.answer
    ]
    one = [q for q in kept if len(golds[q.id].evidence) == 1]
    several = [q for q in kept if len(golds[q.id].evidence) > 1]
    lengths = Counter(_length(golds, q) for q in several)
    strata = {length: [q for q in one if _length(golds, q) == length] for length in lengths}
    left_out = sum(lengths[length] for length, members in strata.items() if not members)
    weights = [(lengths[length] / len(members), q) for length, members in strata.items() for q in members]
    return Comparison(_cell(one), _cell(several), _weighted(weights), left_out)


def _length(golds: GoldBook, q: Scored) -> int:
    return min(len(words(golds[q.id].answer)), LONGEST)


def _cell(scored: Sequence[Scored]) -> Cell:
    return mean_cell([q.answer[METRIC] for q in scored], [q.unit for q in scored], limits=(0.0, 1.0))


def _weighted(weighted: Sequence[tuple[float, Scored]]) -> Cell:
    """Weighted mean with a bootstrap interval over units."""
    if not weighted:
        return {"mean": None, "n": 0, "ci": None}
    units = {unit: number for number, unit in enumerate(dict.fromkeys(q.unit for _, q in weighted))}
    sums = np.zeros((len(units), 2))
    for weight, q in weighted:
        sums[units[q.unit]] += (weight * q.answer[METRIC], weight)
    drawn = np.random.default_rng(0).multinomial(len(units), [1 / len(units)] * len(units), size=RESAMPLES) @ sums
    means = drawn[:, 0] / drawn[:, 1]
    low, high = (float(end) for end in np.quantile(means, (0.025, 0.975)))
    return {"mean": float(sums[:, 0].sum() / sums[:, 1].sum()), "n": len(weighted), "ci": [low, high]}
