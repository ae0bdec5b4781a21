"""What an evolution will ask at most, said before the first call."""

from collections.abc import Mapping
from typing import Any

from experiments.data.types import Dataset
from experiments.evolution.settings import EvolutionSettings
from experiments.evolution.splits import Material
from trimem.memory import windows

PEOPLE = 3
"""Profiles assumed a conversation: how many people get one is known only afterwards."""
PER_FAILURE = 3
"""Backward calls of one failed question: its loss, and one a link back to the prompt."""


def planned_calls(config: Mapping[str, Any], settings: EvolutionSettings, given: Material) -> str:
    """A line with the largest number of calls, by what they are for."""
    edits = settings.steps * len(settings.prompts) * settings.optimizer.get("candidates", 2)
    asked = min(settings.batch, len(given.train.question_ids))
    a_question = (config["planner"].get("calls", 1) if config["method"]["use_planning"] else 0) + 1
    train = (1 + edits) * (_building(config, given.train) + a_question * asked)
    val = (1 + settings.steps) * (_building(config, given.val) + a_question * len(given.val.question_ids))
    backward = settings.steps * len(settings.prompts) * (PER_FAILURE * asked + 1) + edits
    return (
        f"{given.split.name}: {settings.steps} steps ask at most about {train + val + backward:,} calls "
        f"(train {train:,}, validation {val:,}, backward {backward:,}); kept replies cost nothing"
    )


def _building(config: Mapping[str, Any], data: Dataset) -> int:
    extractor = config["extractor"]
    size, overlap = extractor["window"], extractor["overlap"]
    return sum(len(windows(len(c.turns), size, overlap)) + PEOPLE for c in data.conversations)
