"""Reciprocal rank fusion (Cormack et al., SIGIR 2009): rankings of unlike scores made into one."""

from collections.abc import Hashable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Protocol, TypeVar


class _Sortable(Hashable, Protocol):
    def __lt__(self, other: Any, /) -> bool: ...


T = TypeVar("T", bound=_Sortable)


def reciprocal_rank_fusion(
    rankings: Sequence[Sequence[T]],
    k: float = 60,
    weights: Sequence[float] | None = None,
    so_far: Mapping[T, float] = MappingProxyType({}),
) -> list[tuple[T, float]]:
    """Each item's sum of `weight / (k + rank)` over the rankings that have it, best first, equals in their own order.

    Only the first place of an item in a ranking counts. `weights` has one number a ranking (all 1 by default);
    `so_far` are sums of other rankings, which these add to.
    """
    return best_first(fused(rankings, k, weights, so_far))


def fused(
    rankings: Sequence[Sequence[T]],
    k: float = 60,
    weights: Sequence[float] | None = None,
    so_far: Mapping[T, float] = MappingProxyType({}),
) -> dict[T, float]:
    """The sums of `reciprocal_rank_fusion`, in no order."""
    scores = dict(so_far)
    places = range(1, max(map(len, rankings), default=0) + 1)
    for ranking, weight in zip(rankings, weights or [1.0] * len(rankings), strict=True):
        gains = [weight / (k + rank) for rank in places]
        for item, gain in zip(dict.fromkeys(ranking), gains, strict=False):
            scores[item] = scores.get(item, 0.0) + gain
    return scores


def best_first(scores: Mapping[T, float]) -> list[tuple[T, float]]:
    """Items by score, equals in their own order."""
    return [(item, -negative) for negative, item in sorted([(-score, item) for item, score in scores.items()])]
