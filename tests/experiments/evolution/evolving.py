"""Whole evolutions on the sample set with the scripted model: planted weaknesses, and models that go wrong."""

import json
import random
import re
import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

from experiments.evolution.lineage import Version, read_lineage
from experiments.evolution.study import evolve
from tests.experiments.harness import config_of
from trimem import prompts
from trimem.llm.base import Reply, Request
from trimem.llm.scripted import Scripted

BULLETS = {"split": "- One fact per entry", "resolve": "- Turn relative time", "keep": "- Keep details"}
SAMPLE = ("backbone=scripted", "embedder=hash", "tracker=none", "cache.mode='off'")
FACTS = {"_target_": "hydra.utils.get_object", "path": "experiments.data.sample.FACTS"}


def plant(folder: Path, weakness: str) -> Path:
    """The shipped extraction prompt without one of its rules."""
    shipped = prompts.load("extract")
    kept = [line for line in shipped.text.splitlines() if not line.startswith(BULLETS[weakness])]
    assert len(kept) == len(shipped.text.splitlines()) - 1
    path = folder / "seed.md"
    path.write_text(replace(shipped, text="\n".join(kept) + "\n").source)
    return path


def drawn(seed: int) -> str:
    """A weakness by a seed."""
    return random.Random(seed).choice(sorted(BULLETS))


def evolved(folder: Path, weakness: str, *overrides: str, optimizer: str = "textgrad", **nodes: Any) -> "Result":
    """Run an evolution in `folder`; `nodes` replace whole groups of the config after it is composed."""
    seed = plant(folder, weakness)
    config = config_of(*SAMPLE, f"evolution={optimizer}", f"prompts.extract={seed}", *overrides)
    for key, node in nodes.items():
        group, _, inner = key.partition("__")
        config[group] = {**config[group], inner: node} if inner else node
    return Result(evolve(config, folder))


class Result:
    """What an evolution left on disk."""

    def __init__(self, status: Mapping[str, Any]) -> None:
        self.status = status
        self.directory = Path(status["run"])

    @property
    def lineage(self) -> list[Version]:
        return read_lineage(self.directory / "lineage.jsonl")

    @property
    def report(self) -> dict[str, Any]:
        report: dict[str, Any] = json.loads((self.directory / "evolution.json").read_text())
        return report

    def score(self, version: str, split: str) -> float:
        value = self.report["scores"][version][split]
        return float(value["f1_locomo"] if split == "test" else value)

    @property
    def rules(self) -> str:
        """The evolved extraction prompt."""
        return prompts.load(self.directory / "best" / "extract.md").rules


class Spy(Scripted):
    """The scripted model, with every message of an evolution's backward calls kept."""

    seen: ClassVar[list[str]] = []

    def complete(self, request: Request) -> Reply:
        if request.stage == "evolve":
            Spy.seen.append("\n".join(message.content for message in request.messages))
        return super().complete(request)


class Twisted(Scripted):
    """Scripted but for its improved prompts, which `twist` spoils."""

    def twist(self, text: str) -> str:
        raise NotImplementedError

    def complete(self, request: Request) -> Reply:
        reply = super().complete(request)
        if request.stage == "evolve" and "<IMPROVED_VARIABLE>" in reply.text:
            return replace(reply, text=self.twist(reply.text))
        return reply


class Harmful(Twisted):
    """Takes rules away."""

    def twist(self, text: str) -> str:
        return re.sub(r"- (?:Keep|One fact|Turn).*\n", "", text)


class Leaking(Twisted):
    """Writes a train question into the prompt."""

    def twist(self, text: str) -> str:
        return text.replace("- Keep", "- Tell how long is the bench in it.\n- Keep", 1)


class Untagged(Twisted):
    """Forgets the tags."""

    def twist(self, text: str) -> str:
        return text.replace("IMPROVED_VARIABLE", "VARIABLE")


class Unstructured(Twisted):
    """Drops a key of the output."""

    def twist(self, text: str) -> str:
        return text.replace('"topic"', '"theme"').replace("`topic`", "`theme`")


class Rambling(Scripted):
    """Never writes patterns that can be read."""

    def complete(self, request: Request) -> Reply:
        if request.stage == "evolve" and request.schema:
            return Reply("Well, it could be better.")
        return super().complete(request)


class Killed(BaseException):
    """Stands for a kill: nothing catches it."""


class Dying(Scripted):
    """Dies in its n-th call of a stage, once."""

    plan: tuple[str, int] | None = None
    counts: ClassVar[Counter[str]] = Counter()
    lock = threading.Lock()

    def complete(self, request: Request) -> Reply:
        with Dying.lock:
            Dying.counts[request.stage] += 1
            if Dying.plan and Dying.counts[request.stage] >= Dying.plan[1] and request.stage == Dying.plan[0]:
                raise Killed
        return super().complete(request)


def model(kind: type[Scripted]) -> dict[str, Any]:
    """A config node for one of these models."""
    target = f"{kind.__module__}.{kind.__name__}"
    return {"_target_": target, "_partial_": True, "script": FACTS, "concurrency": 4}
