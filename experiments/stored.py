"""A finished run as it lies on disk, with the data set that it was asked from."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from experiments.data.types import Dataset, GoldBook
from experiments.judging import verdicts_of
from experiments.metrics.summary import Scored, score_rows, summarise
from experiments.rows import Row, RowFile, is_answered
from experiments.run_dir import SCHEMA, read_json
from experiments.runner import load_data
from trimem.errors import BadInput

Loader = Callable[[Mapping[str, Any]], tuple[Dataset, GoldBook]]
"""From a run's config to its data set; one that remembers serves many runs on the same data."""


@dataclass(frozen=True)
class StoredRun:
    """What scorers need of a run; `metrics` is the stored `metrics.json`."""

    directory: Path
    manifest: Mapping[str, Any]
    metrics: Mapping[str, Any]
    rows: tuple[Row, ...]
    dataset: Dataset
    golds: GoldBook

    def summarise(self) -> dict[str, Any]:
        """`metrics.json` anew, by the metrics of this version; build and usage as they were."""
        return summarise(
            self.rows, self.golds, self.dataset, self.metrics["build"], self.metrics["usage"], self.verdicts
        )

    def scored(self) -> list[Scored]:
        """Every question of the run with its scores."""
        return score_rows(self.rows, self.golds, self.dataset, self.verdicts)

    @cached_property
    def verdicts(self) -> dict[str, dict[str, bool | None]]:
        """What judges have said, by metric and question id."""
        return verdicts_of(self.directory, self.rows, self.golds)


def open_run(directory: Path, load: Loader = load_data) -> StoredRun:
    """Read a run, its data by `load`.

    BadInput if it is none, is not finished, has another schema, or its data file has changed.
    """
    manifest, metrics = read_json(directory / "manifest.json"), read_json(directory / "metrics.json")
    if manifest is None or metrics is None:
        raise BadInput(f"{directory} holds no finished run; give a directory that a `run:` line named")
    if manifest["schema"] != SCHEMA:
        raise BadInput(f"{directory} has schema {manifest['schema']}, this version reads {SCHEMA}; run it again")
    dataset, golds = load(manifest["config"])
    if dataset.sha256 != manifest["dataset"]["sha256"]:
        raise BadInput(f"{directory} was run on a data file that has changed since; put the old one back")
    rows = RowFile(directory / "predictions.jsonl", is_answered).read()
    return StoredRun(directory, manifest, metrics, tuple(rows.values()), dataset, golds)
