"""A memory of thirty lines for tests of the harness: it answers with the turn that shares most words."""

import time
from collections.abc import Callable
from pathlib import Path

from trimem.types import Answer, BuildReport, Context, Conversation, Item, Question, Turn


class StandIn:
    """`fail_on` names a word: a question with it raises. `delay` is seconds a question."""

    def __init__(self, directory: Path, fail_on: str = "", delay: float = 0.0) -> None:
        self.directory, self.fail_on, self.delay = directory, fail_on, delay
        self.turns: tuple[Turn, ...] = ()

    def build(self, conversation: Conversation) -> BuildReport:
        self.turns = conversation.turns
        with (self.directory / "builds.txt").open("a") as file:
            file.write("built\n")
        return BuildReport(turns=len(self.turns))

    def retrieve(self, question: Question) -> Context:
        words = set(question.text.lower().split())
        best = max(self.turns, key=lambda turn: len(words & set(turn.content.lower().split())))
        return Context((Item("turn", best.id, best.content, (best.id,), 1.0, 1),), tokens={"turns": 1, "total": 1})

    def answer(self, question: Question) -> Answer:
        time.sleep(self.delay)
        with (self.directory / "asked.txt").open("a") as file:
            file.write(f"{question.id}\n")
        if self.fail_on and self.fail_on in question.text:
            raise ValueError(f"the stand-in refuses {self.fail_on}")
        context = self.retrieve(question)
        return Answer(context.items[0].text, context=context)


Factory = Callable[..., StandIn]
