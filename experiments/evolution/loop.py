"""The evolution itself: forward, loss, attribution, backward, candidates, check, decision; a row a candidate.

Everything that a step has finished lies on disk, and an optimizer keeps no state, so a killed evolution goes on.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from experiments.console import Steps, say, track
from experiments.data.types import Dataset
from experiments.evolution.cases import batch, feeding, find_cases
from experiments.evolution.decision import Decision, decide
from experiments.evolution.lineage import Version, diff, read_lineage, write_lineage, write_prompts
from experiments.evolution.measure import Bench, Prompts
from experiments.evolution.settings import EvolutionSettings
from experiments.run_dir import read_json, write_json
from experiments.spending import sum_of
from trimem.evolution.base import Candidate, Case, PromptOptimizer, Proposal
from trimem.evolution.guard import Guard
from trimem.prompts import Prompt


@dataclass(frozen=True)
class Edit:
    """A candidate on its way through the checks; `version` becomes its row."""

    prompts: Prompts
    version: Version


@dataclass
class Evolution:
    """Steps from the seed prompts to the best ones, as far as the lineage says they are not done."""

    directory: Path
    settings: EvolutionSettings
    seed: Prompts
    seed_number: int
    optimizer: PromptOptimizer
    guard: Guard
    bench: Bench
    usage: Callable[[], Mapping[str, Mapping[str, Any]]]
    lineage: list[Version] = field(init=False)

    def __post_init__(self) -> None:
        self.lineage = read_lineage(self.directory / "lineage.jsonl")

    def run(self) -> Prompts:
        """The best prompts on validation. `best/` holds them at any time, `step-k/` those after step k."""
        current = self.current()
        write_prompts(self.directory / "best", dict(current))
        done = max((version.step for version in self.lineage), default=0)
        steps = Steps(self.settings.steps, done)
        for step in range(done + 1, self.settings.steps + 1):
            if self.stopped():
                break
            self.bench.told = steps.next()
            current = self._step(step, current)
        self.bench.told = ""
        return current

    def current(self) -> Prompts:
        """The prompts that the lineage has led to."""
        prompts = dict(self.seed)
        for version in self.lineage:
            if version.accepted:
                text = (self.directory / "candidates" / f"{version.id}.txt").read_text(encoding="utf-8")
                prompts[version.prompt] = replace(prompts[version.prompt], text=text)
        return prompts

    def stopped(self) -> bool:
        """Whether as many steps in a row as `patience` allows kept nothing."""
        kept: dict[int, bool] = {}
        for version in self.lineage:
            kept[version.step] = kept.get(version.step, False) or version.accepted
        last = list(kept.values())[-self.settings.patience :]
        return len(last) == self.settings.patience and not any(last)

    def _step(self, step: int, current: Prompts) -> Prompts:
        before = sum_of(self.usage())
        material = self.bench.material
        asked = batch(material.train, material.golds, self.settings.batch, self.seed_number * 1000 + step)
        scores = self.bench.scores(current, asked)
        failed = {id: score for id, score in scores.items() if score < self.settings.failing}
        cases = find_cases(self.bench, current, asked, failed, self.settings.signal)
        edits: list[Edit] = []
        for name in track(self.settings.prompts, len(self.settings.prompts), f"{self.bench.told}critiques and edits"):
            proposal = self._proposal(step, name, current[name], feeding(name, cases, self.settings.signal))
            edits += self._checked(step, name, current, proposal, cases)
        rows, chosen = self._judge(edits, current, asked, scores)
        after = sum_of(self.usage())
        rows[0] = rows[0].costing(before, after)
        self._keep(step, rows, chosen)
        return chosen or current

    def _proposal(self, step: int, name: str, prompt: Prompt, cases: Sequence[Case]) -> Proposal:
        """What the optimizer makes of the prompt; kept, so that no kill asks for it twice."""
        if self.optimizer.needs_cases and not cases:
            return Proposal(problems=("no failure that this prompt can cause",))
        path = self.directory / "proposals" / f"{step}-{name}.json"
        kept = read_json(path)
        if kept is None:
            history = {v.step: v.critique for v in self.lineage if v.prompt == name and v.critique}
            kept = asdict(self.optimizer.propose(prompt, cases, list(history.values())))
            path.parent.mkdir(parents=True, exist_ok=True)
            write_json(path, kept)
        candidates = tuple(Candidate(**candidate) for candidate in kept["candidates"])
        return Proposal(candidates, kept["critique"], tuple(kept["cases"]), tuple(kept["problems"]))

    def _checked(self, step: int, name: str, current: Prompts, proposal: Proposal, cases: Sequence[Case]) -> list[Edit]:
        """An edit a distinct candidate, or one without a text where there is none; `reason` tells what was refused."""
        base = Version(
            step=step,
            prompt=name,
            id="",
            parent=current[name].hash,
            accepted=False,
            reason="; ".join(proposal.problems) or "no candidate",
            critique=proposal.critique,
            problems=list(proposal.problems),
            caused_by=list(proposal.cases),
            misses=dict(sorted(Counter(case.miss for case in cases).items())),
        )
        edits = []
        for candidate in dict.fromkeys(proposal.candidates):
            if candidate.problem:
                edits.append(Edit({}, replace(base, reason=candidate.problem)))
                continue
            prompt = replace(current[name], text=candidate.text.strip() + "\n")
            problems = [*self.guard.problems(candidate.text, current[name]), *self._tried(prompt)]
            row = replace(base, id=prompt.hash, reason="; ".join(problems), diff=diff(current[name], prompt.text))
            self._save_text(prompt)
            edits.append(Edit({} if problems else {**current, name: prompt}, row))
        return edits or [Edit({}, base)]

    def _tried(self, prompt: Prompt) -> list[str]:
        """A text that was not kept is not looked at again: that would be a second draw from the same questions."""
        steps = [version.step for version in self.lineage if version.id == prompt.hash]
        return [f"it was tried in step {steps[0]}"] if steps else []

    def _judge(
        self, edits: Sequence[Edit], current: Prompts, asked: Dataset, scores: Mapping[str, float]
    ) -> tuple[list[Version], Prompts | None]:
        """All candidates meet the batch; the best of them, if it loses nothing there, is looked at on validation."""
        measured = [self.bench.scores(edit.prompts, asked) if edit.prompts else {} for edit in edits]
        means = [_mean(values) if values else None for values in measured]
        known = [mean for mean in means if mean is not None]
        best = means.index(max(known)) if known else -1
        rows: list[Version] = []
        chosen: Prompts | None = None
        for n, (edit, values) in enumerate(zip(edits, measured, strict=True)):
            row = replace(edit.version, look=self.looks())
            if values:
                row = replace(row.compared(scores, values), train=means[n], train_parent=_mean(scores))
            if values and n != best:
                row = replace(row, reason="another candidate of this step was no worse on the train questions")
            elif values and _mean(values) < _mean(scores):
                row = replace(row, reason="it lost on the train questions")
            elif values:
                row, accepted = self._look(row, edit.prompts, current)
                chosen = edit.prompts if accepted else None
            rows.append(row)
        return rows, chosen

    def looks(self) -> int:
        """How often validation was looked at to decide on an edit."""
        return max((version.look for version in self.lineage), default=0)

    def _look(self, row: Version, prompts: Prompts, current: Prompts) -> tuple[Version, bool]:
        """The decision, on validation."""
        data = self.bench.material.val
        before, after = self.bench.scores(current, data), self.bench.scores(prompts, data)
        decision: Decision = decide(
            before, after, self.bench.conversations, self.settings.min_gain, self.settings.min_probability
        )
        row = replace(
            row.compared(before, after),
            accepted=decision.accepted,
            reason=decision.reason,
            val=_mean(after),
            val_parent=_mean(before),
            probability=decision.probability,
            look=self.looks() + 1,
        )
        return row, decision.accepted

    def _keep(self, step: int, rows: Sequence[Version], chosen: Prompts | None) -> None:
        """Prompt files first, the lineage last: a step without its rows is not done."""
        if chosen:
            write_prompts(self.directory / f"step-{step}", dict(chosen))
            write_prompts(self.directory / "best", dict(chosen))
        self.lineage += rows
        write_lineage(self.directory / "lineage.jsonl", self.lineage)
        for row in rows:
            say(f"step {step}, {row.prompt}: {'kept' if row.accepted else 'not kept'}, {row.reason}")

    def _save_text(self, prompt: Prompt) -> None:
        folder = self.directory / "candidates"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{prompt.hash}.txt").write_text(prompt.text, encoding="utf-8")


def _mean(values: Mapping[str, float]) -> float:
    return sum(values.values()) / len(values)
