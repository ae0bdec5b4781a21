"""How much memory this process has held at most, since it began or since it was last asked to forget."""

import contextlib
import resource
import sys
from pathlib import Path

_STATUS, _FORGET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def peak_bytes() -> int:
    """The most memory held so far; on Linux since the program began (not its parent's), or since `forget_peak`."""
    if _STATUS.exists():  # ru_maxrss is inherited from the parent there
        line = next(line for line in _STATUS.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


def forget_peak() -> None:
    """Count from now on: the jobs of a sweep share a process. Where the system cannot, the peak is that of all."""
    with contextlib.suppress(OSError):
        _FORGET.write_text("5")
