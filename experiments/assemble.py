"""From a resolved config to live objects.

`_target_` names a class and `_partial_: true` leaves room for what cannot stand in a file: the live services, which
are handed to every part whose constructor names them. The services asked for tell which groups a method uses.
"""

import difflib
import functools
import inspect
import typing
from collections.abc import Callable, Mapping
from typing import Any

from hydra.errors import InstantiationException
from hydra.utils import instantiate

from experiments.settings import checked
from trimem.errors import BadInput, TriMemError

Service = Callable[[str], Any]
"""Makes or returns a live service; is told which part asks, for its message when there is none."""


def assemble(config: Mapping[str, Any], key: str, services: Mapping[str, Service]) -> Any:
    """The object that the node `key` of `config` describes, all its parts within.

    What the runner itself gives (a memory's directory, say) stays open: then the result is a `functools.partial`.
    Raises BadInput for a class that does not exist and for an option that it does not have or has another type for.
    """
    try:
        described = instantiate(config[key], _convert_="all")
    except InstantiationException as error:
        raise _reason(error) from error
    return _complete(described, key, services)


def _reason(error: InstantiationException) -> Exception:
    """A component's own clear refusal as it is; anything else as bad input."""
    if isinstance(error.__cause__, TriMemError):
        return error.__cause__
    text = " ".join(str(error).split())
    return BadInput(text.replace(", set env var HYDRA_FULL_ERROR=1 to see chained exception", ""))


def _complete(part: Any, key: str, services: Mapping[str, Service]) -> Any:
    """Fill what is open in `part`, innermost first; a part that still lacks something stays a partial."""
    if not isinstance(part, functools.partial):
        return part
    parameters = _parameters(part.func)
    options = {name: _complete(value, name, services) for name, value in part.keywords.items()}
    _check_options(part.func, options, parameters, key)
    needs = {name: make(key) for name, make in services.items() if name in parameters and name not in options}
    given = options | needs
    lacking = [name for name, p in parameters.items() if p.default is p.empty and name not in given]
    if lacking:
        return functools.partial(part.func, **given)
    try:
        return part.func(**given)
    except (TypeError, ValueError) as error:
        raise BadInput(f"{key}: {part.func.__qualname__} refuses its options: {error}") from error


def _parameters(target: Any) -> dict[str, inspect.Parameter]:
    """What `target` can be given; for a class that hands `**settings` on, what its base can be given too."""
    found: dict[str, inspect.Parameter] = {}
    for kind in inspect.getmro(target) if inspect.isclass(target) else (target,):
        own = inspect.signature(kind).parameters
        found = {name: p for name, p in own.items() if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)} | found
        if all(p.kind != p.VAR_KEYWORD for p in own.values()):
            break
    return found


def _hints(target: Any) -> dict[str, Any]:
    """The types of all that `_parameters` finds; where a base names the same option, the class itself wins."""
    kinds = reversed(inspect.getmro(target)) if inspect.isclass(target) else ()
    makers = [vars(kind)["__init__"] for kind in kinds if "__init__" in vars(kind)] or [target]
    return {name: hint for make in makers for name, hint in typing.get_type_hints(make, include_extras=True).items()}


def _check_options(
    target: Any, options: Mapping[str, Any], parameters: Mapping[str, inspect.Parameter], key: str
) -> None:
    """The constructor's annotations are the schema: an option must exist; plain data must be of its type and bounds."""
    hints = _hints(target)
    for name, value in options.items():
        if name not in parameters:
            close = difflib.get_close_matches(name, parameters, n=1)
            hint = f"did you mean {close[0]}?" if close else f"it has {', '.join(parameters) or 'none'}."
            raise BadInput(f"{key}.{name}: {target.__qualname__} has no such option; {hint}")
        if name in hints and isinstance(value, str | bool | int | float | list | tuple | dict | None):
            checked(hints[name], value, f"{key}.{name}")
