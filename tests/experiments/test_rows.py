import json
import logging
from pathlib import Path
from threading import Thread

import pytest

from experiments.rows import RowFile, is_answered, write_atomically
from tests.experiments.builders import row


def test_what_is_appended_is_read(tmp_path: Path) -> None:
    file = RowFile(tmp_path / "rows.jsonl")
    file.append(row("c:1", "née\u2028\nline"))
    file.append(row("c:0", "b"))
    assert [r["prediction"] for r in file.read().values()] == ["née\u2028\nline", "b"]


def test_a_file_that_is_not_there_is_empty(tmp_path: Path) -> None:
    assert RowFile(tmp_path / "none.jsonl").read() == {}


def test_a_failure_does_not_replace_what_is_done(tmp_path: Path) -> None:
    file = RowFile(tmp_path / "rows.jsonl", done=is_answered)
    for prediction, status in [("", "timeout"), ("good", "ok"), ("better", "ok"), ("", "timeout")]:
        file.append(row("c:0", prediction, status=status))
    assert file.read()["c:0"]["prediction"] == "better"


def test_finish_puts_rows_in_order_and_drops_others(tmp_path: Path) -> None:
    file = RowFile(tmp_path / "rows.jsonl")
    for id in ("c:2", "c:0", "c:9", "c:1", "c:2"):
        file.append(row(id, id))
    file.finish(["c:0", "c:1", "c:2", "c:3"])
    lines = file.path.read_text().splitlines()
    assert [json.loads(line)["question_id"] for line in lines] == ["c:0", "c:1", "c:2"]
    assert [path.name for path in tmp_path.iterdir()] == ["rows.jsonl"]


def test_threads_do_not_mix_their_lines(tmp_path: Path) -> None:
    file = RowFile(tmp_path / "rows.jsonl")

    def write(worker: int) -> None:
        for number in range(20):
            file.append(row(f"c:{worker}-{number}", "x" * 5000))

    threads = [Thread(target=write, args=(worker,)) for worker in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(file.read()) == 160


def test_nan_is_refused_and_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    file = RowFile(tmp_path / "rows.jsonl")
    with pytest.raises(ValueError):
        file.append({"question_id": "c:0", "score": float("nan")})
    assert not file.path.exists()


def test_a_lone_surrogate_does_not_stop_the_run(tmp_path: Path) -> None:
    file = RowFile(tmp_path / "rows.jsonl")
    file.append(row("c:0", "smile \ud83d!"))
    assert file.read()["c:0"]["prediction"] == "smile ?!"


def test_a_cut_file_loses_only_its_last_row(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = RowFile(tmp_path / "rows.jsonl")
    for number in range(3):
        file.append(row(f"c:{number}", "é" * 9))
    whole = file.path.read_bytes()
    last = whole.rindex(b"\n", 0, -1) + 1
    for cut in range(last + 1, len(whole) - 1):
        file.path.write_bytes(whole[:cut])
        with caplog.at_level(logging.WARNING):
            assert list(file.read()) == ["c:0", "c:1"]
        file.append(row("c:7", "next"))
        assert list(file.read()) == ["c:0", "c:1", "c:7"]
    assert "line 3 is torn" in caplog.text


def test_an_atomic_write_replaces_the_file(tmp_path: Path) -> None:
    path = tmp_path / "metrics.json"
    write_atomically(path, b"old")
    write_atomically(path, b"new")
    assert path.read_bytes() == b"new"


@pytest.mark.parametrize(
    "line",
    [
        '{"question_id": "c:0"}',
        '{"question_id": ["c:0"], "status": "ok", "prediction": "a", "items": [], "context_tokens": {}}',
        '{"question_id": "c:0", "status": "ok", "prediction": 5, "items": [], "context_tokens": {}}',
        "[1]",
        "5",
        '{"question_id": "c:0", "sta',
        "[" * 100_000,
        "\x00\xff",
    ],
)
def test_a_line_that_is_no_row_is_torn_whatever_it_is(
    tmp_path: Path, line: str, caplog: pytest.LogCaptureFixture
) -> None:
    file = RowFile(tmp_path / "rows.jsonl", done=is_answered)
    file.append(row("c:1", "kept"))
    with file.path.open("a") as opened:
        opened.write(line)
    file.append(row("c:2", "after"))
    with caplog.at_level(logging.WARNING):
        assert list(file.read()) == ["c:1", "c:2"]
    assert "line 2 is torn" in caplog.text
