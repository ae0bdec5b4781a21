"""A run that is killed, or interrupted, goes on to the same result, and asks nothing twice."""

import contextlib
import os
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from experiments.runner import run
from tests.experiments.harness import clean_environment, command, config_of, read, rows_of, run_mini
from trimem.store import Store

SIMULATED = (
    "method=trimem",
    "backbone=simulated",
    "embedder=hash",
    "dataset=sample",
    "dataset.conversations=[sample-train]",
    "dataset.limit=8",
    "extractor.window=8",
    "extractor.overlap=2",
    "tracker=none",
    "workers=2",
)


def start(folder: Path, *overrides: str) -> subprocess.Popen[str]:
    """The command under way, in a process group of its own."""
    return subprocess.Popen(
        command(*overrides),
        cwd=folder,
        env=clean_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def signal_when(ready: Callable[[], bool], process: subprocess.Popen[str], number: int) -> str:
    """Send the signal as soon as `ready`; what the process said on stderr."""
    deadline = time.monotonic() + 60
    while not ready() and process.poll() is None:
        assert time.monotonic() < deadline, "the process never got so far"
        time.sleep(0.02)
    assert process.poll() is None, "the process ended before it could be stopped"
    os.killpg(process.pid, number)
    return process.communicate(timeout=30)[1]


def rows_written(folder: Path) -> int:
    return sum(len(path.read_bytes().splitlines()) for path in folder.glob("runs/default/*/predictions.jsonl"))


def windows_stored(folder: Path) -> int:
    stored = 0
    for path in folder.glob("runs/default/*/memory/*/memory.sqlite"):
        with contextlib.suppress(sqlite3.OperationalError), contextlib.closing(sqlite3.connect(path)) as database:
            stored += database.execute("SELECT count(*) FROM windows").fetchone()[0]
    return stored


def exported(status: dict[str, Any]) -> str:
    """All memories of a run, as sorted JSON lines."""
    target = Path(status["run"]) / "export.jsonl"
    with Store(Path(status["run"]) / "memory" / "sample-train", "hashing-no-model:1:256", "sample-train") as store:
        store.export(target)
    return target.read_text()


def calls(status: dict[str, Any], stage: str) -> int:
    return int(read(status, "metrics.json")["usage"][stage]["calls"])


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The run that nobody stopped."""
    return run(config_of(*SIMULATED), tmp_path_factory.mktemp("whole"))


@pytest.mark.parametrize(
    ("ready", "latency"),
    [(lambda folder: windows_stored(folder) >= 2, 0.3), (lambda folder: rows_written(folder) >= 2, 0.1)],
    ids=["while building", "while answering"],
)
def test_a_killed_run_goes_on_to_an_equal_run(
    tmp_path: Path, whole: dict[str, Any], ready: Callable[[Path], bool], latency: float
) -> None:
    process = start(tmp_path, *SIMULATED, f"backbone.latency={latency}", "backbone.concurrency=2")
    signal_when(lambda: ready(tmp_path), process, signal.SIGKILL)
    resumed = run(config_of(*SIMULATED, f"backbone.latency={latency}"), tmp_path)
    assert Path(resumed["run"]).name == Path(whole["run"]).name
    assert rows_of(resumed) == rows_of(whole)
    assert {**read(resumed, "metrics.json"), "usage": 0} == {**read(whole, "metrics.json"), "usage": 0}
    assert exported(resumed) == exported(whole)
    assert calls(resumed, "answer") <= calls(whole, "answer")


def test_no_question_that_has_its_row_is_asked_twice_after_a_kill(tmp_path: Path) -> None:
    process = start(tmp_path, "method.delay=0.1", "workers=1")
    signal_when(lambda: rows_written(tmp_path) >= 3, process, signal.SIGKILL)
    done = rows_written(tmp_path)
    status = run_mini(tmp_path, "method.delay=0.1", "workers=1")
    asked = next(Path(status["run"]).glob("memory/*/asked.txt")).read_text().split()
    assert len(rows_of(status)) == 13
    assert all(asked.count(f"mini-dev-1:{n}") == 1 for n in range(done))
    assert len(asked) <= 14


def test_ctrl_c_ends_at_once_with_one_message_and_keeps_what_is_done(tmp_path: Path) -> None:
    process = start(tmp_path, "method.delay=0.3", "workers=2")
    message = signal_when(lambda: rows_written(tmp_path) >= 2, process, signal.SIGINT)
    assert process.returncode == 130
    assert "stopped. What was finished is kept: the same command goes on from there." in message
    assert "Traceback" not in message
    assert 2 <= rows_written(tmp_path) < 13
    assert run_mini(tmp_path, "method.delay=0.3")["exit"] == 0
