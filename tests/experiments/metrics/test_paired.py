import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from experiments.metrics.paired import holm, paired_difference

EIGHT = [f"c{number // 2}" for number in range(16)]


def test_the_difference_of_paired_scores_is_tested_over_conversations() -> None:
    found = paired_difference([0.0] * 16, [1.0, 0.5] * 8, EIGHT)
    assert (found.n, found.first, found.second, found.mean) == (16, 0, 0.75, 0.75)
    assert found.p == pytest.approx(2 / 2**8)  # all eight conversations agree
    assert found.ci is None and found.detectable is None  # and by exactly as much: no spread


def test_the_interval_is_that_of_the_differences_not_of_the_scores() -> None:
    first = np.random.default_rng(0).random(16)
    noise = np.random.default_rng(1).normal(0.1, 0.01, 16)
    found = paired_difference(first.tolist(), (first + noise).tolist(), EIGHT)
    means = noise.reshape(8, 2).mean(axis=1)
    expected = scipy_stats.t.interval(0.95, 7, loc=means.mean(), scale=scipy_stats.sem(means))
    assert found.ci == pytest.approx(expected)


def test_no_difference_gives_p_1_or_near() -> None:
    swings = [1.0, 1.0, -1.0, -1.0] * 4
    found = paired_difference([0.0] * 16, swings, EIGHT)
    assert found.mean == 0 and found.p == 1


def test_few_conversations_give_an_interval_over_questions_and_no_p() -> None:
    found = paired_difference([0.0, 0.0, 0.0], [0.1, 0.2, 0.3], ["a", "a", "b"])
    expected = scipy_stats.t.interval(0.95, 2, loc=0.2, scale=scipy_stats.sem([0.1, 0.2, 0.3]))
    assert found.p is None
    assert found.ci == pytest.approx(expected)


def test_the_detectable_difference_is_found_in_about_four_of_five_experiments() -> None:
    draw = np.random.default_rng(3)
    conversations = [f"c{number // 20}" for number in range(200)]
    base = draw.normal(0, 0.3, (300, 200))
    size = np.median([paired_difference([0.0] * 200, list(row), conversations).detectable or 0 for row in base])
    found = 0
    for row in base + size:
        interval = paired_difference([0.0] * 200, list(row), conversations).ci
        found += interval is not None and interval[0] > 0
    assert found / 300 == pytest.approx(0.8, abs=0.08)


def test_holm_on_a_worked_example() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), max_size=8))
def test_holm_only_raises_and_keeps_the_order(values: list[float]) -> None:
    adjusted = holm(values)
    assert all(value <= new <= 1 for value, new in zip(values, adjusted, strict=True))
    assert [new for _, new in sorted(zip(values, adjusted, strict=True))] == sorted(adjusted)
