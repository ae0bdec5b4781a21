"""Replies kept in one SQLite file, found again by everything that could have changed them."""

import hashlib
import json
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal, get_args

from trimem.errors import BadInput, storage_problem
from trimem.llm.base import LLM, Provider, Reply, Request, Usage, json_schema

Mode = Literal["use", "refresh", "off", "replay", "peek"]
TABLE = """CREATE TABLE IF NOT EXISTS replies(
    key TEXT PRIMARY KEY, model TEXT NOT NULL, stage TEXT NOT NULL, created REAL NOT NULL, reply TEXT NOT NULL
) WITHOUT ROWID"""


def key_of(identity: Mapping[str, Any], request: Request) -> str:
    """sha256 over the model's identity and everything of the request but its stage and fields, which are not sent."""
    content = {
        "identity": dict(identity),
        "messages": [[message.role, message.content] for message in request.messages],
        "schema": json_schema(request.schema) if request.schema else None,
        "parameters": [request.max_tokens, request.temperature, request.seed],
        "sample": request.sample,
        "logprobs": request.logprobs,
    }
    return hashlib.sha256(json.dumps(content, sort_keys=True, default=str).encode()).hexdigest()


class CachedLLM(Provider):
    """An LLM whose good replies are kept in `path`. Many threads and many processes may share the file.

    `mode`: "use" asks only what is not kept; "refresh" asks everything once more and keeps it anew; "off" neither
    reads nor writes; "replay" never asks: what is not kept raises BadInput; "peek" (for estimates) reads and never
    writes. Only replies with status "ok" are kept. Equal requests under way at the same time in one process are asked
    once. `used` is told the key of each reply that came out of the file or went into it.
    """

    used: Callable[[str], None] = staticmethod(lambda _: None)

    def __init__(self, llm: LLM, path: str | Path, mode: Mode = "use") -> None:
        if mode not in get_args(Mode):
            raise BadInput(f"cache.mode={mode}: choose one of use, refresh, off, replay.")
        self.llm, self.path, self.mode = llm, Path(path), mode
        self.model, self.concurrency = llm.model, llm.concurrency
        self._refreshed: set[str] = set()
        self._flights = _Flights()
        self._lock = threading.Lock()
        nothing = mode == "off" or (mode == "peek" and not self.path.exists())
        self._database = None if nothing else open_replies(self.path)

    @property
    def identity(self) -> Mapping[str, Any]:
        return self.llm.identity

    def complete(self, request: Request) -> Reply:
        if self._database is None:
            return self.llm.complete(request)
        key = key_of(self.identity, request)
        with self._flights.alone(key):
            kept = self._load(key)
            if kept is not None:
                self.used(key)
                return kept
            if self.mode == "replay":
                raise BadInput(
                    f"cache.mode=replay: {self.path} has no reply of {self.model} for this call of stage "
                    f"{request.stage!r}; make the run once with cache.mode=use."
                )
            reply = self.llm.complete(request)
            probe = request.logprobs and reply.status == "length"  # it is meant to be cut
            if self.mode != "peek" and (reply.status == "ok" or probe):
                self._keep(key, request.stage, reply)
            return reply

    def knows(self, request: Request) -> bool:
        return self._database is not None and self._load(key_of(self.identity, request)) is not None

    def _load(self, key: str) -> Reply | None:
        assert self._database is not None
        if self.mode == "refresh" and key not in self._refreshed:
            return None
        with self._lock:
            row = self._database.execute("SELECT reply FROM replies WHERE key = ?", (key,)).fetchone()
        if row is None:
            return None
        return read_reply(row[0])

    def _keep(self, key: str, stage: str, reply: Reply) -> None:
        assert self._database is not None
        stored = json.dumps(asdict(reply), ensure_ascii=True)
        with self._lock, self._database:
            row = (key, self.model, stage, time.time(), stored)
            self._database.execute("INSERT OR REPLACE INTO replies VALUES (?, ?, ?, ?, ?)", row)
            self._refreshed.add(key)
        self.used(key)


class _Flights:
    """One lock a key, for as long as somebody wants it."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._waiting: dict[str, tuple[threading.Lock, int]] = {}

    @contextmanager
    def alone(self, key: str) -> Iterator[None]:
        with self._guard:
            lock, waiting = self._waiting.get(key, (threading.Lock(), 0))
            self._waiting[key] = (lock, waiting + 1)
        try:
            with lock:
                yield
        finally:
            with self._guard:
                waiting = self._waiting[key][1] - 1
                if waiting:
                    self._waiting[key] = (lock, waiting)
                else:
                    del self._waiting[key]


def read_reply(text: str) -> Reply:
    """A kept reply. Raises ValueError, KeyError or TypeError for a text that is none."""
    stored = json.loads(text)
    parts = {"usage": Usage(**stored["usage"]), "logprobs": tuple(stored["logprobs"]), "cached": True}
    return Reply(**{**stored, **parts})


def open_replies(path: Path) -> sqlite3.Connection:
    """The cache file, made where there is none. Raises BadInput for a file that is no cache."""
    path.parent.mkdir(parents=True, exist_ok=True)
    database = sqlite3.connect(path, timeout=60.0, check_same_thread=False)
    try:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = NORMAL")
        database.execute(TABLE)
    except sqlite3.DatabaseError as error:
        database.close()
        if storage_problem(error):
            raise
        raise BadInput(f"{path} cannot be used as LLM cache ({error}): move it away or set paths.cache.") from error
    return database
