"""Which semantics belong to one theme: attached as they come, then split and merged where the objective gains.

All of it is geometry on vectors of length 1; no model is asked. Groups are lists of row numbers.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from trimem.protocols import Vectors

Group = list[int]
FLAT = 1e-6
"""A smaller spread of similarities than this counts as none."""


@dataclass(frozen=True)
class Shape:
    """Thresholds are cosines, sizes are members (the paper's and its code's values)."""

    attach: float = 0.62
    attach_if_room: float = 0.52
    size: int = 12
    link: float = 0.66
    loose: float = 0.72
    loose_size: int = 8
    merge: float = 0.78
    absorb: float = 0.99
    neighbours: int = 10
    merges: int = 2


def arrange(vectors: Vectors, groups: Sequence[Group], new: Sequence[int], shape: Shape) -> list[Group]:
    """The themes after the rows `new` have been taken in: every row in exactly one group of at most `shape.size`."""
    groups = [list(group) for group in groups]
    for row in new:
        _attach(vectors, groups, row, shape)
    for group in list(groups):
        parts = _best_split(vectors, groups, group, shape)
        at = groups.index(group)
        groups[at : at + 1] = parts
    for _ in range(shape.merges):
        pair = _best_merge(vectors, groups, shape)
        if pair is None:
            break
        groups = [group for group in groups if group not in pair] + [pair[0] + pair[1]]
    return sorted(sorted(group) for group in _absorb(vectors, groups, shape))


def objective(vectors: Vectors, groups: Sequence[Group]) -> float:
    """f = (N/K)·(N/Σn²) + (1/K)·Σ cohesion·g(s): themes of even size, close within, neither near nor far from others.

    `cohesion` is the mean cosine of members to their centroid, `s` the cosine to the nearest other centroid, and
    g(s) = exp(-(s - median)² / (2·MAD²)).
    """
    sizes = np.array([len(group) for group in groups], dtype=np.float64)
    centroids = _centroids(vectors, groups)
    cohesion = np.array([float((vectors[group] @ centroids[k]).mean()) for k, group in enumerate(groups)])
    count, total = len(groups), sizes.sum()
    closeness = np.ones(count)
    if count > 1:
        similarity = centroids @ centroids.T
        np.fill_diagonal(similarity, -np.inf)
        nearest = similarity.max(axis=1)
        away = nearest - np.median(nearest)
        closeness = np.exp(-(away**2) / (2 * max(float(np.median(np.abs(away))), FLAT) ** 2))
    return float(total / count * total / (sizes**2).sum() + (cohesion * closeness).sum() / count)


def nearest_groups(vectors: Vectors, groups: Sequence[Group], at: int, k: int) -> list[tuple[int, float]]:
    """The `k` other groups with the most similar centroids, best first."""
    centroids = _centroids(vectors, groups)
    scores = centroids @ centroids[at]
    order = [int(n) for n in np.argsort(-scores, kind="stable") if n != at]
    return [(n, float(scores[n])) for n in order[:k]]


def _centroids(vectors: Vectors, groups: Sequence[Group]) -> npt.NDArray[np.float64]:
    """Means of the members, of length 1; shape (K, dim)."""
    means = np.stack([vectors[group].mean(axis=0, dtype=np.float64) for group in groups])
    lengths = np.linalg.norm(means, axis=1, keepdims=True)
    unit: npt.NDArray[np.float64] = means / np.maximum(lengths, 1e-12)
    return unit


def _attach(vectors: Vectors, groups: list[Group], row: int, shape: Shape) -> None:
    """Into the nearest theme if it is near enough (a little farther if it has room), else into one of its own."""
    scores = _centroids(vectors, groups) @ vectors[row] if groups else np.zeros(0)
    best = int(scores.argmax()) if groups else -1
    room = bool(groups) and len(groups[best]) < shape.size
    if groups and (scores[best] >= shape.attach or (scores[best] >= shape.attach_if_room and room)):
        groups[best].append(row)
        if len(groups[best]) > shape.size:
            groups[best : best + 1] = _by_links(vectors, groups[best], shape)
    else:
        groups.append([row])


def _best_split(vectors: Vectors, groups: Sequence[Group], group: Group, shape: Shape) -> list[Group]:
    """The group in the parts that raise the objective most, if it is too large (must split) or too loose (may)."""
    too_large = len(group) > shape.size
    if not too_large and (len(group) < shape.loose_size or _inner_similarity(vectors, group) >= shape.loose):
        return [group]
    around = [groups[n] for n, _ in nearest_groups(vectors, groups, groups.index(group), shape.neighbours)]
    options = [_by_links(vectors, group, shape), _by_size(vectors, group, shape)]
    if not too_large:
        options.insert(0, [group])
    return max(options, key=lambda parts: objective(vectors, [*around, *parts]))


def _best_merge(vectors: Vectors, groups: Sequence[Group], shape: Shape) -> tuple[Group, Group] | None:
    """The two near and small enough groups whose union gains most, if any gains."""
    best, found = 0.0, None
    for a, group in enumerate(groups):
        near = nearest_groups(vectors, groups, a, shape.neighbours)
        for b, similarity in near:
            if b < a or similarity < shape.merge or len(group) + len(groups[b]) > shape.size:
                continue
            local = dict.fromkeys([n for n, _ in near] + [n for n, _ in _near(vectors, groups, b, shape)])
            around = [groups[n] for n in local if n not in (a, b)]
            before = objective(vectors, [*around, group, groups[b]])
            gain = objective(vectors, [*around, group + groups[b]]) - before
            if gain > best:
                best, found = gain, (group, groups[b])
    return found


def _near(vectors: Vectors, groups: Sequence[Group], at: int, shape: Shape) -> list[tuple[int, float]]:
    return nearest_groups(vectors, groups, at, shape.neighbours)


def _absorb(vectors: Vectors, groups: list[Group], shape: Shape) -> list[Group]:
    """Themes of one that all but equal another theme join it."""
    for single in [group for group in groups if len(group) == 1]:
        at = groups.index(single)
        near = nearest_groups(vectors, groups, at, 1)
        if near and near[0][1] >= shape.absorb and len(groups[near[0][0]]) < shape.size:
            groups[near[0][0]].extend(single)
            del groups[at]
    return groups


def _by_links(vectors: Vectors, group: Group, shape: Shape) -> list[Group]:
    """Connected components of members at least `shape.link` alike, in chunks of at most `shape.size`."""
    linked = vectors[group] @ vectors[group].T >= shape.link
    left, components = list(range(len(group))), list[list[int]]()
    while left:
        component, edge = [left[0]], [left.pop(0)]
        while edge:
            at = edge.pop()
            joined = [n for n in left if linked[at, n]]
            left = [n for n in left if n not in joined]
            component += joined
            edge += joined
        components.append(sorted(component))
    chunks = [c[n : n + shape.size] for c in components for n in range(0, len(c), shape.size)]
    return [[group[n] for n in chunk] for chunk in chunks]


def _by_size(vectors: Vectors, group: Group, shape: Shape) -> list[Group]:
    """Even parts, at least two, along the direction in which the members differ most (first principal component)."""
    centred = vectors[group].astype(np.float64) - vectors[group].mean(axis=0)
    direction = np.linalg.svd(centred, full_matrices=False)[2][0]
    direction *= np.sign(direction[np.abs(direction).argmax()]) or 1.0  # the sign of an SVD is arbitrary
    ordered = [group[n] for n in np.argsort(centred @ direction, kind="stable")]
    parts = max(2, math.ceil(len(group) / shape.size))
    return [list(map(int, part)) for part in np.array_split(ordered, parts) if len(part)]


def _inner_similarity(vectors: Vectors, group: Group) -> float:
    """Mean cosine over the pairs of members."""
    similarity = vectors[group] @ vectors[group].T
    return float(similarity[np.triu_indices(len(group), k=1)].mean())
