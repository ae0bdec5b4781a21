"""Looking after the reply cache: its size, pruning, and cassettes (some of its replies as a text file)."""

import json
import sqlite3
import time
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from trimem.errors import BadInput
from trimem.llm.cache import open_replies, read_reply

COLUMNS = ("key", "model", "stage", "created", "reply")
DAY = 86_400.0


class Size(NamedTuple):
    """What the cache holds of one model and stage."""

    model: str
    stage: str
    replies: int
    bytes: int


def sizes(cache: Path) -> list[Size]:
    """By model and stage, in order."""
    query = "SELECT model, stage, count(*), sum(length(reply)) FROM replies GROUP BY model, stage ORDER BY 1, 2"
    with closing(_existing(cache)) as database:
        return [Size(*row) for row in database.execute(query)]


def prune(cache: Path, model: str | None, days: float | None) -> int:
    """Delete the replies of `model` that are older than `days` (None: any) and give the room back; how many went."""
    before = time.time() - (days or 0.0) * DAY
    query = "DELETE FROM replies WHERE model = coalesce(?, model) AND created <= ?"
    with closing(_existing(cache)) as database:
        with database:
            gone = database.execute(query, (model, before)).rowcount
        database.execute("VACUUM")
    return gone


def export(cache: Path, keys: Iterable[str], cassette: Path) -> tuple[int, int]:
    """Write the replies of `keys` to a JSONL file, sorted by key; how many, and how many keys are no longer kept."""
    wanted = sorted(set(keys))
    query = f"SELECT {', '.join(COLUMNS)} FROM replies WHERE key = ?"
    with closing(_existing(cache)) as database:
        rows = [row for key in wanted if (row := database.execute(query, (key,)).fetchone())]
    lines = [json.dumps(dict(zip(COLUMNS, row, strict=True))) for row in rows]
    cassette.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return len(rows), len(wanted) - len(rows)


def load(cache: Path, cassette: Path) -> int:
    """Add a cassette's replies to the cache, made where there is none; how many were new. What is kept already stays.

    Raises BadInput, and adds nothing, where a line is no reply.
    """
    try:
        lines = cassette.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{cassette} cannot be read as a cassette: {error}") from error
    rows = [_row(line, f"{cassette}, line {number}") for number, line in enumerate(lines, 1)]
    with closing(open_replies(cache)) as database, database:
        return database.executemany("INSERT OR IGNORE INTO replies VALUES (?, ?, ?, ?, ?)", rows).rowcount


def _row(line: str, place: str) -> tuple[str | float, ...]:
    try:
        entry = json.loads(line)
        read_reply(entry["reply"])
        return tuple(entry[column] for column in COLUMNS)
    except (ValueError, KeyError, TypeError) as error:
        raise BadInput(f"{place} is no kept reply ({type(error).__name__}: {error}); export it again.") from error


def _existing(cache: Path) -> sqlite3.Connection:
    if not cache.is_file():
        raise BadInput(f"there is no LLM cache at {cache}: name another with --cache.")
    return open_replies(cache)
