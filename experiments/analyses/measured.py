"""What the analyses share: the memory that a run left behind, and scores of questions on their way to a cell."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from experiments.metrics.stats import Cell, mean_cell
from experiments.run_dir import folder_name
from experiments.stored import StoredRun
from trimem.store import FILE, Store
from trimem.types import Conversation, Fact, Profile


@dataclass(frozen=True)
class Measured:
    """Scores of one question. `unit` is what intervals take as independent."""

    category: int
    unit: str
    scores: Mapping[str, float]


def memory_of(run: StoredRun, conversation: Conversation) -> tuple[tuple[Fact, ...], tuple[Profile, ...]]:
    """Facts and profiles that a run's TriMem holds of a conversation; none for another method."""
    folder = run.directory / "memory" / folder_name(conversation.id)
    if not (folder / FILE).exists():
        return (), ()
    with Store(folder) as store:
        return store.facts(), store.profiles()


def cell(measured: Iterable[Measured], name: str, category: int | None = None, highest: float = 1.0) -> Cell:
    """Mean of one score over the questions (of one category) that have it."""
    having = [one for one in measured if name in one.scores and category in (None, one.category)]
    return mean_cell([one.scores[name] for one in having], [one.unit for one in having], limits=(0.0, highest))
