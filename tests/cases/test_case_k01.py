"""k01: error rows count as done."""

from pathlib import Path

from experiments.rows import RowFile, is_answered
from tests.cases.torn_rows import write_torn
from tests.experiments.builders import mini


def test_failed_empty_torn_and_missing_questions_are_asked_again(tmp_path: Path) -> None:
    rows = RowFile(write_torn(tmp_path / "predictions.jsonl"), done=is_answered).read()
    ids = mini()[0].question_ids
    again = [id for id in ids if id not in rows or not is_answered(rows[id])]
    assert again == [id for id in ids if id not in ("mini-dev-1:0", "mini-dev-1:2")]
