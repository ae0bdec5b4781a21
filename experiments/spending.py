"""What a run has cost over all its starts."""

import threading
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from experiments.run_dir import read_as, write_json
from trimem.types import StageUsage


class Spending:
    """What all starts of a run have asked of the model, by stage, kept in `usage.json`."""

    def __init__(self, path: Path, usage: Callable[[], Mapping[str, StageUsage]]) -> None:
        self.path = path
        self._before = {stage: asdict(cost) for stage, cost in (read_as(dict[str, StageUsage], path) or {}).items()}
        self._usage = usage
        self._lock = threading.Lock()

    def total(self) -> dict[str, dict[str, Any]]:
        """Earlier starts and this one; a sum with something unknown in it is unknown."""
        total = {stage: dict(cost) for stage, cost in self._before.items()}
        for stage, now in self._usage().items():
            past = total.get(stage, asdict(StageUsage()))
            total[stage] = {key: _add(past[key], value) for key, value in asdict(now).items()}
        return dict(sorted(total.items()))

    def save(self) -> None:
        """Write it down, so that a kill loses no cost."""
        with self._lock:
            write_json(self.path, self.total())


def _add(a: float | None, b: float | None) -> float | None:
    return None if a is None or b is None else a + b
