"""What a rival memory has learnt, in one SQLite file: named values and ordered records, each step one transaction."""

import json
import sqlite3
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from trimem.errors import BadInput, storage_problem
from trimem.protocols import Vectors
from trimem.types import Turn

SCHEMA_VERSION = 1
WAIT_SECONDS = 30
"""How long a writer waits for another process before it is refused."""

TABLES = """
CREATE TABLE IF NOT EXISTS named (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS records (
    position INTEGER PRIMARY KEY, kind TEXT NOT NULL, id TEXT NOT NULL, value TEXT NOT NULL, vector BLOB,
    UNIQUE (kind, id)
);
"""


class Journal:
    """`directory/baseline.sqlite`: values by key, and records by kind and id in the order in which they came.

    Values and records are JSON; a record may carry a vector. Writes belong inside `step()`: a build that is killed or
    raises leaves the file as it was after the last whole step, and goes on there. Safe to use from several threads.
    Raises BadInput where the file is no journal of this version.
    """

    def __init__(self, directory: Path) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self.path = directory / "baseline.sqlite"
        self._lock = threading.RLock()
        self._db = sqlite3.connect(self.path, timeout=WAIT_SECONDS, isolation_level=None, check_same_thread=False)
        try:
            self._db.execute("PRAGMA journal_mode = WAL")
            self._create()
        except (sqlite3.DatabaseError, BadInput) as error:
            self._db.close()
            if storage_problem(error):
                raise
            raise BadInput(f"{self.path} cannot be opened ({error}): delete {directory} and build again.") from error

    def _create(self) -> None:
        (version,) = self._db.execute("PRAGMA user_version").fetchone()
        if version not in (0, SCHEMA_VERSION):
            raise BadInput(f"schema {version}, this version reads schema {SCHEMA_VERSION}")
        self._db.executescript(TABLES)
        self._db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")

    def claim(self, **identity: str) -> None:
        """Note whose journal this is (`conversation`, `embedder`, …). Raises BadInput if it is already another's."""
        with self.step():
            for name, value in identity.items():
                known = self.get(f"claim:{name}", value)
                if known != value:
                    raise BadInput(
                        f"{self.path} was built for {name} {known!r}, not {value!r}: "
                        f"use another directory, or delete {self.path.parent} and build again."
                    )
                self.set(f"claim:{name}", value)

    @contextmanager
    def step(self) -> Iterator[None]:
        """All or nothing of what is written inside; steps do not nest. Other threads wait until it is over."""
        with self._lock:
            try:
                self._db.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError as error:
                if storage_problem(error):
                    raise
                raise BadInput(f"{self.path} is being written by another process ({error}): let it end.") from error
            try:
                yield
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:  # a full disk has rolled back already
                    self._db.execute("ROLLBACK")
                raise

    # -- values ----------------------------------------------------------------------------------------------------

    def get(self, key: str, default: Any = None) -> Any:
        """The value of `key`, or `default`."""
        with self._lock:
            row = self._db.execute("SELECT value FROM named WHERE key = ?", (key,)).fetchone()
        return json.loads(row[0]) if row else default

    def set(self, key: str, value: Any) -> None:
        with self._lock:
            self._db.execute("INSERT OR REPLACE INTO named VALUES (?, ?)", (key, _dumps(value)))

    def bump(self, key: str) -> int:
        """Add one to the number `key` (0 if it is not there) and return it."""
        number = int(self.get(key, 0)) + 1
        self.set(key, number)
        return number

    def new_id(self, prefix: str) -> str:
        """`prefix1`, `prefix2`, …: never the same twice, even if a record is removed."""
        return f"{prefix}{self.bump(f'last:{prefix}')}"

    # -- records ---------------------------------------------------------------------------------------------------

    def put(self, kind: str, id: str, value: Any, vector: Vectors | None = None) -> None:
        """Add a record at the end, or replace it where it stands; without `vector` an old one stays."""
        blob = None if vector is None else np.asarray(vector, np.float32).tobytes()
        with self._lock:
            self._db.execute(
                "INSERT INTO records (kind, id, value, vector) VALUES (?, ?, ?, ?) ON CONFLICT (kind, id) DO UPDATE "
                "SET value = excluded.value, vector = COALESCE(excluded.vector, vector)",
                (kind, id, _dumps(value), blob),
            )

    def remove(self, kind: str, id: str) -> None:
        with self._lock:
            self._db.execute("DELETE FROM records WHERE kind = ? AND id = ?", (kind, id))

    def records(self, kind: str) -> dict[str, Any]:
        """Values of the records of a kind by id, in order."""
        with self._lock:
            rows = self._db.execute(
                "SELECT id, value FROM records WHERE kind = ? ORDER BY position", (kind,)
            ).fetchall()
        return {id: json.loads(value) for id, value in rows}

    def vectors(self, kind: str) -> tuple[list[str], Vectors]:
        """Ids and vectors, shape (n, dim), of the records of a kind that have one, in order."""
        with self._lock:
            rows = self._db.execute(
                "SELECT id, vector FROM records WHERE kind = ? AND vector IS NOT NULL ORDER BY position", (kind,)
            ).fetchall()
        if not rows:
            return [], np.zeros((0, 0), np.float32)
        return [id for id, _ in rows], np.stack([np.frombuffer(vector, np.float32) for _, vector in rows])

    # -- turns -----------------------------------------------------------------------------------------------------

    def take(self, turns: Iterable[Turn]) -> None:
        """Remember that these turns have been processed, and what they say."""
        for turn in turns:
            value = {name: getattr(turn, name) for name in ("speaker", "text", "session", "caption")}
            self.put("turn", turn.id, value | {"time": turn.time and turn.time.isoformat()})

    def turns(self) -> list[Turn]:
        """The turns processed so far, in order."""
        known = self.records("turn")
        times = {id: value.pop("time") for id, value in known.items()}
        return [Turn(id=id, time=times[id] and datetime.fromisoformat(times[id]), **known[id]) for id in known]

    def new(self, turns: Iterable[Turn]) -> list[Turn]:
        """Those turns that are still to be processed."""
        known = self.records("turn")
        return [turn for turn in turns if turn.id not in known]

    # -- all of it -------------------------------------------------------------------------------------------------

    def count(self, kind: str) -> int:
        with self._lock:
            return int(self._db.execute("SELECT count(*) FROM records WHERE kind = ?", (kind,)).fetchone()[0])

    def export(self, path: Path) -> None:
        """Write values and records, without vectors, as sorted JSON lines; equal memories give equal files."""
        with self._lock:
            values = self._db.execute("SELECT 'value', key, value FROM named").fetchall()
            rows = values + self._db.execute("SELECT kind, id, value FROM records").fetchall()
        lines = [_dumps({"kind": kind, "id": id, "value": json.loads(value)}) for kind, id, value in rows]
        path.write_text("".join(f"{line}\n" for line in sorted(lines)), encoding="utf-8")

    def close(self) -> None:
        self._db.close()


def _dumps(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
