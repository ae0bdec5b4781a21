"""Facts, turns, vectors and plans out of a seeded generator: work of any size, the same on every machine."""

from collections.abc import Iterator, Sequence

import numpy as np

from trimem.protocols import Vectors
from trimem.types import Extraction, Fact, Plan, Turn

DIM = 384
WINDOW = 40
"""Turns a window; each turn gives one fact."""
SPEAKERS = ("Wilma", "Otto")
OTHERS = 200
"""People, places and things named now and then."""
WORDS = 20_000
SENTENCE = 12
QUERIES = 3

Written = tuple[int, list[Turn], Extraction, Vectors]
"""Position, turns, facts and vectors of one window."""


class Invented:
    """A stream of windows. Words follow Zipf's law, half of the facts name either speaker, one in four has a date."""

    def __init__(self, seed: int = 0) -> None:
        self._random = np.random.default_rng(seed)
        ranks = 1 / np.arange(1, WORDS + 1)
        self._weights = ranks / ranks.sum()

    def windows(self, facts: int, start: int = 0) -> Iterator[Written]:
        """Windows from position `start` on, with `facts` facts in all."""
        for at in range(start, start + facts, WINDOW):
            turns = [self._turn(row) for row in range(at, min(at + WINDOW, start + facts))]
            found = tuple(self._fact(turn) for turn in turns)
            yield at, turns, Extraction(found), self.vectors(len(turns))

    def vectors(self, n: int) -> Vectors:
        """Unit vectors in random directions: the hardest case for a search, and equal work for an exact one."""
        drawn = self._random.standard_normal((n, DIM), dtype=np.float32)
        return np.asarray(drawn / np.linalg.norm(drawn, axis=1, keepdims=True), dtype=np.float32)

    def plan(self) -> Plan:
        """What a planner makes of a question: queries, keywords, a person, and at times a place and a date."""
        queries = tuple(f"{SPEAKERS[0]} {self._text(5)}" for _ in range(QUERIES))
        dated = bool(self._random.random() < 0.25)
        return Plan(queries, tuple(self._words(3)), (SPEAKERS[0],), "2023-05" if dated else None, self._name("Place"))

    def _turn(self, row: int) -> Turn:
        return Turn(f"D{row // 400 + 1}:{row}", SPEAKERS[row % 2], self._text(SENTENCE), session=str(row // 400 + 1))

    def _fact(self, turn: Turn) -> Fact:
        month = int(self._random.integers(1, 13))
        return Fact(
            f"{turn.speaker} {self._text(SENTENCE)}",
            keywords=tuple(self._words(3)),
            time=f"2023-{month:02}" if self._random.random() < 0.25 else None,
            location=self._name("Place"),
            persons=(turn.speaker, self._name("Friend")),
            entities=(self._name("Thing"),),
            sources=(turn.id,),
        )

    def _name(self, kind: str) -> str:
        return f"{kind}{self._random.integers(OTHERS)}"

    def _text(self, n: int) -> str:
        return " ".join(self._words(n))

    def _words(self, n: int) -> Sequence[str]:
        return [f"w{word}" for word in self._random.choice(WORDS, n, p=self._weights)]
