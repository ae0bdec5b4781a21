"""What the cases about stores share: a small one, filled."""

from pathlib import Path

from trimem.embedding import HashEmbedder
from trimem.store import Store
from trimem.types import Extraction, Fact, Turn

EMBEDDER = HashEmbedder()
TURN = Turn("D1:1", "Nadia", "We talked.")


def filled(folder: Path, *statements: str) -> Store:
    """One turn, and a fact with its vector for each statement."""
    facts = tuple(Fact(statement, persons=("Nadia",), sources=("D1:1",)) for statement in statements)
    store = Store(folder, EMBEDDER.fingerprint)
    store.add_turns([TURN])
    store.put_window(0, 1, Extraction(facts), EMBEDDER.encode(statements))
    return store


def holding(folder: Path, facts: tuple[Fact, ...]) -> Store:
    """One turn, and these facts without vectors."""
    store = Store(folder)
    store.add_turns([TURN])
    store.put_window(0, 1, Extraction(facts))
    return store
