"""Question and context -> short answer, by a language model (paper E.5; prompt `answer`)."""

from dataclasses import replace

from pydantic import PositiveInt

from trimem import prompts
from trimem.budget import within
from trimem.llm.base import LLM, Request
from trimem.llm.structured import ask
from trimem.rendering import one_line, render_context
from trimem.replies import AnswerReply
from trimem.types import Answer, Context, Item, Question

ABSTAIN = "Not mentioned in the conversation"
"""The answer where the memory tells nothing; also the gold of LoCoMo's category 5."""


class LLMReasoner:
    """One call a question, blind to categories. A context too long for the model is cut to its better half once.

    `max_context` (tokens) cuts every context before, so that methods compare at equal tokens; None: as it comes.
    """

    def __init__(
        self, llm: LLM, prompt: str = "answer", max_tokens: PositiveInt = 512, max_context: PositiveInt | None = None
    ) -> None:
        self.llm = llm
        self.prompt = prompts.load(prompt)
        self.max_tokens, self.max_context = max_tokens, max_context

    def answer(self, question: Question, context: Context) -> Answer:
        if not context.items:
            return Answer(ABSTAIN, "the memory holds nothing on it", context)
        if self.max_context is not None:
            context = within(context, self.max_context)
        outcome = ask(self.llm, self._request(question, context))
        problems = outcome.problems
        if outcome.reply.status == "too_long":
            context = better_half(context)
            outcome = ask(self.llm, self._request(question, context))
            problems = (*problems, f"context cut to {len(context.items)} items", *outcome.problems)
        if outcome.value is None:
            return Answer("", context=context, status=outcome.reply.status, problems=problems)
        text = one_line(outcome.value.answer)
        status = "ok" if text else "empty"
        return Answer(text, outcome.value.reasoning, context, status, problems)

    def _request(self, question: Question, context: Context) -> Request:
        values = {"question": one_line(question.text), "context": render_context(context)}
        return Request(
            messages=self.prompt.render(values),
            stage="answer",
            schema=AnswerReply,
            fields={
                "question": question.text,
                "facts": [item.text for item in context.items if item.kind not in ("turn", "profile")],
                "turns": [{"id": item.id, "text": item.text} for item in context.turns],
                "profiles": [item.text for item in context.profiles],
            },
            max_tokens=self.max_tokens,
        )


def better_half(context: Context) -> Context:
    """The better-ranked half of the items of each kind, in their order; what was brought along counts as it stands."""

    def keep(items: tuple[Item, ...]) -> set[str]:
        ranked = sorted(items, key=lambda item: item.rank or len(items))
        return {item.id for item in ranked[: (len(items) + 1) // 2]}

    kept = {kind: keep(context.of(kind)) for kind in {item.kind for item in context.items}}
    return replace(context, items=tuple(item for item in context.items if item.id in kept[item.kind]))
