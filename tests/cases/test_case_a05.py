"""a05: gold answers that are numbers, including 0."""

from pathlib import Path

import pytest

from experiments.data import locomo
from experiments.metrics.summary import score_rows
from tests.experiments.builders import locomo_file, mini, qa, row


def test_numbers_are_scored_as_text_and_zero_is_an_answer() -> None:
    dataset, golds = mini()
    assert (golds["mini-dev-1:3"].answer, golds["mini-dev-1:4"].answer) == ("2", "0")
    rows = [row("mini-dev-1:3", "2 bikes"), row("mini-dev-1:4", "0")]
    scored = {one.id: one for one in score_rows(rows, golds, dataset)}
    assert scored["mini-dev-1:3"].answer["f1_locomo"] == pytest.approx(0.6667, abs=5e-5)
    assert scored["mini-dev-1:4"].answer["f1_locomo"] == 1.0
    assert len(scored) == 13


def test_a_year_given_as_a_number(tmp_path: Path) -> None:
    dataset, golds = locomo.load(locomo_file(tmp_path / "x.json", {"x": [qa(2, 2022)]}), verify=False)
    (scored,) = score_rows([row("x:0", "2022")], golds, dataset)
    assert scored.answer["f1_locomo"] == 1.0
