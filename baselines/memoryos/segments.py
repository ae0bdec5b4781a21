"""Mid-term memory of MemoryOS: segments of pages on one topic, their heat, and eviction of the coldest."""

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from math import exp
from typing import Any

from baselines.journal import Journal
from baselines.memoryos.pages import Page
from trimem.protocols import Vectors


@dataclass(frozen=True)
class Segment:
    """Pages on one topic. `summary` is what its vector is made of; `interactions` counts pages since the segment was
    last promoted, `visits` the questions that found it, `visited` when it was last touched (ISO 8601)."""

    id: str
    summary: str
    keywords: tuple[str, ...]
    pages: tuple[str, ...]
    interactions: int = 0
    visits: int = 0
    visited: str | None = None


@dataclass(frozen=True)
class Heat:
    """H = α·visits + β·interactions + γ·exp(-Δt/μ): how much a segment is in use (paper, equations 3 and 4).

    Δt is the time since the last touch and `recency` is μ, both in seconds; where a time is unknown, Δt is 0.
    """

    alpha: float
    beta: float
    gamma: float
    recency: float

    def of(self, segment: Segment, now: str | None) -> float:
        seconds = 0.0
        if now and segment.visited:
            seconds = (datetime.fromisoformat(now) - datetime.fromisoformat(segment.visited)).total_seconds()
        fresh = exp(-max(seconds, 0.0) / self.recency)
        return self.alpha * segment.visits + self.beta * segment.interactions + self.gamma * fresh


class Segments:
    """The segments in the journal: at most `capacity`, joined where the score is at least `threshold`."""

    def __init__(self, journal: Journal, heat: Heat, threshold: float, capacity: int) -> None:
        self.journal = journal
        self.heat = heat
        self.threshold = threshold
        self.capacity = capacity

    def all(self) -> dict[str, Segment]:
        return {id: _segment(value) for id, value in self.journal.records("segment").items()}

    def put(self, segment: Segment, vector: Vectors | None = None) -> None:
        self.journal.put("segment", segment.id, asdict(segment), vector)

    def scores(self, vector: Vectors, keywords: Collection[str]) -> list[tuple[str, float]]:
        """Segments by F = cosine of the summaries + Jaccard index of the keywords, best first."""
        ids, vectors = self.journal.vectors("segment")
        if not ids:
            return []
        known = self.all()
        cosines = vectors @ vector
        scores = [(id, float(c) + jaccard(keywords, known[id].keywords)) for id, c in zip(ids, cosines, strict=True)]
        return sorted(scores, key=lambda entry: -entry[1])

    def add(self, page: Page, summary: str, keywords: tuple[str, ...], vector: Vectors, now: str | None) -> None:
        """Put a page into the segment of its topic, or into a new one."""
        best = self.scores(vector, keywords)[:1]
        if best and best[0][1] >= self.threshold:
            segment = self.all()[best[0][0]]
            pages = tuple(dict.fromkeys((*segment.pages, page.id)))
            interactions = segment.interactions + len(pages) - len(segment.pages)
            self.put(replace(segment, pages=pages, interactions=interactions, visited=now))
            return
        self.put(Segment(self.journal.new_id("segment"), summary, keywords, (page.id,), 1, 0, now), vector)

    def hottest(self, now: str | None, pages: set[str]) -> Segment | None:
        """The segment of the greatest heat, the oldest of equals, among those that hold any of `pages`."""
        segments = [segment for segment in self.all().values() if pages.intersection(segment.pages)]
        return max(segments, key=lambda segment: self.heat.of(segment, now), default=None)

    def visit(self, ids: Sequence[str], time: str | None) -> None:
        """Note that a question found these segments. The order of questions makes no difference."""
        known = self.all()
        for id in ids:
            latest = max(filter(None, (known[id].visited, time)), default=None)
            self.put(replace(known[id], visits=known[id].visits + 1, visited=latest))

    def shrink(self, now: str | None) -> None:
        """Forget the coldest segments above capacity, the oldest of equals, and the pages that only they hold."""
        segments = list(self.all().values())
        by_heat = sorted(segments, key=lambda segment: self.heat.of(segment, now))
        gone = by_heat[: max(0, len(segments) - self.capacity)]
        kept = {page for segment in segments if segment not in gone for page in segment.pages}
        for segment in gone:
            self.journal.remove("segment", segment.id)
            for page in set(segment.pages) - kept:
                self.journal.remove("page", page)


def jaccard(one: Collection[str], other: Collection[str]) -> float:
    """Shared words over all words, case aside; 0 where there are none."""
    a, b = ({word.casefold() for word in words} for words in (one, other))
    return len(a & b) / len(a | b) if a | b else 0.0


def _segment(value: dict[str, Any]) -> Segment:
    return Segment(**value | {"keywords": tuple(value["keywords"]), "pages": tuple(value["pages"])})
