"""SimpleMem (arXiv 2601.02553): self-contained restatements, three views without fusion, planning and reflection.

TriMem's own code began as a fork of it, and here too it is TriMem in another configuration: the same windows, store and
indexes; other prompts, planner and retriever; no raw dialogue, no profiles.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import Field, NonNegativeInt, PositiveInt

from baselines.base import FOLDER, as_context, load_prompts
from trimem import times
from trimem.extraction import LLMExtractor
from trimem.llm.base import LLM, Request
from trimem.llm.structured import Outcome, ask
from trimem.memory import TriMem
from trimem.people import key
from trimem.protocols import Embedder, Reasoner
from trimem.rendering import one_line, say_time
from trimem.replies import KeyInformation, ReplySchema
from trimem.store import Store
from trimem.types import Context, Fact, Item, Plan, Question


class Requirements(ReplySchema):
    """Reply to `simplemem_plan`."""

    question_type: str = ""
    key_entities: list[str] = Field(default=[], max_length=8)
    required_info: list[str] = Field(max_length=8)
    relationships: list[str] = Field(default=[], max_length=8)
    minimal_queries_needed: int = Field(default=1, ge=1, le=4)


class Targets(ReplySchema):
    """Reply to `simplemem_queries`."""

    queries: list[str] = Field(max_length=4)


class Completeness(ReplySchema):
    """Reply to `simplemem_check`."""

    complete: bool
    missing: str = Field(default="", max_length=400)


class MoreQueries(ReplySchema):
    """Reply to `simplemem_more`."""

    queries: list[str] = Field(max_length=3)


class SimpleMem(TriMem):
    """SimpleMem as its code has it; its paper's density gate and consolidation live in the prompt alone.

    Build: one call a window of `window` turns that shares `overlap` with the one before (158 calls over LoCoMo).
    A question: three calls plan it (what is needed, queries for that, key information); the dense view answers each
    query, the lexical one the keywords, the structured one the attributes; found once, in that order. Then at most
    `reflection_rounds` times one call checks completeness and, if something is missing, one writes more queries.
    Five to eight calls with the answer.

    Deviations: the windows are extracted side by side, so no window sees the entries of the one before (nor does it in
    their parallel mode); entries name their source turns; a lost window is counted and tried again; times are resolved
    against the session, not today; reflection is the same for every category.
    """

    prompts = load_prompts("simplemem", "extract", "plan", "queries", "keys", "check", "more")

    def __init__(
        self,
        directory: Path,
        llm: LLM,
        embedder: Embedder,
        reasoner: Reasoner,
        conversation: str = "",
        window: PositiveInt = 40,
        overlap: NonNegativeInt = 2,
        max_queries: PositiveInt = 4,
        semantic_top_k: PositiveInt = 25,
        keyword_top_k: PositiveInt = 5,
        structured_top_k: PositiveInt = 5,
        reflection_rounds: NonNegativeInt = 2,
        max_tokens: PositiveInt = 8192,
        gpu: bool = False,
    ) -> None:
        path = FOLDER / "simplemem_extract.md"
        top_k = (semantic_top_k, keyword_top_k, structured_top_k)
        super().__init__(
            directory,
            llm=llm,
            embedder=embedder,
            extractor=LLMExtractor(llm, path, window, overlap, max_tokens, stage="baseline:simplemem:extract"),
            planner=SimplePlanner(llm, max_queries),
            retriever=SimpleRetriever(llm, embedder, *top_k, rounds=reflection_rounds),
            reasoner=reasoner,
            conversation=conversation,
            use_profiles=False,
            use_raw=False,
            gpu=gpu,
        )


class SimplePlanner:
    """Question -> plan in three calls; one that fails leaves its part empty and is named in `Plan.problems`."""

    def __init__(self, llm: LLM, max_queries: int = 4) -> None:
        self.llm = llm
        self.max_queries = max_queries

    def plan(self, question: Question) -> Plan:
        text = one_line(question.text)
        needed = _ask(self.llm, "plan", Requirements, {"question": text}, {"question": text})
        wanted = needed.value.required_info if needed.value else []
        values = {"question": text, "requirements": "\n".join(wanted) or "(not worked out)"}
        target = _ask(self.llm, "queries", Targets, values, {"question": text, "facts": wanted})
        values = {"question": text, "last_time": say_time(question.asked_at)}
        keys = _ask(self.llm, "keys", KeyInformation, values, {"question": text})
        found = keys.value or KeyInformation()
        return Plan(
            queries=_distinct([text, *(target.value.queries if target.value else ())])[: self.max_queries],
            keywords=tuple(found.keywords),
            persons=tuple(found.persons),
            time=_time(found.time_expression, question),
            location=found.location or None,
            entities=tuple(found.entities),
            problems=(*needed.problems, *target.problems, *keys.problems),
        )


class SimpleRetriever:
    """Three views, each with its own K, one after the other without fusion; then reflection."""

    def __init__(
        self,
        llm: LLM,
        embedder: Embedder,
        semantic_top_k: int = 25,
        keyword_top_k: int = 5,
        structured_top_k: int = 5,
        rounds: int = 2,
    ) -> None:
        self.llm, self.embedder = llm, embedder
        self.semantic_top_k, self.keyword_top_k, self.structured_top_k = semantic_top_k, keyword_top_k, structured_top_k
        self.rounds = rounds

    def retrieve(self, question: Question, plan: Plan, store: Store) -> Context:
        facts = {fact.id: fact for fact in store.facts()}
        found = self._dense(plan.queries, store)
        words = " ".join(plan.keywords)
        lexical = store.search_text("fact", words, self.keyword_top_k) if words else []
        structured = [(fact.id, 1.0) for fact in facts.values() if meets(fact, plan)][: self.structured_top_k]
        found = _first([found.items(), lexical, structured])
        for _ in range(self.rounds):
            queries, problems = self._missing(question, [shown(facts[id]) for id in found])
            new = tuple(query for query in _distinct(queries) if query not in plan.queries)
            plan = replace(plan, queries=(*plan.queries, *new), problems=(*plan.problems, *problems))
            if not new:
                break
            found = _first([found.items(), self._dense(new, store).items()])
        items = [
            Item("fact", id, shown(facts[id]), facts[id].sources, score, rank)
            for rank, (id, score) in enumerate(found.items(), start=1)
        ]
        return as_context(items, plan=plan)

    def _dense(self, queries: Sequence[str], store: Store) -> dict[str, float]:
        vectors = self.embedder.encode(queries, query=True)
        return _first(store.search_dense("fact", vectors, self.semantic_top_k))

    def _missing(self, question: Question, facts: Sequence[str]) -> tuple[Sequence[str], tuple[str, ...]]:
        """Queries for what the facts lack (none if nothing does, or a call fails), and what went wrong."""
        text = one_line(question.text)
        values = {"question": text, "facts": "\n".join(facts) or "(none)"}
        fields = {"question": text, "facts": list(facts)}
        check = _ask(self.llm, "check", Completeness, values, fields)
        if check.value is None or check.value.complete:
            return (), check.problems
        more = _ask(self.llm, "more", MoreQueries, values, fields)
        return more.value.queries if more.value else (), (*check.problems, *more.problems)


def meets(fact: Fact, plan: Plan) -> bool:
    """Whether a fact meets every attribute that the plan asks for: a shared person, the place within the fact's, a
    shared entity, an overlapping time. A plan that asks for none is met by nothing."""
    asked = []
    if plan.persons:
        asked.append(not _keys(plan.persons).isdisjoint(_keys(fact.persons)))
    if plan.location:
        asked.append(key(plan.location) in key(fact.location or ""))
    if plan.entities:
        asked.append(not _keys(plan.entities).isdisjoint(_keys(fact.entities)))
    if plan.time:
        asked.append(bool(fact.time) and _overlap(fact.time or "", plan.time))
    return bool(asked) and all(asked)


def shown(fact: Fact) -> str:
    """An entry as SimpleMem shows it: the sentence and what is known of its time, place, people, things and topic."""
    known = {
        "time": fact.time,
        "place": fact.location,
        "people": ", ".join(fact.persons),
        "things": ", ".join(fact.entities),
        "topic": fact.topic,
    }
    notes = "; ".join(f"{name}: {value}" for name, value in known.items() if value)
    return f"{fact.statement} [{notes}]" if notes else fact.statement


def _ask(llm: LLM, step: str, schema: type[ReplySchema], values: Mapping[str, str], fields: Any) -> Outcome[Any]:
    messages = SimpleMem.prompts[step].render(values)
    return ask(llm, Request(messages, f"baseline:simplemem:{step}", schema, fields, max_tokens=512))


def _first(views: Iterable[Iterable[tuple[str, float]]]) -> dict[str, float]:
    """Every id with the score under which it was found first, in the order of finding."""
    found: dict[str, float] = {}
    for view in views:
        for id, score in view:
            found.setdefault(id, score)
    return found


def _distinct(queries: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(query for query in map(one_line, queries) if query))


def _keys(names: Sequence[str]) -> set[str]:
    return {key(name) for name in names}


def _overlap(a: str, b: str) -> bool:
    (first, last), (begin, end) = times.span(a), times.span(b)
    return first <= end and begin <= last


def _time(expression: str | None, question: Question) -> str | None:
    if not expression:
        return None
    return times.normalise(expression) or (times.resolve(expression, question.asked_at) if question.asked_at else None)
