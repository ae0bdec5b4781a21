"""Reciprocal rank fusion (Cormack et al., SIGIR 2009): rankings of unlike scores made into one."""

from collections.abc import Hashable, Sequence
from typing import Any, Protocol, TypeVar


class _Sortable(Hashable, Protocol):
    def __lt__(self, other: Any, /) -> bool: ...


T = TypeVar("T", bound=_Sortable)


def reciprocal_rank_fusion(
    rankings: Sequence[Sequence[T]], k: float = 60, weights: Sequence[float] | None = None
) -> list[tuple[T, float]]:
    """Each item's sum of `weight / (k + rank)` over the rankings that have it, best first, equals in their own order.

    Only the first place of an item in a ranking counts. `weights` has one number a ranking (all 1 by default).
    """
    scores: dict[T, float] = {}
    for ranking, weight in zip(rankings, weights or [1.0] * len(rankings), strict=True):
        for rank, item in enumerate(dict.fromkeys(ranking), 1):
            scores[item] = scores.get(item, 0.0) + weight / (k + rank)
    return [(item, -negative) for negative, item in sorted((-score, item) for item, score in scores.items())]
