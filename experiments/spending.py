"""What a run has cost over all its starts."""

import threading
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from experiments.run_dir import read_as, write_json
from experiments.settings import Budget, Settings
from trimem.errors import BudgetReached
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

    def now(self) -> dict[str, dict[str, Any]]:
        """This start alone."""
        return {stage: asdict(cost) for stage, cost in self._usage().items()}

    def save(self) -> None:
        """Write it down, so that a kill loses no cost."""
        with self._lock:
            write_json(self.path, self.total())


class Purse:
    """The budget of one command that makes several runs: each is given what the ones before it left."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._calls, self._usd = 0, 0.0

    def spend(self, cost: Mapping[str, Any]) -> None:
        """Count what a run has cost in this start."""
        self._calls += cost["calls"]
        self._usd += cost["usd"] or 0.0

    def left(self) -> Budget:
        """What may still be spent. Raises BudgetReached where that is nothing."""
        budget = self.settings.budget
        calls = None if budget.calls is None else budget.calls - self._calls
        usd = None if budget.usd is None else budget.usd - self._usd
        if (calls is not None and calls <= 0) or (usd is not None and usd <= 0):
            raise BudgetReached("the budget is used up; start again with more to go on.")
        return Budget(usd=usd, calls=calls)


def _add(a: float | None, b: float | None) -> float | None:
    return None if a is None or b is None else a + b


def sum_of(stages: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Calls, tokens and dollars of all stages together; a sum with something unknown in it is unknown."""
    total: dict[str, Any] = {}
    for key in ("calls", "prompt_tokens", "completion_tokens", "usd"):
        parts = [stage[key] for stage in stages.values()]
        total[key] = None if any(part is None for part in parts) else sum(parts)
    return total
