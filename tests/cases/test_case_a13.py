"""a13: results keyed by question text."""

from pathlib import Path

import pytest

from experiments.data import locomo
from experiments.metrics.summary import score_rows
from tests.experiments.builders import mini, mini_predictions, row


def test_the_same_text_in_two_categories_stays_two_rows() -> None:
    dataset, golds = mini()
    rows = [row(id, text) for id, text in zip(dataset.question_ids, mini_predictions(), strict=True)]
    scores = {one.id: one.answer["f1_locomo"] for one in score_rows(rows, golds, dataset)}
    texts = {question.id: question.text for question in dataset.questions["mini-dev-1"]}
    assert texts["mini-dev-1:6"] == texts["mini-dev-1:9"]
    assert (scores["mini-dev-1:6"], scores["mini-dev-1:9"]) == (1.0, 0.0)
    assert len(scores) == 13


@pytest.mark.realdata
def test_the_real_file_has_a_row_for_each_of_its_questions(data_dir: Path) -> None:
    dataset, golds = locomo.load(data_dir / "locomo10.json")
    assert len(set(dataset.question_ids)) == len(score_rows([], golds, dataset)) == 1986
