"""The SQLite file of a memory: its tables, and opening it with every reason for refusal checked."""

import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from trimem.errors import BadInput, storage_problem

SCHEMA_VERSION = "1"
WAIT_SECONDS = 30
"""How long a writer waits for another process before it is refused."""
LOG = "wal_autocheckpoint = 4000"
"""Pages (16 MB) in the log before they are written home: a page that many windows touch is then written once."""
LISTED = "(SELECT value FROM json_each(?))"
"""A list of any length bound as one JSON value: `id IN {LISTED}`."""

# One tokeniser for facts and turns: Porter stems, accents ignored ("Jose" finds "José").
_FTS = "USING fts5(text, tokenize = 'porter unicode61 remove_diacritics 2')"

TABLES = f"""
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE turns (
    row INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, speaker TEXT NOT NULL, text TEXT NOT NULL,
    time TEXT, session TEXT NOT NULL, caption TEXT
);
CREATE TABLE windows (
    start INTEGER PRIMARY KEY, stop INTEGER NOT NULL, failed INTEGER NOT NULL, failures TEXT NOT NULL
);
CREATE TABLE facts (
    row INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, position INTEGER NOT NULL, statement TEXT NOT NULL,
    time TEXT, location TEXT, topic TEXT, keywords TEXT NOT NULL, persons TEXT NOT NULL, entities TEXT NOT NULL,
    sources TEXT NOT NULL, first_day TEXT, last_day TEXT
);
CREATE INDEX facts_time ON facts (first_day, last_day) WHERE first_day IS NOT NULL;
CREATE TABLE given (
    start INTEGER NOT NULL REFERENCES windows ON DELETE CASCADE,
    fact INTEGER NOT NULL REFERENCES facts ON DELETE CASCADE,
    PRIMARY KEY (start, fact)
) WITHOUT ROWID;
CREATE INDEX given_fact ON given (fact);
CREATE TABLE signals (
    kind TEXT NOT NULL, key TEXT NOT NULL, fact INTEGER NOT NULL REFERENCES facts ON DELETE CASCADE,
    PRIMARY KEY (kind, key, fact)
) WITHOUT ROWID;
CREATE INDEX signals_fact ON signals (fact);
CREATE TABLE fact_vectors (row INTEGER PRIMARY KEY REFERENCES facts ON DELETE CASCADE, vector BLOB NOT NULL);
CREATE TABLE turn_vectors (row INTEGER PRIMARY KEY REFERENCES turns ON DELETE CASCADE, vector BLOB NOT NULL);
CREATE VIRTUAL TABLE fact_text {_FTS};
CREATE VIRTUAL TABLE turn_text {_FTS};
CREATE TABLE aliases (
    key TEXT NOT NULL, name TEXT NOT NULL, person TEXT NOT NULL, turn TEXT NOT NULL REFERENCES turns (id),
    PRIMARY KEY (key, person)
) WITHOUT ROWID;
CREATE TABLE profiles (key TEXT PRIMARY KEY, person TEXT NOT NULL, sections TEXT NOT NULL, facts TEXT NOT NULL)
    WITHOUT ROWID;
"""


class Database:
    """One connection shared by all threads behind one lock. Raises BadInput where the file cannot serve the caller."""

    def __init__(self, path: Path, fingerprint: str, conversation: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.lock = threading.RLock()
        self._commits = 0
        self._connection = sqlite3.connect(path, timeout=WAIT_SECONDS, isolation_level=None, check_same_thread=False)
        self._connection.row_factory = sqlite3.Row
        try:
            self._prepare(path, fingerprint, conversation)
        except sqlite3.DatabaseError as error:
            self.close()
            if storage_problem(error):
                raise
            raise BadInput(f"{path} cannot be opened as a memory ({error}): move it away and build again.") from error
        except BadInput:
            self.close()
            raise

    def close(self) -> None:
        with self.lock:
            self._connection.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing. Raises BadInput if another process keeps writing for longer than `WAIT_SECONDS`."""
        with self.lock:
            try:
                self._connection.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError as error:
                if storage_problem(error):
                    raise
                raise BadInput(f"the memory is in use by another process ({error}): let it end first.") from error
            try:
                yield
                self._connection.execute("COMMIT")
                self._commits += 1
            except BaseException:
                if self._connection.in_transaction:  # a full disk has rolled back already
                    self._connection.execute("ROLLBACK")
                raise

    @property
    def version(self) -> tuple[int, int]:
        """Changes with every commit: the first number with those of other processes, the second with our own."""
        return self.number("PRAGMA data_version"), self._commits

    def rows(self, sql: str, *values: object) -> list[sqlite3.Row]:
        with self.lock:
            return self._connection.execute(sql, values).fetchall()

    def execute(self, sql: str, *values: object) -> None:
        self._connection.execute(sql, values)

    def number(self, sql: str, *values: object) -> int:
        """The one number that `sql` selects."""
        return int(self.rows(sql, *values)[0][0])

    def insert(self, table: str, rows: Sequence[Sequence[object]], verb: str = "INSERT") -> None:
        """Add whole rows to `table` (a name, or a name with its columns)."""
        if rows:
            marks = ", ".join("?" * len(rows[0]))
            self._connection.executemany(f"{verb} INTO {table} VALUES ({marks})", rows)

    def meta(self, key: str) -> str:
        """What the memory says of itself; "" where it says nothing."""
        found = self.rows("SELECT value FROM meta WHERE key = ?", key)
        return str(found[0][0]) if found else ""

    def set_meta(self, key: str, value: str) -> None:
        self.insert("meta", [(key, value)], "INSERT OR REPLACE")

    def _prepare(self, path: Path, fingerprint: str, conversation: str) -> None:
        for setting in ("foreign_keys = ON", "journal_mode = WAL", "synchronous = NORMAL", LOG):
            self._connection.execute(f"PRAGMA {setting}")
        with self.transaction():
            if not self.number("SELECT count(*) FROM sqlite_master"):
                for statement in TABLES.split(";\n"):
                    self._connection.execute(statement)
                self.set_meta("schema", SCHEMA_VERSION)
            self._check_schema(path)
            self._check_embedder(path, fingerprint)
            self._check_conversation(path, conversation)

    def _check_schema(self, path: Path) -> None:
        ours = self.number("SELECT count(*) FROM sqlite_master WHERE name = 'meta'")
        schema = (self.meta("schema") if ours else "") or "(none)"
        if schema != SCHEMA_VERSION:
            raise BadInput(
                f"{path} has schema {schema}, this version reads schema {SCHEMA_VERSION}: "
                f"delete {path.parent} and build again."
            )

    def _check_embedder(self, path: Path, fingerprint: str) -> None:
        stored = self.meta("embedder")
        if fingerprint in ("", stored):
            return
        if self.number("SELECT EXISTS (SELECT 1 FROM facts) OR EXISTS (SELECT 1 FROM turn_vectors)"):
            raise BadInput(
                f"{path} was built with the embedder {stored or '(none)'}, not with {fingerprint}: "
                f"choose the embedder it was built with, or delete {path.parent} and build again."
            )
        self.set_meta("embedder", fingerprint)

    def _check_conversation(self, path: Path, conversation: str) -> None:
        stored = self.meta("conversation")
        if conversation in ("", stored):
            return
        if stored:
            raise BadInput(f"{path} holds conversation {stored!r}, not {conversation!r}: give each its own directory.")
        self.set_meta("conversation", conversation)
