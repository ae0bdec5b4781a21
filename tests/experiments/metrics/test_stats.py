import numpy as np
import pytest
from scipy import stats as scipy_stats

from experiments.metrics.stats import interval_note, mean_cell


def test_units_of_equal_size_give_the_textbook_t_interval_over_their_means() -> None:
    values = np.random.default_rng(1).random((9, 20))
    cell = mean_cell(values.ravel().tolist(), units=np.repeat(np.arange(9), 20).tolist())
    means = values.mean(axis=1)
    expected = scipy_stats.t.interval(0.95, 8, loc=means.mean(), scale=scipy_stats.sem(means))
    assert cell["ci"] == pytest.approx(list(expected))
    assert cell["mean"] == pytest.approx(values.mean())
    assert cell["n"] == 180


def test_every_value_its_own_unit_gives_the_textbook_t_interval() -> None:
    values = [0.0, 1.0, 0.5, 0.25]
    expected = scipy_stats.t.interval(0.95, 3, loc=np.mean(values), scale=scipy_stats.sem(values))
    assert mean_cell(values, units=range(4))["ci"] == pytest.approx(list(expected))


def test_questions_that_agree_within_a_conversation_widen_the_interval() -> None:
    values = [0.0] * 50 + [1.0] * 50
    alone = mean_cell(values, units=range(100))["ci"]
    clustered = mean_cell(values, units=[i // 10 for i in range(100)])["ci"]
    assert alone and clustered
    assert clustered[1] - clustered[0] > 3 * (alone[1] - alone[0])


def test_macro_is_the_mean_of_the_groups_means() -> None:
    cell = mean_cell([1.0, 0.0, 0.0, 0.0, 1.0, 1.0], units=range(6), groups=[1, 1, 1, 1, 2, 2])
    assert cell["mean"] == pytest.approx((0.25 + 1) / 2)
    assert cell["n"] == 6


def test_no_values_one_unit_or_no_spread_give_no_interval() -> None:
    assert mean_cell([], units=[]) == {"mean": None, "n": 0, "ci": None}
    assert mean_cell([0.5, 0.7], units=["a", "a"])["ci"] is None
    assert mean_cell([1.0, 1.0, 1.0], units=range(3))["ci"] is None


def test_an_interval_ends_where_no_mean_can_lie() -> None:
    cell = mean_cell([0.9, 1.0, 0.2], units=range(3), limits=(0.0, 1.0))
    assert cell["ci"] == [0.0, 1.0]


def test_the_note_says_what_the_interval_covers() -> None:
    assert interval_note(10) == "95%, t over 10 conversations"
    assert "within these 5 conversations" in interval_note(5)
