"""The directory of one run: who works in it, its manifest, and whether this version can read it."""

import fcntl
import hashlib
import json
import os
import re
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from experiments.rows import write_atomically
from trimem.errors import BadInput

T = TypeVar("T")
SCHEMA = 1
"""Version of a run directory's layout; a directory of another one is refused."""


@contextmanager
def run_directory(path: Path) -> Iterator[Path]:
    """`path`, created and held by this process alone. Raises BadInput if another process holds it, or its schema."""
    path.mkdir(parents=True, exist_ok=True)
    with (path / ".lock").open("a+") as lock:
        _take(lock, path)
        _check_schema(path)
        yield path


def _take(lock: IO[str], path: Path) -> None:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        lock.seek(0)
        holder = lock.read().strip() or "another process"
        raise BadInput(
            f"{path} is being worked on by {holder}; wait for it, or choose another seed or name."
        ) from error
    lock.truncate(0)
    lock.write(f"process {os.getpid()} on {socket.gethostname()}")
    lock.flush()


def _check_schema(path: Path) -> None:
    manifest = read_json(path / "manifest.json")
    if manifest is not None and manifest.get("schema") != SCHEMA:
        raise BadInput(
            f"{path} has schema {manifest.get('schema')}, this version reads {SCHEMA}: "
            "move it away, set paths.runs to another folder, or use the version that wrote it."
        )


def read_json(path: Path) -> dict[str, Any] | None:
    """The object in a JSON file; None where there is no file. Raises BadInput if it is no whole JSON object."""
    if not path.exists():
        return None
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{path} is not whole JSON ({error}); move its folder away and start again.") from error
    if not isinstance(value, dict):
        raise BadInput(f"{path} does not hold a JSON object; move its folder away and start again.")
    return value


def read_as(kind: type[T], path: Path) -> T | None:
    """The JSON file as a `kind` (any annotation that pydantic reads); None where there is none. Raises BadInput."""
    value = read_json(path)
    try:
        return None if value is None else TypeAdapter(kind).validate_python(value)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise BadInput(
            f"{path} is not what this version writes ({where}: {first['msg'].lower()}); "
            "move its folder away and start again."
        ) from error


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    """Strict, readable JSON, replaced in one step."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=1)
    write_atomically(path, (text + "\n").encode("utf-8", "replace"))


def folder_name(id: str) -> str:
    """A conversation id as a folder name: itself where harmless, else its harmless part and a hash.

    An id that looks like such a name is hashed as well, so that no two ids share a folder.
    """
    plain = re.sub(r"[^A-Za-z0-9_-]", "_", id)[:60]
    if plain == id and id and not re.search(r"-[0-9a-f]{16}\Z", id):
        return id
    return f"{plain}-{hashlib.sha256(id.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Wait for, and hold, a lock beside `path`: for the few files that several runs share."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.with_suffix(".lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
