"""A schema's worth of reply from any model: read, checked item by item, asked for once more where nothing is usable."""

import json
import re
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from pydantic import BaseModel

from trimem.llm.base import LLM, Message, Reply, Request, Status, json_schema
from trimem.llm.fitting import fit
from trimem.llm.jsontext import CUT, values

S = TypeVar("S", bound=BaseModel)
REFUSAL = re.compile(
    r"\A\W*(i['’]?m sorry|i am sorry|sorry,|i (can['’]?t|cannot|can not|won['’]?t)|i['’]?m (unable|not able)|as an ai)",
    re.IGNORECASE,
)
NO_JSON = "the reply holds no JSON although a JSON schema was asked for"
TALLER = 2
"""A reply cut before anything was usable is asked for again with so many times the tokens."""


@dataclass(frozen=True)
class Outcome(Generic[S]):
    """What one request with a schema gave. `value` is None where nothing usable came; `reply` is the last one.

    `problems` names each thing that was lost, repaired or guessed; `truncated` says that the end of the reply is
    missing, so a list in `value` may be short.
    """

    value: S | None
    reply: Reply
    problems: tuple[str, ...] = ()
    truncated: bool = False


def read(text: str, schema: type[S]) -> tuple[S | None, tuple[str, ...]]:
    """What `text` holds of `schema`, without a call, and the problems met; (None, causes) where it holds nothing."""
    causes: tuple[str, ...] = ()
    for value, damage in values(text):
        fitted, problems = fit(value, schema)
        if fitted is not None:
            return fitted, damage + problems
        causes = causes or damage + problems
    return None, causes or (NO_JSON,)


def ask(llm: LLM, request: Request) -> Outcome[Any]:
    """Complete a request that has a schema. At most two calls; never raises for what a model wrote.

    The second call is made where the first one's text cannot be used: it shows the model its reply and the error, or,
    where the reply was cut, allows it more tokens.
    """
    first = _outcome(llm.complete(request), request)
    if first.value is not None or first.reply.status not in ("invalid", "length"):
        return first
    second = _outcome(llm.complete(_again(request, first)), request)
    noted = tuple(f"first reply: {problem}" for problem in first.problems)
    return replace(second, problems=noted + second.problems)


def _outcome(reply: Reply, request: Request) -> Outcome[Any]:
    """A reply as outcome. Text that cannot be used turns an "ok" into "invalid", or "refused" where it declines."""
    if request.schema is None:
        raise TypeError(f"ask() is for requests with a schema; that of stage {request.stage!r} has none.")
    if reply.status not in ("ok", "length"):
        return Outcome(None, reply, (f"{reply.status}: {reply.error}",))
    value, problems = read(reply.text, request.schema)
    truncated = reply.status == "length" or CUT in problems
    if reply.status == "length":
        problems = (f"output truncated at {reply.usage.completion_tokens or request.max_tokens} tokens", *problems)
    if value is None and reply.status == "ok":
        status: Status = "refused" if problems == (NO_JSON,) and REFUSAL.match(reply.text) else "invalid"
        reply = replace(reply, status=status, error="; ".join(problems))
    return Outcome(value, reply, problems, truncated)


def _again(request: Request, outcome: Outcome[Any]) -> Request:
    """The one further request."""
    if outcome.truncated:
        return replace(request, max_tokens=TALLER * request.max_tokens)
    schema = json.dumps(json_schema(request.schema)) if request.schema else ""
    wish = (
        f"That reply cannot be used: {outcome.reply.error}. Reply once more, to the same task, with nothing but JSON "
        f"that fits this JSON schema:\n{schema}"
    )
    said = (Message("assistant", outcome.reply.text), Message("user", wish))
    return replace(request, messages=request.messages + said)
