"""A model that costs nothing: it fills any schema, of any stage, from the request's own fields, always alike.

It understands nothing and its answers are no result; it makes whole runs, tests and benches possible without a key.
"""

import hashlib
import json
import threading
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any

from pydantic import Field, NonNegativeFloat, PositiveInt

from trimem.llm.base import Provider, Reply, Request, Usage
from trimem.llm.cache import key_of
from trimem.llm.filling import Filler, stretched
from trimem.llm.invention import offers, plain_text
from trimem.tokens import count_tokens

FAULTS = ("length", "empty", "refused", "error", "malformed")


class Simulated(Provider):
    """A fake model. `latency` is seconds a call, `concurrency` calls at once, `fault_rate` the share that goes wrong.

    Which call goes wrong, and how (FAULTS), depends on the request and `seed` alone. `length` makes its sentences so
    many times as long and changes nothing else.
    """

    def __init__(
        self,
        latency: NonNegativeFloat = 0.0,
        fault_rate: Annotated[float, Field(ge=0, le=1)] = 0.0,
        concurrency: PositiveInt = 32,
        seed: int = 0,
        model: str = "simulated",
        length: float = 1.0,
    ) -> None:
        self.model, self.concurrency = model, concurrency
        self.latency, self.fault_rate, self.seed, self.length = latency, fault_rate, seed, length
        self._places = threading.BoundedSemaphore(concurrency)

    @property
    def identity(self) -> Mapping[str, Any]:
        return {**self._dice, "model": self.model, "length": self.length}

    @property
    def _dice(self) -> Mapping[str, Any]:
        """What, with the request, decides among the possible replies."""
        return {"provider": "simulated", "fault_rate": self.fault_rate, "seed": self.seed}

    def complete(self, request: Request) -> Reply:
        begun = time.perf_counter()
        with self._places:
            if self.latency:
                time.sleep(self.latency)
            digest = hashlib.sha256(key_of(self._dice, request).encode()).digest()
            reply = self._reply(request, digest)
        return replace(reply, model=self.model, seconds=time.perf_counter() - begun)

    def _reply(self, request: Request, digest: bytes) -> Reply:
        text = self._text(request, digest)
        if int.from_bytes(digest[:4], "big") < self.fault_rate * 2**32:
            return _faulty(FAULTS[digest[4] % len(FAULTS)], text, request)
        usage = _usage(request, text)
        tokens = usage.completion_tokens or 0
        logprobs = tuple(-digest[n % len(digest)] / 256 for n in range(tokens)) if request.logprobs else ()
        return Reply(text, usage=usage, logprobs=logprobs)

    def _text(self, request: Request, digest: bytes) -> str:
        if request.schema is None:
            return stretched(plain_text(request), self.length)
        filler = Filler(offers(request), digest, self.length)
        return json.dumps(filler.fill(request.schema), ensure_ascii=False)


def _faulty(fault: str, text: str, request: Request) -> Reply:
    """The reply as it would have been, gone wrong in one of the ways that real models have."""
    cut = text[: len(text) * 3 // 5]
    match fault:
        case "length":
            return Reply(cut, "length", "cut at the token limit", usage=_usage(request, cut))
        case "malformed":
            broken = f"Sure, here it is: {cut}" if request.schema else cut
            return Reply(broken, usage=_usage(request, broken))
        case "empty":
            return Reply("", "empty", "the reply has no text", usage=_usage(request, ""))
        case "refused":
            return Reply("", "refused", "I cannot help with that.", usage=_usage(request, ""))
        case _:
            return Reply("", "error", "HTTP 500 from nowhere: simulated failure")


def _usage(request: Request, text: str) -> Usage:
    return Usage(sum(count_tokens(message.content) for message in request.messages), count_tokens(text), 0)
