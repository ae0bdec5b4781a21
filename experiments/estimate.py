"""`estimate=true`: what a run would still ask of its model, without a key and before the first call.

The run is made twice in a scratch directory, the simulated model and a hashing embedder in place of the real ones, with
replies half and twice as long as assumed. Windows, prompts and questions are the real ones, so what is equal in both is
known; what hangs on replies (facts in later prompts, say) is a range. Kept replies and finished questions cost nothing.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from rich.table import Table

from experiments.answering import Answering, read_report
from experiments.assemble import assemble
from experiments.cache import NAME
from experiments.console import print_table, say
from experiments.data.types import Dataset
from experiments.judging import judge_answers, judge_of, verdicts_of
from experiments.rows import Row, RowFile, is_answered
from experiments.run_dir import folder_name
from experiments.services import Services
from experiments.settings import Settings
from trimem.errors import BadInput
from trimem.llm.base import LLM
from trimem.llm.cache import CachedLLM, Mode
from trimem.llm.openai_compatible import OpenAICompatible, identity_of
from trimem.llm.simulated import Simulated

if TYPE_CHECKING:
    from experiments.runner import Work

LENGTHS = (0.5, 2.0)
RANGE = (
    "Ranges are for replies half to twice as long as assumed; thinking is not in them. One number: known beforehand."
)
COUNTED = ("calls", "prompt_tokens", "completion_tokens", "usd")
Ranges = dict[str, dict[str, tuple[float, float] | None]]
"""By stage and quantity: low and high; None for dollars where the price is not known."""


class Priced(Simulated):
    """The simulated model under another's identity, so that its prices, its kept replies and its runs are found."""

    def __init__(self, identity: Mapping[str, Any], length: float) -> None:
        super().__init__(model=str(identity["model"]), length=length)
        self.real = identity

    @property
    def identity(self) -> Mapping[str, Any]:
        return self.real


def estimate(
    config: Mapping[str, Any], settings: Settings, dataset: Dataset, describe: Callable[[Services], "Work"]
) -> dict[str, Any]:
    """Print calls, tokens and dollars by stage; the job's status. Raises BadInput where there is no model to ask."""
    if not config["backbone"]:
        raise BadInput("estimate=true needs a model to estimate for: name one, such as backbone=gpt-4.1-mini.")
    low, high = (_usage(config, settings, dataset, describe, length) for length in LENGTHS)
    ranges = {stage: {name: _range(low[stage][name], high[stage][name]) for name in COUNTED} for stage in low}
    print_table(_table(ranges))
    say(RANGE)
    return {"exit": 0, "reason": "", "estimate": ranges, "told": told(ranges)}


def told(*estimates: Ranges) -> str:
    """What these come to together: `40 calls, 0.2791 – 0.5282 dollars`."""
    together = {f"{n} {stage}": row for n, ranges in enumerate(estimates) for stage, row in ranges.items()}
    calls, usd = _cell(_total(together, "calls"), "{:,}"), _cell(_total(together, "usd"), "{:,.4f}")
    return f"{calls} calls, {usd} dollars"


def _identity(backbone: Mapping[str, Any]) -> Mapping[str, Any]:
    """The real model's; a client of a server is not made, since it would want its key."""
    if backbone["_target_"] == f"{OpenAICompatible.__module__}.{OpenAICompatible.__qualname__}":
        return identity_of(backbone["model"], backbone["endpoint"], backbone.get("options"))
    identity: Mapping[str, Any] = assemble({"backbone": backbone}, "backbone", {}).identity
    return identity


def _usage(
    config: Mapping[str, Any],
    settings: Settings,
    dataset: Dataset,
    describe: Callable[[Services], "Work"],
    length: float,
) -> dict[str, dict[str, Any]]:
    """What the run still asks, by stage, if simulated models answer, at `length`, whatever is not kept."""
    mode: Mode = "peek" if settings.cache.mode == "use" else "off"

    def stand_in(backbone: Mapping[str, Any]) -> LLM:
        return CachedLLM(Priced(_identity(backbone), length), settings.paths.cache / NAME, mode)

    hashing = {"_target_": "trimem.embedding.HashEmbedder", "_partial_": True}
    free = {"cache": {"mode": "off"}, "budget": {"usd": None, "calls": None}}
    with TemporaryDirectory() as scratch:
        paths = {"runs": scratch, "cache": scratch}
        quiet = settings.model_validate({**settings.model_dump(), **free, "paths": paths})
        with closing(Services({**config, "embedder": hashing}, quiet, stand_in)) as services:
            work = describe(services)
            rest = unfinished(dataset, work.directory)
            categories = dict.fromkeys(rest.question_ids, 0)
            parts = (Path(scratch), rest, categories, work.open_memory, settings.workers)
            answering = Answering(*parts, commit="", told="estimating: ")
            answering.run()
            _judge(work, services, answering.finish(rest.question_ids), Path(scratch))
            return {stage: asdict(cost) for stage, cost in services.usage().items()}


def _judge(work: "Work", services: Services, new: Sequence[Row], scratch: Path) -> None:
    """What the configured judge has still to grade: the new answers, and those of the run that it has not."""
    judge = judge_of(work.config.get("judge"), services)
    if judge:
        rows = list(RowFile(work.directory / "predictions.jsonl", is_answered).read().values())
        known = verdicts_of(work.directory, rows, work.golds).get(judge.metric, {})
        left = [row for row in rows if known.get(row["question_id"]) is None]
        judge_answers(judge, scratch, [*left, *new], work.dataset, work.golds)


def unfinished(dataset: Dataset, run: Path) -> Dataset:
    """The questions without a good row in `run`, and the conversations that have some or are not built."""
    rows = RowFile(run / "predictions.jsonl", is_answered).read()
    done = {id for id, row in rows.items() if is_answered(row)}
    questions = {id: tuple(q for q in asked if q.id not in done) for id, asked in dataset.questions.items()}
    left = tuple(c for c in dataset.conversations if questions[c.id] or not _is_built(run, c.id))
    return replace(dataset, conversations=left, questions={c.id: questions[c.id] for c in left})


def _is_built(run: Path, conversation: str) -> bool:
    return read_report(run / "memory" / folder_name(conversation)) is not None


def _range(one: float | None, other: float | None) -> tuple[float, float] | None:
    return None if one is None or other is None else (min(one, other), max(one, other))


def _table(ranges: Ranges) -> Table:
    table = Table(title="estimate", title_justify="left")
    for column in ("stage", "calls", "tokens in", "tokens out", "dollars"):
        table.add_column(column, justify="left" if column == "stage" else "right")
    for stage, row in {**ranges, "all": {name: _total(ranges, name) for name in COUNTED}}.items():
        table.add_row(stage, *(_cell(row[name], "{:,.4f}" if name == "usd" else "{:,}") for name in COUNTED))
    return table


def _total(ranges: Ranges, name: str) -> tuple[float, float] | None:
    found = [row[name] for row in ranges.values()]
    known = [pair for pair in found if pair is not None]
    return (sum(low for low, _ in known), sum(high for _, high in known)) if len(known) == len(found) else None


def _cell(pair: tuple[float, float] | None, form: str) -> str:
    if pair is None:
        return "unknown"
    low, high = (form.format(end) for end in pair)
    return low if low == high else f"{low} – {high}"
