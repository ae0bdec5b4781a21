"""Small exact searches over the vectors of a rival memory, with ties in the order of the rows."""

import numpy as np

from trimem.protocols import Vectors

Hits = list[tuple[int, float]]
"""Rows with their cosine similarity, best first."""


def nearest(vectors: Vectors, query: Vectors, k: int, at_least: float = -1.0) -> Hits:
    """The best `k` rows of `vectors` (n, dim) for one `query` (dim,) whose similarity is `at_least` so high."""
    if not len(vectors) or k <= 0:
        return []
    scores = vectors @ query
    best = np.argsort(-scores, kind="stable")[:k]
    return [(int(row), float(scores[row])) for row in best if scores[row] >= at_least]


def min_max(scores: list[float]) -> list[float]:
    """Scores moved to 0-1; all alike become 1."""
    low, high = min(scores, default=0.0), max(scores, default=0.0)
    return [(score - low) / (high - low) if high > low else 1.0 for score in scores]
