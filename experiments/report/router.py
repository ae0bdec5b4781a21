"""How the rules read questions: kinds of wording against the data set's categories, which they never see."""

from collections import Counter
from collections.abc import Sequence

from experiments.report.grid import Setting
from experiments.report.tables import Table, Text
from trimem import people
from trimem.rules.question_types import read_question


def router(experiment: str, settings: Sequence[Setting]) -> list[Table]:
    """A row a kind: the share of each category's questions that are read so. An oracle would have one kind a column."""
    stored = settings[0].stored
    counts: dict[int, Counter[str]] = {}
    for conversation in stored.dataset.conversations:
        names = frozenset(word for person in conversation.speakers for word in people.key(person).split())
        for question in stored.dataset.questions[conversation.id]:
            kind = read_question(question.text, names).kind
            counts.setdefault(stored.golds[question.id].category, Counter())[kind] += 1
    kinds = sorted({kind for found in counts.values() for kind in found})
    rows = [
        (Text(kind), *(Text(f"{100 * found[kind] / found.total():.0f}") for _, found in sorted(counts.items())))
        for kind in kinds
    ]
    named = (f"{id} {stored.dataset.categories[id]} (n={found.total()})" for id, found in sorted(counts.items()))
    note = "percent of a category's questions, by their wording alone; the rules answer by kind and see no category"
    return [Table(f"{experiment}_router", f"{experiment}: the rules' router", ("kind", *named), tuple(rows), (note,))]
