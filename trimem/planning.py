"""Question -> queries and key information, by a language model (paper E.3 and E.4)."""

from collections.abc import Sequence
from typing import TypeVar

from pydantic import NonNegativeInt, PositiveInt

from trimem import prompts, times
from trimem.errors import BadInput
from trimem.llm.base import LLM, Request
from trimem.llm.structured import Outcome, ask
from trimem.rendering import one_line, say_time
from trimem.replies import KeyInformation, QueryPlan, TargetQueries
from trimem.types import Plan, Question

S = TypeVar("S", QueryPlan, TargetQueries, KeyInformation)


class LLMPlanner:
    """One call a question (`calls=1`), or two as in the paper (`calls=2`: target queries, then key information).

    `max_queries` bounds the queries, the question itself among them; 0 plans nothing, so the question is searched as it
    stands. A call that fails leaves the bare question and is named in `Plan.problems`.
    """

    def __init__(
        self, llm: LLM, calls: int = 1, max_queries: NonNegativeInt = 3, max_tokens: PositiveInt = 512
    ) -> None:
        if calls not in (1, 2):
            raise BadInput(f"planner.calls is {calls}; it can be 1 (one merged call) or 2 (the paper's two).")
        self.llm = llm
        self.calls = calls
        self.prompts = {name: prompts.load(name) for name in (("plan",) if calls == 1 else ("queries", "keys"))}
        self.max_queries = max_queries
        self.max_tokens = max_tokens

    def plan(self, question: Question) -> Plan:
        if not self.max_queries:
            return Plan((question.text,))
        if self.calls == 1:
            merged = self._ask("plan", QueryPlan, question)
            return self._plan(question, merged.value.queries if merged.value else (), merged.value, merged.problems)
        target = self._ask("queries", TargetQueries, question)
        keys = self._ask("keys", KeyInformation, question)
        queries = target.value.queries if target.value else ()
        return self._plan(question, queries, keys.value, (*target.problems, *keys.problems))

    def _ask(self, prompt: str, schema: type[S], question: Question) -> Outcome[S]:
        values = {"question": one_line(question.text), "last_time": say_time(question.asked_at)}
        request = Request(
            messages=self.prompts[prompt].render(values),
            stage="plan",
            schema=schema,
            fields={"question": question.text},
            max_tokens=self.max_tokens,
        )
        return ask(self.llm, request)

    def _plan(
        self, question: Question, queries: Sequence[str], keys: KeyInformation | None, problems: Sequence[str]
    ) -> Plan:
        distinct: dict[str, str] = {}
        for query in (question.text, *map(one_line, queries)):
            distinct.setdefault(query.casefold().strip(" ?.!"), query)
        distinct.pop("", None)
        keys = keys or KeyInformation()
        return Plan(
            queries=tuple(distinct.values())[: self.max_queries],
            keywords=tuple(keys.keywords),
            persons=tuple(keys.persons),
            time=_time(keys.time_expression, question),
            location=keys.location or None,
            entities=tuple(keys.entities),
            problems=tuple(problems),
        )


def _time(expression: str | None, question: Question) -> str | None:
    if not expression:
        return None
    return times.normalise(expression) or (times.resolve(expression, question.asked_at) if question.asked_at else None)
