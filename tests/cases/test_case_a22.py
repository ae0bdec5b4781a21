"""a22: parallel answers paired with the wrong gold (rows as the runner writes them; its own part is tested there)."""

import random
import time
from pathlib import Path

import pytest

from experiments.rows import RowFile, is_answered
from tests.experiments.builders import row
from trimem.concurrency import fan_out

IDS = [f"c:{number}" for number in range(20)]


def _run(path: Path, workers: int) -> bytes:
    """Each answer echoes its question after a random delay; the one of c:7 fails."""
    file = RowFile(path, done=is_answered)

    def ask(id: str) -> None:
        time.sleep(random.random() * 0.02)
        failed = id == "c:7"
        file.append(row(id, "" if failed else f"echo {id}", status="boom" if failed else "ok"))

    list(fan_out(ask, IDS, workers))
    file.finish(IDS)
    return path.read_bytes()


@pytest.mark.parametrize("workers", [1, 8])
def test_each_row_holds_its_own_answer(tmp_path: Path, workers: int) -> None:
    _run(tmp_path / "rows.jsonl", workers)
    rows = RowFile(tmp_path / "rows.jsonl").read()
    assert list(rows) == IDS
    assert {id: r["prediction"] for id, r in rows.items() if id != "c:7"} == {
        id: f"echo {id}" for id in IDS if id != "c:7"
    }
    assert rows["c:7"]["status"] == "boom"


def test_workers_do_not_change_the_file(tmp_path: Path) -> None:
    assert _run(tmp_path / "one.jsonl", 1) == _run(tmp_path / "eight.jsonl", 8)
