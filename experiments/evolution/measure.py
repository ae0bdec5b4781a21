"""How good a set of prompts is: build the memories with them, ask the questions, score the rows. All of it is kept."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from experiments.answering import Answering
from experiments.data.types import Dataset
from experiments.evolution.lineage import write_prompts
from experiments.evolution.splits import Material
from experiments.identity import content_hash
from experiments.metrics.summary import Scored, score_rows
from experiments.rows import Row, RowFile, is_answered
from experiments.run_dir import folder_name
from experiments.runner import assemble_method, opener
from experiments.services import Services
from experiments.settings import EVOLVED, Settings
from trimem.errors import BadInput
from trimem.prompts import Prompt
from trimem.store import Store

PARTS = {name: part for part, name in EVOLVED.items()}
"""Prompt -> the part of TriMem that works by it."""
Prompts = Mapping[str, Prompt]


def with_prompts(config: Mapping[str, Any], paths: Mapping[str, str]) -> dict[str, Any]:
    """The same config with prompt files of these paths, by the prompt's name."""
    method = dict(config["method"])
    for name, path in paths.items():
        method[PARTS[name]] = {**method[PARTS[name]], "prompt": path}
    return {**config, "method": method}


@dataclass
class Bench:
    """Measures versions on the questions that evolution may see. What was built or answered once is not done again."""

    config: Mapping[str, Any]
    settings: Settings
    services: Services
    material: Material
    metrics: Sequence[str]
    directory: Path
    commit: str = ""
    saved: Callable[[], None] = lambda: None
    told: str = ""

    @cached_property
    def conversations(self) -> Mapping[str, str]:
        """Question id -> conversation id."""
        return {question.id: id for id, asked in self.material.data.questions.items() for question in asked}

    def folder(self, prompts: Prompts) -> Path:
        """Where the memories and rows of these prompts lie."""
        return self.directory / "versions" / content_hash({name: prompt.hash for name, prompt in prompts.items()})

    def scores(self, prompts: Prompts, data: Dataset) -> dict[str, float]:
        """The mean of the chosen metrics for each question of `data`, asking what has no good row yet."""
        rows = self._rows(prompts, data)
        return {one.id: self._score(one) for one in score_rows(rows.values(), self.material.golds, data)}

    def rows(self, prompts: Prompts) -> dict[str, Row]:
        """All rows of these prompts so far, by question id."""
        return RowFile(self.folder(prompts) / "predictions.jsonl", is_answered).read()

    def store(self, prompts: Prompts, conversation: str) -> Store:
        """The memory that these prompts built of a conversation."""
        return Store(self.folder(prompts) / "memory" / folder_name(conversation), conversation=conversation)

    def _rows(self, prompts: Prompts, data: Dataset) -> dict[str, Row]:
        folder = self.folder(prompts)
        paths = write_prompts(folder, dict(prompts))
        method = assemble_method(with_prompts(self.config, paths), self.services)
        answering = Answering(
            directory=folder,
            dataset=data,
            categories={id: self.material.golds[id].category for id in data.question_ids},
            open_memory=opener(method),
            workers=self.settings.workers,
            commit=self.commit,
            llm=self.services.llm,
            saved=self.saved,
            usage=self.services.usage,
            told=self.told,
        )
        try:
            answering.run()
        except Exception:
            answering.wait()
            raise
        finally:
            self.saved()
        answering.finish(self.material.data.question_ids)
        return answering.predictions.read()

    def _score(self, one: Scored) -> float:
        unknown = [name for name in self.metrics if name not in one.answer]
        if unknown:
            raise BadInput(f"evolution.metrics: there is no {', '.join(unknown)}; choose from {', '.join(one.answer)}.")
        return sum(one.answer[name] for name in self.metrics) / len(self.metrics)
