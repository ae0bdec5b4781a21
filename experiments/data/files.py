"""Reading a data file: its bytes, its digest, its JSON; every failure is one line that says what to do."""

import hashlib
import json
import logging
from pathlib import Path
from typing import Any

from trimem.errors import BadInput

log = logging.getLogger(__name__)


def read_verified(path: str | Path, expected: str | None, verify: bool, get_it: str) -> tuple[bytes, str, bool]:
    """Bytes of the file, their sha256, and whether that is `expected` (None: there is none to compare with).

    A copy with Windows line ends counts as the original. Raises BadInput if the file cannot be read, or has
    another digest and `verify` is set; `get_it` tells the reader how to get the right one.
    """
    data = _read_bytes(Path(path), get_it)
    digest = hashlib.sha256(data).hexdigest()
    if expected is None or digest == expected:
        return data, digest, expected is not None
    unix = data.replace(b"\r\n", b"\n")
    if hashlib.sha256(unix).hexdigest() == expected:
        log.warning("%s has Windows line ends; read as the original", path)
        return unix, expected, True
    if verify:
        raise BadInput(
            f"{path}: its sha256 is {digest}, not the pinned {expected}. {get_it}, "
            "or set dataset.verify=false to use this file as it is"
        )
    log.warning("%s is not the pinned file (sha256 %s); used unverified", path, digest)
    return data, digest, False


def parse_json(data: bytes, path: str | Path, get_it: str) -> Any:
    """The JSON in `data`; BadInput if it is cut off or no JSON."""
    try:
        return json.loads(data.decode("utf-8"))
    except ValueError as error:
        raise BadInput(f"{path} is not whole JSON ({error}). {get_it}") from error


def _read_bytes(path: Path, get_it: str) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise BadInput(f"cannot read {path} ({error.strerror}). {get_it}") from error
