"""`estimate=true`: what a run would ask of its model, without a key and before the first call.

The run is made in a scratch directory, the simulated model and a hashing embedder in place of the real ones: windows,
prompts and questions are the real ones, the replies (and so the facts in later prompts) have an assumed length.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rich.table import Table

from experiments.answering import Answering, Opener
from experiments.console import print_table, say
from experiments.data.types import Dataset
from experiments.services import Services
from experiments.settings import Settings
from trimem.errors import BadInput
from trimem.llm.models import name_at
from trimem.llm.simulated import Simulated

RANGE = "Prompts of facts and questions are the real ones; replies are assumed, so take half to twice of `out`."


class Priced(Simulated):
    """The simulated model under another's name and endpoint, so that the meter counts with that one's prices."""

    def __init__(self, backbone: Mapping[str, Any]) -> None:
        self.endpoint = backbone.get("endpoint")
        super().__init__(model=name_at(str(backbone.get("model", "simulated")), str(self.endpoint)))

    @property
    def identity(self) -> Mapping[str, Any]:
        return {**super().identity, "endpoint": self.endpoint}


def estimate(
    config: Mapping[str, Any], settings: Settings, dataset: Dataset, opener: Callable[[Services], Opener]
) -> dict[str, Any]:
    """Print calls, tokens and dollars by stage; the job's status. Raises BadInput where there is no model to ask."""
    if not config["backbone"]:
        raise BadInput("estimate=true needs a model to estimate for: name one, such as backbone=gpt-4.1-mini.")
    hashing = {"_target_": "trimem.embedding.HashEmbedder", "_partial_": True}
    with TemporaryDirectory() as scratch:
        free = {"cache": {"mode": "off"}, "budget": {"usd": None, "calls": None}}
        paths = {"runs": scratch, "cache": scratch}
        quiet = settings.model_validate({**settings.model_dump(), **free, "paths": paths})
        services = Services({**config, "embedder": hashing}, quiet, Priced(config["backbone"]))
        categories = dict.fromkeys(dataset.question_ids, 0)
        Answering(Path(scratch), dataset, categories, opener(services), settings.workers, commit="").run()
        usage = {stage: asdict(cost) for stage, cost in services.usage().items()}
        services.close()
    print_table(_table(usage))
    say(RANGE)
    return {"exit": 0, "reason": "", "estimate": usage}


def _table(usage: Mapping[str, Mapping[str, Any]]) -> Table:
    table = Table(title="estimate", title_justify="left")
    for column in ("stage", "calls", "tokens in", "tokens out", "dollars"):
        table.add_column(column, justify="left" if column == "stage" else "right")
    names = ("calls", "prompt_tokens", "completion_tokens", "usd")
    rows = {stage: [cost[name] for name in names] for stage, cost in usage.items()}
    totals = [None if None in column else sum(column) for column in zip(*rows.values(), strict=True)]
    for stage, (calls, prompt, completion, usd) in {**rows, "all": totals}.items():
        dollars = "unknown" if usd is None else f"{usd:.4f}"
        table.add_row(stage, f"{calls:,}", f"{prompt:,}", f"{completion:,}", dollars)
    return table
