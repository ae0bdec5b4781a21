"""Runs as they lie on disk, in whatever state: for lists and reports, which need no data file."""

import fcntl
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Literal

from omegaconf import OmegaConf

from experiments.composing import CONF
from experiments.run_dir import SCHEMA, read_json
from trimem.errors import BadInput

State = Literal["done", "running", "stopped", "evolution"]


@dataclass(frozen=True)
class Shelved:
    """One run: its manifest, and its `metrics.json` once it is finished."""

    directory: Path
    manifest: Mapping[str, Any]
    metrics: Mapping[str, Any] | None

    @property
    def hash(self) -> str:
        return str(self.manifest["run"])

    @property
    def experiment(self) -> str:
        return str(self.manifest["experiment"])

    @property
    def method(self) -> str:
        """Its name in `conf/method`, or its class where it has none."""
        target = str(self.manifest["identity"]["method"]["_target_"])
        return method_names().get(target, target.rsplit(".", 1)[-1])

    @property
    def model(self) -> str:
        return str((self.manifest["identity"]["backbone"] or {"model": "no LLM"})["model"])

    @property
    def seed(self) -> int:
        return int(self.manifest["seed"])

    @property
    def state(self) -> State:
        if self.manifest.get("kind") == "evolution":
            return "evolution"
        if self.metrics is not None:
            return "done"
        return "running" if _is_held(self.directory / ".lock") else "stopped"

    @cached_property
    def settings(self) -> dict[str, str]:
        """What makes the method what it is, flat: `retriever.top_k` -> `25`. Without the seed, data and model."""
        identity = self.manifest["identity"]
        backbone = {key: value for key, value in (identity["backbone"] or {}).items() if key not in ("model", "seed")}
        config = self.manifest["config"]
        selected = {key: config["dataset"].get(key) for key in ("split", "conversations", "limit")}
        parts = {"": identity["method"], "backbone": backbone, "embedder": identity["embedder"] or {}}
        prompts = _step(config) if "step" in config else {"prompts": identity["prompts"]}
        parts |= {**prompts, "dataset": selected}
        return _shallowest({key: value for name, node in parts.items() for key, value in _flat(name, node)})


def find_runs(paths: Iterable[Path]) -> list[Shelved]:
    """Every run in or under `paths`, by experiment and hash. Raises BadInput where there is none at all."""
    paths = list(paths)
    manifests = {file for path in paths for depth in ("", "*/", "*/*/") for file in path.glob(f"{depth}manifest.json")}
    if not manifests:
        where = ", ".join(map(str, paths))
        raise BadInput(f"no run in {where}: give a run's directory or the folder that paths.runs names")
    return sorted((_read(file.parent) for file in manifests), key=lambda run: (run.experiment, run.hash))


def find_run(root: Path, name: str) -> Shelved:
    """The run in directory `name`, or the only one under `root` whose hash begins so. Raises BadInput."""
    if (Path(name) / "manifest.json").exists():
        return _read(Path(name))
    found = [run for run in find_runs([root]) if run.hash.startswith(name)]
    if len(found) != 1:
        which = ", ".join(str(run.directory) for run in found) or "none"
        raise BadInput(f"{name} is no run's directory, and {len(found)} runs in {root} have such a hash: {which}")
    return found[0]


def by_experiment(runs: Sequence[Shelved]) -> dict[str, list[Shelved]]:
    """Runs in their groups, as they come."""
    groups: dict[str, list[Shelved]] = {}
    for run in runs:
        groups.setdefault(run.experiment, []).append(run)
    return groups


def differences(runs: Sequence[Shelved]) -> dict[str, str]:
    """By hash: how each run differs from the others of its method, `retriever.top_k=5`; empty if it does not."""
    told = {}
    for run in runs:
        peers = [peer.settings for peer in runs if peer.method == run.method and peer.model == run.model]
        keys = dict.fromkeys(key for settings in peers for key in settings)
        vary = [key for key in keys if len({settings.get(key, "") for settings in peers}) > 1]
        told[run.hash] = " ".join(f"{key}={run.settings[key]}" for key in vary if key in run.settings)
    return told


@cache
def method_names() -> dict[str, str]:
    """Class path -> name in `conf/method`, the only register of methods."""
    files = sorted((CONF / "method").glob("*.yaml"))
    return {str(OmegaConf.select(OmegaConf.load(file), "_target_")): file.stem for file in files}


def _read(directory: Path) -> Shelved:
    manifest = read_json(directory / "manifest.json") or {}
    if manifest.get("schema") != SCHEMA:
        raise BadInput(f"{directory} has schema {manifest.get('schema')}, this version reads {SCHEMA}; move it away")
    return Shelved(directory, manifest, read_json(directory / "metrics.json"))


def _is_held(lock: Path) -> bool:
    """Whether a process works in the directory of this lock."""
    if not lock.exists():
        return False
    with lock.open() as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def _step(config: Mapping[str, Any]) -> dict[str, Any]:
    """The evolution, and the step that wrote the prompts: a step that kept nothing has those of an earlier one."""
    folder = Path(config["method"]["extractor"]["prompt"]).parent
    return {"evolved": folder.parent.name, "step": folder.name.removeprefix("step-").replace("seed", "0")}


def _flat(prefix: str, node: Any) -> Iterator[tuple[str, str]]:
    if isinstance(node, Mapping):
        for key, value in node.items():
            if not str(key).startswith("_"):
                yield from _flat(f"{prefix}.{key}".strip("."), value)
    else:
        yield prefix, str(node).replace("'", "").replace(", ", ",")


def _shallowest(settings: Mapping[str, str]) -> dict[str, str]:
    """Without what only repeats a toggle of the method itself (`retriever.use_raw` beside `use_raw`)."""

    def repeats(key: str) -> bool:
        last = key.rsplit(".", 1)[-1]
        return last != key and settings.get(last) == settings[key]

    return {key: value for key, value in settings.items() if not repeats(key)}
