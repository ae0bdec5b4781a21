"""Runs of one experiment as rows of a table: seeds of one setting together, each with its scores a question."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from experiments.data.types import Dataset, GoldBook
from experiments.identity import canonical
from experiments.metrics.paired import paired_difference
from experiments.metrics.stats import Cell
from experiments.metrics.summary import Scored
from experiments.rows import RowFile
from experiments.run_dir import read_json
from experiments.runner import load_data
from experiments.shelf import Shelved, differences
from experiments.stored import Loader, StoredRun, open_run


@dataclass(frozen=True)
class Setting:
    """What is compared: runs that differ in nothing but the seed. `told` says how it differs from its peers."""

    runs: tuple[tuple[Shelved, StoredRun], ...]
    told: str

    @property
    def first(self) -> Shelved:
        return self.runs[0][0]

    @property
    def stored(self) -> StoredRun:
        return self.runs[0][1]

    @property
    def label(self) -> str:
        return f"{self.first.method} {self.told}".strip()

    @cached_property
    def scored(self) -> list[list[Scored]]:
        """Questions with their scores, a list a seed."""
        return [stored.scored() for _, stored in self.runs]

    def cell(self, find: Callable[[Mapping[str, Any]], Cell | None]) -> Cell | None:
        """Mean over seeds. They answer the same questions, so they narrow no interval: its ends are averaged."""
        cells = [find(run.metrics) for run, _ in self.runs if run.metrics]
        known = [cell for cell in cells if cell and cell["mean"] is not None]
        if not known:
            return None
        ends = [cell["ci"] for cell in known if cell["ci"]]
        ci = [fmean(end[0] for end in ends), fmean(end[1] for end in ends)] if len(ends) == len(known) else None
        return {"mean": fmean(cell["mean"] or 0.0 for cell in known), "n": known[0]["n"], "ci": ci}

    def between_seeds(self, metric: str) -> float | None:
        """Standard deviation of the headline over seeds; None with one."""
        means = [run.metrics["headline"][metric]["mean"] for run, _ in self.runs if run.metrics]
        return stdev(means) if len(means) > 1 else None

    def by_question(self, metric: str) -> dict[str, float]:
        """Headline questions' scores, averaged over seeds."""
        values: dict[str, list[float]] = {}
        for one in (one for seed in self.scored for one in seed):
            scores = {**one.answer, **one.retrieval}
            if one.category in self.stored.dataset.headline and metric in scores:
                values.setdefault(one.id, []).append(scores[metric])
        return {id: fmean(found) for id, found in values.items()}

    @cached_property
    def build_seconds(self) -> float:
        """Of all memories, mean over seeds."""
        files = [sorted((run.directory / "memory").glob("*/build.json")) for run, _ in self.runs]
        return fmean(sum((read_json(file) or {}).get("seconds", 0.0) for file in found) for found in files)

    def seconds(self, of: str = "seconds") -> float | None:
        """Of one question, retrieval and answer together, or `retrieve_seconds`; None where nothing was timed."""
        timed = [row[of] for run, _ in self.runs for row in _timings(run.directory) if of in row]
        return fmean(timed) if timed else None

    @cached_property
    def run_seconds(self) -> float | None:
        """Wall time of building and answering, all starts together, mean over seeds; None where one is not known."""
        known = [_started(run, "seconds") for run, _ in self.runs]
        return fmean(map(sum, known)) if all(known) else None

    @cached_property
    def peak_bytes(self) -> float | None:
        """The most memory that any start held; None where one is not known."""
        known = [_started(run, "peak_bytes") for run, _ in self.runs]
        return max(map(max, known)) if all(known) else None

    def usage(self, key: str) -> float | None:
        """Sum over stages of one cost, mean over seeds; None if a part of it is unknown."""
        sums = [[cost[key] for cost in (run.metrics or {"usage": {}})["usage"].values()] for run, _ in self.runs]
        return None if any(None in costs for costs in sums) else fmean(sum(costs) for costs in sums)


def remembering() -> Loader:
    """A loader that reads each data set once."""
    known: dict[str, tuple[Dataset, GoldBook]] = {}

    def load(config: Mapping[str, Any]) -> tuple[Dataset, GoldBook]:
        key = canonical(config["dataset"])
        if key not in known:
            known[key] = load_data(config)
        return known[key]

    return load


def settings_of(runs: Iterable[Shelved], load: Loader) -> list[Setting]:
    """The finished ones among `runs` (of one experiment), by model, method and setting."""
    done = [run for run in runs if run.state == "done"]
    told = differences(done)
    groups: dict[str, list[Shelved]] = {}
    for run in sorted(done, key=lambda run: (run.model, run.method, _natural(told[run.hash]), run.seed)):
        identity = {key: value for key, value in run.manifest["identity"].items() if key != "seed"}
        backbone = {key: value for key, value in (identity["backbone"] or {}).items() if key != "seed"}
        groups.setdefault(canonical({**identity, "backbone": backbone}), []).append(run)
    return [
        Setting(tuple((run, open_run(run.directory, load)) for run in group), told[group[0].hash])
        for group in groups.values()
    ]


def beside_train(settings: Sequence[Setting]) -> list[tuple[Setting, Setting]]:
    """Each setting that was asked the test questions, with the same one on train, where there is one."""

    def name(setting: Setting) -> str:
        run = setting.first
        rest = {key: value for key, value in run.settings.items() if key != "dataset.split"}
        return canonical([run.model, run.method, run.manifest["dataset"]["sha256"], rest])

    by_split: dict[str, dict[str, Setting]] = {"test": {}, "train": {}}
    for setting in settings:
        by_split.get(setting.first.settings["dataset.split"], {})[name(setting)] = setting
    return [(test, by_split["train"][key]) for key, test in by_split["test"].items() if key in by_split["train"]]


def not_distinguishable(best: Setting, other: Setting, metric: str) -> bool:
    """Whether the paired difference to the best, on the questions of both, may be nothing."""
    ours, theirs = best.by_question(metric), other.by_question(metric)
    shared = [id for id in ours if id in theirs]
    conversation = {one.id: one.conversation for one in best.scored[0]}
    if not shared:
        return False
    found = paired_difference(
        [ours[id] for id in shared], [theirs[id] for id in shared], [conversation[id] for id in shared]
    )
    return found.mean == 0 if found.ci is None else found.ci[0] <= 0 <= found.ci[1]


def _started(run: Shelved, cost: str) -> list[float]:
    """What each start took; empty where one of them (killed, or of an older version) does not tell."""
    told = [start.get(cost) for start in run.manifest["starts"]]
    return [] if None in told else told


def _timings(directory: Path) -> list[Mapping[str, Any]]:
    return list(RowFile(directory / "timings.jsonl").read().values())


def _natural(text: str) -> list[tuple[int, float, str]]:
    """A key under which `top_k=5` comes before `top_k=10`."""
    words = text.replace("=", " ").split()
    return [(0, float(word), "") if _is_number(word) else (1, 0.0, word) for word in words]


def _is_number(word: str) -> bool:
    try:
        return bool(json.loads(word) is not None) and word[0].isdigit()
    except ValueError:
        return False
