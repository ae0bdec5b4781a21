"""`predictions.jsonl` and `timings.jsonl`: one JSON row a question, appended as they come, put in order at the end.

A process killed in the middle of a write leaves half a line: it is dropped with a warning and asked again.
"""

import json
import logging
import os
import threading
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

log = logging.getLogger(__name__)

Row = Mapping[str, Any]
"""Keys of a prediction: question_id conversation category prediction status items context_tokens commit."""


PREDICTION = {"question_id": str, "prediction": str, "status": str, "items": list, "context_tokens": dict}
TIMING = {"question_id": str}
"""What a row must hold to be read; another (half a line, a stranger's) counts as torn."""


def is_answered(row: Row) -> bool:
    """Whether a prediction counts as done: failed and empty ones are asked again."""
    return row["status"] == "ok" and bool(row["prediction"].strip())


def to_line(row: Row) -> bytes:
    """Strict JSON in UTF-8, without line breaks inside; raises ValueError on NaN."""
    return (json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n").encode("utf-8", "replace")


class RowFile:
    """Rows by question id in one file. Appending is safe from several threads of one process.

    `done` tells rows that are worth keeping (`is_answered` for predictions) from failures; None: all are. `shape` is
    what a row must hold.
    """

    def __init__(
        self, path: Path, done: Callable[[Row], bool] | None = None, shape: Mapping[str, type] | None = None
    ) -> None:
        self.path = path
        self.done = done
        self._shape = shape or (PREDICTION if done else TIMING)
        self._lock = threading.Lock()

    def read(self) -> dict[str, Row]:
        """The row of each question id: the last one that is done, else the last one."""
        rows: dict[str, Row] = {}
        for number, line in enumerate(self._lines(), start=1):
            row = self._parse(line)
            if row is None:
                log.warning("%s: line %d is torn; its question is asked again", self.path.name, number)
                continue
            id = row["question_id"]
            if self.done is None or self.done(row) or not (id in rows and self.done(rows[id])):
                rows[id] = row
        return rows

    def append(self, row: Row) -> None:
        """Add a row on a line of its own, whatever a killed process left behind."""
        line = to_line(row)
        with self._lock, self.path.open("ab+") as file:
            if file.seek(0, os.SEEK_END) > 0:
                file.seek(-1, os.SEEK_END)
                line = line if file.read(1) == b"\n" else b"\n" + line
            file.write(line)

    def finish(self, order: Iterable[str]) -> None:
        """Rewrite the file in one step: one row a question, in `order`; rows of other questions go."""
        with self._lock:
            self._rewrite(self.read(), order)

    def drop(self, ids: Iterable[str]) -> None:
        """Forget these questions."""
        gone = set(ids)
        with self._lock:
            rows = self.read()
            self._rewrite(rows, [id for id in rows if id not in gone])

    def _rewrite(self, rows: Mapping[str, Row], order: Iterable[str]) -> None:
        write_atomically(self.path, b"".join(to_line(rows[id]) for id in order if id in rows))

    def _parse(self, line: bytes) -> Row | None:
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            return None
        whole = isinstance(row, dict) and all(isinstance(row.get(key), kind) for key, kind in self._shape.items())
        return row if whole else None

    def _lines(self) -> list[bytes]:
        data = self.path.read_bytes() if self.path.exists() else b""
        return [line for line in data.split(b"\n") if line.strip()]


def write_atomically(path: Path, data: bytes) -> None:
    """Replace `path` by `data` so that a reader, or a kill, sees the old file or the new one."""
    draft = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        draft.write_bytes(data)
        draft.replace(path)
    except OSError:
        draft.unlink(missing_ok=True)  # half a draft only takes the room that was lacking
        raise
