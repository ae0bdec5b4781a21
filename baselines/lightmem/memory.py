"""LightMem itself: what is extracted from each batch, stored softly, updated offline and read for a question."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, PositiveInt

from baselines.base import JournalMemory, as_context, load_prompts, nearest, turn_fields
from baselines.lightmem.compression import Compression, make_compressor
from baselines.lightmem.lingua import Lingua
from baselines.lightmem.segmentation import Segment, Segmenter, batches_of, segments_of
from baselines.lightmem.update import OfflineUpdate, shown
from trimem.concurrency import fan_out
from trimem.errors import BadInput
from trimem.llm.base import LLM
from trimem.llm.structured import Outcome
from trimem.protocols import Embedder, Reasoner
from trimem.rendering import one_line, render_turns
from trimem.replies import ReplySchema
from trimem.types import BuildReport, Context, Conversation, Item, Question, Turn


class LightFact(ReplySchema):
    """One fact and the message it comes from."""

    statement: str = Field(min_length=1, max_length=600)
    sources: list[str] = Field(default=[], max_length=8)


class LightFacts(ReplySchema):
    """Reply to `lightmem_extract`."""

    facts: list[LightFact] = Field(max_length=200)


class LightMem(JournalMemory):
    """Sensory memory (compress, cut by topic), short-term memory (one extraction call a buffer), offline update.

    1. Light1: each turn loses its least telling words (`compressor`; the fraction `retention` stays), and a buffer of
       `sensory_tokens` is cut where the topic changes (`segmenter`).
    2. Light2: segments gather up to `stm_tokens`; each such batch is one call, whose facts are stored as they come
       ("soft insert", no call).
    3. Light3, at the end of each build: for every entry, the later entries that have it among the `update_queue` most
       similar earlier ones with at least `update_threshold` become its sources; one call then updates it, deletes it or
       leaves it. An update changes the text alone; its vector stays stale, as in the authors' code, unless `reembed`.
    4. A question reads the `top_k` most similar entries of both speakers.

    Defaults are the paper's best row for gpt-4o-mini (stm 768, r .8; reading 60; updating 10, .9). Deviations: without
    LLMLingua-2 weights (`compressor=llmlingua2 segmenter=attention lingua=<folder>`) words go by their rarity in the
    conversation and topics by embeddings alone, and the row is called "LightMem (idf)"; the date heads each session
    instead of each line; entries carry the turns they come from; the update decides everything before it changes
    anything, where theirs races; the 20 neighbours fetched before the cut at 10 are left out, as they change nothing
    in an exact search.
    """

    prompts = load_prompts("lightmem", "extract", "update")

    def __init__(
        self,
        directory: Path,
        llm: LLM,
        embedder: Embedder,
        reasoner: Reasoner,
        compressor: Compression = "idf",
        segmenter: Literal["attention", "embedding"] = "embedding",
        lingua: str = "",
        retention: float = 0.8,
        sensory_tokens: PositiveInt = 512,
        stm_tokens: PositiveInt = 768,
        update_queue: PositiveInt = 10,
        update_threshold: float = 0.9,
        reembed: bool = False,
        top_k: PositiveInt = 60,
        max_tokens: PositiveInt = 8192,
    ) -> None:
        super().__init__(directory, llm, embedder, reasoner)
        model = Lingua(lingua) if lingua else None
        if segmenter == "attention" and model is None:
            raise BadInput("lightmem: segmenter=attention reads LLMLingua-2: set lingua=<folder of its weights>.")
        self.compressor = make_compressor(compressor, retention, model)
        self.segmenter = Segmenter(embedder, model if segmenter == "attention" else None)
        self.sensory_tokens, self.stm_tokens = sensory_tokens, stm_tokens
        self.top_k, self.max_tokens = top_k, max_tokens
        self.update = OfflineUpdate(
            self.journal, self._ask, self._embed, llm.concurrency, update_queue, update_threshold, reembed
        )

    def build(self, conversation: Conversation) -> BuildReport:
        self.journal.claim(conversation=conversation.id, embedder=self.embedder.fingerprint)
        turns = conversation.turns
        for start, stop in self._streams(len(turns)):
            compressed = self._compressed(turns[:stop], start)
            segments = segments_of(compressed, self.sensory_tokens, self.segmenter.boundaries)
            self._extract(batches_of(segments, self.stm_tokens), turns)
            self.update.run()
        return self._report()

    def _streams(self, turns: int) -> list[tuple[int, int]]:
        """Each build's stretch of the conversation, at whose end the buffers are flushed; a new one for new turns.

        What the buffers hold follows from where their stretch begins, so a build that was killed finds its batches
        again and asks only for those that it has not stored.
        """
        ends: list[int] = self.journal.get("streams", [])
        if turns > max(ends, default=0):
            ends = [*ends, turns]
            with self.journal.step():
                self.journal.set("streams", ends)
        return list(zip([0, *ends], ends, strict=False))

    def _compressed(self, turns: Sequence[Turn], start: int) -> list[Turn]:
        """The turns from `start` on as the buffers hold them."""
        texts = self.compressor.compress([t.text for t in turns[start:]], before=[t.text for t in turns[:start]])
        captions = self.compressor.compress([t.caption or "" for t in turns[start:]])
        return [
            replace(turn, text=text, caption=caption or None)
            for turn, text, caption in zip(turns[start:], texts, captions, strict=True)
        ]

    def _extract(self, batches: Sequence[list[Segment]], turns: Sequence[Turn]) -> None:
        known = self.journal.records("batch")
        todo = [batch for batch in batches if _id(batch) not in known]
        originals = {turn.id: turn for turn in turns}
        position = {turn.id: n for n, turn in enumerate(turns)}
        for batch, outcome in zip(todo, fan_out(self._ask_facts, todo, self.llm.concurrency), strict=True):
            entries = [_entry(fact, batch, position) for fact in (outcome.value.facts if outcome.value else ())]
            vectors = self.embedder.encode([entry["text"] for entry in entries])
            segments = [[turn.id for turn in segment] for segment in batch]
            ids = [id for segment in segments for id in segment]
            with self.journal.step():
                self.journal.take(originals[id] for id in ids)
                self.journal.put(
                    "batch", _id(batch), {"segments": segments, "failed": bool(outcome.problems) and not entries}
                )
                self._note("extract", ids, outcome.problems)
                for entry, vector in zip(entries, vectors, strict=True):
                    self.journal.put("entry", self.journal.new_id("m"), entry, vector)

    def _ask_facts(self, batch: Sequence[Segment]) -> Outcome[LightFacts]:
        topics = [f"Topic {n}\n{render_turns(segment)}" for n, segment in enumerate(batch, start=1)]
        shown = turn_fields([turn for segment in batch for turn in segment])
        values = {"dialogue": "\n\n".join(topics)}
        return self._ask("extract", LightFacts, values, {"turns": shown}, self.max_tokens, temperature=0.1)

    def retrieve(self, question: Question) -> Context:
        """The most similar entries, those of one speaker after those of the other."""
        entries = self.journal.records("entry")
        hits = nearest(self._embed(question.text, query=True), *self.journal.vectors("entry"), self.top_k)
        items = [
            Item("fact", id, shown(entries[id]), tuple(entries[id]["sources"]), score, rank)
            for rank, (id, score) in enumerate(hits, start=1)
        ]
        return as_context(sorted(items, key=lambda item: (entries[item.id]["speaker"], item.rank)))

    def _report(self) -> BuildReport:
        batches = self.journal.records("batch").values()
        entries = self.journal.records("entry").values()
        return BuildReport(
            turns=self.journal.count("turn"),
            windows=len(batches),
            failed_windows=sum(batch["failed"] for batch in batches),
            facts=len(entries),
            facts_without_source=sum(not entry["sources"] for entry in entries),
        )


def _id(batch: Sequence[Segment]) -> str:
    """A batch is known by its first and last turn."""
    return f"{batch[0][0].id}-{batch[-1][-1].id}"


def _entry(fact: LightFact, batch: Sequence[Segment], position: dict[str, int]) -> dict[str, Any]:
    """A memory entry. Speaker, date and topic are those of its first true source; without one it has no speaker, and
    the date of the batch's first turn."""
    topics = {turn.id: (turn, segment[0].id) for segment in batch for turn in segment}
    sources = [id for id in dict.fromkeys(source.strip(" []") for source in fact.sources) if id in topics]
    turn, topic = topics[sources[0] if sources else batch[0][0].id]
    return {
        "text": one_line(fact.statement),
        "speaker": one_line(turn.speaker) if sources else "",
        "said": f"{turn.time:%A} {turn.time.day} {turn.time:%B %Y}" if turn.time else "",
        "topic": topic,
        "position": position[turn.id],
        "sources": sources,
    }
