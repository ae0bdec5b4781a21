"""xMemory's build: messages are cut into episodes, episodes teach semantics, semantics gather in themes."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import Field

from baselines.base import JournalMemory, nearest, turn_fields
from baselines.xmemory.themes import Group, Shape, arrange, nearest_groups
from trimem.concurrency import fan_out
from trimem.llm.structured import Outcome
from trimem.protocols import Vectors
from trimem.rendering import one_line, render_turns, say_time
from trimem.replies import ReplySchema
from trimem.types import BuildReport, Conversation, Turn

NOTHING_KNOWN = "(nothing is known of this yet)"
"""In place of a prediction, where no statement bears on the episode."""


class Boundary(ReplySchema):
    """Reply to `xmemory_boundary`."""

    ends: bool
    reason: str = Field(default="", max_length=400)
    topic: str = Field(default="", max_length=200)


class Episode(ReplySchema):
    """Reply to `xmemory_episode`."""

    title: str = Field(min_length=1, max_length=300)
    content: str = Field(min_length=1, max_length=6000)


class Statements(ReplySchema):
    """Reply to `xmemory_semantics` and `xmemory_compare`."""

    statements: list[str] = Field(max_length=40)


class Prediction(ReplySchema):
    """Reply to `xmemory_predict`."""

    content: str = Field(min_length=1, max_length=6000)


class ThemeSummary(ReplySchema):
    """Reply to `xmemory_theme`."""

    summary: str = Field(min_length=1, max_length=800)


@dataclass
class Closed:
    """A finished episode, what it teaches, and what went wrong by step; not yet stored."""

    turns: Sequence[Turn]
    record: dict[str, Any]
    vector: Vectors
    statements: list[str]
    problems: list[tuple[str, tuple[str, ...]]]


class XMemoryWriter(JournalMemory):
    """The building half of xMemory. One step of the journal is one message, with the episode that it closes."""

    boundary: Literal["llm", "heuristic"]
    max_episode: int
    boundary_similarity: float
    relevant: int
    relevant_similarity: float
    neighbours: int
    shape: Shape

    def build(self, conversation: Conversation) -> BuildReport:
        self.journal.claim(conversation=conversation.id, embedder=self.embedder.fingerprint)
        known = {turn.id: turn for turn in conversation.turns}
        buffer = [known[id] for id in self.journal.get("buffer", [])]
        for turn in self.journal.new(conversation.turns):
            ends, problems = self._ends(buffer, turn) if buffer else (False, ())
            closed = self._close(buffer) if ends else None
            buffer = [turn] if ends else [*buffer, turn]
            with self.journal.step():
                self._note("boundary", [turn.id], problems)
                self._store(closed)
                self.journal.take([turn])
                self.journal.set("buffer", [waiting.id for waiting in buffer])
        if buffer:
            closed = self._close(buffer)
            with self.journal.step():
                self._store(closed)
                self.journal.set("buffer", [])
        self._arrange_themes()
        return self._report()

    # -- episodes --------------------------------------------------------------------------------------------------

    def _ends(self, buffer: Sequence[Turn], turn: Turn) -> tuple[bool, tuple[str, ...]]:
        """Whether the episode ends before `turn`, and what went wrong in asking. A full one ends unasked."""
        if len(buffer) >= self.max_episode:
            return True, ()
        if self.boundary == "heuristic":
            before, after = self.embedder.encode([buffer[-1].content, turn.content])
            return turn.session != buffer[-1].session or float(before @ after) < self.boundary_similarity, ()
        values = {"history": render_turns(buffer), "message": render_turns([turn])}
        outcome = self._ask("boundary", Boundary, values, {"turns": turn_fields([*buffer, turn])}, 256, 0.1)
        return bool(outcome.value and outcome.value.ends), outcome.problems

    def _close(self, turns: Sequence[Turn]) -> Closed:
        """Tell the episode and learn from it: predict it from what is known, then keep what the prediction lacked."""
        told = self._ask(
            "episode", Episode, {"dialogue": render_turns(turns)}, {"turns": turn_fields(turns)}, 2048, 0.3
        )
        episode = told.value or Episode(
            title=one_line(turns[0].content)[:300] or "(no text)", content=render_turns(turns)[:6000]
        )
        text = f"{one_line(episode.title)}. {one_line(episode.content)}"
        vector = self._embed(text)
        problems = [("episode", told.problems)]
        statements = self._learn(episode, text, vector, turns, problems)
        record = {
            "title": one_line(episode.title),
            "content": one_line(episode.content),
            "time": say_time(turns[0].time),
            "sources": [turn.id for turn in turns],
        }
        return Closed(turns, record, vector, statements, problems)

    def _learn(
        self,
        episode: Episode,
        text: str,
        vector: Vectors,
        turns: Sequence[Turn],
        problems: list[tuple[str, tuple[str, ...]]],
    ) -> list[str]:
        """New statements of an episode, `text` with its `vector`; what went wrong is added to `problems`."""

        def noted(
            step: str, schema: type[ReplySchema], values: Mapping[str, str], facts: Sequence[str]
        ) -> Outcome[Any]:
            fields = {"facts": list(facts), "turns": turn_fields(turns)}
            outcome = self._ask(step, schema, values, fields, 2048, 0.3 if step == "predict" else 0.2)
            problems.append((step, outcome.problems))
            return outcome

        semantics = self.journal.records("semantic")
        if not semantics:
            learnt = noted("semantics", Statements, {"episode": text}, [text])
        else:
            near = nearest(vector, *self.journal.vectors("semantic"), self.relevant)
            known = [semantics[id]["text"] for id, score in near if score >= self.relevant_similarity]
            prediction = NOTHING_KNOWN
            if known:
                values = {"title": one_line(episode.title), "statements": "\n".join(known)}
                guess = noted("predict", Prediction, values, known)
                prediction = guess.value.content if guess.value else NOTHING_KNOWN
            values = {"prediction": prediction, "dialogue": render_turns(turns)}
            learnt = noted("compare", Statements, values, known)
        said = map(one_line, learnt.value.statements if learnt.value else ())
        return list(dict.fromkeys(statement for statement in said if statement))

    def _store(self, closed: Closed | None) -> None:
        """Put an episode and its statements on record. A statement known word for word gains the episode instead."""
        if closed is None:
            return
        ids = closed.record["sources"]
        for step, problems in closed.problems:
            self._note(step, ids, problems)
        episode = self.journal.new_id("e")
        self.journal.put("episode", episode, closed.record, closed.vector)
        for text, vector in zip(closed.statements, self.embedder.encode(closed.statements), strict=True):
            known = self.journal.records("semantic")
            id = next((id for id, semantic in known.items() if semantic["text"] == text), None)
            if id:
                sources = list(dict.fromkeys([*known[id]["sources"], *ids]))
                grown = {"episodes": [*known[id]["episodes"], episode], "sources": sources}
                self.journal.put("semantic", id, known[id] | grown)
                continue
            near = nearest(vector, *self.journal.vectors("semantic"), self.neighbours)
            made = {"text": text, "episodes": [episode], "sources": ids, "near": near}
            self.journal.put("semantic", self.journal.new_id("s"), made, vector)

    # -- themes ----------------------------------------------------------------------------------------------------

    def _arrange_themes(self) -> None:
        """Take the new statements into the themes, and sum up each theme whose members changed: one call each."""
        ids, vectors = self.journal.vectors("semantic")
        before = self.journal.records("theme")
        row = {id: n for n, id in enumerate(ids)}
        groups = [[row[id] for id in theme["members"]] for theme in before.values()]
        placed = {n for group in groups for n in group}
        new = [n for n in range(len(ids)) if n not in placed]
        if not new:
            return
        groups = arrange(vectors, groups, new, self.shape)
        members = {_theme_id(group, ids): [ids[n] for n in group] for group in groups}
        self._summarise({id: group for id, group in members.items() if id not in self.journal.records("summary")})
        summaries = self.journal.records("summary")
        with self.journal.step():
            for id in before:
                self.journal.remove("theme", id)
            for n, id in enumerate(members):
                close = nearest_groups(vectors, groups, n, self.neighbours)
                near = [(_theme_id(groups[other], ids), score) for other, score in close]
                self.journal.put("theme", id, {"members": members[id], "near": near, "summary": summaries[id]})
            for id in summaries.keys() - members.keys():
                self.journal.remove("summary", id)

    def _summarise(self, themes: Mapping[str, Sequence[str]]) -> None:
        """One call a theme, side by side. A theme without a summary goes by its first statement."""
        semantics = self.journal.records("semantic")

        def ask(members: Sequence[str]) -> Outcome[Any]:
            said = [semantics[id]["text"] for id in members]
            return self._ask("theme", ThemeSummary, {"statements": "\n".join(said)}, {"facts": said}, 256)

        outcomes = fan_out(ask, themes.values(), self.llm.concurrency)
        for (id, members), outcome in zip(themes.items(), outcomes, strict=True):
            text = outcome.value.summary if outcome.value else semantics[members[0]]["text"]
            with self.journal.step():
                self._note("theme", semantics[members[0]]["sources"], outcome.problems)
                self.journal.put("summary", id, one_line(text), self._embed(one_line(text)))

    def _report(self) -> BuildReport:
        """Windows are episodes, facts are semantics."""
        failed = [note for note in self.journal.records("problem").values() if note["step"] == "episode"]
        return BuildReport(
            turns=self.journal.count("turn"),
            windows=self.journal.count("episode"),
            failed_windows=len(failed),
            facts=self.journal.count("semantic"),
        )


def _theme_id(group: Group, ids: Sequence[str]) -> str:
    """A theme is known by its members: with others it is another theme, and needs another summary."""
    return hashlib.sha256(" ".join(ids[n] for n in group).encode()).hexdigest()[:12]
