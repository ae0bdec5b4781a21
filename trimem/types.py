"""The nouns of a dialogue memory: turns, facts, profiles, plans, contexts, answers.

All are frozen; collections are tuples, so that a noun can be shared between threads and compared by value.
Nothing here can hold a gold answer or a category: scorers keep those in an object of their own
(`experiments.data.types.Gold`), which no memory is ever handed.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import Literal

Kind = Literal["fact", "turn", "profile", "chunk", "note", "page", "segment", "episode", "theme"]

ViewRanks = tuple[tuple[str, int], ...]
"""The views that found an item, each with its best rank there."""

SECTIONS = (
    "identity",
    "personality",
    "how others describe them",
    "interests",
    "career",
    "values",
    "beliefs",
    "relationships",
    "life events",
    "preferences",
)
"""Sections of a profile, in the order in which they are shown (paper, profile prompt)."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One utterance. `id` is the data set's own (`D1:3`); `time` is that of its session, without a time zone."""

    id: str
    speaker: str
    text: str
    time: datetime | None = None
    session: str = ""
    caption: str | None = None

    @property
    def content(self) -> str:
        """Text and image caption as every method sees them: the one turn renderer."""
        image = f"[image: {self.caption}]" if self.caption else ""
        return f"{self.text} {image}".strip()


@dataclass(frozen=True, slots=True)
class Session:
    """Turns that were said in one sitting, in order."""

    id: str
    time: datetime | None
    turns: tuple[Turn, ...]


@dataclass(frozen=True, slots=True)
class Conversation:
    """All sessions of one dialogue, in order of time. One memory holds one conversation."""

    id: str
    speakers: tuple[str, ...]
    sessions: tuple[Session, ...]

    @property
    def turns(self) -> tuple[Turn, ...]:
        return tuple(turn for session in self.sessions for turn in session.turns)


@dataclass(frozen=True, slots=True)
class Question:
    """All that a memory may see of a question. `asked_at` None means: after the conversation's last turn."""

    id: str
    text: str
    asked_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Fact:
    """One self-contained statement with the ids of the turns it comes from (paper: f_src).

    `time` is when it happened, not when it was said: ISO 8601 with the precision that is known
    (`2023`, `2023-05`, `2023-W19`, `2023-05-07`, `2023-05-06/2023-05-07`), or None; see `trimem.times`.
    """

    statement: str
    keywords: tuple[str, ...] = ()
    time: str | None = None
    location: str | None = None
    persons: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    topic: str | None = None
    sources: tuple[str, ...] = ()
    id: str = ""

    def __post_init__(self) -> None:
        if not self.id:
            object.__setattr__(self, "id", self._content_id())

    def _content_id(self) -> str:
        content = [self.statement, self.keywords, self.time, self.location]
        content += [self.persons, self.entities, self.topic, self.sources]
        return hashlib.sha256(json.dumps(content, ensure_ascii=False).encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Profile:
    """What is known of one person, by section, and the ids of the facts it was made from."""

    person: str
    sections: Mapping[str, str] = field(default_factory=dict)
    fact_ids: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The profile as the reasoner reads it: a heading and a line a section that has content."""
        known = [f"- {name}: {self.sections[name]}" for name in SECTIONS if self.sections.get(name)]
        return "\n".join([f"{self.person}:", *known])


@dataclass(frozen=True, slots=True)
class Extraction:
    """What one window gave: its facts, and the reasons for what is missing (empty: nothing is)."""

    facts: tuple[Fact, ...] = ()
    failures: tuple[str, ...] = ()

    @property
    def failed(self) -> bool:
        """Nothing came of the window, and not because it holds nothing; the next build tries it again."""
        return bool(self.failures) and not self.facts


@dataclass(frozen=True, slots=True)
class Plan:
    """How a question is searched for: queries (the question itself always first) and key information.

    `time` is ISO 8601 as in `Fact.time`. `problems` name what went wrong in making it; it is then the bare question.
    """

    queries: tuple[str, ...]
    keywords: tuple[str, ...] = ()
    persons: tuple[str, ...] = ()
    time: str | None = None
    location: str | None = None
    entities: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Item:
    """Anything a memory can put before the reasoner. `sources` are turn ids: retrieval is measured by them.

    `rank` counts from 1 in the order of retrieval; 0 marks what was not ranked but brought along
    (the source turns of retrieved facts, profiles). `views` tells by which views it was found.
    """

    kind: Kind
    id: str
    text: str
    sources: tuple[str, ...] = ()
    score: float = 0.0
    rank: int = 0
    views: ViewRanks = ()


@dataclass(frozen=True, slots=True)
class Context:
    """What the reasoner is given. `tokens` counts o200k_base tokens of the item texts by kind, and "total"."""

    items: tuple[Item, ...] = ()
    plan: Plan | None = None
    tokens: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))

    def of(self, kind: Kind) -> tuple[Item, ...]:
        return tuple(item for item in self.items if item.kind == kind)

    @property
    def facts(self) -> tuple[Item, ...]:
        return self.of("fact")

    @property
    def turns(self) -> tuple[Item, ...]:
        return self.of("turn")

    @property
    def profiles(self) -> tuple[Item, ...]:
        return self.of("profile")


@dataclass(frozen=True, slots=True)
class Answer:
    """The reasoner's answer. `status` is "ok" or names what went wrong; a failed answer scores 0 and is listed.

    `problems` name what was mended on the way (a repaired reply, a context cut to fit) and so did not fail.
    """

    text: str
    reasoning: str = ""
    context: Context = field(default_factory=Context)
    status: str = "ok"
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StageUsage:
    """What one stage cost. `usd` and token counts are None where a server or price list does not tell them.

    `cached_tokens` are those, in and out, of the replies that a cache gave: a method asks for them all the same.
    """

    calls: int = 0
    cached: int = 0
    prompt_tokens: int | None = 0
    completion_tokens: int | None = 0
    seconds: float = 0.0
    usd: float | None = 0.0
    cached_tokens: int | None = 0


@dataclass(frozen=True, slots=True)
class BuildReport:
    """What a memory holds after `build`, and what was lost on the way. Counts cover the whole memory, not one call."""

    turns: int
    windows: int = 0
    failed_windows: int = 0
    facts: int = 0
    facts_without_source: int = 0
    profiles: int = 0
    failed_profiles: int = 0
    usage: Mapping[str, StageUsage] = field(default_factory=dict)
