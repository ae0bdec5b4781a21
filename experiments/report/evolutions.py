"""Evolutions of prompts in a report: the score over steps, and for a page the versions with their diffs."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from experiments.console import percent
from experiments.evolution.lineage import Version, read_lineage
from experiments.metrics.stats import Cell
from experiments.report.figures import Kind, errorbars, legend
from experiments.report.tables import Table, Text
from experiments.run_dir import read_json
from experiments.shelf import Shelved
from trimem.prompts import load


@dataclass(frozen=True)
class Evolved:
    """One evolution, and the finished runs among which those under its prompts are."""

    run: Shelved
    runs: Sequence[Shelved]

    @property
    def name(self) -> str:
        return f"evolution_{self.run.hash}"

    @property
    def title(self) -> str:
        changed = ", ".join(self.run.manifest["identity"]["evolution"]["prompts"])
        return f"evolution {self.run.hash} of {changed}, {self.run.model}"

    @cached_property
    def lineage(self) -> list[Version]:
        return read_lineage(self.run.directory / "lineage.jsonl")

    @cached_property
    def record(self) -> Mapping[str, Any]:
        """`evolution.json`; empty while it goes on."""
        return read_json(self.run.directory / "evolution.json") or {}

    @property
    def metric(self) -> str:
        return str(self.run.manifest["identity"]["evolution"]["metrics"][0])

    @cached_property
    def validation(self) -> list[float | None]:
        """The mean after each step, the seed's first; None until anything was looked at."""
        seed = self.record.get("scores", {}).get("seed", {}).get("val")
        looked = [version.val_parent for version in self.lineage if version.val_parent is not None]
        means: list[float | None] = [seed if seed is not None or not looked else looked[0]]
        for step in range(1, max((version.step for version in self.lineage), default=0) + 1):
            kept = [v.val for v in self.lineage if v.step == step and v.accepted]
            means.append(kept[-1] if kept else means[-1])
        return means

    @cached_property
    def trained(self) -> list[float | None]:
        """The mean after each step on the questions that it drew from train; the seed's on those of the first."""
        means: list[float | None] = []
        for step in range(len(self.validation)):
            rows = [version for version in self.lineage if version.step == max(step, 1) and version.train is not None]
            kept = [version.train for version in rows if version.accepted and step]
            means.append(kept[-1] if kept else rows[0].train_parent if rows else None)
        return means

    @cached_property
    def tested(self) -> list[Cell | None]:
        """The score of each step's prompts on conversations that the evolution has not seen, where a run has it."""
        return [self._tested(self._prompts(step)) for step in range(len(self.validation))]

    def _prompts(self, step: int) -> dict[str, str]:
        """Name -> hash of the prompts after a step."""
        folders = [self.run.directory / f"step-{n}" for n in range(step, 0, -1)]
        folder = next((path for path in folders if path.exists()), None)  # a step that kept nothing has none
        if folder is None:
            return {name: prompt["hash"] for name, prompt in self.run.manifest["prompts"].items()}
        return {file.stem: load(file).hash for file in folder.glob("*.md")}

    def _tested(self, prompts: Mapping[str, str]) -> Cell | None:
        split, data = self.run.manifest["split"], self.run.manifest["dataset"]["sha256"]
        for run in self.runs:
            asked = run.manifest["identity"]["dataset"]["questions"] if run.metrics else {}
            used = {name: prompt["hash"] for name, prompt in run.manifest["prompts"].items()}
            unseen = not set(asked) & {*split["train"], *split["val"]}
            same = run.model == self.run.model and run.manifest["dataset"]["sha256"] == data
            if run.metrics and unseen and same and prompts and prompts.items() <= used.items():
                cell: Cell = run.metrics["headline"][self.metric]
                return cell
        return None

    @property
    def tables(self) -> list[Table]:
        """The score over steps, and the trace of every candidate (paper D.5)."""
        return [self.table, self._trace()]

    def _trace(self) -> Table:
        rows = []
        for v in self.lineage:
            scores = [f"{_mean(v.train_parent)} → {_mean(v.train)}", f"{_mean(v.val_parent)} → {_mean(v.val)}"]
            change = " / ".join(v.diff.splitlines())
            told = (_kept(v), v.reason, v.critique, change)
            rows.append((str(v.step), v.prompt, _called(v), v.parent, *scores, *told))
        columns = ("step", "prompt", "version", "made from", "train", "validation", "kept", "why", "critique", "change")
        cells = tuple(tuple(Text(text) for text in row) for row in rows)
        return Table(f"{self.name}_trace", f"{self.title}: every candidate", columns, cells)

    @property
    def table(self) -> Table:
        """A row a step."""
        rows = []
        for step, (train, val, cell) in enumerate(zip(self.trained, self.validation, self.tested, strict=True)):
            changed = [v.prompt for v in self.lineage if v.step == step and v.accepted]
            told = "seed" if not step else f"{', '.join(changed)} changed" if changed else "nothing kept"
            rows.append((str(step), told, _mean(train), _mean(val), percent(cell), str(cell["n"]) if cell else "–"))
        columns = ("step", "prompts", *(f"{split} {self.metric}" for split in ("train", "validation", "test")), "n")
        notes = [
            "train: the questions that a step drew, so steps differ in them; – where no candidate was tried on them",
            "validation decided on each edit, so its score is no finding",
            "test: prompts of each step, frozen and run afterwards (experiment=ablation_evolution_steps), for analysis",
        ]
        if stamp := self.run.manifest.get("stamp"):
            notes.append(str(stamp))
        cells = tuple(tuple(Text(text) for text in row) for row in rows)
        return Table(self.name, self.title, columns, cells, tuple(notes))

    @property
    def kinds(self) -> list[Kind]:
        """Its figure; none before the first step."""
        return [("steps", f"{self.metric} over steps", self._paint)] if len(self.validation) > 1 else []

    def _paint(self, axes: Any) -> None:
        train = ("train, each step's questions", self.trained, ":^")
        for name, means, style in (train, ("validation, which decides", self.validation, "-s")):
            known = [(step, 100 * mean) for step, mean in enumerate(means) if mean is not None]
            axes.plot([x for x, _ in known], [y for _, y in known], style, label=name, markersize=4)
        tested = [(step, cell) for step, cell in enumerate(self.tested) if cell]
        errorbars(axes, [x for x, _ in tested], [cell for _, cell in tested], "test, frozen prompts, 95%", "-o")
        axes.set_xticks(range(len(self.validation)))
        axes.set_xlabel("step")
        axes.set_ylabel(f"{self.metric}, %")
        legend(axes)

    def page(self) -> dict[str, Any]:
        """What `evolution.html.j2` shows."""
        files = sorted((self.run.directory / "best").glob("*.md"))
        return {
            "title": self.title,
            "facts_of_run": f"{self.run.experiment} · {self.run.hash} · seed {self.run.seed}",
            "stamp": self.run.manifest.get("stamp", ""),
            "table": self.table,
            "figure": f"{self.name}_steps" if self.kinds else "",
            "trees": list(self._trees()),
            "steps": list(self._steps()),
            "prompts": [(file.stem, load(file)) for file in files],
        }

    def _trees(self) -> Iterator[dict[str, Any]]:
        """A root a prompt, its seed; each version, `n` in the lineage, below the one that it was made from."""
        for name in dict.fromkeys(version.prompt for version in self.lineage):
            nodes: dict[str, dict[str, Any]] = {}
            for n, version in enumerate(self.lineage):
                if version.prompt == name:
                    seed: dict[str, Any] = {"n": None, "told": f"{name} {version.parent} (seed)", "made": []}
                    node = {"n": n, "told": f"step {version.step}: {_called(version)}, {_kept(version)}", "made": []}
                    parent = nodes.setdefault(version.parent, seed)
                    parent["made"].append(node)
                    if version.accepted:
                        nodes[version.id] = node
            yield next(iter(nodes.values()))

    def _steps(self) -> Iterator[tuple[int, list[dict[str, Any]]]]:
        for step in dict.fromkeys(version.step for version in self.lineage):
            yield step, [_shown(n, version) for n, version in enumerate(self.lineage) if version.step == step]


def evolutions_of(runs: Iterable[Shelved]) -> list[Evolved]:
    """Those among `runs`."""
    runs = list(runs)
    done = [run for run in runs if run.state == "done"]
    return [Evolved(run, done) for run in runs if run.state == "evolution" and _is_described(run.directory)]


def _is_described(directory: Path) -> bool:
    """A pooled report of several evolutions is no evolution of its own."""
    return (directory / "lineage.jsonl").exists()


def _called(version: Version) -> str:
    return version.id or "no version"


def _kept(version: Version) -> str:
    return "kept" if version.accepted else "not kept"


def _shown(n: int, version: Version) -> dict[str, Any]:
    """A version as its row on the page: what it changed, what became of it, and why."""
    pairs = [("train", version.train_parent, version.train), ("validation", version.val_parent, version.val)]
    changes = [f"{name} {_mean(before)} → {_mean(after)}" for name, before, after in pairs if after is not None]
    if version.probability is not None:
        changes.append(f"P(gain > 0) {version.probability:.2f}")
    misses = ", ".join(f"{name} {count}" for name, count in version.misses.items())
    told = [
        ("why", version.reason),
        ("scores", ", ".join(changes)),
        ("better on", " ".join(version.won)),
        ("worse on", " ".join(version.lost)),
        ("misses of the batch", misses),
        ("caused by", " ".join(version.caused_by)),
        ("critique", version.critique),
        ("problems", "; ".join(version.problems)),
    ]
    return {
        "n": n,
        "prompt": version.prompt,
        "id": _called(version),
        "parent": version.parent,
        "kept": _kept(version),
        "told": [(name, text) for name, text in told if text],
        "diff": [(_sign(line), line) for line in version.diff.splitlines()],
    }


def _mean(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f}"


def _sign(line: str) -> str:
    return {"+": "added", "-": "removed"}.get(line[:1], "")
