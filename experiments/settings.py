"""The keys of a config that concern the harness itself, with their types; a wrong one is named."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    TypeAdapter,
    ValidationError,
)

from trimem.errors import BadInput

EVOLVED = {"extractor": "extract", "profiler": "profile"}
"""The parts of TriMem whose prompts can be evolved ones, and the names of these prompts."""
ANY_TYPE = ConfigDict(arbitrary_types_allowed=True)
Fraction = Annotated[float, Field(ge=0, le=1)]


class Paths(BaseModel):
    """Where runs and cached replies lie; absolute once read."""

    runs: Path
    cache: Path


class Cache(BaseModel):
    """How stored replies are used."""

    mode: Literal["use", "refresh", "off", "replay"]


class Budget(BaseModel):
    """What one start may spend; None is no limit."""

    usd: PositiveFloat | None
    calls: PositiveInt | None


class Settings(BaseModel):
    """See the comments in `conf/config.yaml`."""

    name: Annotated[str, Field(pattern=r"^[\w.-]+$")]
    seed: NonNegativeInt
    workers: PositiveInt
    device: Literal["auto", "cpu", "cuda", "mps"]
    max_failed: Fraction
    paths: Paths
    cache: Cache
    budget: Budget
    estimate: bool
    prices: dict[str, tuple[float, float]]
    stamp: str = ""


def absolute(config: Mapping[str, Any], launch: Path) -> dict[str, Any]:
    """The same config in which data, prompt files, runs and caches have absolute paths, counted from `launch`."""
    changed: dict[str, Any] = _absolute_files(config, launch)
    changed["paths"] = {key: _path(value, launch) for key, value in config["paths"].items()}
    for part, name in EVOLVED.items():
        for node in (changed.get(part), changed["method"].get(part)):
            if node and "@" in str(node.get("prompt", "")):
                node["prompt"] = str(_evolved(str(node["prompt"]), name, launch))
    if "path" in config["dataset"]:
        changed["dataset"]["path"] = _path(config["dataset"]["path"], launch)
    return changed


def _evolved(value: str, name: str, launch: Path) -> Path:
    """The file of `<directory of an evolution>@<version>`. Raises BadInput, listing what there is.

    `step-0` is the seed; after its last step an evolution stays where it is.
    """
    folder, _, version = value.rpartition("@")
    root = launch / Path(folder).expanduser()
    if re.fullmatch(r"step-\d+", version):
        steps = [n for n in range(int(version[5:]), 0, -1) if (root / f"step-{n}").is_dir()]
        version = f"step-{steps[0]}" if steps else "seed"
    path = root / version / f"{name}.md"
    if not path.is_file():
        known = sorted(file.parent.name for file in path.parents[1].glob(f"*/{name}.md"))
        raise BadInput(
            f"prompts.{name}={value}: there is no {path}; {folder} has {', '.join(known) or 'no evolved prompts'}."
        )
    return path


def _absolute_files(value: Any, launch: Path) -> Any:
    """Every prompt file, and the data file of an extractor that reads one."""
    if isinstance(value, Mapping):
        return {key: _absolute_files(inner, launch) for key, inner in value.items()}
    return _path(value, launch) if isinstance(value, str) and value.endswith((".md", ".json")) else value


def _path(value: Any, launch: Path) -> Any:
    return str(launch / Path(value).expanduser()) if isinstance(value, str) else value


def read_settings(config: Mapping[str, Any]) -> Settings:
    """The harness's keys of a resolved config. Raises BadInput."""
    settings: Settings = checked(Settings, dict(config), "")
    return settings


def checked(kind: Any, value: Any, key: str) -> Any:
    """`value` as a `kind` (any annotation). Raises BadInput with the full key of what is wrong."""
    is_model = isinstance(kind, type) and issubclass(kind, BaseModel)
    try:
        return TypeAdapter(kind, config=None if is_model else ANY_TYPE).validate_python(value)
    except ValidationError as error:
        first = error.errors()[0]
        steps = [step for step in first["loc"] if not _names_a_type(step)]
        where = ".".join(str(step) for step in (key, *steps) if step != "")
        hint = "; quote it in YAML: no, on and 4.10 are not text" if first["type"] == "string_type" else ""
        raise BadInput(f"{where}={first['input']!r}: {first['msg'].lower()}{hint}.") from error


def _names_a_type(step: int | str) -> bool:
    """Whether a step of pydantic's path is the branch of a union, not a key."""
    return isinstance(step, str) and (step in ("str", "int", "float", "bool", "path", "none") or "[" in step)
