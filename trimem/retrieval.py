"""Plan -> context: three views of facts (and turns) fused into one ranking, the raw turns behind it, and profiles.

Paper: dense, lexical and symbolic search, one top-K, the source turns of what was found, profiles of the people.
"""

import threading
from collections.abc import Iterable, Mapping, Sequence, Set
from functools import lru_cache
from operator import itemgetter
from types import MappingProxyType
from typing import cast

from pydantic import NonNegativeInt

from trimem.errors import BadInput
from trimem.fusion import best_first, fused, reciprocal_rank_fusion
from trimem.people import mentioned, resolve
from trimem.protocols import Embedder
from trimem.rendering import turn_item
from trimem.search import Hits, Unit
from trimem.store import Store
from trimem.times import say
from trimem.tokens import count_tokens
from trimem.types import Context, Fact, Item, Plan, Profile, Question, ViewRanks

VIEWS = ("dense", "lexical", "symbolic")
FUSIONS = ("sources", "rrf", "none")
UNITS = ("fact", "turn")
BUDGET: Mapping[str, int] = MappingProxyType({"facts": 1500, "turns": 1200, "profiles": 500})
OVERFETCH = 4
"""How many times top_k each view hands to the fusion, so that what several views find a little can win."""

_cost = lru_cache(maxsize=1 << 15)(count_tokens)  # the same facts come up again and again

ONE_AT_A_TIME = threading.Lock()
"""Held while views are searched and fused, FAISS apart: many short steps, after each of which a thread would have to
wait for the interpreter. Four questions at once took 1.7 times as long as four in turn."""

MEETING_K = 20
"""Constant of the fusion at source turns. The usual 60 is for lists of a thousand; here they are some hundred long."""
ASKED_ABOUT = 0.5
OTHER_SIGNAL = 0.2
"""What a turn gains where the person asked about speaks, and for each place, entity or time asked for that it meets."""

Found = tuple[Unit, str]
"""A unit and its id; orders by both."""
Rankings = list[list[tuple[Found, float]]]
"""What a view found for each query (and unit) that it was asked, with scores, best first."""
Views = Mapping[str, Rankings]


class HybridRetriever:
    """TriMem's retriever. Raises BadInput for a view, fusion, unit or budget that does not exist.

    `fusion="sources"` lets all views vote for source turns and shows the best fact of each, or the turn where no fact
    comes from it: facts and turns find each other's gaps, and no two places go to one turn. `"rrf"` fuses units as they
    are; `"none"` is the paper's: the top-K of each query, one query after the other, then cut at top_k.
    `budget` holds tokens a tier; what does not fit is left out, worst rank first.
    """

    def __init__(
        self,
        embedder: Embedder | None,
        top_k: NonNegativeInt = 25,
        views: Sequence[str] = VIEWS,
        fusion: str = "rrf",
        units: Sequence[str] = ("fact",),
        neighbours: NonNegativeInt = 0,
        use_raw: bool = True,
        use_profiles: bool = True,
        budget: Mapping[str, NonNegativeInt] = BUDGET,
    ) -> None:
        _check("retriever.views", views, VIEWS)
        _check("retriever.fusion", [fusion], FUSIONS)
        _check("retriever.units", units, UNITS)
        _check("context", budget, tuple(BUDGET))
        if "dense" in views and embedder is None:
            raise BadInput("the dense view needs an embedder: name one, or leave 'dense' out of retriever.views.")
        self._embedder, self._top_k, self._views, self._fusion = embedder, top_k, tuple(views), fusion
        self._units, self._neighbours = cast(tuple[Unit, ...], tuple(units)), neighbours
        self._use_raw, self._use_profiles, self._budget = use_raw, use_profiles, {**BUDGET, **budget}

    def retrieve(self, question: Question, plan: Plan, store: Store) -> Context:
        """Facts by rank, turns in the order of the conversation, profiles; within the budgets."""
        asked = plan if plan.queries else Plan((question.text,))
        dense = self._dense(asked, store, self._top_k * OVERFETCH)
        with ONE_AT_A_TIME:
            return self._context(question, plan, self._ranked(asked, dense, store), store)

    def _context(self, question: Question, plan: Plan, ranked: Sequence[Item], store: Store) -> Context:
        facts = _fitting(self._budget["facts"], [item for item in ranked if item.kind == "fact"])
        kept = {item.id for item in facts}
        turns = self._turns([item for item in ranked if item.kind == "turn" or item.id in kept], store)
        profiles = self._profiles(question, plan, store) if self._use_profiles else []
        items = (*facts, *turns, *profiles)
        return Context(items, plan, MappingProxyType(_token_counts(items)))

    @property
    def searches_turn_vectors(self) -> bool:
        """Whether the dense view ranks turns, which then need vectors."""
        return "turn" in self._units and "dense" in self._views

    # Search

    def _ranked(self, plan: Plan, dense: Rankings, store: Store) -> list[Item]:
        """The global top-K of all units, best first."""
        fuse = {"sources": self._at_sources, "rrf": self._fused, "none": self._concatenated}[self._fusion]
        views = self._search(plan, dense, store)
        best = fuse(views, plan, store)[: self._top_k]
        facts = {fact.id: fact for fact in store.facts_by_id([id_ for (unit, id_), _ in best if unit == "fact"])}
        turns = {turn.id: turn for turn in store.turns_by_id([id_ for (unit, id_), _ in best if unit == "turn"])}
        places = _places(views, {found for found, _ in best})
        return [
            fact_item(facts[id_], score, rank, places.get((unit, id_), ()))
            if unit == "fact"
            else turn_item(turns[id_], score, rank, places.get((unit, id_), ()))
            for rank, ((unit, id_), score) in enumerate(best, 1)
        ]

    def _search(self, plan: Plan, dense: Rankings, store: Store) -> Views:
        """What each view finds for each query, wider than top_k, so that what several find a little can win."""
        width = self._top_k * OVERFETCH
        symbolic = [_of("fact", self._symbolic(plan, store, width))] if "fact" in self._units else []
        return {"dense": dense, "lexical": self._lexical(plan, store, width), "symbolic": symbolic}

    def _at_sources(self, views: Views, plan: Plan, store: Store) -> list[tuple[Found, float]]:
        """Turns by the votes of all that comes from them, each as its best fact not yet shown, or as itself."""
        rankings, weights = _votes(views)
        votes = fused(rankings, MEETING_K, weights)
        facts = [id_ for unit, id_ in votes if unit == "fact"]
        points = _meeting_points(store.facts_by_id(facts))
        at_turns = [[turn for found in ranking for turn in points.get(found, (found,))] for ranking in rankings]
        scores = fused(at_turns, MEETING_K, weights)
        gains = self._gains([id_ for _, id_ in scores], facts, plan, store)
        ranked = best_first({turn: score * gains.get(turn[1], 1.0) for turn, score in scores.items()})
        citing: dict[Found, list[tuple[float, Found]]] = {}
        for fact, turns in points.items():
            for turn in turns:
                citing.setdefault(turn, []).append((-votes[fact], fact))
        shown: dict[Found, float] = {}
        covered = set[Found]()
        for turn, score in ranked:
            if turn in covered:
                continue
            _, found = min((vote for vote in citing.get(turn, ()) if vote[1] not in shown), default=(0.0, turn))
            if found[0] == "turn" and not self._use_raw:
                continue
            shown[found] = score
            covered.update(points.get(found, (found,)))
            if len(shown) == self._top_k:
                break
        return list(shown.items())

    def _gains(self, turns: Sequence[str], facts: Sequence[str], plan: Plan, store: Store) -> dict[str, float]:
        """Factors for turns in which somebody asked about speaks, or which meet another signal asked for."""
        if "symbolic" not in self._views:
            return {}
        speakers, aliases = store.speakers(), store.aliases()
        asked = {resolve(person, speakers, aliases) for person in plan.persons}
        asked = asked & set(speakers) or set(mentioned(plan.queries[0], speakers, aliases))
        gains = {turn.id: 1 + ASKED_ABOUT * (turn.speaker in asked) for turn in store.turns_by_id(turns)}
        met = dict(store.search_symbolic((), plan.entities, plan.location, plan.time, len(facts), facts))
        for fact in store.facts_by_id(met):
            for turn in fact.sources:
                gains[turn] = gains.get(turn, 1.0) + OTHER_SIGNAL * met[fact.id]
        return gains

    def _fused(self, views: Views, plan: Plan, store: Store) -> list[tuple[Found, float]]:
        """Reciprocal rank fusion of units as they are."""
        rankings, weights = _votes(views)
        so_far = reciprocal_rank_fusion(rankings, weights=weights)
        if "symbolic" not in self._views or "fact" not in self._units:
            return so_far
        met = self._symbolic_among([found for found, _ in so_far], views["symbolic"][0], plan, store)
        return reciprocal_rank_fusion([met], so_far=dict(so_far))

    def _concatenated(
        self,
        views: Views,
        plan: Plan,  # noqa: ARG002 - called like the other fusions
        store: Store,  # noqa: ARG002
    ) -> list[tuple[Found, float]]:
        """The top-K of each query in each view, one after the other."""
        firsts: dict[Found, float] = {}
        for found, score in (hit for view in views.values() for hits in view for hit in hits[: self._top_k]):
            firsts.setdefault(found, score)
        return list(firsts.items())

    def _dense(self, plan: Plan, store: Store, k: int) -> Rankings:
        if "dense" not in self._views or self._embedder is None:
            return []
        queries = self._embedder.encode(plan.queries, query=True)
        return [_of(unit, hits) for unit in self._units for hits in store.search_dense(unit, queries, k)]

    def _lexical(self, plan: Plan, store: Store, k: int) -> Rankings:
        if "lexical" not in self._views:
            return []
        texts = dict.fromkeys([*plan.queries, *([" ".join(plan.keywords)] if plan.keywords else [])])
        return [_of(unit, store.search_text(unit, text, k)) for unit in self._units for text in texts]

    def _symbolic(self, plan: Plan, store: Store, k: int, among: Iterable[str] | None = None) -> Hits:
        if "symbolic" not in self._views:
            return []
        return store.search_symbolic(plan.persons, plan.entities, plan.location, plan.time, k, among)

    def _symbolic_among(
        self, so_far: Sequence[Found], alone: Sequence[tuple[Found, float]], plan: Plan, store: Store
    ) -> list[Found]:
        """Facts by the signals they meet, equals in the order of the other views, then by id.

        Alone, a signal that half of the facts meet would put arbitrary facts to the front; so it reorders what the
        other views have found, and only then brings its own.
        """
        ids = [id_ for unit, id_ in so_far if unit == "fact"]
        reordered = self._symbolic(plan, store, len(ids), ids)
        seen = set(ids)
        own = [(id_, signals) for (_, id_), signals in alone if id_ not in seen]
        return [("fact", id_) for id_, _ in sorted([*reordered, *own], key=itemgetter(1), reverse=True)]

    # What comes along

    def _turns(self, ranked: Sequence[Item], store: Store) -> list[Item]:
        """Turns found, and source turns of facts found, in the order of the conversation.

        Where the budget is short, turns of better rank win; neighbours come last.
        """
        found = {item.id: item for item in ranked if item.kind == "turn"}
        wanted = dict.fromkeys(id_ for item in ranked if self._use_raw or item.kind == "turn" for id_ in item.sources)
        near = store.neighbours(wanted, self._neighbours) if self._neighbours else store.turns_by_id(wanted)
        items = {turn.id: found.get(turn.id) or turn_item(turn) for turn in near}
        by_rank = [items[id_] for id_ in wanted] + [item for id_, item in items.items() if id_ not in wanted]
        kept = {item.id for item in _fitting(self._budget["turns"], by_rank)}
        return [item for id_, item in items.items() if id_ in kept]

    def _profiles(self, question: Question, plan: Plan, store: Store) -> list[Item]:
        """Profiles of the people planned for, else named in the question, else of the speakers."""
        known = [profile.person for profile in store.profiles()]
        named = mentioned(question.text, known, store.aliases()) if known else ()
        found = _profiles_of(plan.persons, store) or _profiles_of(named, store)
        if known and not found:
            found = _profiles_of(store.speakers(), store)
        return _trimmed(found, self._budget["profiles"])


def _votes(views: Views) -> tuple[list[list[Found]], list[float]]:
    """Rankings of the dense and the lexical view; each view has one vote, however many queries it was asked."""
    voting = (views["dense"], views["lexical"])
    rankings = [[found for found, _ in hits] for view in voting for hits in view]
    return rankings, [1 / len(view) for view in voting for _ in view]


def _places(views: Views, shown: Set[Found]) -> dict[Found, ViewRanks]:
    """The views that found each of `shown`, with its best rank over the queries that each was asked."""
    best: dict[Found, dict[str, int]] = {}
    for view, rankings in views.items():
        for ranking in rankings:
            for rank, (found, _) in enumerate(ranking, 1):
                if found in shown:
                    ranks = best.setdefault(found, {})
                    ranks[view] = min(rank, ranks.get(view, rank))
    return {found: tuple(ranks.items()) for found, ranks in best.items()}


def fact_item(fact: Fact, score: float = 0.0, rank: int = 0, views: ViewRanks = ()) -> Item:
    """A fact as the reasoner reads it: the statement, with time and place where they are known."""
    known = "; ".join(filter(None, (fact.time and say(fact.time), fact.location)))
    text = f"{fact.statement} ({known})" if known else fact.statement
    return Item("fact", fact.id, text, fact.sources, score, rank, views)


def _profiles_of(people: Iterable[str], store: Store) -> list[Profile]:
    """Their profiles, each once."""
    found = (store.profile(person) for person in people)
    return list({profile.person: profile for profile in found if profile}.values())


def _meeting_points(facts: Iterable[Fact]) -> dict[Found, list[Found]]:
    """The turns at which a fact's votes count; one without any is a place of its own, as a turn is."""
    return {("fact", fact.id): [("turn", turn) for turn in fact.sources] or [("fact", fact.id)] for fact in facts}


def _of(unit: Unit, hits: Hits) -> list[tuple[Found, float]]:
    return [((unit, id_), score) for id_, score in hits]


def _fitting(budget: int, items: Iterable[Item]) -> list[Item]:
    """The items that fit into `budget` tokens, taken in order; one that is too long is passed over."""
    kept, left = [], budget
    for item in items:
        cost = _cost(item.text)
        if cost <= left:
            kept.append(item)
            left -= cost
    return kept


def _trimmed(profiles: Sequence[Profile], budget: int) -> list[Item]:
    """Profiles within `budget` tokens: the longest loses its last line until all fit; a bare heading is left out."""
    texts = {profile.person: profile.text.splitlines() for profile in profiles}
    costs = {person: _cost("\n".join(lines)) for person, lines in texts.items()}
    while sum(costs.values()) > budget:
        longest = max(texts, key=lambda person: costs[person])
        texts[longest].pop()
        costs[longest] = _cost("\n".join(texts[longest])) if len(texts[longest]) > 1 else 0
    return [Item("profile", person, "\n".join(lines)) for person, lines in texts.items() if len(lines) > 1]


def _token_counts(items: Iterable[Item]) -> dict[str, int]:
    counts = dict.fromkeys(BUDGET, 0)
    for item in items:
        counts[f"{item.kind}s"] += _cost(item.text)
    return counts | {"total": sum(counts.values())}


def _check(option: str, given: Iterable[str], valid: Sequence[str]) -> None:
    if unknown := [name for name in given if name not in valid]:
        raise BadInput(f"{option} has no {', '.join(map(repr, unknown))}: choose from {', '.join(valid)}.")
