"""A disk that is full or may not be written to: one message, nothing corrupted, and the same command goes on after."""

import shutil
import sqlite3
import subprocess
from functools import partial
from pathlib import Path

import pytest

from experiments.exits import exit_code
from tests.experiments.harness import clean_environment, command, run_command
from trimem.database import Database
from trimem.embedding import CachedEmbedder, HashEmbedder

MAY_MOUNT = (
    shutil.which("unshare")
    and not subprocess.run(
        ["unshare", "-rm", "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True, check=False
    ).returncode
)
SHORT = (
    "method=trimem",
    "dataset=sample",
    "dataset.conversations=[sample-train]",
    "dataset.limit=4",
    "embedder=hash",
    "backbone=simulated",
    "paths.runs=small/runs",
)


def raising(error: Exception) -> int:
    raise error


@pytest.mark.parametrize("kind", ["runs", "cache"])
def test_a_folder_that_cannot_be_made_is_one_message(tmp_path: Path, kind: str) -> None:
    (tmp_path / "file").write_text("")
    ended = run_command(tmp_path, *SHORT[:-1], f"paths.{kind}=file/inside")
    assert ended.returncode == 2
    (line,) = ended.stderr.splitlines()
    assert "file/inside" in line
    assert "paths.runs" in line


@pytest.mark.skipif(not MAY_MOUNT, reason="needs unshare and the right to mount a tmpfs")
@pytest.mark.parametrize("room", [120, *(pytest.param(room, marks=pytest.mark.soak) for room in (24, 60, 200, 300))])
def test_a_full_disk_is_one_message_and_the_run_goes_on_when_there_is_room(tmp_path: Path, room: int) -> None:
    run = subprocess.list2cmdline(command(*SHORT))
    script = f"""mkdir small && mount -t tmpfs -o size={room}k none small
        {run}; echo "code $?" >&2
        mount -o remount,size=8m small; {run} >&2; echo "code $?" >&2
        mount -o remount,ro small; {run}; echo "code $?" >&2
        for f in small/runs/default/*/memory/*/memory.sqlite; do sqlite_file=$f; done
        cp $sqlite_file small/runs/default/*/predictions.jsonl ."""
    ended = subprocess.run(
        ["unshare", "-rm", "bash", "-c", script],
        cwd=tmp_path,
        env=clean_environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    full, after, read_only, _ = ended.stderr.split("code ")
    assert ("space" in full or "full" in full) and full.count("error:") == 1
    assert after.startswith("2") and "failed: 0 of 4" in after
    assert read_only.startswith("0") and "Read-only file system" in read_only
    assert "Traceback" not in ended.stderr
    assert len((tmp_path / "predictions.jsonl").read_text().splitlines()) == 4
    with sqlite3.connect(tmp_path / "memory.sqlite") as memory:
        assert memory.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def fill_up(connection: sqlite3.Connection) -> None:
    """Let the file grow no further."""
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    connection.execute(f"PRAGMA max_page_count = {pages}")


def test_a_memory_on_a_full_disk_keeps_its_state_and_can_be_used_again(tmp_path: Path) -> None:
    database = Database(tmp_path / "memory.sqlite", "", "")
    fill_up(database._connection)
    with pytest.raises(sqlite3.OperationalError, match="full"), database.transaction():
        database.set_meta("note", "x" * 100_000)
    assert database.meta("note") == ""
    database._connection.execute("PRAGMA max_page_count = 10000")
    with database.transaction():
        database.set_meta("note", "x" * 100_000)
    assert len(database.meta("note")) == 100_000


def test_a_cache_of_vectors_on_a_full_disk_can_be_used_again(tmp_path: Path) -> None:
    embedder = CachedEmbedder(HashEmbedder(256), tmp_path / "vectors.sqlite")
    fill_up(embedder._db)
    with pytest.raises(sqlite3.OperationalError, match="full"):
        embedder.encode([f"text {n}" for n in range(500)])
    embedder._db.execute("PRAGMA max_page_count = 10000")
    assert embedder.encode(["again"]).shape == (1, 256)


def test_only_trouble_with_the_disk_is_the_users(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(lambda: raising(OSError(28, "No space left on device", "runs/x"))) == 2
    assert "runs/x: No space left on device" in capsys.readouterr().err
    for fault in (ConnectionResetError("gone"), sqlite3.OperationalError("no such table: x")):
        with pytest.raises(type(fault)):
            exit_code(partial(raising, fault))
