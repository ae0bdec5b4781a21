"""Case g01: a query on an empty store."""

from pathlib import Path

from tests.cases.stores import EMBEDDER, filled
from trimem.retrieval import HybridRetriever
from trimem.store import Store
from trimem.types import Plan, Question


def test_an_empty_store_gives_an_empty_context(tmp_path: Path) -> None:
    retriever = HybridRetriever(EMBEDDER, units=["fact", "turn"])
    plan = Plan(("Where is it?",), ("where",), ("Nadia",), "2023-05", "Oslo", ("kayak",))
    with Store(tmp_path, EMBEDDER.fingerprint) as store:
        assert retriever.retrieve(Question("q", "Where is it?"), plan, store).items == ()


def test_signals_that_nothing_meets_find_nothing(tmp_path: Path) -> None:
    with filled(tmp_path, "Nadia likes snow") as store:
        assert store.search_symbolic(["Zoe"], ["kayak"], "Oslo", "2023-05", 5) == []
