"""Is what was found enough? A completeness check after retrieval (in the authors' code, not in the paper)."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pydantic import NonNegativeInt

from trimem import prompts
from trimem.llm.base import LLM, Request
from trimem.llm.structured import ask
from trimem.protocols import Embedder
from trimem.rendering import one_line
from trimem.replies import Sufficiency
from trimem.retrieval import HybridRetriever
from trimem.types import Context, Plan, Question

if TYPE_CHECKING:
    from trimem.store import Store


class ReflectiveRetriever(HybridRetriever):
    """The hybrid retriever, which asks up to `rounds` times what is missing and searches for that too.

    The added queries join the fusion: K and the token budgets hold for the whole. `settings` are the hybrid's.
    """

    def __init__(
        self, llm: LLM, embedder: Embedder, use_reflection: bool = False, rounds: NonNegativeInt = 2, **settings: Any
    ) -> None:
        super().__init__(embedder, **settings)
        self.llm = llm
        self.rounds = rounds if use_reflection else 0
        self.prompt = prompts.load("reflect")

    def retrieve(self, question: Question, plan: Plan, store: "Store") -> Context:
        context = super().retrieve(question, plan, store)
        for _ in range(self.rounds):
            queries = self._missing(question, context)
            new = tuple(query for query in queries if query not in plan.queries)
            if not new:
                break
            plan = replace(plan, queries=(*plan.queries, *new))
            context = super().retrieve(question, plan, store)
        return context

    def _missing(self, question: Question, context: Context) -> tuple[str, ...]:
        """Queries for what the facts lack; none if they suffice, or if the check itself failed."""
        facts = [item.text for item in context.facts]
        request = Request(
            messages=self.prompt.render({"question": one_line(question.text), "facts": "\n".join(facts) or "(none)"}),
            stage="reflect",
            schema=Sufficiency,
            fields={"question": question.text, "facts": facts},
            max_tokens=512,
        )
        verdict = ask(self.llm, request).value
        return () if verdict is None or verdict.complete else tuple(map(one_line, verdict.queries))
