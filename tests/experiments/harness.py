"""The harness in tests: the shipped configs, the invented mini conversation, the stand-in memory, no W&B."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hydra import compose, initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from omegaconf import OmegaConf

from experiments import resolvers  # noqa: F401 - config files use what it registers
from experiments.runner import run

ROOT = Path(__file__).parents[2]
MINI = ROOT / "tests/cases/data/mini_locomo.json"
STAND_IN = (
    "method=stand_in",
    "dataset=locomo",
    f"dataset.path={MINI}",
    "dataset.verify=false",
    "tracker=none",
)
MINI_QUESTIONS = 13


@contextmanager
def composing() -> Iterator[None]:
    """Hydra ready to compose the shipped configs."""
    GlobalHydra.instance().clear()
    with initialize_config_dir(str(ROOT / "conf"), version_base="1.3"):
        yield


def config_of(*overrides: str) -> dict[str, Any]:
    """The shipped config under `overrides`, resolved and plain. Test configs are found too."""
    path = f"hydra.searchpath=[file://{ROOT / 'tests/conf'}]"
    with composing():
        composed = compose("config", [path, *overrides])
    plain = OmegaConf.to_container(composed, resolve=True, throw_on_missing=True)
    assert isinstance(plain, dict)
    return {str(key): value for key, value in plain.items()}


def run_mini(folder: Path, *overrides: str) -> dict[str, Any]:
    """A run of the stand-in on the mini conversation with `folder` as launch directory; its status."""
    return run(config_of(*with_defaults(overrides)), folder)


def with_defaults(overrides: Sequence[str]) -> list[str]:
    """`overrides` after those of STAND_IN that they do not replace (another data set replaces all of its keys)."""
    groups = {override.split("=")[0] for override in overrides}
    kept = [default for default in STAND_IN if default.split("=")[0] not in groups]
    return [default for default in kept if not ("dataset" in groups and default.startswith("dataset."))] + [*overrides]


def rows_of(status: Mapping[str, Any], name: str = "predictions.jsonl") -> list[dict[str, Any]]:
    """The rows of a run, in the order of the file."""
    return [json.loads(line) for line in (Path(status["run"]) / name).read_text().splitlines()]


def read(status: Mapping[str, Any], name: str) -> Any:
    """A JSON file of a run."""
    return json.loads((Path(status["run"]) / name).read_text())


def command(*overrides: str, module: str = "run") -> list[str]:
    """The real command, with the stand-in and without W&B unless `overrides` say otherwise."""
    multirun = ["-m"] if "-m" in overrides else []
    flags = ["--config-dir", str(ROOT / "tests/conf")]
    rest = with_defaults([override for override in overrides if override != "-m"])
    return [sys.executable, "-m", f"experiments.{module}", *multirun, *flags, *rest]


def run_command(
    folder: Path, *overrides: str, module: str = "run", **environment: str
) -> subprocess.CompletedProcess[str]:
    """The command run to its end, started in `folder`."""
    return subprocess.run(
        command(*overrides, module=module),
        cwd=folder,
        env=clean_environment(**environment),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        stdin=subprocess.DEVNULL,
    )


def clean_environment(**environment: str) -> dict[str, str]:
    """This process's environment without keys, with this source tree on the path."""
    kept = {key: value for key, value in os.environ.items() if not key.endswith("_API_KEY") and key != "TRIMEM_CACHE"}
    return {**kept, "PYTHONPATH": str(ROOT), **environment}
