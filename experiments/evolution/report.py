"""What an evolution found: its record, the table on the screen, scores beside the split they come from."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.table import Table

from experiments.console import print_table, say

if TYPE_CHECKING:
    from experiments.evolution.study import Evolved


def summary(evolved: "Evolved", tested: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The content of `evolution.json`: scores of the seed and of the best prompts by split; test is read once."""
    scores: dict[str, dict[str, Any]] = {version: dict(values) for version, values in evolved.scores.items()}
    for version, status in tested.items():
        scores[version]["test"] = {name: cell["mean"] for name, cell in status["headline"].items()}
    return {
        "schema": 1,
        "split": evolved.split.name,
        "stamp": evolved.split.stamp,
        "scores": scores,
        "accepted": sum(version.accepted for version in evolved.lineage),
        "candidates": sum(bool(version.id) for version in evolved.lineage),
        "looks_at_validation": max((version.look for version in evolved.lineage), default=0),
        "test_runs": {version: status["run"] for version, status in tested.items()},
        "prompts": evolved.paths["best"],
    }


def show(evolved: Sequence["Evolved"], reports: Sequence[Mapping[str, Any]], metrics: Sequence[str]) -> None:
    """Tables on stdout."""
    for one, report in zip(evolved, reports, strict=True):
        print_table(lineage_table(one))
        print_table(score_table(report, metrics))
        say(
            f"use it: python -m experiments.run "
            f"prompts.extract={one.directory}@best prompts.profile={one.directory}@best"
        )


def lineage_table(evolved: "Evolved") -> Table:
    """A row a candidate."""
    table = Table(title=_titled("lineage", evolved.split.stamp), title_justify="left")
    for column in ("step", "prompt", "version", "train", "validation", "kept", "why"):
        table.add_column(column, overflow="fold")
    for row in evolved.lineage:
        train, val = _change(row.train_parent, row.train), _change(row.val_parent, row.val)
        table.add_row(str(row.step), row.prompt, row.id or "-", train, val, "yes" if row.accepted else "no", row.reason)
    return table


def score_table(report: Mapping[str, Any], metrics: Sequence[str]) -> Table:
    """Seed and best by split; what was chosen on train and validation is no finding, test is."""
    title = (
        f"mean of {', '.join(metrics)}; chosen on train and validation, looked at {report['looks_at_validation']} times"
    )
    table = Table(title=_titled(title, report["stamp"]), title_justify="left")
    for column in ("prompts", "train", "validation", "test"):
        table.add_column(column, justify="left" if column == "prompts" else "right")
    for version, values in report["scores"].items():
        test = values.get("test")
        mean = sum(test[name] for name in metrics) / len(metrics) if test else None
        table.add_row(version, *map(_percent, (values["train"], values["val"], mean)))
    return table


def _titled(title: str, stamp: str) -> str:
    return f"{stamp.upper()}: {title}" if stamp else title


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f}"


def _change(before: float | None, after: float | None) -> str:
    return "-" if after is None else f"{_percent(before)} -> {_percent(after)}"
