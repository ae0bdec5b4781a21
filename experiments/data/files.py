"""Reading a data file: its bytes, its digest, its JSON; every failure is one line that says what to do."""

import hashlib
import json
import logging
from pathlib import Path
from typing import Any

from experiments.data.sources import PinnedFile
from trimem.errors import BadInput
from trimem.unicode import whole_unicode

log = logging.getLogger(__name__)


def read_pinned(path: str | Path, pinned: PinnedFile, verify: bool, get_it: str) -> tuple[bytes, str, bool]:
    """Bytes of the file, their sha256, and whether it is the pinned file.

    A copy with Windows line ends counts as the original. Raises BadInput if the file cannot be read, or has
    another digest and `verify` is set; `get_it` tells how to get the right one.
    """
    data = read_bytes(path, get_it)
    if pinned.digest_of(data) == pinned.digest:
        return data, sha256(data), True
    unix = data.replace(b"\r\n", b"\n")
    if pinned.digest_of(unix) == pinned.digest:
        log.warning("%s has Windows line ends; read as the original", path)
        return unix, sha256(unix), True
    if verify:
        raise BadInput(
            f"{path}: its {pinned.digest_of(data)} is not that of {pinned.name} (pinned: {pinned.digest}). {get_it}, "
            "or set dataset.verify=false to use this file as it is"
        )
    log.warning("%s is not the pinned %s (sha256 %s); used unverified", path, pinned.name, sha256(data))
    return data, sha256(data), False


def read_bytes(path: str | Path, get_it: str) -> bytes:
    """The file's content, or BadInput."""
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise BadInput(f"cannot read {path} ({error.strerror}). {get_it}") from error


def parse_json(data: bytes, path: str | Path, get_it: str) -> Any:
    """The JSON in `data`, its unicode whole; BadInput if it is cut off or no JSON."""
    try:
        return whole_unicode(json.loads(data.decode("utf-8")))
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{path} is not whole JSON ({error}). {get_it}") from error


def sha256(data: bytes) -> str:
    """Digest as it stands in manifests."""
    return hashlib.sha256(data).hexdigest()
