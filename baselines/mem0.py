"""Mem0: short facts per speaker, each compared with what is known and then added, merged, withdrawn or skipped."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, NonNegativeInt, PositiveInt

from baselines.base import JournalMemory, as_context, bare, day, iso, load_prompts, nearest, turn_fields, words
from trimem.llm.base import LLM
from trimem.protocols import Embedder, Reasoner
from trimem.rendering import one_line, render_turns
from trimem.replies import ReplySchema
from trimem.types import BuildReport, Context, Conversation, Item, Question, Turn


class Summary(ReplySchema):
    """Reply to `mem0_summary`."""

    summary: str = Field(min_length=1, max_length=6000)


class SalientFacts(ReplySchema):
    """Reply to `mem0_extract`."""

    facts: list[str] = Field(max_length=40)


class Decision(ReplySchema):
    """Reply to `mem0_decide`: what the new fact does to the memory. `id` and `text` where the operation needs them."""

    operation: Literal["ADD", "UPDATE", "DELETE", "NOOP"]
    id: str | None = None
    text: str | None = Field(default=None, max_length=1000)


class Mem0(JournalMemory):
    """Mem0 without graph, as its paper describes it (arXiv 2504.19413, section 2.1, and the set-up of its evaluation).

    Build, in `batch` messages of a session at a time:
    1. The running summary of the conversation is renewed every `summary_every` messages.
    2. For each speaker in the batch, one call extracts facts about that speaker from the summary, the last `recent`
       messages and the batch. Each speaker has a store of their own, as in the authors' evaluation.
    3. Each fact is held against the `similar` nearest memories of the speaker, and one call decides: ADD it; UPDATE a
       memory, which keeps its id; DELETE a memory that it contradicts; or NOOP.

    Retrieve: the `top_k` memories of each speaker that are nearest to the question, with the day they were last said.

    Deviations: the summary is renewed in line, not in the background, so that equal runs are equal. A speaker who says
    nothing in a batch costs no call, nor does a fact that meets an empty store. An UPDATE of an unknown id and a
    decision that cannot be read become an ADD, so that no fact is lost; a DELETE of an unknown id removes nothing.
    Sources are the speaker's turns in the batch; an update adds to those of the old memory.
    """

    prompts = load_prompts("mem0", "summary", "extract", "decide")

    def __init__(
        self,
        directory: Path,
        llm: LLM,
        embedder: Embedder,
        reasoner: Reasoner,
        batch: PositiveInt = 2,
        recent: NonNegativeInt = 10,
        similar: PositiveInt = 10,
        summary_every: PositiveInt = 10,
        top_k: PositiveInt = 30,
        max_tokens: PositiveInt | None = None,
    ) -> None:
        super().__init__(directory, llm, embedder, reasoner)
        self.batch = batch
        self.recent = recent
        self.similar = similar
        self.summary_every = summary_every
        self.top_k = top_k
        self.max_tokens = max_tokens

    def build(self, conversation: Conversation) -> BuildReport:
        self.journal.claim(conversation=conversation.id, embedder=self.embedder.fingerprint)
        for batch in _batches(self.journal.new(conversation.turns), self.batch):
            with self.journal.step():
                self._add(batch)
        return BuildReport(
            turns=self.journal.count("turn"),
            windows=self.journal.get("batches", 0),
            failed_windows=self.journal.count("failed batch"),
            facts=sum(self.journal.count(_store(speaker)) for speaker in self._speakers()),
        )

    def retrieve(self, question: Question) -> Context:
        query = self._embed(question.text, query=True)
        found: list[tuple[float, str, dict[str, Any]]] = []
        for speaker in self._speakers():
            memories = self.journal.records(_store(speaker))
            best = nearest(query, *self.journal.vectors(_store(speaker)), self.top_k)
            found += [(score, id, memories[id]) for id, score in best]
        found.sort(key=lambda entry: -entry[0])
        items = [_item(id, memory, score, rank) for rank, (score, id, memory) in enumerate(found, start=1)]
        return as_context(items, self.max_tokens)

    # -- one batch -------------------------------------------------------------------------------------------------

    def _add(self, batch: Sequence[Turn]) -> None:
        before = self.journal.turns()
        self.journal.bump("batches")
        self._summarise(before)
        for speaker in dict.fromkeys(turn.speaker for turn in batch):
            said = [turn for turn in batch if turn.speaker == speaker]
            for fact in self._extract(speaker, batch, before[-self.recent :]):
                self._decide(speaker, fact, said)
        self.journal.take(batch)

    def _summarise(self, turns: Sequence[Turn]) -> None:
        """Renew the summary S if `summary_every` turns have come since it was last renewed."""
        covered = self.journal.get("summarised turns", 0)
        new = turns[covered:]
        if len(new) < self.summary_every:
            return
        values = {"summary": self._summary(), "dialogue": render_turns(new)}
        outcome = self._ask("summary", Summary, values, {"summary": self._summary(), "turns": turn_fields(new)})
        self._note("summary", [turn.id for turn in new], outcome.problems)
        if outcome.value:
            self.journal.set("summary", one_line(outcome.value.summary))
        self.journal.set("summarised turns", len(turns))

    def _extract(self, speaker: str, batch: Sequence[Turn], recent: Sequence[Turn]) -> tuple[str, ...]:
        """The salient facts Ω about `speaker` in the batch, each once."""
        values = {
            "person": one_line(speaker),
            "summary": self._summary(),
            "recent": render_turns(recent) or "(none)",
            "dialogue": render_turns(batch),
        }
        fields = {"person": speaker, "turns": turn_fields([turn for turn in batch if turn.speaker == speaker])}
        outcome = self._ask("extract", SalientFacts, values, fields)
        self._note("extract", [turn.id for turn in batch], outcome.problems)
        facts = words(outcome.value.facts) if outcome.value else ()
        if outcome.value is None or (outcome.truncated and not facts):
            self._count_failed("extract")
        return facts

    def _decide(self, speaker: str, fact: str, said: Sequence[Turn]) -> None:
        """Hold one fact against the nearest memories of its speaker and do what the model decides."""
        store = _store(speaker)
        memories = self.journal.records(store)
        near = nearest(self._embed(fact), *self.journal.vectors(store), self.similar)
        shown = {id: memories[id] for id, _ in near}
        decision = self._decision(fact, shown, said) if shown else Decision(operation="ADD")
        match decision.operation:
            case "ADD":
                self._put(speaker, self.journal.new_id("m"), fact, said)
            case "UPDATE":
                id = bare(decision.id)
                self._put(speaker, id, one_line(decision.text or fact), said, shown[id])
            case "DELETE":
                self.journal.remove(store, bare(decision.id))

    def _decision(self, fact: str, shown: dict[str, Any], said: Sequence[Turn]) -> Decision:
        """The model's decision, made harmless: it names a memory that was shown, or needs none."""
        values = {
            "fact": f"{day(iso(said[0].time))}{fact}",
            "memories": "\n".join(f"{id}: {day(memory['updated'])}{memory['text']}" for id, memory in shown.items()),
        }
        memories = [{"id": id, "text": memory["text"]} for id, memory in shown.items()]
        outcome = self._ask("decide", Decision, values, {"facts": [fact], "memories": memories}, max_tokens=512)
        problems = list(outcome.problems)
        decision = outcome.value or Decision(operation="ADD")
        if outcome.value is None:
            self._count_failed("decide")
        if decision.operation in ("UPDATE", "DELETE") and bare(decision.id) not in shown:
            problems.append(f"{decision.operation} of {decision.id!r}, which was not among the memories shown")
            decision = Decision(operation="ADD" if decision.operation == "UPDATE" else "NOOP")
        self._note("decide", [turn.id for turn in said], problems)
        return decision

    def _put(self, speaker: str, id: str, text: str, said: Sequence[Turn], old: dict[str, Any] | None = None) -> None:
        """Write a memory: a new one, or the new wording of `old`."""
        time = iso(said[0].time)
        sources = dict.fromkeys([*(old["sources"] if old else ()), *(turn.id for turn in said)])
        memory = {"text": text, "created": old["created"] if old else time, "updated": time, "sources": list(sources)}
        self.journal.put(_store(speaker), id, memory, self._embed(text))

    def _count_failed(self, step: str) -> None:
        """A batch counts once, however many of its calls fail."""
        self.journal.put("failed batch", str(self.journal.get("batches")), step)

    def _summary(self) -> str:
        return str(self.journal.get("summary", "(none yet)"))

    def _speakers(self) -> list[str]:
        return list(dict.fromkeys(turn.speaker for turn in self.journal.turns()))


def _batches(turns: Sequence[Turn], size: int) -> Iterator[list[Turn]]:
    """At most `size` consecutive turns of one session."""
    for _, group in groupby(turns, key=lambda turn: turn.session):
        session = list(group)
        yield from (session[start : start + size] for start in range(0, len(session), size))


def _store(speaker: str) -> str:
    return f"memory of {speaker}"


def _item(id: str, memory: dict[str, Any], score: float, rank: int) -> Item:
    return Item("fact", id, f"{day(memory['updated'])}{memory['text']}", tuple(memory["sources"]), score, rank)
