"""One run: build a memory from each conversation, ask its questions, keep every row, score them, show the result."""

import inspect
import logging
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from experiments import console, manifest
from experiments.answering import Answering, Builder
from experiments.assemble import assemble
from experiments.data.types import Dataset, GoldBook
from experiments.identity import backbone_identity, content_hash
from experiments.metrics.summary import build_totals, summarise
from experiments.rows import RowFile, is_answered
from experiments.run_dir import SCHEMA, read_json, run_directory, write_json
from experiments.services import Services
from experiments.settings import Settings, checked, read_settings
from experiments.tracking import Tracker
from trimem.errors import BadInput
from trimem.prompts import Prompt

log = logging.getLogger(__name__)

SELECTION: Mapping[str, Any] = {
    "split": str,
    "conversations": list[str] | None,
    "categories": list[int] | None,
    "limit": int | None,
}
"""Keys of a `dataset` node that choose from the data; the others go to its loader."""


def run(config: Mapping[str, Any], launch: Path) -> dict[str, Any]:
    """Do what `config` (resolved, plain) asks and is not done yet. Returns what the job's status records.

    Raises TriMemError where the run cannot go on; what was finished is kept and the same call goes on from there.
    """
    settings = read_settings(config, launch)
    dataset, golds = load_data(config, launch)
    with ExitStack() as stack:
        services = Services(config, settings)
        stack.callback(services.close)
        method = assemble(config, "method", services.makers())
        tracker: Tracker = assemble(config, "tracker", {})
        work = Work(config, settings, dataset, golds, method, services)
        directory = stack.enter_context(run_directory(work.directory))
        return work.do(directory, tracker)


def load_data(config: Mapping[str, Any], launch: Path) -> tuple[Dataset, GoldBook]:
    """The chosen part of the data set, and all golds. A relative path counts from `launch`. Raises BadInput."""
    node = dict(config["dataset"])
    choice = {key: checked(kind, node.pop(key, None), f"dataset.{key}") for key, kind in SELECTION.items()}
    if "path" in node:
        node["path"] = str(launch / Path(checked(str, node["path"], "dataset.path")).expanduser())
    dataset, golds = assemble({"dataset": node}, "dataset", {})
    return dataset.select(golds, **choice), golds


@dataclass
class Work:
    """A run that is described but not begun."""

    config: Mapping[str, Any]
    settings: Settings
    dataset: Dataset
    golds: GoldBook
    method: Callable[..., Any]
    services: Services

    @cached_property
    def prompts(self) -> dict[str, Prompt]:
        return manifest.prompts_of(self.method)

    @cached_property
    def identity(self) -> dict[str, Any]:
        """All that changes a result: the method with its parts, and of the services those that it uses."""
        data = {key: value for key, value in self.config["dataset"].items() if key not in ("path", "verify", *SELECTION)}
        chosen = {conversation.id: content_hash([q.id for q in self.dataset.questions[conversation.id]])
                  for conversation in self.dataset.conversations}
        identity = {
            "method": self.config["method"],
            "dataset": {**data, "sha256": self.dataset.sha256, "questions": chosen},
            "seed": self.settings.seed,
            "prompts": {name: prompt.hash for name, prompt in self.prompts.items()},
        }
        if self.services.llm:
            identity["backbone"] = backbone_identity(self.config["backbone"])
        if self.services.embedder:
            identity["embedder"] = self.config["embedder"]
        return identity

    @property
    def hash(self) -> str:
        return content_hash(self.identity)

    @property
    def directory(self) -> Path:
        return self.settings.paths.runs / self.settings.name / self.hash

    def do(self, directory: Path, tracker: Tracker) -> dict[str, Any]:
        """Build and answer what is missing, then score, show and log."""
        code = manifest.code_version()
        self._write_manifest(directory, code)
        spending = Spending(directory / "usage.json", self.services)
        answering = Answering(directory, self.dataset, self._builder(), self.settings.workers, self.services.llm)
        try:
            reports = answering.run(commit=_commit(code), saved=spending.save)
        finally:
            spending.save()
            self._note_served(directory)
        order = self.dataset.question_ids
        predictions = RowFile(directory / "predictions.jsonl", is_answered)
        predictions.finish(order)
        RowFile(directory / "timings.jsonl").finish(order)
        rows = list(predictions.read().values())
        metrics = summarise(rows, self.golds, self.dataset, build_totals(reports.values()), spending.total())
        write_json(directory / "metrics.json", metrics)
        self._log(tracker, directory, rows, metrics)
        return self._show(directory, rows, metrics)
