"""Full-Context: no memory at all; the model reads the whole conversation for every question."""

import logging
from pathlib import Path

from trimem.protocols import Reasoner
from trimem.rendering import turn_item
from trimem.tokens import count_tokens
from trimem.types import Answer, BuildReport, Context, Conversation, Question, Turn

logger = logging.getLogger(__name__)


class FullContext:
    """All turns in order of time, the question last, so that a server can reuse the prefix for every question.

    Where the conversation is longer than `max_tokens`, the oldest turns are left out; how many is logged and stands in
    `BuildReport.turns` against the conversation's own count. (LoCoMo paper, "full context"; 17-36k tokens a question
    in the literature, by format.)
    """

    def __init__(self, directory: Path, reasoner: Reasoner, max_tokens: int = 120_000) -> None:
        self.directory = directory
        self.reasoner = reasoner
        self.max_tokens = max_tokens
        self.context = Context()

    def build(self, conversation: Conversation) -> BuildReport:
        items = [turn_item(turn) for turn in _newest(conversation.turns, self.max_tokens)]
        left_out = len(conversation.turns) - len(items)
        if left_out:
            logger.warning("full context: the oldest %d turns of %s do not fit", left_out, conversation.id)
        tokens = count_tokens("\n".join(item.text for item in items))
        self.context = Context(tuple(items), tokens={"turns": tokens, "total": tokens})
        return BuildReport(turns=len(items))

    def retrieve(self, question: Question) -> Context:  # noqa: ARG002 - the same for every question, by definition
        return self.context

    def answer(self, question: Question) -> Answer:
        return self.reasoner.answer(question, self.retrieve(question))


def _newest(turns: tuple[Turn, ...], max_tokens: int) -> tuple[Turn, ...]:
    """The longest tail of `turns` whose rendered lines have at most `max_tokens` tokens."""
    for start, turn in reversed(list(enumerate(turns))):
        max_tokens -= count_tokens(turn_item(turn).text + "\n")
        if max_tokens < 0:
            return turns[start + 1 :]
    return turns
