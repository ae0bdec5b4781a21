"""Was the evidence found? Measured on turn ids, so that facts, turns, chunks and pages compare.

Items are those of a predictions row: `{"kind", "id", "rank", "score", "sources"}`; rank counts from 1,
0 marks what was brought along without a rank.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from typing import Any

KS = (1, 5, 10, 25)


def retrieval_scores(items: Sequence[Mapping[str, Any]], evidence: Collection[str]) -> dict[str, float]:
    """`hit@k`, `all@k`, `recall@k`, `sources@k`, `ndcg@k` for k in `KS`; `context_recall` over all items.

    hit: any evidence turn is among the sources of the first k ranked items; all: every one; recall: their share;
    sources: how many distinct turns those k items cite, since units differ in size; ndcg: over the first k *turns* that
    the ranking cites (by ir-measures), so that an item of many turns gains nothing by it. `evidence` is not empty.
    """
    scores: dict[str, float] = {}
    for k in KS:
        sources = _sources([item for item in items if 1 <= item["rank"] <= k])
        recall = _recall(sources, evidence)
        scores[f"hit@{k}"] = float(recall > 0)
        scores[f"all@{k}"] = float(recall == 1)
        scores[f"recall@{k}"] = recall
        scores[f"sources@{k}"] = float(len(sources))
    return scores | _ndcg(items, evidence) | {"context_recall": _recall(_sources(items), evidence)}


def covering(items: Iterable[Mapping[str, Any]], fewest: Mapping[str, int]) -> list[int]:
    """Those of `KS` that reach the whole of the smallest store, where finding is no feat.

    `fewest`: the size of the smallest store, by kind of item; a kind that is not in it has an unknown size.
    """
    kinds = {item["kind"] for item in items if item["rank"] >= 1}
    if not kinds or not kinds <= fewest.keys():
        return []
    return [k for k in KS if k >= sum(fewest[kind] for kind in kinds)]


def _ndcg(items: Sequence[Mapping[str, Any]], evidence: Collection[str]) -> dict[str, float]:
    """Binary relevance; a turn counts where it is cited first."""
    import ir_measures

    ranked = sorted((item for item in items if item["rank"] >= 1), key=lambda item: item["rank"])
    turns = list(dict.fromkeys(turn for item in ranked for turn in item["sources"]))
    if not turns:
        return {f"ndcg@{k}": 0.0 for k in KS}
    measures = {f"ndcg@{k}": ir_measures.nDCG @ k for k in KS}
    run = {"q": {turn: float(len(turns) - place) for place, turn in enumerate(turns)}}
    found = ir_measures.calc_aggregate(list(measures.values()), {"q": dict.fromkeys(evidence, 1)}, run)
    return {name: float(found[measure]) for name, measure in measures.items()}


def _sources(items: Sequence[Mapping[str, Any]]) -> set[str]:
    return {turn for item in items for turn in item["sources"]}


def _recall(sources: Set[str], evidence: Collection[str]) -> float:
    return len(sources & set(evidence)) / len(set(evidence))
