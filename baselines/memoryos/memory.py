"""MemoryOS: pages move from a short queue into topic segments, and what is hot there into profile and knowledge."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import PositiveInt

from baselines.base import JournalMemory, as_context, bare, iso, load_prompts, nearest, turn_fields, words
from baselines.memoryos.pages import Page, Pages, new_page, pair
from baselines.memoryos.replies import (
    ChainSummary,
    Continuity,
    Knowledge,
    Persona,
    QueryWords,
    Topics,
)
from baselines.memoryos.segments import Heat, Segments
from trimem.errors import BadInput
from trimem.llm.base import LLM
from trimem.protocols import Embedder, Reasoner, Vectors
from trimem.rendering import one_line, render_turns
from trimem.replies import ReplySchema
from trimem.types import BuildReport, Context, Conversation, Item, Plan, Question, Turn

SIDES = ("user", "agent")


class MemoryOS(JournalMemory):
    """MemoryOS with the settings of its paper (arXiv 2506.06326), which its authors recommend over their script's.

    The first speaker is the "user", the other the "agent". An exchange of the two is a page.
    Build, page by page:
    1. Short-term: a queue of `short_term` pages; when it is full, the oldest moves on.
    2. Mid-term: one call tells whether that page continues the one before it, one writes the summary of their chain,
       one names up to two topics. For each topic the page joins the segment of the best score, cosine plus Jaccard, if
       that is at least `threshold`, and else begins a segment. Of more than `segments` the coldest is forgotten.
    3. Long-term: if the hottest segment's heat (see `Heat`) is at least `hot` and it has pages not analysed yet, one
       call rewrites the user's profile from them and one adds to what is known of user and agent, `knowledge` lines
       each, first in first out. Then the segment's visits and interactions are zero again.

    Retrieve: all short-term pages; the best `top_pages` pages, by cosine, of the best `top_segments` segments, whose
    question words one call extracts; the profile; the nearest `top_knowledge` lines of each side.

    Deviations: time is that of the conversation, not of the machine. Questions are not written back, and leave a visit
    in the heat only if `count_visits` says so: then they matter to what is built later. A page whose topics cannot be
    read becomes a topic of its own under its chain's summary; the authors drop it. Consecutive turns of one speaker
    share a page; the authors overwrite them.
    """

    prompts = load_prompts("memoryos", "continuity", "meta", "topics", "profile", "knowledge", "query")

    def __init__(
        self,
        directory: Path,
        llm: LLM,
        embedder: Embedder,
        reasoner: Reasoner,
        short_term: PositiveInt = 7,
        segments: PositiveInt = 200,
        threshold: float = 0.6,
        hot: float = 5.0,
        alpha: float = 1.0,
        beta: float = 1.0,
        gamma: float = 1.0,
        recency_seconds: float = 1e7,
        top_segments: PositiveInt = 5,
        top_pages: PositiveInt = 10,
        knowledge: PositiveInt = 100,
        top_knowledge: PositiveInt = 10,
        count_visits: bool = False,
        max_tokens: PositiveInt | None = None,
    ) -> None:
        if short_term < 1:
            raise BadInput(f"memoryos: short_term is {short_term}; the queue needs room for at least 1 page.")
        super().__init__(directory, llm, embedder, reasoner)
        self.short_term = short_term
        self.hot = hot
        self.top_segments = top_segments
        self.top_pages = top_pages
        self.knowledge = knowledge
        self.top_knowledge = top_knowledge
        self.count_visits = count_visits
        self.max_tokens = max_tokens
        self.pages = Pages(self.journal)
        self.segments = Segments(self.journal, Heat(alpha, beta, gamma, recency_seconds), threshold, segments)

    def build(self, conversation: Conversation) -> BuildReport:
        self.journal.claim(conversation=conversation.id, embedder=self.embedder.fingerprint)
        turns = self.journal.new(conversation.turns)
        user = self.journal.get("user") or next(iter(conversation.speakers), "") or (turns[0].speaker if turns else "")
        for exchange in pair(turns, user):
            with self.journal.step():
                self.journal.set("user", user)
                self._add(exchange)
        return self._report()

    def _report(self) -> BuildReport:
        lines = [line for side in SIDES for line in self.journal.records(f"knowledge of {side}").values()]
        return BuildReport(
            turns=self.journal.count("turn"),
            windows=self.journal.get("pages", 0),
            failed_windows=self.journal.count("failed page"),
            facts=len(lines),
            facts_without_source=sum(not line["sources"] for line in lines),
            profiles=int(self.journal.get("profile") is not None),
            failed_profiles=self.journal.get("failed profiles", 0),
        )

    def retrieve(self, question: Question) -> Context:
        query = self._embed(question.text, query=True)
        plan = self._plan(question)
        pages = self._pages_found(query, plan.keywords, iso(question.asked_at) or self._now)
        known = self._knowledge_found(query, first=len(pages) + 1)
        return as_context([*self._always(), *pages, *known], self.max_tokens, plan)

    # -- short-term and mid-term memory ----------------------------------------------------------------------------

    def _add(self, exchange: Sequence[Turn]) -> None:
        """Queue the page of an exchange; the oldest page makes room for it."""
        self.journal.set("now", iso(exchange[-1].time) or self.journal.get("now"))
        page = new_page(f"page{self.journal.bump('pages')}", exchange)
        self.pages.put(page, self._embed(page.text))
        self.journal.take(exchange)
        queue = [*self.journal.get("queue", []), page.id]
        self.journal.set("queue", queue[-self.short_term :])
        for id in queue[: -self.short_term]:
            self._move(id)

    def _move(self, id: str) -> None:
        """Take a page from the queue into the segments of its topics, and promote what has become hot."""
        known = self.pages.all()
        page, previous = known[id], known.get(self.journal.get("last moved", ""))
        if previous and not self._continues(previous, page):
            previous = None
        page = self.pages.chain(page, previous, self._chain_summary(previous, page))
        for summary, keywords in self._topics(page):
            self.segments.add(page, summary, keywords, self._embed(summary), self._now)
        self.segments.shrink(self._now)
        self.journal.set("last moved", id)
        self._promote()

    def _continues(self, previous: Page, page: Page) -> bool:
        values = {"previous": render_turns(self._turns([previous]))}
        reply: Continuity | None = self._learn("continuity", Continuity, [page], values, max_tokens=64)
        return reply is not None and reply.continuous

    def _chain_summary(self, previous: Page | None, page: Page) -> str:
        before = previous.meta if previous else ""
        values = {"summary": before or "(none yet)"}
        reply: ChainSummary | None = self._learn("meta", ChainSummary, [page], values, 256, temperature=0.3)
        return one_line(reply.summary) if reply else before

    def _topics(self, page: Page) -> list[tuple[str, tuple[str, ...]]]:
        """Summary and keywords of each topic of a page; where none can be read, its chain's summary is the topic."""
        reply: Topics | None = self._learn("topics", Topics, [page])
        topics = reply.topics if reply else []
        found = [(one_line(f"{topic.theme}: {topic.content}").strip(": "), words(topic.keywords)) for topic in topics]
        return found or [(page.meta or page.text, ())]

    # -- long-term memory ------------------------------------------------------------------------------------------

    def _promote(self) -> None:
        """Learn from the hottest of the segments with pages that are not analysed yet, if it is hot enough."""
        pages = self.pages.all()
        segment = self.segments.hottest(self._now, {id for id, page in pages.items() if not page.analysed})
        if segment is None or self.segments.heat.of(segment, self._now) < self.hot:
            return
        new = [pages[id] for id in segment.pages if not pages[id].analysed]
        self._rewrite_profile(new)
        self._add_knowledge(new)
        for page in new:
            self.pages.put(replace(page, analysed=True))
        self.segments.put(replace(segment, visits=0, interactions=0, visited=self._now))

    def _rewrite_profile(self, pages: Sequence[Page]) -> None:
        old = self.journal.get("profile", {"text": "", "sources": []})
        values = {"person": one_line(self.journal.get("user")), "profile": old["text"] or "(none yet)"}
        reply: Persona | None = self._learn("profile", Persona, pages, values, max_tokens=4096)
        if reply is None:
            self.journal.bump("failed profiles")
            return
        sources = dict.fromkeys([*old["sources"], *(id for page in pages for id in page.sources)])
        self.journal.set("profile", {"text": reply.profile.strip(), "sources": list(sources)})

    def _add_knowledge(self, pages: Sequence[Page]) -> None:
        """Lines about user and agent, each with the turns it rests on; the oldest lines make room."""
        values = {"person": one_line(self.journal.get("user"))}
        reply: Knowledge | None = self._learn("knowledge", Knowledge, pages, values, max_tokens=2048)
        shown = [id for page in pages for id in page.sources]
        for side, lines in (("user", reply.user), ("agent", reply.agent)) if reply else ():
            store = f"knowledge of {side}"
            for line in lines:
                cited = {bare(source) for source in line.sources}
                text, sources = one_line(line.text), [id for id in shown if id in cited]
                vector = self._embed(text)
                self.journal.put(store, self.journal.new_id("line"), {"text": text, "sources": sources}, vector)
            known = list(self.journal.records(store))
            for id in known[: max(0, len(known) - self.knowledge)]:
                self.journal.remove(store, id)

    def _learn(
        self,
        step: str,
        schema: type[ReplySchema],
        pages: Sequence[Page],
        values: Mapping[str, str] | None = None,
        max_tokens: int = 1024,
        temperature: float = 0.0,
    ) -> Any:
        """Ask about pages; None, and the last page counted as failed, where nothing usable comes."""
        turns = self._turns(pages)
        filled = {**(values or {}), "dialogue": render_turns(turns)}
        outcome = self._ask(step, schema, filled, {"turns": turn_fields(turns)}, max_tokens, temperature)
        self._note(step, [turn.id for turn in turns], outcome.problems)
        if outcome.value is None:
            self.journal.put("failed page", pages[-1].id, step)
        return outcome.value

    def _turns(self, pages: Sequence[Page]) -> list[Turn]:
        known = {turn.id: turn for turn in self.journal.turns()}
        return [known[id] for page in pages for id in page.sources]

    @property
    def _now(self) -> str | None:
        """The time of the newest turn taken in, in ISO 8601: the only clock."""
        now: str | None = self.journal.get("now")
        return now

    # -- reading ---------------------------------------------------------------------------------------------------

    def _plan(self, question: Question) -> Plan:
        values = {"question": one_line(question.text)}
        outcome = self._ask("query", QueryWords, values, {"question": question.text}, max_tokens=256)
        keywords = words(outcome.value.keywords) if outcome.value else ()
        return Plan((question.text,), keywords, problems=outcome.problems)

    def _pages_found(self, query: Vectors, keywords: Sequence[str], visited: str | None) -> list[Item]:
        """The best pages of the best segments; a visit is noted if questions count."""
        best = [id for id, _ in self.segments.scores(query, keywords)[: self.top_segments]]
        if self.count_visits:
            with self.journal.step():
                self.segments.visit(best, visited)
        segments, pages = self.segments.all(), self.pages.all()
        inside = {page for id in best for page in segments[id].pages}
        ids, vectors = self.journal.vectors("page")
        rows = [n for n, id in enumerate(ids) if id in inside]
        found = nearest(query, [ids[n] for n in rows], vectors[rows], self.top_pages) if rows else []
        return [_page_item(pages[id], score, rank) for rank, (id, score) in enumerate(found, start=1)]

    def _knowledge_found(self, query: Vectors, first: int) -> list[Item]:
        """The nearest lines of knowledge of each side, ranked from `first` on."""
        items: list[Item] = []
        for side in SIDES:
            known = self.journal.records(f"knowledge of {side}")
            for id, score in nearest(query, *self.journal.vectors(f"knowledge of {side}"), self.top_knowledge):
                thing = known[id]
                items.append(Item("fact", id, thing["text"], tuple(thing["sources"]), score, first + len(items)))
        return items

    def _always(self) -> list[Item]:
        """What every question is given: the profile and the short-term pages, in order of time."""
        profile, pages = self.journal.get("profile"), self.pages.all()
        person = one_line(self.journal.get("user", ""))
        items = [Item("profile", person, f"{person}:\n{profile['text']}")] if profile else []
        return items + [_page_item(pages[id]) for id in self.journal.get("queue", [])]


def _page_item(page: Page, score: float = 0.0, rank: int = 0) -> Item:
    """A page with the summary of its chain."""
    text = f"{page.text}\n(part of: {page.meta})" if page.meta else page.text
    return Item("page", page.id, text, page.sources, score, rank)
