"""What papers printed, as data beside the tables, and whether a run of ours agrees."""

import csv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from experiments.metrics.stats import Cell
from experiments.shelf import Shelved

Verdict = Literal["OK", "NEAR", "OFF", "NOT RUN", "NO VERDICT"]

NEAR_POINTS = 1.0
"""How far outside our interval a printed number may lie and still be called near, in points of a hundred."""


@dataclass(frozen=True)
class Published:
    """One printed number, a row of `published/*.csv`. `value` is in percent or tokens; None: not known to us.

    `mean`: micro, macro, category, or unknown. `certainty`: read (in the paper itself), second-hand, unknown.
    """

    dataset: str
    model: str
    method: str
    metric: str
    category: str
    mean: str
    n: int | None
    value: float | None
    source: str
    certainty: str


@cache
def published() -> tuple[Published, ...]:
    """Every number in `experiments/published`, in the order of its files."""
    folder = files("experiments") / "published"
    found = []
    for file in sorted(folder.iterdir(), key=lambda file: file.name):
        if file.name.endswith(".csv"):
            found += [_entry(row) for row in csv.DictReader(file.read_text(encoding="utf-8").splitlines())]
    return tuple(found)


def _entry(row: Mapping[str, str]) -> Published:
    numbers: dict[str, Any] = {"n": int(row["n"] or 0) or None, "value": float(row["value"]) if row["value"] else None}
    return Published(**{**row, **numbers})


def about(run: Shelved) -> list[Published]:
    """The printed numbers of this run's method, model and data set."""
    data = run.manifest["dataset"]["name"]
    return [one for one in published() if (one.dataset, one.model, one.method) == (data, run.model, run.method)]


def cell_of(metrics: Mapping[str, Any], entry: Published) -> Cell | None:
    """Our cell that a printed number is held against; None where we measure no such thing."""
    if entry.metric == "tokens":
        found = metrics["context_tokens"].get("total")
    elif entry.category:
        found = metrics["by_category"].get(entry.category, {}).get(entry.metric)
    else:
        found = metrics["macro" if entry.mean == "macro" else "headline"].get(entry.metric)
    return found if found is None or found["mean"] is not None else None


def judge(entry: Published, cell: Cell | None) -> tuple[Verdict, str]:
    """A verdict on one printed number and, where there is none, why."""
    if entry.value is not None and (cell is None or cell["mean"] is None):
        return "NOT RUN", ""
    if reason := _no_verdict(entry):
        return "NO VERDICT", reason
    assert cell is not None
    assert cell["mean"] is not None
    if entry.n is not None and cell["n"] != entry.n:
        return "NO VERDICT", f"other questions: {cell['n']} of ours, {entry.n} of theirs"
    assert entry.value is not None
    low, high = (100 * end for end in cell["ci"] or (cell["mean"], cell["mean"]))
    if cell["ci"] and low <= entry.value <= high:
        return "OK", ""
    return ("NEAR" if low - NEAR_POINTS <= entry.value <= high + NEAR_POINTS else "OFF"), ""


def _no_verdict(entry: Published) -> str:
    """Why this number can bear no verdict, whatever we measure; empty if it can."""
    reasons: Iterable[tuple[bool, str]] = (
        (entry.value is None, "the number is not known to us"),
        (entry.metric == "tokens", "tokens are counted by another tokeniser"),
        (entry.dataset == "perltqa", "the questions and the protocol are not published"),
        (entry.certainty != "read", "the number is known at second hand"),
        (entry.mean == "unknown", "micro or macro is not said"),
    )
    return next((text for holds, text in reasons if holds), "")
