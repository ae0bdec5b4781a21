"""The text of the data that an evolution works on, for the guard: what is not in the committed hashes is found too."""

from experiments.data.leaks import collect
from experiments.evolution.splits import Material
from trimem.evolution.guard import PHRASE, Leaks, windows_of, words


def own_leaks(given: Material) -> tuple[Leaks, Leaks]:
    """Questions, golds and names as of a benchmark; and, in longer runs, the dialogue."""
    said = [words(turn.text) for conversation in given.data.conversations for turn in conversation.turns]
    dialogue = Leaks.of(run for text in said for run in windows_of(text, PHRASE))
    return Leaks.of(collect(given.data, given.golds)), dialogue
