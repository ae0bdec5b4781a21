"""Test beside train: what was set on train conversations, prompts or rules, may score better there."""

from collections.abc import Mapping, Sequence
from typing import Any

from experiments.console import percent
from experiments.metrics.stats import Cell
from experiments.report.grid import Setting, beside_train
from experiments.report.tables import Table, Text


def gaps(experiment: str, settings: Sequence[Setting]) -> list[Table]:
    """A row a setting that was asked both; no table where none was."""
    rows = [
        tuple(map(Text, [test.first.model, _label(test), kind, *_compared(test, train, kind)]))
        for test, train in beside_train(settings)
        for kind in ("micro", "macro")
    ]
    columns = ("model", "method", "f1_set", "test", "n", "train", "n on train", "train minus test")
    note = "other questions and other conversations, so the difference is not paired"
    table = Table(f"{experiment}_gap", f"{experiment}, test beside train", columns, tuple(rows), (note,))
    return [table] if rows else []


def _label(test: Setting) -> str:
    return " ".join(word for word in test.label.split() if word != "dataset.split=test")


def _compared(test: Setting, train: Setting, kind: str) -> list[str]:
    def find(metrics: Mapping[str, Any]) -> Cell | None:
        cell: Cell | None = metrics["headline" if kind == "micro" else "macro"].get("f1_set")
        return cell

    there, here = test.cell(find), train.cell(find)
    if there is None or here is None or there["mean"] is None or here["mean"] is None:
        return ["–"] * 5
    gap = f"{100 * (here['mean'] - there['mean']):+.1f}"
    return [percent(there), str(there["n"]), percent(here), str(here["n"]), gap]
