"""The keys of a config that concern the harness itself, with their types; a wrong one is named."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, PositiveFloat, PositiveInt, TypeAdapter, ValidationError

from trimem.errors import BadInput

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
    seed: int
    workers: PositiveInt
    device: Literal["auto", "cpu", "cuda", "mps"]
    max_failed: Fraction
    paths: Paths
    cache: Cache
    budget: Budget
    prices: dict[str, tuple[float, float]]


def read_settings(config: Mapping[str, Any], launch: Path) -> Settings:
    """The harness's keys of a resolved config, paths made absolute from `launch`. Raises BadInput."""
    settings: Settings = checked(Settings, dict(config), "")
    paths = Paths(runs=launch / settings.paths.runs.expanduser(), cache=launch / settings.paths.cache.expanduser())
    return settings.model_copy(update={"paths": paths})


def checked(kind: Any, value: Any, key: str) -> Any:
    """`value` as a `kind` (any annotation). Raises BadInput with the full key of what is wrong."""
    try:
        return TypeAdapter(kind, config=None).validate_python(value)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(step) for step in (key, *first["loc"]) if step != "")
        hint = "; quote it in YAML: no, on and 4.10 are not text" if first["type"] == "string_type" else ""
        raise BadInput(f"{where}={first['input']!r}: {first['msg'].lower()}{hint}.") from error
