"""An evolution in W&B: curves over steps, one growing table of versions, an artifact a version that was kept."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from experiments.evolution.lineage import Version

COLUMNS = (
    *("step", "prompt", "id", "parent", "accepted", "reason", "train", "val", "probability", "look"),
    *("caused_by", "won", "lost", "critique", "diff", "calls", "prompt_tokens", "completion_tokens", "usd"),
)
COUNTED = ("caused_by", "won", "lost")
"""Columns that show how many questions; `lineage.jsonl` names them."""


def log_steps(wandb: Any, run: Any, directory: Path, lineage: Sequence[Version], report: Mapping[str, Any]) -> None:
    """Everything of a finished evolution, a W&B step a step."""
    table = wandb.Table(columns=list(COLUMNS), log_mode="INCREMENTAL")
    steps = sorted({version.step for version in lineage})
    kept = [step for step in steps if any(v.accepted for v in lineage if v.step == step)]
    for step in steps:
        rows = [version for version in lineage if version.step == step]
        for row in rows:
            table.add_data(*(_shown(row, column) for column in COLUMNS))
        run.log({"lineage": table, **_curves(rows)}, step=step)
        if step in kept:
            aliases = [f"step-{step}", *(["best"] if step == kept[-1] else [])]
            run.log_artifact(_artifact(wandb, directory / f"step-{step}", directory.name), aliases=aliases)
    run.summary.update(_scores(report))


def _curves(rows: Sequence[Version]) -> dict[str, float]:
    """Scores of the step's best candidate, and whether one was kept."""
    curves: dict[str, float] = {"kept": float(any(row.accepted for row in rows))}
    for name in ("train", "train_parent", "val", "val_parent"):
        values = [value for row in rows if (value := getattr(row, name)) is not None]
        curves |= {name: max(values)} if values else {}
    return {**curves, "calls": sum(row.calls for row in rows), "looks": max(row.look for row in rows)}


def _shown(row: Version, column: str) -> Any:
    value = getattr(row, column)
    return len(value) if column in COUNTED else value


def _artifact(wandb: Any, folder: Path, name: str) -> Any:
    artifact = wandb.Artifact(f"prompts-{name}", type="prompt")
    for file in sorted(folder.glob("*.md")):
        artifact.add_file(str(file))
    return artifact


def _scores(report: Mapping[str, Any]) -> dict[str, Any]:
    """Seed and best by split, flat; the stamp where scores need one."""
    flat: dict[str, Any] = {"stamp": report["stamp"]} if report["stamp"] else {}
    for version, splits in report["scores"].items():
        for split, value in splits.items():
            cells = value.items() if isinstance(value, Mapping) else [("score", value)]
            flat |= {f"{version}/{split}/{name}": mean for name, mean in cells}
    return flat
