"""TriMem: store, retrieve, reason. Raw dialogue, atomic facts and profiles of one conversation, side by side."""

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from trimem import people
from trimem.concurrency import fan_out
from trimem.errors import BadInput
from trimem.llm.base import LLM
from trimem.parts import Parts
from trimem.protocols import Embedder, Extractor, Planner, Profiler, Reasoner, Retriever
from trimem.store import Store
from trimem.types import (
    Answer,
    BuildReport,
    Context,
    Conversation,
    Extraction,
    Fact,
    Plan,
    Profile,
    Question,
    Turn,
)
from trimem.unicode import whole_unicode

Progress = Callable[[str, int, int], None]
"""Called with what is being done ("windows", "profiles"), how much of it is done, and how much there is."""


def _silent(_stage: str, _done: int, _total: int) -> None:
    """No progress shown."""


class TriMem:
    """The memory of one conversation in its own directory, composed of five parts that can be swapped.

    `add` and `ask` are for agents, `build`, `retrieve` and `answer` for the harness. Opening a directory again goes
    on where it was. `llm` is a model's name at OpenAI or any `LLM`; without one the parts work by rules. Parts given
    one by one win; the toggles then hold for the others only. `incremental` profiles are updated window by window
    (the paper), otherwise once a build. `gpu` searches vectors on the first GPU.
    """

    def __init__(
        self,
        directory: str | Path,
        llm: LLM | str | None = None,
        embedder: Embedder | None = None,
        extractor: Extractor | None = None,
        profiler: Profiler | None = None,
        planner: Planner | None = None,
        retriever: Retriever | None = None,
        reasoner: Reasoner | None = None,
        conversation: str = "",
        use_profiles: bool = True,
        use_raw: bool = True,
        use_planning: bool = True,
        use_reflection: bool = False,
        incremental: bool = False,
        gpu: bool = False,
        progress: Progress = _silent,
    ) -> None:
        if not str(directory).strip():
            raise BadInput("a memory needs a directory of its own, and got an empty name: name one for each user.")
        parts = Parts(llm, embedder, use_raw=use_raw, use_profiles=use_profiles, use_reflection=use_reflection)
        self.embedder = parts.embedder
        self.extractor = extractor or parts.extractor()
        self.profiler = profiler or parts.profiler()
        self.planner = planner or parts.planner()
        self.retriever = retriever or parts.retriever()
        self.reasoner = reasoner or parts.reasoner()
        self.use_profiles = use_profiles
        self.use_planning = use_planning
        self.incremental = incremental
        self.progress = progress
        self.store = Store(Path(directory), self.embedder.fingerprint, conversation, gpu)
        self._building = threading.RLock()
        self._flushed = False

    # -- the protocol of every memory ------------------------------------------------------------------------------

    def build(self, conversation: Conversation) -> BuildReport:
        with self._building:
            added = self.store.add_turns(conversation.turns)
            self._flushed = self._flushed and not added
            self.flush()
        return self.report()

    def retrieve(self, question: Question) -> Context:
        self.flush()
        question = replace(question, asked_at=question.asked_at or self.store.last_time())
        return self.retriever.retrieve(question, self._plan(question), self.store)

    def answer(self, question: Question) -> Answer:
        context = self.retrieve(question)
        answer = self.reasoner.answer(question, context)
        problems = context.plan.problems if context.plan else ()
        return replace(answer, problems=(*problems, *answer.problems))

    # -- for agents ------------------------------------------------------------------------------------------------

    def add(self, turns: Iterable[Turn | Mapping[str, Any]], time: datetime | None = None) -> int:
        """Take in turns, or messages `{"role", "content", "name"?}` said at `time`; returns how many were new.

        Full windows are extracted at once, the rest when somebody asks. Raises BadInput for a message without text.
        """
        with self._building:
            first = self.store.turn_count() + 1
            new = [turn if isinstance(turn, Turn) else _turn(turn, first + i, time) for i, turn in enumerate(turns)]
            added = self.store.add_turns(new)
            self._flushed = self._flushed and not added
            self._extract(self._windows(tail=False))
        return added

    def ask(self, question: str, at: datetime | None = None) -> Answer:
        """Answer a question; `Answer.context` is the evidence. `at`: when it is asked (None: after the last turn)."""
        return self.answer(Question("ask", whole_unicode(question), at))

    def flush(self) -> None:
        """Extract what no full window covers yet and bring the profiles up to date."""
        with self._building:
            if self._flushed:
                return
            self._extract(self._windows(tail=True))
            if getattr(self.retriever, "searches_turn_vectors", False):
                self._encode_turns()
            if self.use_profiles:
                self._update_profiles()
            self._flushed = True

    def export(self, path: Path) -> None:
        """Write everything as sorted JSON lines; equal memories give equal files."""
        self.store.export(path)

    def close(self) -> None:
        self.store.close()

    def __enter__(self) -> "TriMem":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- facts -----------------------------------------------------------------------------------------------------

    def _windows(self, tail: bool) -> list[tuple[int, int]]:
        """Windows (start, stop) to be extracted: not seen yet or grown since; with the tail, failed ones too."""
        done = {(window.start, window.stop) for window in self.store.windows() if not (tail and window.failed)}
        wanted = windows(self.store.turn_count(), self.extractor.window, self.extractor.overlap)
        full = self.extractor.window
        return [(start, stop) for start, stop in wanted if (start, stop) not in done and (tail or stop - start == full)]

    def _extract(self, pending: Sequence[tuple[int, int]]) -> None:
        def extract(window: tuple[int, int]) -> Extraction:
            return self.extractor.extract(self.store.turns(*window))

        width = getattr(self.extractor, "concurrency", 1)
        for done, (window, found) in enumerate(zip(pending, fan_out(extract, pending, width), strict=True), start=1):
            vectors = self.embedder.encode([fact.statement for fact in found.facts])
            self.store.put_aliases(people.find_aliases(self.store.turns(*window), self.store.speakers()))
            self.store.put_window(*window, found, vectors, found.failed)
            self.progress("windows", done, len(pending))

    def _encode_turns(self) -> None:
        texts = self.store.missing_turn_vectors()
        self.store.put_turn_vectors(list(texts), self.embedder.encode(list(texts.values())))

    # -- profiles --------------------------------------------------------------------------------------------------

    def _update_profiles(self) -> None:
        todo = [
            job
            for person, n in self.store.persons().items()
            if n >= self.profiler.min_facts
            for job in self._outdated(person)
        ]
        width = getattr(self.profiler, "concurrency", 1)
        for done, profile in enumerate(fan_out(self._profile, todo, width), start=1):
            self.store.put_profiles([profile])
            self.progress("profiles", done, len(todo))

    def _outdated(self, person: str) -> list[tuple[Profile | None, str, list[Fact]]]:
        """The person's profile and the facts it lacks; a profile that rests on facts since replaced starts anew."""
        facts = self.store.fact_ids_of(person)
        profile = self.store.profile(person)
        if profile and not facts.issuperset(profile.fact_ids):
            profile = None
        new = facts.difference(profile.fact_ids if profile else ())
        return [(profile, person, list(self.store.facts_by_id(new)))] if new else []

    def _profile(self, job: tuple[Profile | None, str, list[Fact]]) -> Profile:
        profile, person, facts = job
        for batch in self._batches(facts):
            profile = self.profiler.update(profile, person, batch)
        return profile or Profile(person)

    def _batches(self, facts: Sequence[Fact]) -> list[list[Fact]]:
        """All facts at once, or by the window in which their first source was said."""
        if not self.incremental:
            return [list(facts)]
        stride = self.extractor.window - self.extractor.overlap
        position = {turn.id: n for n, turn in enumerate(self.store.turns())}
        batches: dict[int, list[Fact]] = {}
        for fact in facts:
            batches.setdefault(position[fact.sources[0]] // stride if fact.sources else 0, []).append(fact)
        return [batches[n] for n in sorted(batches)]

    # -- questions -------------------------------------------------------------------------------------------------

    def _plan(self, question: Question) -> Plan:
        return self.planner.plan(question) if self.use_planning else Plan((question.text,))

    def report(self) -> BuildReport:
        """What the memory holds, counted in the store: the same after one build, or several, or a resumed one."""
        lacking = [person for person, n in self.store.persons().items() if n >= self.profiler.min_facts]
        failed = sum(bool(self._outdated(person)) for person in lacking) if self.use_profiles else 0
        counts: dict[str, Any] = self.store.counts()
        return BuildReport(**counts, failed_profiles=failed)


def windows(turns: int, size: int, overlap: int) -> list[tuple[int, int]]:
    """Windows (start, stop) over a stream of turns; a tail that holds only overlap is left out.

    LoCoMo's ten conversations give 158 windows of 40 turns that share 2. Raises BadInput where the overlap is not
    smaller than the window.
    """
    if not 0 <= overlap < size:
        raise BadInput(
            f"extractor.overlap is {overlap}; it must be at least 0 and less than extractor.window ({size})."
        )
    stride = size - overlap
    return [(start, min(start + size, turns)) for start in range(0, max(turns - overlap, min(turns, 1)), stride)]


def _turn(message: Mapping[str, Any], number: int, time: datetime | None) -> Turn:
    text = message.get("content")
    if not isinstance(text, str) or not text.strip():
        raise BadInput(f'message {number} has no text; messages look like {{"role": "user", "content": "…"}}.')
    speaker = str(message.get("name") or message.get("role") or "user")
    return Turn(
        f"m{number}", whole_unicode(speaker), whole_unicode(text), time, session=time.date().isoformat() if time else ""
    )
