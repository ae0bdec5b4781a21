"""a03: a constant "not mentioned" answer scores well. The real file's figures: tests/experiments/metrics."""

import pytest

from experiments.metrics.summary import summarise
from tests.experiments.builders import mini, mini_predictions, row


def test_headline_and_all_categories_stand_apart_with_the_abstain_line() -> None:
    dataset, golds = mini()
    rows = [row(id, text) for id, text in zip(dataset.question_ids, mini_predictions(), strict=True)]
    summary = summarise(rows, golds, dataset, {}, {})
    headline, everything = summary["headline"]["f1_locomo"], summary["all_categories"]["f1_locomo"]
    assert (headline["mean"], headline["n"]) == (pytest.approx(0.7773, abs=5e-5), 11)
    assert (everything["mean"], everything["n"]) == (pytest.approx(0.7346, abs=5e-5), 13)
    constant = summary["constant_abstain"]
    assert (constant["headline"]["mean"], constant["headline"]["n"]) == (0, 11)
    assert (constant["all_categories"]["mean"], constant["all_categories"]["n"]) == (pytest.approx(2 / 13), 13)
