"""k03: torn last line."""

import json
import logging
from pathlib import Path

import pytest

from experiments.rows import RowFile, is_answered
from tests.cases.torn_rows import write_torn
from tests.experiments.builders import row


def test_a_torn_line_warns_and_does_not_glue_to_the_next(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = RowFile(write_torn(tmp_path / "predictions.jsonl"), done=is_answered)
    assert not file.path.read_bytes().endswith(b"\n")
    with caplog.at_level(logging.WARNING):
        assert "mini-dev-1:4" not in file.read()
    assert "torn" in caplog.text
    file.append(row("mini-dev-1:4", "0"))
    assert file.read()["mini-dev-1:4"]["prediction"] == "0"
    file.finish([f"mini-dev-1:{number}" for number in range(13)])
    assert [json.loads(line)["question_id"] for line in file.path.read_text().splitlines()] == [
        f"mini-dev-1:{number}" for number in range(5)
    ]
