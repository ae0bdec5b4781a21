"""The words between the memory and a language model: Request, Reply, LLM."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal, Protocol, runtime_checkable

from pydantic import BaseModel

from trimem.concurrency import fan_out
from trimem.errors import BadInput

Role = Literal["system", "user", "assistant"]
Status = Literal["ok", "length", "empty", "refused", "content_filter", "tool_call", "invalid", "too_long", "error"]
"""ok; cut at the token limit; no text; the model declined; a filter blocked it; a tool call came instead of text;
not of the schema asked for; the prompt does not fit the model; the endpoint failed for good (timeout, lasting 500s)."""


@dataclass(frozen=True, slots=True)
class Message:
    """One chat message."""

    role: Role
    content: str


@dataclass(frozen=True, slots=True)
class Request:
    """One call. `stage` says whom it serves (extract, profile, plan, answer, judge, evolve, baseline:…).

    `fields` are the values its prompt was rendered from (JSON types only); fakes answer by them, real models never
    see them. `schema` asks for JSON of that shape. `sample` tells repeats of one request apart in the cache. `logprobs`
    asks for `Reply.logprobs`.
    """

    messages: tuple[Message, ...]
    stage: str
    schema: type[BaseModel] | None = None
    fields: Mapping[str, Any] = field(default_factory=dict)
    max_tokens: int = 1024
    temperature: float = 0.0
    seed: int | None = None
    sample: int = 0
    logprobs: bool = False


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call as the server counted them; None where it does not tell."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    reasoning_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back. `text` is free of thinking; `status` other than "ok" carries its cause in `error`.

    `logprobs` are the natural logarithms of the probabilities of the tokens written, where they were asked for and the
    server tells them. `calls` is how many it took.
    """

    text: str
    status: Status = "ok"
    error: str = ""
    model: str = ""
    fingerprint: str = ""
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0
    cached: bool = False
    logprobs: tuple[float, ...] = ()
    calls: int = 1


@runtime_checkable
class LLM(Protocol):
    """A backbone. Calls are synchronous and may come from many threads.

    `identity` is everything besides the request that changes a reply (provider, endpoint, model, settings);
    `concurrency` is how many calls it serves at once. `complete` returns a Reply for every failure that concerns
    this call alone and raises `LLMUnavailable` where no further call can succeed.
    """

    model: str
    concurrency: int

    @property
    def identity(self) -> Mapping[str, Any]: ...

    def complete(self, request: Request) -> Reply: ...

    def complete_many(self, requests: Sequence[Request]) -> list[Reply]: ...


class Provider(ABC):
    """What every LLM of ours shares, whether it asks a model or wraps another LLM."""

    model: str
    concurrency: int

    @property
    @abstractmethod
    def identity(self) -> Mapping[str, Any]: ...

    @abstractmethod
    def complete(self, request: Request) -> Reply: ...

    def complete_many(self, requests: Sequence[Request]) -> list[Reply]:
        """Replies in the order of the requests, `concurrency` at once."""
        return list(fan_out(self.complete, requests, self.concurrency))

    def knows(self, request: Request) -> bool:  # noqa: ARG002 - a cache answers by it
        """Whether the reply is at hand without a new call."""
        return False


@lru_cache(maxsize=256)
def json_schema(schema: type[BaseModel]) -> dict[str, Any]:
    """A reply's JSON schema, made once: not to be changed."""
    return schema.model_json_schema()


def need(llm: LLM | None, part: str) -> LLM:
    """`llm`, for a part that cannot do without. Raises BadInput where there is none."""
    if llm is None:
        raise BadInput(f"{part} needs a language model but backbone=none: name one, such as backbone=gpt-4.1-mini.")
    return llm
