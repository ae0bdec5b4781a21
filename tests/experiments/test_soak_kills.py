"""Fifty kills (SIGKILL) at random moments of building, profile update, answering and scoring: nothing lost, nothing
paid twice, every database whole, an equal run in the end.
"""

import contextlib
import json
import os
import random
import signal
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.experiments.harness import clean_environment, command, run_command
from trimem.llm.base import Reply, Request
from trimem.llm.cache import key_of
from trimem.llm.simulated import Simulated
from trimem.store import Store

pytestmark = pytest.mark.soak

KILLS = 50
QUESTIONS = 16
CHOSEN = (
    "method=trimem",
    "backbone=simulated",
    f"backbone._target_={__name__}.Counted",
    "backbone.latency=0.05",
    "backbone.concurrency=2",
    "embedder=hash",
    "dataset=sample",
    "dataset.conversations=[sample-train,sample-val]",
    f"dataset.limit={QUESTIONS // 2}",
    "extractor.window=8",
    "profiler.min_facts=1",
    "workers=2",
)


class Counted(Simulated):
    """The simulated model, which writes down each call that it has answered."""

    def complete(self, request: Request) -> Reply:
        reply = super().complete(request)
        with Path(os.environ["PAID"]).open("a") as log:
            log.write(key_of(self.identity, request) + "\n")
        return reply


def selected(path: Path, sql: str) -> list[str]:
    """What a database that another process may be writing holds now."""
    with contextlib.suppress(sqlite3.OperationalError), contextlib.closing(sqlite3.connect(path)) as database:
        return [str(row[0]) for row in database.execute(sql)]
    return []


def memories(folder: Path) -> Iterator[Path]:
    yield from folder.glob("runs/*/*/memory/*/memory.sqlite")


def rows_written(folder: Path) -> int:
    return sum(path.read_bytes().count(b"\n") for path in folder.glob("runs/*/*/predictions.jsonl"))


def under_way(folder: Path, stage: str) -> bool:
    """Whether the run has come to a stage, as its files tell."""
    match stage:
        case "build":
            return any(selected(path, "SELECT start FROM windows") for path in memories(folder))
        case "profile":
            return any(selected(path, "SELECT person FROM profiles") for path in memories(folder))
        case "answer":
            return rows_written(folder) > 0
        case _:
            return rows_written(folder) >= QUESTIONS


def kill_in(folder: Path, stage: str, delay: float) -> bool:
    """Start the run, kill it `delay` seconds after it came to `stage`; False if it had ended by then."""
    process = subprocess.Popen(
        command(*CHOSEN),
        cwd=folder,
        env=clean_environment(PAID=str(folder / "paid.txt")),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    while process.poll() is None and not under_way(folder, stage):
        time.sleep(0.01)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(delay)
    ended = process.poll() is not None
    if not ended:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    return not ended


def paid(folder: Path) -> list[str]:
    log = folder / "paid.txt"
    return log.read_text().split() if log.exists() else []


def state(folder: Path) -> tuple[list[str], dict[str, object], list[str]]:
    """What two equal runs have in common: rows, metrics without cost, exports."""
    (directory,) = folder.glob("runs/default/*")
    metrics = json.loads((directory / "metrics.json").read_text())
    exports = []
    for path in sorted(memories(folder)):
        with Store(path.parent) as store:
            store.export(folder / "export.jsonl")
        exports.append((folder / "export.jsonl").read_text())
    rows = [{**json.loads(line), "commit": ""} for line in (directory / "predictions.jsonl").open()]
    return [json.dumps(row) for row in rows], {**metrics, "usage": 0}, exports


def whole(path: Path) -> bool:
    return selected(path, "PRAGMA integrity_check") == ["ok"] and not selected(path, "PRAGMA foreign_key_check")


def finished(folder: Path) -> None:
    ended = run_command(folder, *CHOSEN, PAID=str(folder / "paid.txt"))
    assert ended.returncode == 0, ended.stderr


def test_fifty_kills_lose_nothing_and_pay_nothing_twice(tmp_path: Path) -> None:
    never_killed = tmp_path / "never_killed"
    never_killed.mkdir()
    finished(never_killed)
    chance, kills, landed = random.Random(10), 0, dict.fromkeys(("build", "profile", "answer", "score"), 0)
    for chain in range(3 * KILLS):
        folder = tmp_path / f"chain-{chain}"
        folder.mkdir()
        cut: list[tuple[set[str], int]] = []
        for stage in landed:
            if kills < KILLS and kill_in(folder, stage, chance.uniform(0, 0.1 if stage == "score" else 0.4)):
                kills, landed[stage] = kills + 1, landed[stage] + 1
            cut.append((set(selected(folder / ".cache/llm.sqlite", "SELECT key FROM replies")), len(paid(folder))))
            assert all(whole(path) for path in [*memories(folder), folder / ".cache/llm.sqlite"])
        finished(folder)
        assert not any(kept.intersection(paid(folder)[before:]) for kept, before in cut)
        assert state(folder) == state(never_killed)
        if kills >= KILLS:
            break
    print(f"killed {kills} times: {landed}")
    assert kills == KILLS
    assert all(landed.values())
