"""Representative selection: few nodes that stand for many, without losing sight of the question."""

from collections.abc import Iterable, Mapping, Sequence

Edges = Mapping[str, Sequence[tuple[str, float]]]
"""Neighbours of each node with their similarity (directed)."""


def representatives(
    ids: Sequence[str], edges: Edges, similarity: Mapping[str, float], limit: int, alpha: float
) -> list[str]:
    """At most `limit` of `ids`, greedily, until their neighbourhoods cover all.

    Each pick maximises alpha·(weight newly covered / whole weight) + (1 - alpha)·(similarity to the question, 0-1). A
    node covers itself with weight 1 and its neighbours with their similarity. Ties go to the earlier id.
    """
    reach = {id: {id: 1.0, **{other: max(0.0, w) for other, w in edges.get(id, ()) if other in set(ids)}} for id in ids}
    whole = sum(sum(weights.values()) for weights in reach.values())
    wanted = dict(zip(ids, min_max([similarity[id] for id in ids]), strict=True))
    chosen: list[str] = []
    covered: set[str] = set()

    def worth(id: str) -> float:
        fresh = sum(weight for other, weight in reach[id].items() if other not in covered)
        return alpha * fresh / whole + (1 - alpha) * wanted[id]

    while len(chosen) < limit and len(covered) < len(ids):
        best = max((id for id in ids if id not in chosen), key=worth)
        chosen.append(best)
        covered |= set(reach[best])
    return chosen


def min_max(scores: Iterable[float]) -> list[float]:
    """Scores moved to 0-1; all alike become 1."""
    values = list(scores)
    low, high = min(values, default=0.0), max(values, default=0.0)
    return [(score - low) / (high - low) if high > low else 1.0 for score in values]
