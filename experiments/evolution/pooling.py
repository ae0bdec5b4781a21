"""Cross-fitting: each conversation is answered under prompts that never saw it; scores over all of them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from experiments.console import score_table
from experiments.identity import content_hash
from experiments.metrics.summary import summarise
from experiments.rows import RowFile, is_answered
from experiments.run_dir import write_json
from experiments.runner import load_data


def pool(config: Mapping[str, Any], runs: Path, reports: Sequence[Mapping[str, Any]]) -> Path:
    """Tables of the out-of-fold scores, and `cross-fit-<hash>/{seed,best}.json` with all metrics; that directory."""
    directories = {version: [Path(report["test_runs"][version]) for report in reports] for version in ("seed", "best")}
    folder = runs / f"cross-fit-{content_hash([[path.name for path in paths] for paths in directories.values()])}"
    folder.mkdir(parents=True, exist_ok=True)
    dataset, golds = load_data(config)
    for version, paths in directories.items():
        files = [RowFile(path / "predictions.jsonl", is_answered) for path in paths]
        metrics = summarise([row for file in files for row in file.read().values()], golds, dataset, {}, {})
        score_table(metrics, f"out of fold, {len(reports)} folds, {version} prompts, {dataset.name}")
        write_json(folder / f"{version}.json", {**metrics, "runs": [str(path) for path in paths]})
    return folder
