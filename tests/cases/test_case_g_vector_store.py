"""Cases g01, g02, g03, g05, g07, g09, g10, g12: what vector stores and indexes get wrong."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from trimem.database import Database
from trimem.embedding import HashEmbedder
from trimem.errors import BadInput
from trimem.retrieval import HybridRetriever
from trimem.store import Store
from trimem.types import Extraction, Fact, Plan, Question, Turn

EMBEDDER = HashEmbedder()
TURN = Turn("D1:1", "Nadia", "We talked.")


def filled(folder: Path, *statements: str) -> Store:
    store = Store(folder, EMBEDDER.fingerprint)
    store.add_turns([TURN])
    facts = tuple(Fact(statement, persons=("Nadia",), sources=("D1:1",)) for statement in statements)
    store.put_window(0, 1, Extraction(facts), EMBEDDER.encode(statements))
    return store


def test_g01_an_empty_store_gives_an_empty_context(tmp_path: Path) -> None:
    retriever = HybridRetriever(EMBEDDER, units=["fact", "turn"])
    plan = Plan(("Where is it?",), ("where",), ("Nadia",), "2023-05", "Oslo", ("kayak",))
    with Store(tmp_path, EMBEDDER.fingerprint) as store:
        assert retriever.retrieve(Question("q", "Where is it?"), plan, store).items == ()


def test_g01_signals_that_nothing_meets_find_nothing(tmp_path: Path) -> None:
    with filled(tmp_path, "Nadia likes snow") as store:
        assert store.search_symbolic(["Zoe"], ["kayak"], "Oslo", "2023-05", 5) == []


def test_g02_k_larger_than_n_gives_each_fact_once(tmp_path: Path) -> None:
    with filled(tmp_path, "snow fell", "rain fell", "hail fell") as store:
        for hits in (*store.search_dense("fact", EMBEDDER.encode(["fell"]), 10), store.search_text("fact", "fell", 10)):
            assert len({id_ for id_, _ in hits}) == len(hits) == 3
            assert all(abs(score) < 100 for _, score in hits)


def test_g03_another_embedder_is_refused_by_both_names_and_the_store_is_untouched(tmp_path: Path) -> None:
    with filled(tmp_path, "snow fell") as store:
        store.export(tmp_path / "before.jsonl")
    with pytest.raises(BadInput, match=r"hashing-no-model:1:256.*other:2:768.*build again"):
        Store(tmp_path, "other:2:768")
    with Store(tmp_path, EMBEDDER.fingerprint) as store:
        store.export(tmp_path / "after.jsonl")
    assert (tmp_path / "before.jsonl").read_bytes() == (tmp_path / "after.jsonl").read_bytes()


def test_g05_bm25_tells_two_facts_apart(tmp_path: Path) -> None:
    with filled(tmp_path, "Good evening my friend", "Snow fell in Bergen today") as store:
        (best, score), *others = store.search_text("fact", "snow Bergen", 5)
        assert [fact.statement for fact in store.facts_by_id([best])] == ["Snow fell in Bergen today"]
        assert score > 0.5
        assert others == []


def test_g05_words_that_half_of_the_facts_have_still_count(tmp_path: Path) -> None:
    statements = ("Dana adopted a grey cat", "Dana adopted a brown dog", "Marek bought a bike", "Marek sold a bike")
    with filled(tmp_path, *statements) as store:
        found = store.search_text("fact", "Dana adopted", 5)
        assert {fact.statement for fact in store.facts_by_id(id_ for id_, _ in found)} == set(statements[:2])
        assert all(score > 0.5 for _, score in found)
        name_and_thing = store.search_text("fact", "Marek cat", 5)
        assert all(score > 0.1 for _, score in name_and_thing)
        assert len(name_and_thing) == 3


def test_g07_a_crash_after_the_vectors_leaves_the_state_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    query = EMBEDDER.encode(["snow"])
    store = filled(tmp_path, "snow fell")
    before = store.search_dense("fact", query, 5)
    insert = Database.insert

    def crash_after_vectors(self: Database, table: str, *rest: object) -> None:
        insert(self, table, *rest)  # type: ignore[arg-type]
        if table == "fact_vectors":
            raise OSError("no space left on device")

    monkeypatch.setattr(Database, "insert", crash_after_vectors)
    with pytest.raises(OSError, match="no space"):
        store.put_window(1, 2, Extraction((Fact("rain fell", sources=("D1:1",)),)), EMBEDDER.encode(["rain fell"]))
    store.close()
    with Store(tmp_path, EMBEDDER.fingerprint) as reopened:
        assert reopened.search_dense("fact", query, 5) == before
        assert [fact.statement for fact in reopened.facts()] == ["snow fell"]


KILLED = """
import os, sys
from pathlib import Path
from trimem.database import Database
from trimem.embedding import HashEmbedder
from trimem.store import Store
from trimem.types import Extraction, Fact, Turn
insert, table = Database.insert, sys.argv[2]
def die(self, name, *rest):
    insert(self, name, *rest)
    if name == table:
        os.kill(os.getpid(), 9)
store = Store(Path(sys.argv[1]), HashEmbedder().fingerprint)
Database.insert = die
fact = Fact("rain fell", sources=("D1:1",))
store.put_window(1, 2, Extraction((fact,)), HashEmbedder().encode([fact.statement]))
"""


@pytest.mark.parametrize("table", ["windows", "facts", "fact_vectors"])
def test_g07_kill_9_between_statements_leaves_the_state_before(tmp_path: Path, table: str) -> None:
    query = EMBEDDER.encode(["snow"])
    with filled(tmp_path, "snow fell") as store:
        before = store.search_dense("fact", query, 5), store.facts(), store.windows()
    killed = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path), table], check=False)
    assert killed.returncode == -9
    with Store(tmp_path, EMBEDDER.fingerprint) as store:
        assert (store.search_dense("fact", query, 5), store.facts(), store.windows()) == before
        assert store.search_text("fact", "rain", 5) == []


SEARCH = """
from trimem.vectors import VectorIndex
index = VectorIndex(384)
index.add(["a"], __import__("numpy").ones((1, 384), "float32"))
"""
ENCODE = """
from trimem.embedding import SentenceTransformerEmbedder
vectors = SentenceTransformerEmbedder(device="cpu").encode(["snow fell", "rain"])
"""


@pytest.mark.parametrize("order", [SEARCH + ENCODE, ENCODE + SEARCH])
def test_g09_faiss_and_torch_live_in_one_process_in_either_order(order: str) -> None:
    subprocess.run([sys.executable, "-c", order + "\nassert len(index.search(vectors, 1)) == 2"], check=True)
    package = Path(__file__).parents[2] / "trimem"
    assert not any("KMP_DUPLICATE_LIB_OK" in file.read_text(encoding="utf-8") for file in package.rglob("*.py"))


def test_g10_texts_that_differ_past_the_limit_of_the_encoder_differ_for_bm25(tmp_path: Path) -> None:
    common = " ".join(f"word{i}" for i in range(380))
    ends = ("the walnut cake was burnt", "a plum tart came out well")
    turns = [Turn(f"D{i}:1", "Nadia", f"{common} {end}", session=str(i)) for i, end in enumerate(ends)]
    with Store(tmp_path) as store:
        store.add_turns(turns)
        assert [id_ for id_, _ in store.search_text("turn", "plum tart", 5)] == ["D1:1"]


def test_g12_storing_a_window_twice_doubles_nothing(tmp_path: Path) -> None:
    with filled(tmp_path, "snow fell", "rain fell") as store:
        store.export(tmp_path / "once.jsonl")
    with filled(tmp_path, "snow fell", "rain fell") as store:
        store.export(tmp_path / "twice.jsonl")
        assert store.counts()["facts"] == 2
        assert len(store.search_dense("fact", np.asarray(EMBEDDER.encode(["fell"])), 9)[0]) == 2
    assert (tmp_path / "once.jsonl").read_bytes() == (tmp_path / "twice.jsonl").read_bytes()
