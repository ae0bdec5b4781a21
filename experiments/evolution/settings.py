"""The keys of `conf/evolution/*.yaml` besides the optimizer's own."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt, PositiveFloat, PositiveInt

from experiments.settings import Fraction, checked
from trimem.errors import BadInput

Protocol = Literal["split", "paper"]
Signal = Literal["response", "staged"]


class EvolutionSettings(BaseModel):
    """See the comments in `conf/evolution/textgrad.yaml`."""

    model_config = ConfigDict(extra="forbid")

    optimizer: dict[str, Any]
    backward: str | dict[str, Any] | None
    prompts: Annotated[list[Literal["extract", "profile"]], Field(min_length=1)]
    steps: NonNegativeInt
    signal: Signal
    batch: PositiveInt
    metrics: Annotated[list[str], Field(min_length=1)]
    failing: Fraction
    min_gain: Annotated[float, Field(ge=0)]
    min_probability: Fraction
    patience: PositiveInt
    growth: PositiveFloat
    protocol: Protocol
    cross_fit: bool
    test: bool


def read_evolution(config: Mapping[str, Any]) -> EvolutionSettings:
    """The node `evolution` of a resolved config. Raises BadInput, also where none is chosen."""
    if not config["evolution"]:
        raise BadInput("evolution=none changes no prompt: choose evolution=textgrad or evolution=rewrite.")
    settings: EvolutionSettings = checked(EvolutionSettings, dict(config["evolution"]), "evolution")
    if settings.cross_fit and settings.protocol == "paper":
        raise BadInput("evolution.cross_fit=true holds questions out, evolution.protocol=paper holds none: choose one.")
    return settings
