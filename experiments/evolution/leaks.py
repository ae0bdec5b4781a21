"""The text of the data that an evolution works on, for the guard: what is not in the committed hashes is found too."""

from experiments.evolution.splits import Material
from trimem.evolution.guard import PHRASE, RUN, Leaks, windows_of, words


def own_leaks(given: Material) -> tuple[Leaks, Leaks]:
    """Runs of questions and golds with the speakers' names; and, longer, runs of the dialogue."""
    asked = [question.text for questions in given.data.questions.values() for question in questions]
    texts = [words(text) for text in (*asked, *(gold.answer for gold in given.golds.values()))]
    names = [speaker for conversation in given.data.conversations for speaker in conversation.speakers]
    said = [words(turn.text) for conversation in given.data.conversations for turn in conversation.turns]
    return (
        Leaks.of([*(run for text in texts for run in windows_of(text, RUN)), *names]),
        Leaks.of(run for text in said for run in windows_of(text, PHRASE)),
    )
