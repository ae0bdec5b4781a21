"""What the calls of each stage cost, and the budget that stops them."""

import threading
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, field
from typing import Any

from trimem.errors import BadInput, BudgetReached
from trimem.llm.base import LLM, Provider, Reply, Request, Usage
from trimem.types import StageUsage

MILLION = 1_000_000
HOSTED = ("openai", "openrouter")


@dataclass(frozen=True)
class Price:
    """US dollars for a million tokens."""

    input: float
    output: float


@dataclass
class _Book:
    """What meters that share a budget have counted."""

    stages: dict[str, StageUsage] = field(default_factory=dict)
    begun: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)


class Meter(Provider):
    """An LLM that counts. It goes around the cache, whose hits it counts and does not bill.

    `prices` gives (input, output) dollars a million tokens by model name and goes before genai-prices, which knows
    hosted models only: what a local server costs is unknown (None), never 0. `budget_usd` and `budget_calls` are
    checked before each new call; calls under way end, so either may run over by at most `concurrency` calls.
    """

    def __init__(
        self,
        llm: LLM,
        prices: Mapping[str, tuple[float, float]] | None = None,
        budget_usd: float | None = None,
        budget_calls: int | None = None,
    ) -> None:
        self.llm = llm
        self.model, self.concurrency = llm.model, llm.concurrency
        self.budget_usd, self.budget_calls = budget_usd, budget_calls
        self._prices = {name: Price(*price) for name, price in (prices or {}).items()}
        self._book = _Book()
        if budget_usd is not None and self._price(self.model, MILLION, MILLION) is None:
            raise BadInput(f"budget.usd needs a price for {self.model}, which is not known: give prices for it.")

    @property
    def identity(self) -> Mapping[str, Any]:
        return self.llm.identity

    def knows(self, request: Request) -> bool:
        return isinstance(self.llm, Provider) and self.llm.knows(request)

    def beside(self, llm: LLM) -> "Meter":
        """A meter of another LLM under the same budget and in the same books."""
        other = copy(self)
        other.llm, other.model, other.concurrency = llm, llm.model, llm.concurrency
        return other

    def complete(self, request: Request) -> Reply:
        """Raises BudgetReached instead of making a new call beyond the budget; kept replies are still served."""
        new = not self.knows(request)
        if new:
            self._begin()
        reply = self.llm.complete(request)
        self._count(request.stage, reply, new)
        return reply

    def usage(self) -> dict[str, StageUsage]:
        """By stage, sorted: calls (cache hits among them apart), and what the calls that were no hits used."""
        with self._book.lock:
            return dict(sorted(self._book.stages.items()))

    def _begin(self) -> None:
        with self._book.lock:
            spent = sum(stage.usd or 0.0 for stage in self._book.stages.values())
            if self.budget_calls is not None and self._book.begun >= self.budget_calls:
                raise BudgetReached(f"budget.calls={self.budget_calls} is used up; start again with more to go on.")
            if self.budget_usd is not None and spent >= self.budget_usd:
                raise BudgetReached(f"budget.usd={self.budget_usd:g} is used up; start again with more to go on.")
            self._book.begun += 1

    def _count(self, stage: str, reply: Reply, new: bool) -> None:
        if reply.cached:
            now = StageUsage(cached=1, cached_tokens=_add(reply.usage.prompt_tokens, reply.usage.completion_tokens))
        elif reply.status in ("error", "too_long") and reply.usage == Usage():
            now = StageUsage(reply.calls, seconds=reply.seconds)  # nothing came back, so nothing is billed
        else:
            usage = reply.usage
            price = self._price(self.model, usage.prompt_tokens, usage.completion_tokens)
            now = StageUsage(reply.calls, 0, usage.prompt_tokens, usage.completion_tokens, reply.seconds, price)
        book = self._book
        with book.lock:
            if new:  # none, where another thread had asked the same in the meantime; two, where the first was empty
                book.begun += (0 if reply.cached else reply.calls) - 1
            book.stages[stage] = _sum(book.stages.get(stage, StageUsage()), now)

    def _price(self, model: str, prompt: int | None, completion: int | None) -> float | None:
        if prompt is None or completion is None:
            return None
        if model in self._prices:
            price = self._prices[model]
            return (prompt * price.input + completion * price.output) / MILLION
        endpoint = self.identity.get("endpoint")
        return _listed_price(model, str(endpoint), prompt, completion) if endpoint in HOSTED else None


def _sum(a: StageUsage, b: StageUsage) -> StageUsage:
    return StageUsage(
        a.calls + b.calls,
        a.cached + b.cached,
        _add(a.prompt_tokens, b.prompt_tokens),
        _add(a.completion_tokens, b.completion_tokens),
        a.seconds + b.seconds,
        _add(a.usd, b.usd),
        _add(a.cached_tokens, b.cached_tokens),
    )


def _add(a: Any, b: Any) -> Any:
    """A sum with something unknown in it is unknown."""
    return None if a is None or b is None else a + b


def _listed_price(model: str, provider: str, prompt: int, completion: int) -> float | None:
    """Dollars by genai-prices; None for a model that it does not list."""
    from genai_prices import Usage as Billed
    from genai_prices import calc_price

    try:
        usage = Billed(input_tokens=prompt, output_tokens=completion)
        return float(calc_price(usage, model, provider_id=provider).total_price)
    except LookupError:
        return None
