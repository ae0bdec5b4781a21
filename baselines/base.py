"""What the memories that a language model writes have in common: a journal, one way to ask, one way to answer."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from baselines.journal import Journal
from trimem import prompts
from trimem.llm.base import LLM, Request
from trimem.llm.structured import Outcome, ask
from trimem.prompts import Prompt
from trimem.protocols import Embedder, Reasoner, Vectors
from trimem.rendering import one_line
from trimem.replies import ReplySchema
from trimem.tokens import count_tokens
from trimem.types import Answer, BuildReport, Context, Conversation, Item, Plan, Question, Turn

FOLDER = Path(__file__).parent / "prompts"


def load_prompts(method: str, *steps: str) -> dict[str, Prompt]:
    """The prompts `baselines/prompts/<method>_<step>.md`, by step."""
    return {step: prompts.load(FOLDER / f"{method}_{step}.md") for step in steps}


class JournalMemory(ABC):
    """A memory that keeps what it learns in a `Journal` and asks a language model step by step.

    A step whose reply cannot be used is counted and noted in the journal, never repeated; `problems` lists them all.
    """

    prompts: ClassVar[Mapping[str, Prompt]] = {}

    def __init__(self, directory: Path, llm: LLM, embedder: Embedder, reasoner: Reasoner) -> None:
        self.llm = llm
        self.embedder = embedder
        self.reasoner = reasoner
        self.journal = Journal(Path(directory))

    @abstractmethod
    def build(self, conversation: Conversation) -> BuildReport: ...

    @abstractmethod
    def retrieve(self, question: Question) -> Context: ...

    def answer(self, question: Question) -> Answer:
        context = self.retrieve(question)
        answer = self.reasoner.answer(question, context)
        problems = context.plan.problems if context.plan else ()
        return replace(answer, problems=(*problems, *answer.problems))

    @property
    def problems(self) -> list[str]:
        """What went wrong in building, in order: `step turns: problem`."""
        noted = self.journal.records("problem").values()
        return [f"{n['step']} {' '.join(n['sources'])}: {problem}" for n in noted for problem in n["problems"]]

    def export(self, path: Path) -> None:
        """Write everything as sorted JSON lines; equal memories give equal files."""
        self.journal.export(path)

    def close(self) -> None:
        self.journal.close()

    def _ask(
        self,
        step: str,
        schema: type[ReplySchema],
        values: Mapping[str, str],
        fields: Mapping[str, Any],
        max_tokens: int = 1024,
        temperature: float = 0.0,
    ) -> Outcome[Any]:
        """One structured call under the prompt of `step`; its stage is `baseline:<method>:<step>`."""
        prompt = self.prompts[step]
        request = Request(
            messages=prompt.render(values),
            stage=f"baseline:{prompt.name.replace('_', ':', 1)}",
            schema=schema,
            fields=fields,
            max_tokens=max_tokens,
            temperature=temperature,
        )
        return ask(self.llm, request)

    def _note(self, step: str, sources: Sequence[str], problems: Sequence[str]) -> None:
        """Put problems of a step on record, if there are any."""
        if problems:
            note = {"step": step, "sources": list(sources), "problems": list(problems)}
            self.journal.put("problem", self.journal.new_id("problem"), note)

    def _embed(self, text: str, query: bool = False) -> Vectors:
        """Vector of one text, shape (dim,)."""
        vector: Vectors = self.embedder.encode([text], query=query)[0]
        return vector


def turn_fields(turns: Sequence[Turn]) -> list[dict[str, Any]]:
    """Turns as `Request.fields` carry them."""
    return [{"id": t.id, "speaker": t.speaker, "text": t.content, "time": iso(t.time)} for t in turns]


def iso(time: datetime | None) -> str | None:
    """A time as the journal keeps it."""
    return time.isoformat() if time else None


def day(time: str | None) -> str:
    """What a text of that (ISO) time begins with: `[2023-05-08] `; nothing where the time is unknown."""
    return f"[{time[:10]}] " if time else ""


def bare(id: str | None) -> str:
    """An id as a model wrote it, without brackets around it."""
    return (id or "").strip().strip("[]").strip()


def words(values: Sequence[str]) -> tuple[str, ...]:
    """Words or phrases that a model listed, each on one line and once."""
    return tuple(dict.fromkeys(word for value in values if (word := one_line(value))))


def nearest(query: Vectors, ids: Sequence[str], vectors: Vectors, k: int) -> list[tuple[str, float]]:
    """The `k` ids whose vectors, shape (n, dim), lie closest to `query`, with cosines; ties in the order of `ids`."""
    if not ids:
        return []
    scores = vectors @ query
    return [(ids[n], float(scores[n])) for n in np.argsort(-scores, kind="stable")[:k]]


def as_context(items: Sequence[Item], max_tokens: int | None = None, plan: Plan | None = None) -> Context:
    """A context of `items`, the most important first; those from the first that exceeds `max_tokens` are left out."""
    tokens: dict[str, int] = {"total": 0}
    kept: list[Item] = []
    for item in items:
        size = count_tokens(item.text)
        if max_tokens is not None and tokens["total"] + size > max_tokens:
            break
        for key in (f"{item.kind}s", "total"):
            tokens[key] = tokens.get(key, 0) + size
        kept.append(item)
    return Context(tuple(kept), plan, tokens)
