"""What can be swapped: a memory, and the five parts of TriMem. Anything with these methods fits."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from trimem.types import Answer, BuildReport, Context, Conversation, Extraction, Fact, Plan, Profile, Question, Turn

if TYPE_CHECKING:
    from trimem.store import Store

Vectors = npt.NDArray[np.float32]
"""float32, shape (n, dim), rows of length 1."""


@runtime_checkable
class Memory(Protocol):
    """A memory of one conversation. Plain synchronous; the harness calls `answer` from several threads."""

    def build(self, conversation: Conversation) -> BuildReport:
        """Take in a conversation; called again with later sessions, only what is new is processed."""

    def retrieve(self, question: Question) -> Context: ...

    def answer(self, question: Question) -> Answer: ...


@runtime_checkable
class Extractor(Protocol):
    """Windows of turns -> facts. `window` turns a window, of which `overlap` are shared with the one before."""

    @property
    def window(self) -> int: ...

    @property
    def overlap(self) -> int: ...

    def extract(self, window: Sequence[Turn]) -> Extraction: ...


@runtime_checkable
class Profiler(Protocol):
    """Facts about a person -> profile. People with fewer than `min_facts` facts get none."""

    @property
    def min_facts(self) -> int: ...

    def update(self, profile: Profile | None, person: str, facts: Sequence[Fact]) -> Profile: ...


@runtime_checkable
class Planner(Protocol):
    """Question -> queries and key information. Sees no memory, so a plan can be cached."""

    def plan(self, question: Question) -> Plan: ...


@runtime_checkable
class Retriever(Protocol):
    """Plan -> ranked items and what they bring along, within token budgets."""

    def retrieve(self, question: Question, plan: Plan, store: "Store") -> Context: ...


@runtime_checkable
class Reasoner(Protocol):
    """Question and context -> short answer."""

    def answer(self, question: Question, context: Context) -> Answer: ...


@runtime_checkable
class Embedder(Protocol):
    """Texts -> vectors of length 1, safe to call from several threads.

    `fingerprint` names the model, its weights and its dimension (`minilm:53aa5117:384`); a store remembers it and
    refuses another. `encode(..., query=True)` applies the model's query instruction where it has one.
    """

    @property
    def fingerprint(self) -> str: ...

    @property
    def dim(self) -> int: ...

    def encode(self, texts: Sequence[str], query: bool = False) -> Vectors: ...
