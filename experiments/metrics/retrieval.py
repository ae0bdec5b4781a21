"""Was the evidence found? Measured on turn ids, so that facts, turns, chunks and pages compare.

Items are those of a predictions row: `{"kind", "id", "rank", "score", "sources"}`; rank counts from 1,
0 marks what was brought along without a rank.
"""

from collections.abc import Collection, Mapping, Sequence, Set
from typing import Any

KS = (1, 5, 10, 25)


def retrieval_scores(items: Sequence[Mapping[str, Any]], evidence: Collection[str]) -> dict[str, float]:
    """`hit@k`, `all@k`, `recall@k`, `sources@k` for k in `KS` over the ranked items, `context_recall` over all items.

    hit: any evidence turn is among the sources of the first k ranked items; all: every one; recall: their share;
    sources: how many distinct turns those k items cite, since units differ in size. `evidence` is not empty.
    """
    scores: dict[str, float] = {}
    for k in KS:
        sources = _sources([item for item in items if 1 <= item["rank"] <= k])
        recall = _recall(sources, evidence)
        scores[f"hit@{k}"] = float(recall > 0)
        scores[f"all@{k}"] = float(recall == 1)
        scores[f"recall@{k}"] = recall
        scores[f"sources@{k}"] = float(len(sources))
    return scores | {"context_recall": _recall(_sources(items), evidence)}


def _sources(items: Sequence[Mapping[str, Any]]) -> set[str]:
    return {turn for item in items for turn in item["sources"]}


def _recall(sources: Set[str], evidence: Collection[str]) -> float:
    return len(sources & set(evidence)) / len(set(evidence))
