"""What a bench says: figures with their targets, and how times are taken."""

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

TAIL = 0.99


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured number. `target` is the most (or, with `wanted="least"`, the least) that is asked of it."""

    bench: str
    name: str
    value: float
    unit: str
    target: float | None = None
    wanted: Literal["most", "least"] = "most"

    @property
    def ratio(self) -> float | None:
        """Value to target: 1 is the target; None where there is none, or where it is 0."""
        return self.value / self.target if self.target else None

    @property
    def met(self) -> bool | None:
        if self.target is None:
            return None
        return self.value <= self.target if self.wanted == "most" else self.value >= self.target


def seconds(work: Callable[[], object]) -> float:
    """Wall time of one call."""
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def median(work: Callable[[], object], repeats: int) -> float:
    """Median wall time of `repeats` calls, in seconds."""
    return statistics.median(seconds(work) for _ in range(repeats))


def tail(times: Sequence[float]) -> float:
    """The 99th percentile: the smallest time that 99 % of `times` do not exceed."""
    ordered = sorted(times)
    return ordered[min(len(ordered) - 1, int(TAIL * len(ordered)))]
