import pytest

from experiments.metrics.retrieval import retrieval_scores
from tests.experiments.builders import item


def test_ranked_items_are_cut_at_k_and_context_recall_takes_all() -> None:
    items = [item(1, "D1:1", "D1:2"), item(6, "D2:1"), item(0, "D3:1")]
    scores = retrieval_scores(items, ("D1:1", "D2:1", "D3:1", "D9:9"))
    assert (scores["hit@1"], scores["all@1"], scores["recall@1"], scores["sources@1"]) == (1, 0, 0.25, 2)
    assert (scores["recall@5"], scores["recall@10"], scores["recall@25"]) == (0.25, 0.5, 0.5)
    assert scores["context_recall"] == 0.75


def test_all_needs_every_turn() -> None:
    scores = retrieval_scores([item(1, "D1:1"), item(2, "D1:2")], ("D1:2", "D1:1"))
    assert (scores["all@1"], scores["all@5"], scores["recall@5"]) == (0, 1, 1)


def test_items_without_sources_find_nothing() -> None:
    scores = retrieval_scores([item(1)], ("D1:1",))
    assert set(scores.values()) == {0.0}


def test_rank_counts_not_the_place_in_the_list() -> None:
    late_first = [item(7, "D1:1"), item(1, "D5:5")]
    assert retrieval_scores(late_first, ("D1:1",))["hit@5"] == 0
    assert retrieval_scores(late_first, ("D1:1",))["hit@10"] == pytest.approx(1)
