"""Windows of turns -> atomic facts, by a language model (paper, section on extraction; prompt `extract`)."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path

from pydantic import NonNegativeInt, PositiveInt

from trimem import prompts, times
from trimem.llm.base import LLM, Request
from trimem.llm.structured import ask
from trimem.rendering import one_line, render_turns
from trimem.replies import ExtractedFact, ExtractedFacts
from trimem.types import Extraction, Fact, Turn

SHORTEST_SPLIT = 2000
"""Characters below which a single turn is not split further."""


class LLMExtractor:
    """One structured call a window. A window whose reply is cut, or does not fit the model, is halved and asked again.

    Facts keep only source ids that lie in the window; a fact left without any is kept and counted.
    """

    def __init__(
        self,
        llm: LLM,
        prompt: str | Path = "extract",
        window: PositiveInt = 40,
        overlap: NonNegativeInt = 2,
        max_tokens: PositiveInt = 8192,
        stage: str = "extract",
    ) -> None:
        self.llm = llm
        self.prompt = prompts.load(prompt)
        self.window = window
        self.overlap = overlap
        self.max_tokens = max_tokens
        self.stage = stage

    @property
    def concurrency(self) -> int:
        """How many windows may be asked for at once."""
        return self.llm.concurrency

    def extract(self, window: Sequence[Turn]) -> Extraction:
        outcome = ask(self.llm, self._request(window))
        if outcome.truncated or outcome.reply.status == "too_long":
            halves = halve(window)
            if halves:
                return _join([self.extract(half) for half in halves])
        facts = [_fact(item, window) for item in (outcome.value.facts if outcome.value else ())]
        return Extraction(tuple(dict.fromkeys(facts)), outcome.problems)

    def _request(self, window: Sequence[Turn]) -> Request:
        speakers = sorted({one_line(turn.speaker) for turn in window})
        values = {"speakers": ", ".join(speakers), "dialogue": render_turns(window)}
        turns = [
            {"id": t.id, "speaker": t.speaker, "text": t.content, "time": t.time and t.time.isoformat()} for t in window
        ]
        return Request(
            messages=self.prompt.render(values),
            stage=self.stage,
            schema=ExtractedFacts,
            fields={"turns": turns, "speakers": speakers},
            max_tokens=self.max_tokens,
        )


def halve(window: Sequence[Turn]) -> list[Sequence[Turn]]:
    """Two halves of a window; a single long turn is split in two pieces that both carry its id, speaker and time."""
    middle = len(window) // 2
    if middle:
        return [window[:middle], window[middle:]]
    turn = window[0]
    if len(turn.text) < SHORTEST_SPLIT:
        return []
    cut = turn.text.rfind(" ", 0, len(turn.text) // 2 + 1) + 1 or len(turn.text) // 2
    return [[replace(turn, text=turn.text[:cut])], [replace(turn, text=turn.text[cut:], caption=None)]]


def _join(extractions: Sequence[Extraction]) -> Extraction:
    facts = dict.fromkeys(chain.from_iterable(e.facts for e in extractions))
    return Extraction(tuple(facts), tuple(chain.from_iterable(e.failures for e in extractions)))


def _fact(item: ExtractedFact, window: Sequence[Turn]) -> Fact:
    known = {turn.id: turn for turn in window}
    sources = tuple(id for id in dict.fromkeys(_bare(source) for source in item.sources) if id in known)
    said = next((known[id].time for id in sources if known[id].time), None)
    time = item.time and (times.normalise(item.time) or (times.resolve(item.time, said) if said else None))
    return Fact(
        statement=one_line(item.statement),
        keywords=_names(item.keywords),
        time=time or None,
        location=one_line(item.location or "") or None,
        persons=_names(item.persons),
        entities=_names(item.entities),
        topic=one_line(item.topic or "") or None,
        sources=tuple(turn.id for turn in window if turn.id in sources),
    )


def _bare(source: str) -> str:
    return source.strip().strip("[]").strip()


def _names(values: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for value in values if (name := one_line(value))))
