"""A-Mem: a note per turn, linked to its neighbours, which every new note may rewrite."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, NonNegativeInt, PositiveInt

from baselines.base import JournalMemory, as_context, bare, day, iso, load_prompts, nearest, turn_fields, words
from trimem.errors import BadInput
from trimem.llm.base import LLM
from trimem.protocols import Embedder, Reasoner
from trimem.rendering import one_line, say_time
from trimem.replies import ReplySchema
from trimem.types import BuildReport, Context, Conversation, Item, Plan, Question, Turn


class NoteReply(ReplySchema):
    """Reply to `amem_note`: what a turn is about."""

    keywords: list[str] = Field(max_length=20)
    context: str = Field(default="", max_length=1000)
    tags: list[str] = Field(default=[], max_length=20)


class Rewrite(ReplySchema):
    """New context and tags of one neighbour; None leaves them as they are."""

    id: str
    context: str | None = Field(default=None, max_length=1000)
    tags: list[str] | None = Field(default=None, max_length=20)


class EvolutionReply(ReplySchema):
    """Reply to `amem_evolve`: what a new note does to itself and its neighbours."""

    should_evolve: bool
    actions: list[Literal["strengthen", "update_neighbor"]] = Field(default=[], max_length=2)
    suggested_connections: list[str] = Field(default=[], max_length=20)
    tags_to_update: list[str] = Field(default=[], max_length=20)
    neighbors: list[Rewrite] = Field(default=[], max_length=20)


class QueryReply(ReplySchema):
    """Reply to `amem_query`."""

    keywords: list[str] = Field(max_length=20)


@dataclass(frozen=True)
class Note:
    """One turn as A-Mem keeps it. `links` point to older notes; ids are those of the turns, `time` is ISO 8601."""

    id: str
    content: str
    time: str | None
    keywords: tuple[str, ...] = ()
    context: str = ""
    tags: tuple[str, ...] = ()
    links: tuple[str, ...] = ()

    @property
    def document(self) -> str:
        """What is embedded: the content and all that was written about it."""
        about = [f"context: {self.context}", f"keywords: {', '.join(self.keywords)}", f"tags: {', '.join(self.tags)}"]
        return " ".join([f"content: {self.content}", *about])

    @property
    def text(self) -> str:
        """What the reasoner reads."""
        about = {"context": self.context, "keywords": ", ".join(self.keywords), "tags": ", ".join(self.tags)}
        known = "; ".join(f"{name}: {value}" for name, value in about.items() if value)
        return f"{day(self.time)}{self.content}" + (f" ({known})" if known else "")


class AMem(JournalMemory):
    """A-Mem as its authors' reproduction code has it (arXiv 2502.12110; github.com/WujiangXu/A-mem).

    Build, turn by turn:
    1. One call writes keywords, a context sentence and tags: the note.
    2. Its `neighbours` nearest notes are found with the bare content.
    3. One call decides on evolution: link the note to neighbours and replace its tags (strengthen), rewrite context
       and tags of neighbours (update_neighbor). The first note has no neighbours, so a conversation costs two calls a
       turn less one.
    4. The note is embedded with what was written about it. Vectors of rewritten neighbours stay as they were until
       `evolution_threshold` evolutions have come together; then all notes are embedded anew.

    Retrieve: one call turns the question into keywords, which are embedded in its place (`query="question"`: not so);
    the `top_k` nearest notes, each followed by at most `top_k` notes that it links to.

    Deviations: links and rewrites name notes by id instead of position (their product mixes the two up, issue
    A-mem#32), and only neighbours that were shown; a note enters the context once. The authors choose the answer
    prompt by the question's category and k on the test set; here both are fixed.
    """

    prompts = load_prompts("amem", "note", "evolve", "query")

    def __init__(
        self,
        directory: Path,
        llm: LLM,
        embedder: Embedder,
        reasoner: Reasoner,
        neighbours: NonNegativeInt = 5,
        top_k: PositiveInt = 10,
        evolution_threshold: NonNegativeInt = 100,
        evolve: bool = True,
        follow_links: bool = True,
        query: Literal["keywords", "question"] = "keywords",
        temperature: float = 0.7,
        max_tokens: PositiveInt | None = None,
    ) -> None:
        if query not in ("keywords", "question"):
            raise BadInput(f"amem: query is {query!r}; it can be 'keywords' or 'question'.")
        super().__init__(directory, llm, embedder, reasoner)
        self.neighbours = neighbours
        self.top_k = top_k
        self.evolution_threshold = evolution_threshold
        self.evolve = evolve
        self.follow_links = follow_links
        self.query = query
        self.temperature = temperature
        self.max_tokens = max_tokens

    def build(self, conversation: Conversation) -> BuildReport:
        self.journal.claim(conversation=conversation.id, embedder=self.embedder.fingerprint)
        for turn in self.journal.new(conversation.turns):
            with self.journal.step():
                self._add(turn)
        turns = self.journal.count("turn")
        return BuildReport(turns, windows=turns, failed_windows=self.journal.get("failed notes", 0))

    def retrieve(self, question: Question) -> Context:
        plan = self._plan(question)
        query = self._embed(", ".join(plan.keywords) or question.text, query=True)
        notes = self._notes()
        items: dict[str, Item] = {}
        found = nearest(query, *self.journal.vectors("note"), self.top_k)
        ranks = {id: (score, rank) for rank, (id, score) in enumerate(found, start=1)}
        for hit in ranks:
            links = notes[hit].links[: self.top_k] if self.follow_links else ()
            for id in (hit, *links):
                score, rank = ranks.get(id, (0.0, 0))
                items.setdefault(id, Item("note", id, notes[id].text, (id,), score, rank))
        return as_context(list(items.values()), self.max_tokens, plan)

    # -- writing a note --------------------------------------------------------------------------------------------

    def _add(self, turn: Turn) -> None:
        note, failed = self._construct(turn)
        near = nearest(self._embed(note.content), *self.journal.vectors("note"), self.neighbours)
        reply = None
        if near and self.evolve:
            ids = [id for id, _ in near]
            reply = self._ask_evolution(note, ids)
            failed = failed or reply is None
            note = self._evolved(note, ids, reply) if reply and reply.should_evolve else note
        self.journal.put("note", note.id, asdict(note), self._embed(note.document))
        if reply and reply.should_evolve and self.journal.bump("evolutions") % self.evolution_threshold == 0:
            self._embed_anew()
        if failed:
            self.journal.bump("failed notes")
        self.journal.take([turn])

    def _construct(self, turn: Turn) -> tuple[Note, bool]:
        """The note of a turn, and whether the call for it failed: then it has its content only."""
        note = Note(turn.id, f"{one_line(turn.speaker)}: {one_line(turn.content)}", iso(turn.time))
        values = {"time": say_time(turn.time), "content": note.content}
        outcome = self._ask("note", NoteReply, values, {"turns": turn_fields([turn])}, temperature=self.temperature)
        self._note("note", [turn.id], outcome.problems)
        if outcome.value is None:
            return note, True
        about: NoteReply = outcome.value
        keywords, tags = words(about.keywords), words(about.tags)
        return replace(note, keywords=keywords, context=one_line(about.context), tags=tags), False

    def _ask_evolution(self, note: Note, near: Sequence[str]) -> EvolutionReply | None:
        notes = self._notes()
        values = {"note": _describe(note), "neighbors": "\n\n".join(_describe(notes[id]) for id in near)}
        memories = [{"id": id, "text": notes[id].content} for id in near]
        fields = {"turns": [{"id": note.id, "text": note.content}], "memories": memories}
        outcome = self._ask("evolve", EvolutionReply, values, fields, temperature=self.temperature)
        self._note("evolve", [note.id], outcome.problems)
        reply: EvolutionReply | None = outcome.value
        return reply

    def _evolved(self, note: Note, near: Sequence[str], reply: EvolutionReply) -> Note:
        """Carry out a reply: the note with its links and tags; rewritten neighbours go to the journal."""
        problems: list[str] = []
        if "strengthen" in reply.actions:
            links = [id for id in dict.fromkeys(map(bare, reply.suggested_connections)) if id in near]
            unknown = set(map(bare, reply.suggested_connections)).difference(near)
            problems += [f"link to {id!r}, which is no neighbour" for id in sorted(unknown)]
            note = replace(note, links=tuple(links), tags=words(reply.tags_to_update) or note.tags)
        if "update_neighbor" in reply.actions:
            notes = self._notes()
            for rewrite in reply.neighbors:
                if (id := bare(rewrite.id)) not in near:
                    problems.append(f"rewrite of {id!r}, which is no neighbour")
                    continue
                old = notes[id]
                context = one_line(rewrite.context or "") or old.context
                new = replace(old, context=context, tags=words(rewrite.tags or ()) or old.tags)
                self.journal.put("note", id, asdict(new))
        self._note("evolve", [note.id], problems)
        return note

    def _embed_anew(self) -> None:
        notes = self._notes()
        vectors = self.embedder.encode([note.document for note in notes.values()])
        for note, vector in zip(notes.values(), vectors, strict=True):
            self.journal.put("note", note.id, asdict(note), vector)

    # -- reading ---------------------------------------------------------------------------------------------------

    def _plan(self, question: Question) -> Plan:
        if self.query == "question":
            return Plan((question.text,))
        values = {"question": one_line(question.text)}
        outcome = self._ask("query", QueryReply, values, {"question": question.text}, max_tokens=256)
        keywords = words(outcome.value.keywords) if outcome.value else ()
        return Plan((question.text,), keywords, problems=outcome.problems)

    def _notes(self) -> dict[str, Note]:
        return {id: _note_from(value) for id, value in self.journal.records("note").items()}


def _note_from(value: dict[str, Any]) -> Note:
    keywords, tags, links = (tuple(value.pop(name)) for name in ("keywords", "tags", "links"))
    return Note(**value, keywords=keywords, tags=tags, links=links)


def _describe(note: Note) -> str:
    """A note for the evolution call, under its id."""
    return (
        f"[{note.id}]\ncontent: {day(note.time)}{note.content}\ncontext: {note.context}\n"
        f"keywords: {', '.join(note.keywords)}\ntags: {', '.join(note.tags)}"
    )
