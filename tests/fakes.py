"""Small stand-ins that several test files share: a dialogue, parts that are plain functions, a model by a function."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

import numpy as np

from trimem.concurrency import fan_out
from trimem.llm.base import Reply, Request
from trimem.protocols import Vectors
from trimem.types import Answer, Context, Conversation, Extraction, Fact, Plan, Profile, Question, Session, Turn


def dialogue(n: int, speakers: Sequence[str] = ("Ines", "Pavel"), per_session: int = 7) -> tuple[Turn, ...]:
    """`n` turns in sessions of `per_session`, a day apart."""
    return tuple(
        Turn(
            f"D{i // per_session + 1}:{i % per_session + 1}",
            speakers[i % len(speakers)],
            f"I counted {i} herons by the canal.",
            datetime(2021, 3, 1 + i // per_session % 28, 9, 30),
            str(i // per_session + 1),
        )
        for i in range(n)
    )


def conversation(turns: Sequence[Turn], id: str = "talk") -> Conversation:
    """The turns as a conversation, a session for each `Turn.session`."""
    ids = dict.fromkeys(turn.session for turn in turns)
    sessions = tuple(
        Session(s, next(t.time for t in turns if t.session == s), tuple(t for t in turns if t.session == s))
        for s in ids
    )
    return Conversation(id, tuple(sorted({turn.speaker for turn in turns})), sessions)


class WindowExtractor:
    """Facts that depend on the whole window, so that a test sees which windows were extracted."""

    def __init__(
        self, window: int = 10, overlap: int = 2, fail: Callable[[Sequence[Turn]], bool] | None = None
    ) -> None:
        self.window = window
        self.overlap = overlap
        self.fail = fail or (lambda _: False)
        self.seen: list[tuple[str, ...]] = []

    def extract(self, window: Sequence[Turn]) -> Extraction:
        self.seen.append(tuple(turn.id for turn in window))
        if self.fail(window):
            return Extraction(failures=("refused",))
        extent = f"{window[0].id} to {window[-1].id}"
        return Extraction(
            tuple(Fact(f"{t.speaker}: {t.text} ({extent})", persons=(t.speaker,), sources=(t.id,)) for t in window)
        )


class CountingProfiler:
    """A profile that tells how many facts it was given in how many updates."""

    min_facts = 3

    def update(self, profile: Profile | None, person: str, facts: Sequence[Fact]) -> Profile:
        before = profile or Profile(person, {"identity": ""})
        text = f"{before.sections['identity']}+{len(facts)}".lstrip("+")
        return Profile(person, {"identity": text}, (*before.fact_ids, *(fact.id for fact in facts)))


class PlainPlanner:
    """The question is the only query."""

    def plan(self, question: Question) -> Plan:
        return Plan((question.text,))


class FirstReasoner:
    """Answers with the first item's text."""

    def answer(self, question: Question, context: Context) -> Answer:
        return Answer(context.items[0].text if context.items else "", context=context)


class LetterEmbedder:
    """Counts of letters, of length 1: enough to tell texts apart."""

    fingerprint = "letters:26"
    dim = 26

    def encode(self, texts: Sequence[str], query: bool = False) -> Vectors:
        rows = np.array([[text.lower().count(chr(97 + i)) + 1e-3 for i in range(26)] for text in texts], np.float32)
        rows = rows.reshape(-1, 26)
        return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)


class FunctionLLM:
    """A model that is a function of the request; keeps what it was asked."""

    model = "function"
    concurrency = 4

    def __init__(self, reply: Callable[[Request], str | Reply]) -> None:
        self.reply = reply
        self.asked: list[Request] = []

    @property
    def identity(self) -> Mapping[str, Any]:
        return {"model": self.model}

    def complete(self, request: Request) -> Reply:
        self.asked.append(request)
        reply = self.reply(request)
        return reply if isinstance(reply, Reply) else Reply(reply)

    def complete_many(self, requests: Sequence[Request]) -> list[Reply]:
        return list(fan_out(self.complete, requests, self.concurrency))
