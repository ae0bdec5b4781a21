"""Critiques of single failures -> what comes again: a fault seen in one question, or one session, is chance."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import Field

from trimem import prompts
from trimem.evolution.base import Case
from trimem.llm.base import LLM, Request
from trimem.llm.structured import ask
from trimem.prompts import Prompt
from trimem.replies import ReplySchema

FOLDER = Path(__file__).parent / "prompts"
LEAST = 2
"""Questions, and sessions, in which a pattern must show."""
MOST = 3


class PatternReply(ReplySchema):
    """One fault as the model names it; `cases` count from 1."""

    advice: str = Field(min_length=1, max_length=1200)
    cases: list[int] = Field(default=[], max_length=200)


class Patterns(ReplySchema):
    """Reply to the patterns prompt."""

    patterns: list[PatternReply] = Field(max_length=12)


@dataclass(frozen=True, slots=True)
class Pattern:
    """A fault that several questions of several sessions show."""

    advice: str
    cases: tuple[Case, ...]


def find_patterns(
    llm: LLM, prompt: Prompt, critiques: Sequence[tuple[Case, str]], max_tokens: int
) -> tuple[list[Pattern], list[str]]:
    """At most three patterns, each in two or more questions of two or more sessions; and what could not be used."""
    if not critiques:
        return [], ["no critique came back"]
    template = prompts.load(FOLDER / "patterns.md")
    numbered = "\n".join(f"[{n}] {' '.join(text.split())}" for n, (_, text) in enumerate(critiques, start=1))
    messages = template.render({"prompt": prompt.rules, "critiques": numbered})
    outcome = ask(llm, Request(messages, "evolve", schema=Patterns, max_tokens=max_tokens))
    if outcome.value is None:
        return [], [f"the patterns could not be read ({'; '.join(outcome.problems)})"]
    found = [Pattern(reply.advice, _named(reply, critiques)) for reply in outcome.value.patterns]
    kept = [pattern for pattern in found if _is_systematic(pattern)][:MOST]
    return kept, [] if kept else [f"no pattern was seen in {LEAST} questions of {LEAST} sessions"]


def _named(reply: PatternReply, critiques: Sequence[tuple[Case, str]]) -> tuple[Case, ...]:
    return tuple(critiques[n - 1][0] for n in sorted(set(reply.cases)) if 1 <= n <= len(critiques))


def _is_systematic(pattern: Pattern) -> bool:
    sessions = {case.session for case in pattern.cases}
    return len(pattern.cases) >= LEAST and len(sessions) >= LEAST
