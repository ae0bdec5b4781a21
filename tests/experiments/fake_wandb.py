"""A module in place of wandb that writes down what it is told, or misbehaves."""

import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import ModuleType, SimpleNamespace
from typing import Any, Self


class FakeRun:
    """One run: its settings, its summary, what was logged."""

    def __init__(self, wandb: "FakeWandb", settings: dict[str, Any]) -> None:
        self.wandb, self.settings = wandb, settings
        self.summary: dict[str, Any] = {}
        self.logged: list[dict[str, Any]] = []
        self.artifacts: list[Any] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.wandb.events.append(("finish", self.settings["id"]))

    def log(self, values: dict[str, Any], step: int | None = None) -> None:
        self.wandb.on_log()
        self.logged.append(values)
        self.wandb.bytes += len(json.dumps([table.data for table in values.values() if hasattr(table, "data")]))

    def log_artifact(self, artifact: Any, aliases: Sequence[str] = ()) -> None:
        artifact.aliases = list(aliases)
        self.artifacts.append(artifact)


class FakeArtifact(SimpleNamespace):
    """Keeps its files' names."""

    def __init__(self, name: str, type: str, metadata: dict[str, Any] | None = None) -> None:
        super().__init__(name=name, type=type, metadata=metadata, files=[])

    @contextmanager
    def new_file(self, name: str, encoding: str = "") -> Iterator[Any]:
        self.files.append(name)
        yield SimpleNamespace(write=lambda text: None)

    def add_file(self, path: str) -> None:
        self.files.append(path)


class FakeWandb(ModuleType):
    """`on_log` is called by every log: raise or sleep there."""

    def __init__(self, on_log: Callable[[], None] = lambda: None) -> None:
        super().__init__("wandb")
        self.on_log = on_log
        self.events: list[tuple[str, str]] = []
        self.runs: list[FakeRun] = []
        self.bytes = 0
        self.Artifact = FakeArtifact

    def init(self, **settings: Any) -> FakeRun:
        self.events.append(("init", settings["id"]))
        self.runs.append(FakeRun(self, settings))
        return self.runs[-1]

    def Table(self, columns: list[str], data: Sequence[Sequence[Any]] = (), log_mode: str = "") -> SimpleNamespace:
        rows = list(data)
        return SimpleNamespace(columns=columns, data=rows, add_data=lambda *row: rows.append(row))

    def Settings(self, **settings: Any) -> dict[str, Any]:
        return settings


def sleep() -> None:
    """A logger that does not come back in time."""
    time.sleep(5)


def refuse() -> None:
    """A logger that has lost its network."""
    raise ConnectionError("the network is gone")
