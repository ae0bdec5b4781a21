"""How far what a reader is shown answers a question of the script."""

import re
from collections.abc import Sequence
from functools import cached_property

from trimem.llm.script import Asked, Need, Told


def says(text: str, words: str) -> bool:
    """Whether `words` stand in `text` as whole words, in any case."""
    return re.search(rf"(?<!\w){re.escape(words)}(?!\w)", text, re.IGNORECASE) is not None


class Reading:
    """`texts` (facts, profiles, notes, chunks) and the ids of raw turns, all that a reader of `told` has before it."""

    def __init__(self, told: Told, texts: Sequence[str], turns: Sequence[str] = ()) -> None:
        self.told = told
        self.texts = texts
        self.turns = set(turns) | self._quoted()

    def _quoted(self) -> set[str]:
        """Turns whose words stand inside a text, as in a chunk of dialogue."""
        return {id for id, opening in self.told.turns.items() if any(f": {opening}" in text for text in self.texts)}

    @cached_property
    def turns_told(self) -> set[str]:
        """Turns of which a text states a fact, in any of its readings."""
        return {
            turn for statement, (turn, _) in self.told.readings.items() if any(statement in text for text in self.texts)
        }

    def meets(self, need: Need) -> bool:
        """A text says it all; else the raw turn does, unless a fact taken from it spares the reader that look."""
        if not need.raw and any(all(says(text, words) for words in need.says) for text in self.texts):
            return True
        return need.turn in self.turns and (need.raw or need.turn not in self.turns_told)

    def grade(self, asked: Asked) -> float:
        """1: all that is needed; 0: nothing; between: some, or facts of the right turns without the words needed."""
        if not asked.needs:
            return 0.0
        if asked.trait and any(says(text, asked.trait) for text in self.texts):
            return 1.0
        met = sum(map(self.meets, asked.needs))
        touched = any(need.turn in self.turns_told for need in asked.needs)
        return min(1.0, met / (asked.least or len(asked.needs))) or (0.1 if touched else 0.0)
