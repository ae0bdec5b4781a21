"""a02: category 5 has no `answer` key, and the trap answer is used as gold."""

from experiments.metrics.summary import score_rows
from tests.experiments.builders import mini, row


def test_abstaining_scores_one_and_the_trap_zero() -> None:
    dataset, golds = mini()
    rows = [row("mini-dev-1:8", "Not mentioned in the conversation."), row("mini-dev-1:9", "red")]
    scores = {one.id: one.answer for one in score_rows(rows, golds, dataset)}
    assert scores["mini-dev-1:8"] == {"f1_locomo": 1.0}
    assert scores["mini-dev-1:9"] == {"f1_locomo": 0.0}


def test_the_trap_answer_is_loaded_nowhere() -> None:
    dataset, golds = mini()
    assert golds["mini-dev-1:8"].answer == golds["mini-dev-1:9"].answer == "Not mentioned in the conversation"
    assert "Pixel" not in {gold.answer for gold in golds.values()}
    assert "adversarial_answer" not in repr(dataset)
