import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.metrics.retrieval import covering, retrieval_scores
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


def test_ndcg_is_over_turns_in_the_order_in_which_they_are_cited() -> None:
    scores = retrieval_scores([item(1, "D1:1", "D1:2"), item(2, "D1:2", "D1:3"), item(0, "D9:9")], ("D1:3", "D9:9"))
    # D1:3 stands third: 1/log2(4) of 1/log2(2) + 1/log2(3)
    assert scores["ndcg@5"] == pytest.approx(0.5 / (1 + 1 / math.log2(3)))
    assert scores["ndcg@1"] == 0
    assert retrieval_scores([item(1, "D1:1")], ("D1:1",))["ndcg@10"] == 1


@given(
    st.lists(st.lists(st.sampled_from(["D1:1", "D1:2", "D1:3", "D2:1"]), max_size=3), max_size=30),
    st.sets(st.sampled_from(["D1:1", "D1:3", "D9:9"]), min_size=1),
)
def test_every_share_lies_in_0_to_1_and_grows_with_k(cited: list[list[str]], evidence: set[str]) -> None:
    scores = retrieval_scores([item(rank, *sources) for rank, sources in enumerate(cited, 1)], sorted(evidence))
    assert all(0 <= score <= 1 + 1e-9 for name, score in scores.items() if not name.startswith("sources"))
    for name in ("hit", "all", "recall", "sources"):
        values = [scores[f"{name}@{k}"] for k in (1, 5, 10, 25)]
        assert values == sorted(values)
    assert scores["all@25"] <= scores["recall@25"] <= scores["hit@25"]


def test_k_that_takes_in_a_whole_store_is_flagged() -> None:
    turns = [item(1, "D1:1")]
    assert covering(turns, {"turn": 7, "fact": 99}) == [10, 25]
    assert covering(turns, {"turn": 26}) == []
    assert covering([*turns, {**item(2), "kind": "fact"}], {"turn": 7, "fact": 3}) == [10, 25]
    assert covering([item(1) | {"kind": "chunk"}], {"turn": 7}) == []
    assert covering([item(0, "D1:1")], {"turn": 7}) == []
