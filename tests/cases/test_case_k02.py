"""k02: duplicate rows after resume."""

from pathlib import Path

import pytest

from experiments.metrics.summary import score_rows, summarise
from experiments.rows import RowFile, is_answered
from tests.cases.torn_rows import write_torn
from tests.experiments.builders import mini, row


def test_the_last_good_row_of_a_question_counts_once(tmp_path: Path) -> None:
    dataset, golds = mini()
    file = RowFile(write_torn(tmp_path / "predictions.jsonl"), done=is_answered)
    for id in dataset.question_ids:
        if id not in ("mini-dev-1:0", "mini-dev-1:2"):
            file.append(row(id, "x"))
    file.finish(dataset.question_ids)
    rows = file.read().values()
    scored = {one.id: one.answer["f1_locomo"] for one in score_rows(rows, golds, dataset)}
    assert scored["mini-dev-1:2"] == pytest.approx(0.6667, abs=5e-5)
    assert summarise(rows, golds, dataset, {}, {})["n"] == len(file.path.read_text().splitlines()) == 13
