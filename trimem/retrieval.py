"""Plan -> context: three views of facts (and turns) fused into one ranking, the raw turns behind it, and profiles.

Paper: dense, lexical and symbolic search, one top-K, source turns recovered for the facts found, profiles injected.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from trimem.errors import BadInput
from trimem.people import key, mentioned
from trimem.protocols import Embedder
from trimem.search import Hits, Unit
from trimem.store import Store
from trimem.tokens import count_tokens
from trimem.types import Context, Fact, Item, Kind, Plan, Profile, Question, Turn

VIEWS = ("dense", "lexical", "symbolic")
FUSIONS = ("rrf", "none")
UNITS = ("fact", "turn")
BUDGET: Mapping[str, int] = MappingProxyType({"facts": 1500, "turns": 1200, "profiles": 500})
OVERFETCH = 4
"""How many times top_k each view hands to the fusion, so that what several views find a little can win."""


class HybridRetriever:
    """TriMem's retriever. Raises BadInput for a view, fusion or unit that does not exist.

    `fusion="none"` is the paper's: the top-K of each query, one query after the other, then cut at top_k.
    `budget` holds tokens by tier; what does not fit is left out, worst rank first. Same store, same question: same
    context, to the letter.
    """

    def __init__(
        self,
        embedder: Embedder | None,
        top_k: int = 25,
        views: Sequence[str] = VIEWS,
        fusion: str = "rrf",
        units: Sequence[Unit] = ("fact",),
        neighbours: int = 0,
        use_raw: bool = True,
        use_profiles: bool = True,
        budget: Mapping[str, int] = BUDGET,
    ) -> None:
        _check("retriever.views", views, VIEWS)
        _check("retriever.fusion", [fusion], FUSIONS)
        _check("retriever.units", units, UNITS)
        _check("context", budget, tuple(BUDGET))
        if "dense" in views and embedder is None:
            raise BadInput("the dense view needs an embedder: name one, or leave 'dense' out of retriever.views.")
        self._embedder, self._top_k, self._views, self._fusion = embedder, top_k, tuple(views), fusion
        self._units, self._neighbours = tuple(units), neighbours
        self._use_raw, self._use_profiles, self._budget = use_raw, use_profiles, {**BUDGET, **budget}

    def retrieve(self, question: Question, plan: Plan, store: Store) -> Context:
        ranked = self._ranked_items(plan, store)
        facts = _within(self._budget["facts"], [item for item in ranked if item.kind == "fact"])
        turns = [item for item in ranked if item.kind == "turn"]
        recovered = self._recovered(facts, turns, store) if self._use_raw else _within(self._budget["turns"], turns)
        profiles = self._profiles(question, plan, store) if self._use_profiles else []
        items = (*facts, *recovered, *profiles)
        return Context(items, plan, MappingProxyType(_token_counts(items)))

    # Search

    def _ranked_items(self, plan: Plan, store: Store) -> list[Item]:
        """The global top-K of all units, best first."""
        hits = self._fused(plan, store) if self._fusion == "rrf" else self._concatenated(plan, store)
        best = hits[: self._top_k]
        facts = {fact.id: fact for fact in store.facts_by_id(id_ for (unit, id_), _ in best if unit == "fact")}
        turns = {turn.id: turn for turn in store.turns_by_id(id_ for (unit, id_), _ in best if unit == "turn")}
        return [
            fact_item(facts[id_], score, rank) if unit == "fact" else turn_item(turns[id_], score, rank)
            for rank, ((unit, id_), score) in enumerate(best, 1)
        ]
