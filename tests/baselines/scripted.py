"""What the tests of the rivals share: an LLM that follows a script, an embedder that follows a table, dialogues."""

import json
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

import numpy as np

from trimem.llm.base import Provider, Reply, Request
from trimem.protocols import Vectors
from trimem.types import Conversation, Session, Turn

Script = Callable[[Request], Any]
"""A request -> what to reply: a Reply, or text, or JSON data."""


class Scripted(Provider):
    """Replies as the script of the request's stage says, and remembers every request."""

    def __init__(self, scripts: Mapping[str, Script | Any]) -> None:
        self.model, self.concurrency = "scripted", 1
        self.scripts = scripts
        self.requests: list[Request] = []

    @property
    def identity(self) -> Mapping[str, Any]:
        return {"provider": "scripted"}

    def complete(self, request: Request) -> Reply:
        self.requests.append(request)
        script = self.scripts[request.stage]
        said = script(request) if callable(script) else script
        if isinstance(said, Reply):
            return said
        return Reply(said if isinstance(said, str) else json.dumps(said))

    def calls(self) -> Counter[str]:
        return Counter(request.stage.rpartition(":")[2] for request in self.requests)


class Wrapped(Provider):
    """Another LLM, every request of which is remembered and may first be interfered with."""

    def __init__(self, llm: Provider, before: Callable[[int], None] = lambda _: None) -> None:
        self.llm, self.before = llm, before
        self.model, self.concurrency = llm.model, llm.concurrency
        self.requests: list[Request] = []
        self._lock = threading.Lock()

    @property
    def identity(self) -> Mapping[str, Any]:
        return self.llm.identity

    def complete(self, request: Request) -> Reply:
        with self._lock:
            self.requests.append(request)
            number = len(self.requests)
        self.before(number)
        return self.llm.complete(request)


class TableEmbedder:
    """The vector of a text by the words in it: `table` gives a vector a word; the sum is brought to length 1."""

    def __init__(self, table: Mapping[str, Sequence[float]]) -> None:
        self.table = table
        self.dim = len(next(iter(table.values())))
        self.fingerprint = f"table:{self.dim}"

    def encode(self, texts: Sequence[str], query: bool = False) -> Vectors:
        rows = np.zeros((len(texts), self.dim), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word, vector in self.table.items():
                if word in text:
                    row += np.asarray(vector, np.float32)
        return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9), np.float32)


def dialogue(*lines: str, id: str = "c1", per_session: int = 6, prefix: str = "T") -> Conversation:
    """A conversation of lines `Name: text`, `per_session` turns a sitting, one sitting a week from 7 January 2019."""
    sessions = []
    for number, start in enumerate(range(0, len(lines), per_session)):
        time = datetime(2019, 1 + number // 4, 7 + 7 * (number % 4), 18, 30)
        turns = []
        for n, line in enumerate(lines[start : start + per_session], start=start + 1):
            speaker, _, text = line.partition(": ")
            turns.append(Turn(f"{prefix}{n}", speaker, text, time, f"s{number + 1}"))
        sessions.append(Session(f"s{number + 1}", time, tuple(turns)))
    speakers = tuple(dict.fromkeys(line.partition(": ")[0] for line in lines))
    return Conversation(id, speakers, tuple(sessions))
