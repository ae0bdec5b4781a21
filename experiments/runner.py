"""One run: build a memory from each conversation, ask its questions, keep every row, score them, show the result."""

import inspect
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from experiments import console, manifest
from experiments.answering import Answering, Opener, Progress
from experiments.assemble import assemble
from experiments.cache import KEYS, KeyFile
from experiments.data.types import Dataset, GoldBook
from experiments.estimate import estimate
from experiments.exits import complain
from experiments.identity import SELECTION, content_hash, identity, method_name
from experiments.judging import judge_answers, judge_of, verdicts_of
from experiments.metrics.judged import too_few_judged
from experiments.metrics.summary import build_totals, summarise
from experiments.rows import Row
from experiments.run_dir import SCHEMA, read_json, run_directory, write_json
from experiments.services import Services
from experiments.settings import Settings, absolute, checked, read_settings
from experiments.spending import Spending, sum_of
from experiments.tracking import Tracker
from trimem.evolution.guard import benchmark
from trimem.prompts import Prompt
from trimem.protocols import Memory
from trimem.types import Conversation


def run(config: Mapping[str, Any], launch: Path) -> dict[str, Any]:
    """Do what `config` (resolved, plain) asks and is not done yet. Returns what the job's status records.

    Relative paths count from `launch`. Raises TriMemError where the run cannot go on; what was finished is kept and
    the same call goes on from there.
    """
    config = absolute(config, launch)
    settings = read_settings(config)
    dataset, golds = load_data(config)

    def describe(services: Services) -> Work:
        return Work(config, settings, dataset, golds, assemble_method(config, services), services)

    if settings.estimate:
        return estimate(config, settings, dataset, describe)
    with ExitStack() as stack:
        services = Services(config, settings)
        stack.callback(services.close)
        tracker: Tracker = assemble(config, "tracker", {})
        work = describe(services)
        directory = stack.enter_context(run_directory(work.directory))
        return work.do(directory, tracker)


def assemble_method(config: Mapping[str, Any], services: Services) -> Callable[..., Memory]:
    """The configured method with its live parts; called with a directory it opens a memory there."""
    method: Callable[..., Memory] = assemble(config, "method", services.makers())
    return method


def opener(method: Callable[..., Memory]) -> Opener:
    """How the runner opens a memory: of what it can give, the method and its parts get what they name."""
    parts = {key: part for key, part in getattr(method, "keywords", {}).items() if isinstance(part, partial)}

    def open_memory(conversation: Conversation, folder: Path, progress: Progress) -> Memory:
        offered = {"directory": folder, "conversation": conversation.id, "progress": progress}
        made = {key: part(**_wanted(part, offered)) for key, part in parts.items()}
        memory: Memory = method(**made, **_wanted(method, offered))
        return memory

    return open_memory


def _wanted(maker: Callable[..., Any], offered: Mapping[str, Any]) -> dict[str, Any]:
    names = inspect.signature(maker).parameters
    return {name: value for name, value in offered.items() if name in names}


def leaks_of(prompts: Mapping[str, Prompt]) -> list[str]:
    """A line a prompt that holds benchmark text: scores under it are not clean."""
    found = {name: benchmark().found_in(prompt.text) for name, prompt in prompts.items()}
    return [f"prompt {name} holds benchmark text: {', '.join(map(repr, runs))}" for name, runs in found.items() if runs]


def load_data(config: Mapping[str, Any]) -> tuple[Dataset, GoldBook]:
    """The chosen part of the data set, and all golds. Raises BadInput."""
    node = dict(config["dataset"])
    choice = {key: checked(kind, node.pop(key, None), f"dataset.{key}") for key, kind in SELECTION.items()}
    dataset, golds = assemble({"dataset": node}, "dataset", {})
    return dataset.select(golds, **choice), golds


@dataclass
class Work:
    """A run that is described but not begun."""

    config: Mapping[str, Any]
    settings: Settings
    dataset: Dataset
    golds: GoldBook
    method: Callable[..., Memory]
    services: Services

    @cached_property
    def prompts(self) -> dict[str, Prompt]:
        return manifest.prompts_of(self.method)

    @cached_property
    def identity(self) -> dict[str, Any]:
        return identity(
            self.config, self.dataset, self.prompts, self.services.llm, embeds=self.services.embedder is not None
        )

    @property
    def hash(self) -> str:
        return content_hash(self.identity)

    @property
    def directory(self) -> Path:
        return self.settings.paths.runs / self.settings.name / self.hash

    @property
    def open_memory(self) -> Opener:
        return opener(self.method)

    def do(self, directory: Path, tracker: Tracker) -> dict[str, Any]:
        """Build and answer what is missing, then score, log and show."""
        judge = judge_of(self.config.get("judge"), self.services)
        record = manifest.Record(directory / "manifest.json", self.services)
        commit = record.begin(self._description())
        self.services.note_replies(KeyFile(directory / KEYS))
        for leak in leaks_of(self.prompts):
            complain(leak, "warning")
        spending = Spending(directory / "usage.json", self.services.usage)
        answering = Answering(
            directory=directory,
            dataset=self.dataset,
            categories={id: self.golds[id].category for id in self.dataset.question_ids},
            open_memory=self.open_memory,
            workers=self.settings.workers,
            commit=commit,
            llm=self.services.llm,
            saved=spending.save,
            usage=self.services.usage,
        )
        try:
            reports = answering.run()
        except Exception:
            answering.wait()
            raise
        finally:
            spending.save()
            record.note_cost()
            record.note_served()
        rows = answering.finish(self.dataset.question_ids)
        try:
            if judge:
                judge_answers(judge, directory, rows, self.dataset, self.golds)
        finally:
            spending.save()
            verdicts = verdicts_of(directory, rows, self.golds)
            metrics = summarise(rows, self.golds, self.dataset, build_totals(reports), spending.total(), verdicts)
            write_json(directory / "metrics.json", metrics)
        self._log(tracker, directory, rows, metrics)
        return self._show(directory, metrics)

    def _description(self) -> dict[str, Any]:
        """What the manifest says before the first call."""
        data = self.dataset
        tested = set(data.splits.get("test", ())) & {conversation.id for conversation in data.conversations}
        looks = manifest.look(self.settings.paths.runs, data.sha256, self.hash) if tested else 0
        return {
            "schema": SCHEMA,
            "run": self.hash,
            "experiment": self.settings.name,
            "identity": self.identity,
            "config": self.config,
            "dataset": {
                "name": data.name,
                "path": self.config["dataset"].get("path", "bundled"),
                "sha256": data.sha256,
                "verified": data.verified,
                "licence": data.licence,
            },
            "prompts": {name: {"hash": p.hash, "text": p.text} for name, p in self.prompts.items()},
            "seed": self.settings.seed,
            "stamp": self.settings.stamp,
            "runs_that_read_the_test_split": looks,
        }

    def _log(self, tracker: Tracker, directory: Path, rows: list[Row], metrics: dict[str, Any]) -> None:
        """Show the run to the tracker; what goes wrong there is said, and changes nothing else."""
        for problem in tracker.log(directory, read_json(directory / "manifest.json") or {}, rows, metrics):
            complain(f"tracker: {problem}", "warning")

    def _show(self, directory: Path, metrics: dict[str, Any]) -> dict[str, Any]:
        model = self.services.llm.model if self.services.llm else "no LLM"
        method = method_name(self.config["method"])
        console.score_table(metrics, ", ".join(filter(None, [method, model, self.dataset.name, self.settings.stamp])))
        if not self.services.llm:
            console.say("With a model: export OPENAI_API_KEY=…; python -m experiments.run backbone=gpt-4.1-mini")
        console.say(f"run: {directory}")
        reasons = [_too_much_failed(metrics, self.settings.max_failed), *too_few_judged(metrics["headline"])]
        reason = "; ".join(filter(None, reasons))
        spent = sum_of({stage: asdict(cost) for stage, cost in self.services.usage().items()})
        status = {"exit": int(bool(reason)), "reason": reason, "run": str(directory)}
        return {**status, "headline": metrics["headline"], "spent": spent}


def _too_much_failed(metrics: Mapping[str, Any], most: float) -> str:
    """Why a run is no result: more questions, or more windows of dialogue, failed than `most` (a fraction) allows."""
    build = metrics["build"]
    counts = {"questions": (metrics["failed"], metrics["n"]), "windows": (build["failed_windows"], build["windows"])}
    told = [f"{failed} of {n} {what}" for what, (failed, n) in counts.items() if failed > most * n]
    return f"{' and '.join(told)} failed, more than max_failed={most:g} allows" if told else ""
