"""The live things that parts share: the model behind its cache and meter, and the embedder. Made once, on demand."""

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

from experiments.assemble import Service, assemble
from experiments.cache import NAME
from experiments.exits import CONF
from experiments.settings import Settings
from trimem.errors import BadInput
from trimem.llm.base import LLM, Provider, Reply, Request
from trimem.llm.cache import CachedLLM
from trimem.llm.meter import Meter
from trimem.llm.models import name_at
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


def backbone_node(name: str) -> Any:
    """What `backbone=name` would choose. Raises BadInput for a name that conf/backbone does not have."""
    from omegaconf import OmegaConf

    files = {file.stem: file for file in (CONF / "backbone").glob("*.yaml") if file.stem != "none"}
    if name not in files:
        raise BadInput(f"there is no backbone {name}; choose one of {', '.join(sorted(files))}.")
    return OmegaConf.to_container(OmegaConf.select(OmegaConf.load(files[name]), "backbone"))


class Services:
    """`llm` and `embedder` for the parts that name them. What nobody asked for is None and enters no hash.

    `provider` takes the place of the configured backbone (for an estimate).
    """

    def __init__(self, config: Mapping[str, Any], settings: Settings, provider: LLM | None = None) -> None:
        self.config = config
        self.settings = settings
        self.llm: Tap | None = None
        self.cached: CachedLLM | None = None
        self.meter: Meter | None = None
        self.provider: Any = provider
        self.embedder: Any = None
        self._stack = ExitStack()

    def makers(self) -> dict[str, Service]:
        """For `assemble`: how to get each service."""
        return {"llm": self._get_llm, "embedder": self._get_embedder}

    def close(self) -> None:
        """Give back files and connections."""
        self._stack.close()

    def note_replies(self, used: Callable[[str], None]) -> None:
        """From now on `used` is told the cache's key of each reply."""
        if self.cached:
            self.cached.used = used

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
            settings = self.settings
            self.provider = self.provider or assemble(self.config, "backbone", {})
            self.cached = CachedLLM(self.provider, settings.paths.cache / NAME, settings.cache.mode)
            budget = settings.budget
            endpoint = str(self.config["backbone"].get("endpoint", ""))
            prices = {name_at(model, endpoint): price for model, price in settings.prices.items()}
            self.meter = Meter(self.cached, prices, budget.usd, budget.calls)
            self.llm = Tap(self.meter, settings.seed)
            self._close_later(self.provider, self.cached)
        return self.llm

    def critic(self, choice: str | Mapping[str, Any] | None) -> LLM:
        """The model that evolves prompts: the backbone (None), or another under the same budget and cache.

        `choice` is a name from conf/backbone, or such a node. Raises BadInput, listing the names, for another.
        """
        backbone = self._get_llm("evolution")
        if choice is None:
            return backbone
        assert self.meter is not None
        node = backbone_node(choice) if isinstance(choice, str) else choice
        provider = assemble({"evolution.backward": node}, "evolution.backward", {})
        settings = self.settings
        cached = CachedLLM(provider, settings.paths.cache / NAME, settings.cache.mode)
        self._close_later(provider, cached)
        return Tap(self.meter.beside(cached), settings.seed)

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
