"""Downloading one pinned file: streamed, continued where it broke off, checked, and only then put in place."""

import logging
import urllib.error
import urllib.request
from http.client import HTTPException
from pathlib import Path
from typing import IO

from experiments.data.files import read_bytes
from experiments.data.sources import PinnedFile
from trimem.errors import BadInput

log = logging.getLogger(__name__)

TIMEOUT = 30
"""Seconds without a byte after which a server counts as gone."""


def download(file: PinnedFile, folder: Path, allow_unverified: bool = False) -> Path:
    """Fetch `file` into `folder` and return its path. A file that is already there and right is left alone.

    Raises BadInput if the server cannot be reached or breaks off (what came is kept, a second call continues),
    or if size or digest are not the pinned ones: then nothing is kept, unless `allow_unverified`.
    """
    target = folder / file.name
    if target.exists() and is_right(target, file):
        return target
    folder.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f"{target.name}.part")
    try:
        _fetch(file, part)
    except (OSError, HTTPException) as error:
        raise BadInput(
            f"{file.url}: {error}. Run the command again to continue, or fetch it by hand and set dataset.path to it"
        ) from error
    if not is_right(part, file) and not allow_unverified:
        found = file.digest_of(part.read_bytes())
        part.unlink()
        raise BadInput(
            f"{file.url} sent {found}, pinned is {file.digest}; nothing was kept. "
            "Try again, or take it as it is with --allow-unverified"
        )
    part.replace(target)
    return target


def is_right(path: Path, file: PinnedFile) -> bool:
    """Whether the file at `path` has the pinned digest."""
    return file.digest_of(read_bytes(path, "")) == file.digest


def _fetch(file: PinnedFile, part: Path) -> None:
    """Append to `part` what is missing; start afresh if the server cannot continue."""
    have = part.stat().st_size if part.exists() else 0
    request = urllib.request.Request(file.url, headers={"Range": f"bytes={have}-"} if have else {})
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT) as reply:
            continued = reply.status == 206
            log.info("%s: %s", file.name, f"continuing at {have:,} bytes" if continued else "downloading")
            with part.open("ab" if continued else "wb") as out:
                _copy(reply, out, reply.length)
    except urllib.error.HTTPError as error:
        if error.code != 416 or not have:  # 416: nothing is left to send; the digest tells whether it is whole
            raise


def _copy(reply: IO[bytes], out: IO[bytes], length: int | None) -> None:
    """Copy in pieces; raises OSError if the connection ends before `length` bytes."""
    copied = 0
    while piece := reply.read(1 << 20):
        out.write(piece)
        copied += len(piece)
    if length is not None and copied < length:
        raise OSError(f"broke off after {copied:,} of {length:,} bytes")
