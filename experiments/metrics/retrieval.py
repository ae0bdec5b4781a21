"""Was the evidence found? Measured on turn ids, so that facts, turns, chunks and pages compare.

Items are those of a predictions row: `{"kind", "id", "rank", "score", "sources"}`; rank counts from 1,
0 marks what was brought along without a rank.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

KS = (1, 5, 10, 25)


def retrieval_scores(items: Sequence[Mapping[str, Any]], evidence: Collection[str]) -> dict[str, float]:
    """`hit@k`, `all@k`, `recall@k` for k in `KS` over the ranked items, `context_recall` over all items.

    hit: any evidence turn is among the sources of the first k ranked items; all: every one; recall: their share.
    `evidence` holds at least one turn id.
    """
    scores = {}
    for k in KS:
        found = _recall([item for item in items if 1 <= item["rank"] <= k], evidence)
        scores |= {f"hit@{k}": float(found > 0), f"all@{k}": float(found == 1), f"recall@{k}": found}
    return scores | {"context_recall": _recall(items, evidence)}


def _recall(items: Sequence[Mapping[str, Any]], evidence: Collection[str]) -> float:
    sources = {turn for item in items for turn in item["sources"]}
    return len(sources.intersection(evidence)) / len(set(evidence))
