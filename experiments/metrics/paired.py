"""The difference of two methods on the same questions: mean, interval, sign-flip test, what could have been seen."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from experiments.metrics.stats import MIN_CONVERSATIONS, mean_cell

POWER = 0.8


@dataclass(frozen=True, slots=True)
class Difference:
    """Second minus first over `n` shared questions, with its 95% interval.

    `p` is of the sign-flip test over conversations, None with fewer than `MIN_CONVERSATIONS`. `detectable`: the
    true difference that a test at 5% would find in 80% of such experiments. None: nothing differs anywhere.
    """

    n: int
    first: float
    second: float
    mean: float
    ci: tuple[float, float] | None
    p: float | None
    detectable: float | None


def paired_difference(first: Sequence[float], second: Sequence[float], conversations: Sequence[str]) -> Difference:
    """Compare scores of the same questions, at least one. `conversations`: that of each question."""
    differences = [after - before for before, after in zip(first, second, strict=True)]
    clustered = len(set(conversations)) >= MIN_CONVERSATIONS
    units: Sequence[str | int] = conversations if clustered else range(len(differences))
    n = len(differences)
    cell = mean_cell(differences, units)
    mean, ci = sum(differences) / n, cell["ci"]
    return Difference(
        n=n,
        first=sum(first) / n,
        second=sum(second) / n,
        mean=mean,
        ci=(ci[0], ci[1]) if ci else None,
        p=_sign_flip_p(differences, conversations) if clustered else None,
        detectable=_detectable(ci[1] - mean, len(set(units))) if ci else None,
    )


def holm(values: Sequence[float]) -> list[float]:
    """p values adjusted for being several (Holm 1979), in the order given."""
    order = sorted(range(len(values)), key=lambda place: values[place])
    adjusted = [0.0] * len(values)
    highest = 0.0
    for rank, place in enumerate(order):
        highest = max(highest, min(1.0, values[place] * (len(values) - rank)))
        adjusted[place] = highest
    return adjusted


def _sign_flip_p(differences: Sequence[float], conversations: Sequence[str]) -> float:
    """Two-sided p that conversations' summed differences are symmetric about 0; exact up to 13 conversations."""
    from scipy.stats import permutation_test

    sums: dict[str, float] = defaultdict(float)
    for difference, conversation in zip(differences, conversations, strict=True):
        sums[conversation] += difference
    totals = list(sums.values())
    result = permutation_test(
        (totals, [0.0] * len(totals)),
        lambda x, y, axis: (x - y).mean(axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=9999,
        rng=0,
    )
    return float(result.pvalue)


def _detectable(half_width: float, units: int) -> float:
    from scipy.stats import t

    at_level = t.ppf(0.975, units - 1)
    return float(half_width * (at_level + t.ppf(POWER, units - 1)) / at_level)
