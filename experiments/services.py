"""The live things that parts share: the model behind its cache and meter, and the embedder. Made once, on demand."""

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

from experiments.assemble import Service, assemble
from experiments.cache import NAME
from experiments.composing import group_node
from experiments.settings import Settings
from trimem.errors import BadInput
from trimem.llm.base import LLM, Provider, Reply, Request
from trimem.llm.cache import CachedLLM
from trimem.llm.meter import Meter
from trimem.llm.models import ENDPOINTS, name_at
from trimem.types import StageUsage


class Tap(Provider):
    """The outermost layer: gives each request the run's seed, and notes who served and what this thread asked.

    Seed 0 leaves requests alone; another is sent to the model and is a sample of its own in the cache.
    """

    def __init__(self, llm: LLM, seed: int) -> None:
        self.llm, self.seed = llm, seed
        self.model, self.concurrency = llm.model, llm.concurrency
        self.served: dict[str, set[str]] = {}
        self._here = threading.local()

    @property
    def identity(self) -> Mapping[str, Any]:
        return self.llm.identity

    def complete(self, request: Request) -> Reply:
        return self.complete_many([request])[0]

    def complete_many(self, requests: Sequence[Request]) -> list[Reply]:
        seeded = [replace(r, seed=self.seed, sample=self.seed) if self.seed else r for r in requests]
        replies = self.llm.complete_many(seeded) if len(seeded) > 1 else [self.llm.complete(r) for r in seeded]
        calls, cached = self.asked()
        hits = sum(reply.cached for reply in replies)
        new = sum(reply.calls for reply in replies if not reply.cached)
        self._here.asked = (calls + new, cached + hits)
        for reply in replies:
            self.served.setdefault(reply.model or self.model, set()).add(reply.fingerprint)
        return replies

    def asked(self) -> tuple[int, int]:
        """Calls made and replies found in the cache, for this thread since it began."""
        asked: tuple[int, int] = getattr(self._here, "asked", (0, 0))
        return asked


def backbone_node(choice: str) -> dict[str, Any]:
    """What `backbone=name` would choose; `name@endpoint` sets its endpoint. Raises BadInput for an unknown name."""
    name, _, endpoint = choice.partition("@")
    node: dict[str, Any] = group_node("backbone", name)["backbone"]
    return {**node, "endpoint": endpoint} if endpoint else node


class Services:
    """`llm` and `embedder` for the parts that name them. What nobody asked for is None and enters no hash.

    `stand_in` makes what takes the place of the model that a backbone's node describes (for an estimate).
    """

    def __init__(
        self, config: Mapping[str, Any], settings: Settings, stand_in: Callable[[Mapping[str, Any]], LLM] | None = None
    ) -> None:
        self.config = config
        self.settings = settings
        self.llm: Tap | None = None
        self.meter: Meter | None = None
        self.provider: Any = None
        self.embedder: Any = None
        self._stand_in = stand_in
        self._caches: list[CachedLLM] = []
        self._used: Callable[[str], None] | None = None
        self._stack = ExitStack()

    def makers(self) -> dict[str, Service]:
        """For `assemble`: how to get each service."""
        return {"llm": self._get_llm, "embedder": self._get_embedder}

    def close(self) -> None:
        """Give back files and connections."""
        self._stack.close()

    def note_replies(self, used: Callable[[str], None]) -> None:
        """From now on `used` is told the cache's key of each reply."""
        self._used = used
        for cached in self._caches:
            cached.used = used

    def usage(self) -> dict[str, StageUsage]:
        """What this process asked of the model so far, by stage."""
        return self.meter.usage() if self.meter else {}

    def _get_llm(self, part: str) -> Tap:
        if self.llm is None:
            if not self.config["backbone"]:
                raise BadInput(
                    f"{part} needs a model, and backbone=none: name one (backbone=gpt-4.1-mini; "
                    f"backbone=simulated needs no key), or set {part}=rules."
                )
            self.provider = self._make("backbone", self.config["backbone"])
            self.llm = self._behind(self.provider)
        return self.llm

    def model(self, choice: str | Mapping[str, Any] | None, part: str) -> Tap:
        """A model for another job than the method's: the backbone (None), or one that shares its budget and cache.

        `choice` is a name from conf/backbone, with `@endpoint` if not its own, or such a node. Raises BadInput for
        another name, listing them, and where there is no backbone.
        """
        if choice is None:
            return self._get_llm(part)
        node = backbone_node(choice) if isinstance(choice, str) else choice
        return self._behind(self._make(f"{part}.backbone", node))

    def _make(self, key: str, node: Mapping[str, Any]) -> LLM:
        model: LLM = self._stand_in(node) if self._stand_in else assemble({key: node}, key, {})
        return model

    def _behind(self, provider: LLM) -> Tap:
        """`provider` behind cache, meter and tap; all meters of these services share one book and one budget."""
        settings = self.settings
        cached = CachedLLM(provider, settings.paths.cache / NAME, settings.cache.mode)
        if self._used:
            cached.used = self._used
        self._caches.append(cached)
        if self.meter is None:
            self.meter = Meter(cached, self._prices(), settings.budget.usd, settings.budget.calls)
        else:
            self.meter = self.meter.beside(cached)
        self._close_later(provider, cached)
        return Tap(self.meter, settings.seed)

    def _prices(self) -> dict[str, tuple[float, float]]:
        """By what a model is called at any endpoint."""
        prices = self.settings.prices
        return {name_at(name, endpoint): prices[name] for name in prices for endpoint in ("", *ENDPOINTS)}

    def _get_embedder(self, part: str) -> Any:  # noqa: ARG002 - every part can have one
        if self.embedder is None:
            from trimem.embedding import CachedEmbedder

            embedder = assemble(self.config, "embedder", {})
            self.embedder = CachedEmbedder(embedder, self.settings.paths.cache / "vectors.sqlite")
            self._close_later(embedder, self.embedder)
        return self.embedder

    def _close_later(self, *services: Any) -> None:
        for service in services:
            if hasattr(service, "close"):
                self._stack.callback(service.close)
