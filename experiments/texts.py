"""`texts.jsonl`: what reasoners were given, each text once; rows of `predictions.jsonl` point at it."""

import json
import threading
from collections.abc import Iterable
from pathlib import Path

from experiments.rows import to_line, write_atomically
from trimem.types import Item

Key = tuple[str, str, str]
"""Conversation, kind and id of an item."""


class TextFile:
    """Item texts of one run. Appending is safe from several threads of one process; a torn line is dropped."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._known = set(self.read())
        self._lock = threading.Lock()

    def read(self) -> dict[Key, str]:
        """Every kept text; empty where the run is older than this file."""
        found: dict[Key, str] = {}
        for line in self.path.read_bytes().split(b"\n") if self.path.exists() else ():
            try:
                row = json.loads(line)
                found[row["conversation"], row["kind"], row["id"]] = row["text"]
            except (ValueError, KeyError, TypeError):
                continue  # half a line of a killed process, or the end: its item is kept again when it is next read
        return found

    def keep(self, conversation: str, items: Iterable[Item]) -> None:
        """Add the texts that are new."""
        with self._lock:
            new: dict[Key, str] = {(conversation, item.kind, item.id): item.text for item in items}
            new = {key: text for key, text in new.items() if key not in self._known}
            if new:
                self._known |= set(new)
                with self.path.open("ab") as file:
                    file.write(b"\n" + _lines(new))

    def finish(self) -> None:
        """Rewrite the file in order, so that equal runs have equal files."""
        write_atomically(self.path, _lines(self.read()))


def _lines(texts: dict[Key, str]) -> bytes:
    rows = [{"conversation": c, "kind": kind, "id": id, "text": texts[c, kind, id]} for c, kind, id in sorted(texts)]
    return b"".join(map(to_line, rows))
