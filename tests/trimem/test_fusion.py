import pytest
from hypothesis import given
from hypothesis import strategies as st

from trimem.fusion import reciprocal_rank_fusion


def test_scores_are_sums_of_reciprocal_ranks() -> None:
    fused = reciprocal_rank_fusion([["a", "b"], ["b", "c"]], k=60, weights=[1, 2])
    assert [item for item, _ in fused] == ["b", "c", "a"]
    assert [score for _, score in fused] == pytest.approx([1 / 62 + 2 / 61, 2 / 62, 1 / 61])


def test_equals_are_ordered_by_themselves_and_nothing_fuses_to_nothing() -> None:
    assert [item for item, _ in reciprocal_rank_fusion([["b"], ["a"]])] == ["a", "b"]
    assert reciprocal_rank_fusion([]) == reciprocal_rank_fusion([[], []]) == []


@given(st.lists(st.lists(st.integers(0, 9), unique=True), min_size=1, max_size=4))
def test_the_order_of_rankings_does_not_matter(rankings: list[list[int]]) -> None:
    one, other = dict(reciprocal_rank_fusion(rankings)), dict(reciprocal_rank_fusion(rankings[::-1]))
    assert one == pytest.approx(other)
