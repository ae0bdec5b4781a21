from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.data import locomo
from experiments.metrics.judged import judged_cell, too_few_judged
from experiments.metrics.stats import NOT_MEASURED
from experiments.metrics.summary import summarise
from tests.experiments.builders import locomo_file, qa, row

METRIC = "judge_strict:m:1"


@given(right=st.integers(0, 60), wrong=st.integers(0, 60), missing=st.integers(0, 60))
def test_bounds_hold_whatever_the_missing_verdicts_are(right: int, wrong: int, missing: int) -> None:
    judged, asked = right + wrong, right + wrong + missing
    cell = judged_cell({"mean": right / judged if judged else None, "n": judged, "ci": None}, missing)
    low, high = cell["bounds"]
    assert 0 <= low <= high <= 1
    if asked:
        assert low == pytest.approx(right / asked) and high == pytest.approx((right + missing) / asked)
    assert (cell["mean"] is None) == (missing > 0.02 * asked or not judged)


def test_up_to_two_percent_without_a_verdict_still_has_a_mean() -> None:
    assert judged_cell({"mean": 0.5, "n": 98, "ci": None}, 2)["mean"] == 0.5
    assert judged_cell({"mean": 0.5, "n": 97, "ci": None}, 3)["mean"] is None


def test_too_few_are_named() -> None:
    cells: Any = {METRIC: judged_cell(NOT_MEASURED, 5), "f1_set": NOT_MEASURED, "judge_b": judged_cell(NOT_MEASURED, 0)}
    assert too_few_judged(cells) == [f"{METRIC}: 5 answers not judged"]


def test_a_failed_answer_is_wrong_and_an_abstention_is_not_put_to_a_judge(tmp_path: Any) -> None:
    path = locomo_file(tmp_path / "x.json", {"x": [qa(), qa(), qa(1), qa(5)]})
    dataset, golds = locomo.load(path, verify=False)
    rows = [row("x:0", "pear"), row("x:1", status="error"), row("x:2", "pear"), row("x:3", "not mentioned")]
    summary = summarise(rows, golds, dataset, {}, {}, {METRIC: {"x:0": True, "x:2": False}})
    assert summary["headline"][METRIC]["mean"] == pytest.approx(1 / 3)
    assert summary["headline"][METRIC]["not_judged"] == 0
    assert summary["macro"][METRIC]["mean"] == pytest.approx((0.5 + 0.0) / 2)
    assert summary["by_category"]["4"][METRIC]["n"] == 2
    assert METRIC not in summary["by_category"]["5"]
    assert summary["by_conversation"]["x"][METRIC] == pytest.approx(1 / 3)
