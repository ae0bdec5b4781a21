"""How a command ends: one message on stderr and an exit code, a traceback only for faults of our own."""

import difflib
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from hydra.errors import HydraException, OverrideParseException
from omegaconf.errors import InterpolationToMissingValueError, MissingMandatoryValue, OmegaConfBaseException

from experiments.composing import default_config
from experiments.console import neutral
from trimem.errors import TriMemError, storage_problem

QUOTING = "Put two pairs of quotes around a value with , = # { } quotes or letters outside ASCII: 'key=\"a,b\"'."
STORAGE = (
    "Make room or rights there, or choose other folders with paths.runs and paths.cache; what was finished is kept: "
    "the same command goes on from there."
)
INTERRUPTED = 130


def exit_code(command: Callable[[], int | None]) -> int:
    """Run `command`; what a user can act on becomes one message and its exit code."""
    try:
        return command() or 0
    except KeyboardInterrupt:
        complain("stopped. What was finished is kept: the same command goes on from there.")
        return INTERRUPTED
    except Exception as error:
        if not is_actionable(error):
            raise
        message, code = explain(error)
        complain(message)
        return code


def is_actionable(error: Exception) -> bool:
    """Whether a user can act on it; any other is a fault of ours."""
    ours = isinstance(error, TriMemError | HydraException | OmegaConfBaseException)
    return ours or bool(storage_problem(error))


def complain(message: str, kind: str = "error") -> None:
    """One message on stderr."""
    print(neutral(f"{kind}: {message}"), file=sys.stderr, flush=True)  # noqa: T201 - the command's own voice


def explain(error: Exception) -> tuple[str, int]:
    """What to tell the user about `error`, and the exit code."""
    if isinstance(error, TriMemError):
        return str(error), error.exit_code
    if problem := storage_problem(error):
        return f"{problem}. {STORAGE}", 2
    if isinstance(error, OverrideParseException):
        return f"cannot read {error.override!r}. {QUOTING}", 2
    if isinstance(error, MissingMandatoryValue):
        key = getattr(error, "full_key", None) or "a value"
        hint = " (python -m experiments.data list tells where to get it)" if key == "dataset.path" else ""
        return f"{key} is not set: give it on the command line, {key}=…{hint}", 2
    text = " ".join(f"{error} {error.__cause__ or ''}".split())
    if isinstance(error, InterpolationToMissingValueError):
        key = text.split("Missing mandatory value: ")[-1].split()[0]
        return f"{key} is not set: give it on the command line, {key}=…", 2
    if "Ambiguous value" in text:
        return f"{text.split(' 1. ')[0]}. {QUOTING}", 2
    return _unknown_option(text) or _unknown_key(error) or text, 2


def _unknown_option(text: str) -> str:
    """Where a group has no such file: those it has."""
    found = re.search(r"Could not find '(\S+)/(\S+)' Available options in '\S+': (.*?) Config search path", text)
    if not found:
        return ""
    group, asked, options = found.groups()
    return f"there is no {group}={asked}; choose one of {', '.join(options.split())}.{_closest(asked, options.split())}"


def _unknown_key(error: Exception) -> str:
    """Where a key does not exist: the closest one that does."""
    cause = error.__cause__ if isinstance(error.__cause__, OmegaConfBaseException) else error
    asked = getattr(cause, "full_key", None)
    if not asked or "is not in struct" not in str(cause):
        return ""
    group = asked.partition(".")[0]
    if any(re.match(rf"{re.escape(group)}=[^\[]*,", word) for word in sys.argv):
        return f"{asked} is looked for before a sweep chooses {group}: write ++{asked}=… there."
    known = [key for key in _dotted(default_config()) if not key.endswith("_") and not key.startswith("preset.")]
    ends = {key.rsplit(".", 1)[-1]: key for key in known}
    hint = _closest(asked, known) or _closest(asked.rsplit(".", 1)[-1], ends, ends)
    return f"there is no key {asked}.{hint} --help lists all."


def _closest(asked: str, known: Iterable[str], shown: Mapping[str, str] | None = None) -> str:
    close = difflib.get_close_matches(asked, list(known), n=1, cutoff=0.7)
    return f" Did you mean {(shown or {}).get(close[0], close[0])}?" if close else ""


def _dotted(node: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    for key, value in node.items():
        yield f"{prefix}{key}"
        if isinstance(value, dict):
            yield from _dotted(value, f"{prefix}{key}.")
