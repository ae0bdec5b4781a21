"""LightMem itself: what is extracted from each batch, stored softly, updated offline and read for a question."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import Field

from baselines.contexts import context_of
from baselines.journal import Journal
from baselines.lightmem.compression import Compression, compressor
from baselines.lightmem.lingua import Lingua
from baselines.lightmem.segmentation import Segment, Segmenter, batches_of, segments_of
from baselines.vectors import nearest
from trimem import prompts
from trimem.concurrency import fan_out
from trimem.errors import BadInput
from trimem.llm.base import LLM, Request
from trimem.llm.structured import Outcome, ask
from trimem.protocols import Embedder, Reasoner
from trimem.rendering import one_line, render_turns
from trimem.replies import ReplySchema
from trimem.types import Answer, BuildReport, Context, Conversation, Item, Question, Turn

PROMPTS = Path(__file__).parent.parent / "prompts"


class LightFact(ReplySchema):
    """One fact and the message it comes from."""

    statement: str = Field(min_length=1, max_length=600)
    sources: list[str] = Field(default=[], max_length=8)


class LightFacts(ReplySchema):
    """Reply to the extraction prompt."""

    facts: list[LightFact] = Field(max_length=200)


class LightUpdate(ReplySchema):
    """Reply to the update prompt."""

    action: Literal["update", "delete", "ignore"]
    new_memory: str = Field(default="", max_length=1200)


class LightMem:
    """Sensory memory (compress, cut by topic), short-term memory (one extraction call a buffer), offline update.

    1. Light1: each turn loses its least telling words (`compressor`, the fraction `retention` stays); a buffer of
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
        sensory_tokens: int = 512,
        stm_tokens: int = 768,
        update_queue: int = 10,
        update_threshold: float = 0.9,
        reembed: bool = False,
        top_k: int = 60,
        max_tokens: int = 8192,
    ) -> None:
        self.llm, self.embedder, self.reasoner = llm, embedder, reasoner
        model = Lingua(lingua) if lingua else None
        if segmenter == "attention" and model is None:
            raise BadInput("lightmem: segmenter=attention reads LLMLingua-2: set lingua=<folder of its weights>.")
        self.name = "LightMem" if compressor == "llmlingua2" else f"LightMem ({compressor})"
        self.compressor = _compressor(compressor, retention, model)
        self.segmenter = Segmenter(embedder, model if segmenter == "attention" else None)
        self.sensory_tokens, self.stm_tokens = sensory_tokens, stm_tokens
        self.update_queue, self.update_threshold, self.reembed = update_queue, update_threshold, reembed
        self.top_k, self.max_tokens = top_k, max_tokens
        self.extract_prompt = prompts.load(PROMPTS / "lightmem_extract.md")
        self.update_prompt = prompts.load(PROMPTS / "lightmem_update.md")
        self.journal = Journal(directory)

    # -- building --------------------------------------------------------------------------------------------------

    def build(self, conversation: Conversation) -> BuildReport:
        self.journal.claim(conversation=conversation.id, embedder=self.embedder.fingerprint)
        for start, stop in self._streams(len(conversation.turns)):
            turns = self._compressed(conversation.turns[:stop], start)
            segments = segments_of(turns, self.sensory_tokens, self.segmenter.boundaries)
            self._extract(batches_of(segments, self.stm_tokens), conversation.turns)
            self._update()
        return self._report()

    def _streams(self, turns: int) -> list[tuple[int, int]]:
        """Each build's stretch of the conversation, at whose end the buffers were flushed; a new one for new turns."""
        ends: list[int] = self.journal.get("streams", [])
        if turns > (ends[-1] if ends else 0):
            ends = [*ends, turns]
            with self.journal.step():
                self.journal.set("streams", ends)
        return list(zip([0, *ends], ends, strict=False))

    def _compressed(self, turns: Sequence[Turn], start: int) -> list[Turn]:
        """The turns from `start` on as the buffers hold them."""
        texts = self.compressor.compress([t.text for t in turns[start:]], [t.text for t in turns[:start]])
        captions = self.compressor.compress([t.caption or "" for t in turns[start:]])
        return [
            replace(turn, text=text, caption=caption or None)
            for turn, text, caption in zip(turns[start:], texts, captions, strict=True)
        ]

    def _extract(self, batches: Sequence[list[Segment]], turns: Sequence[Turn]) -> None:
        known = self.journal.records("batch")
        todo = [batch for batch in batches if known.get(batch[0][0].id, {"failed": True})["failed"]]
        position = {turn.id: n for n, turn in enumerate(turns)}
        for batch, outcome in zip(todo, fan_out(self._ask_facts, todo, self.llm.concurrency), strict=True):
            entries = [entry for fact in _facts(outcome) for entry in [_entry(fact, batch, position)]]
            vectors = self.embedder.encode([entry["text"] for entry in entries]) if entries else []
            with self.journal.step():
                held = {"segments": [[turn.id for turn in segment] for segment in batch]}
                lost = {"problems": outcome.problems, "failed": outcome.value is None}
                self.journal.put("batch", batch[0][0].id, held | lost)
                for entry, vector in zip(entries, vectors, strict=True):
                    self.journal.put("entry", self.journal.new_id("m"), entry, vector)

    def _ask_facts(self, batch: Sequence[Segment]) -> Outcome[LightFacts]:
        topics = [f"Topic {n}\n{render_turns(segment)}" for n, segment in enumerate(batch, start=1)]
        shown = [{"id": turn.id, "speaker": turn.speaker, "text": turn.content} for s in batch for turn in s]
        return ask(
            self.llm,
            Request(
                messages=self.extract_prompt.render({"dialogue": "\n\n".join(topics)}),
                stage="baseline:lightmem:extract",
                schema=LightFacts,
                fields={"turns": shown},
                max_tokens=self.max_tokens,
                temperature=0.1,
            ),
        )

    # -- the offline update ----------------------------------------------------------------------------------------

    def _update(self) -> None:
        """Decide for each entry that has new sources, keep each decision as it comes, and apply all at the end."""
        entries = self.journal.records("entry")
        decided = self.journal.records("decision")
        asked = self.journal.records("asked")
        todo = [
            (target, sources)
            for target, sources in self._sources(entries).items()
            if target not in decided and not set(sources).issubset(asked.get(target, ()))
        ]

        def decide(job: tuple[str, list[str]]) -> Outcome[LightUpdate]:
            return self._ask_update(entries[job[0]], job[0], [entries[source] for source in job[1]])

        for (target, sources), outcome in zip(todo, fan_out(decide, todo, self.llm.concurrency), strict=True):
            decision = outcome.value.model_dump() if outcome.value else {"action": "ignore", "new_memory": ""}
            with self.journal.step():
                self.journal.put(
                    "decision", target, {**decision, "sources": sources, "problems": list(outcome.problems)}
                )
        self._apply(entries)

    def _sources(self, entries: dict[str, Any]) -> dict[str, list[str]]:
        """For each entry the later ones that have it in their queue with a high enough score."""
        ids, vectors = self.journal.vectors("entry")
        order = sorted(range(len(ids)), key=lambda row: (entries[ids[row]]["position"], row))
        ids, vectors = [ids[row] for row in order], vectors[order]
        sources: dict[str, list[str]] = {}
        for later in range(1, len(ids)):
            for row, _ in nearest(vectors[:later], vectors[later], self.update_queue, self.update_threshold):
                sources.setdefault(ids[row], []).append(ids[later])
        return sources

    def _ask_update(self, target: dict[str, Any], id: str, sources: Sequence[dict[str, Any]]) -> Outcome[LightUpdate]:
        values = {"target": _shown(target), "sources": "\n".join(map(_shown, sources))}
        return ask(
            self.llm,
            Request(
                messages=self.update_prompt.render(values),
                stage="baseline:lightmem:update",
                schema=LightUpdate,
                fields={
                    "memories": [{"id": id, "text": target["text"]}],
                    "facts": [source["text"] for source in sources],
                },
                max_tokens=1024,
            ),
        )

    def _apply(self, entries: dict[str, Any]) -> None:
        with self.journal.step():
            for target, decision in self.journal.records("decision").items():
                entry, text = entries[target], one_line(decision["new_memory"])
                if decision["action"] == "delete":
                    self.journal.remove("entry", target)
                elif decision["action"] == "update" and text:
                    joined = [*entry["sources"], *(id for s in decision["sources"] for id in entries[s]["sources"])]
                    vector = self.embedder.encode([text])[0] if self.reembed else None
                    changed = entry | {"text": text, "sources": list(dict.fromkeys(joined))}
                    self.journal.put("entry", target, changed, vector)
                self.journal.put("asked", target, decision["sources"])
                self.journal.put("updated", target, {k: decision[k] for k in ("action", "problems")})
                self.journal.remove("decision", target)

    # -- reading ---------------------------------------------------------------------------------------------------

    def retrieve(self, question: Question) -> Context:
        entries = self.journal.records("entry")
        ids, vectors = self.journal.vectors("entry")
        hits = nearest(vectors, self.embedder.encode([question.text], query=True)[0], self.top_k)
        items = [
            Item("fact", ids[row], _shown(entries[ids[row]]), tuple(entries[ids[row]]["sources"]), score, rank)
            for rank, (row, score) in enumerate(hits, start=1)
        ]
        speakers = sorted({entry["speaker"] for entry in entries.values()})
        return context_of(sorted(items, key=lambda item: (speakers.index(entries[item.id]["speaker"]), item.rank)))

    def answer(self, question: Question) -> Answer:
        return self.reasoner.answer(question, self.retrieve(question))

    def export(self, path: Path) -> None:
        """Write everything as sorted JSON lines; equal memories give equal files."""
        self.journal.export(path)

    def close(self) -> None:
        self.journal.close()

    def _report(self) -> BuildReport:
        batches = self.journal.records("batch").values()
        entries = self.journal.records("entry").values()
        return BuildReport(
            turns=sum(len(segment) for batch in batches for segment in batch["segments"]),
            windows=len(batches),
            failed_windows=sum(batch["failed"] for batch in batches),
            facts=len(entries),
            facts_without_source=sum(not entry["sources"] for entry in entries),
        )


def _facts(outcome: Outcome[LightFacts]) -> Iterator[LightFact]:
    yield from outcome.value.facts if outcome.value else ()


def _entry(fact: LightFact, batch: Sequence[Segment], position: dict[str, int]) -> dict[str, Any]:
    """A memory entry. Speaker, date and topic are those of its first true source, or of the batch's first turn."""
    topics = {turn.id: (turn, segment[0].id) for segment in batch for turn in segment}
    sources = [id for id in dict.fromkeys(source.strip(" []") for source in fact.sources) if id in topics]
    turn, topic = topics[sources[0] if sources else next(iter(topics))]
    return {
        "text": one_line(fact.statement),
        "speaker": one_line(turn.speaker) if sources else "",
        "time": turn.time.isoformat() if turn.time else None,
        "said": f"{turn.time:%A} {turn.time.day} {turn.time:%B %Y}" if turn.time else "",
        "topic": topic,
        "position": position[turn.id],
        "sources": sources,
    }


def _shown(entry: dict[str, Any]) -> str:
    """An entry with its speaker and the day and weekday on which it was recorded."""
    return f"[{', '.join(part for part in (entry['speaker'], entry['said']) if part) or 'undated'}] {entry['text']}"


_compressor = compressor
