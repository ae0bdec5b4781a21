"""What a run was made of: no number without it. Never a secret: no config holds one."""

import platform
import subprocess
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from experiments.peak import forget_peak, peak_bytes
from experiments.run_dir import locked, read_as, write_json
from experiments.services import Services
from trimem.prompts import Prompt

PACKAGES = (
    "trimem",
    "torch",
    "sentence-transformers",
    "faiss-cpu",
    "spacy",
    "openai",
    "numpy",
    "scipy",
    "nltk",
    "hydra-core",
)


def code_version() -> dict[str, Any]:
    """Commit of this source tree and whether it has changes; None where it is no git checkout."""

    def git(*arguments: str) -> str | None:
        command = ["git", "-C", str(Path(__file__).parent), *arguments]
        try:
            return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
        except (OSError, subprocess.CalledProcessError):
            return None

    status = git("status", "--porcelain", "--untracked-files=no")
    return {"commit": git("rev-parse", "HEAD"), "dirty": None if status is None else bool(status)}


def versions() -> dict[str, str]:
    """Python, the platform, and the packages whose version can change a result."""
    found = {"python": platform.python_version(), "platform": platform.platform()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found


def prompts_of(part: Any) -> dict[str, Prompt]:
    """The prompts that a component and all its parts hold, by name."""
    return {prompt.name: prompt for prompt in sorted(_prompts(part, set()), key=lambda prompt: prompt.name)}


def _prompts(value: Any, seen: set[int]) -> Iterator[Prompt]:
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, Prompt):
        yield value
    elif isinstance(value, partial):
        yield from _prompts([getattr(value.func, "prompts", {}), value.keywords], seen)
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _prompts(inner, seen)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _prompts(inner, seen)
    elif type(value).__module__.split(".")[0] in ("trimem", "baselines") or hasattr(value, "prompts"):
        yield from _prompts(getattr(value, "__dict__", {}), seen)


class Looks(BaseModel):
    """Which runs have read the test questions of a data file."""

    runs: list[str]


class Earlier(BaseModel):
    """What a start takes over from the manifest of the starts before it."""

    starts: list[dict[str, Any]]
    model: dict[str, Any] = {}
    judges: dict[str, Any] = {}


def look(runs: Path, sha256: str, run: str) -> int:
    """Note that `run` has read the test questions of this data file; how many runs have."""
    path = runs / ".looks" / f"{sha256[:12]}.json"
    with locked(path):
        known = (read_as(Looks, path) or Looks(runs=[])).runs
        write_json(path, {"sha256": sha256, "runs": sorted({*known, run})})
        return len({*known, run})


def now() -> str:
    """The time of day, for the record only: no result depends on it."""
    return datetime.now(UTC).isoformat(timespec="seconds")


class Record:
    """`manifest.json` over the life of a run: written before the first call, completed after the last."""

    def __init__(self, path: Path, services: Services) -> None:
        self.path = path
        self.services = services
        self.content: dict[str, Any] = {}
        self._begun = 0.0

    def begin(self, description: Mapping[str, Any]) -> str:
        """Write what is known now; every start adds itself. Returns the commit that rows of this start carry."""
        code = code_version()
        before = read_as(Earlier, self.path) or Earlier(starts=[])
        starts = [*before.starts, {"time": now(), **code, "versions": versions()}]
        self.content = {**description, "starts": starts, "model": before.model, "judges": before.judges}
        write_json(self.path, self.content)
        self._begun = time.perf_counter()
        forget_peak()
        return f"{code['commit'] or 'unknown'}{'+changes' if code['dirty'] else ''}"

    def note_cost(self) -> None:
        """Add what this start took so far: seconds, and the most memory held (in a sweep with what earlier jobs left).

        A start that was killed has neither.
        """
        self.content["starts"][-1] |= {
            "seconds": round(time.perf_counter() - self._begun, 1),
            "peak_bytes": peak_bytes(),
        }
        write_json(self.path, self.content)

    def note_served(self) -> None:
        """Add what was asked of the model, what was sent to it, and which model served."""
        tap, provider = self.services.llm, self.services.provider
        if tap is None or not tap.served:
            return
        served = {model: sorted(fingerprints) for model, fingerprints in sorted(tap.served.items())}
        sent, notes = getattr(provider, "sent", {}), getattr(provider, "notes", {})
        self.content["model"] = {"asked": dict(tap.identity), "sent": sent, "notes": notes, "served": served}
        write_json(self.path, self.content)
