import sqlite3
import threading
from datetime import datetime
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from trimem.database import Database
from trimem.embedding import HashEmbedder
from trimem.errors import BadInput
from trimem.people import Alias
from trimem.store import FILE, Store, Window
from trimem.types import Extraction, Fact, Profile, Turn

EMBEDDER = HashEmbedder(64)
TURNS = tuple(
    Turn(
        f"D{i // 4}:{i % 4}",
        ("Nadia", "Omar")[i % 2],
        f"words of turn {i}",
        datetime(2023, 5, 1 + i // 4),
        f"s{i // 4}",
    )
    for i in range(12)
)


def fact(i: int, statement: str = "", **more: object) -> Fact:
    return Fact(statement or f"Nadia did thing {i}", persons=("Nadia",), sources=(TURNS[i].id,), **more)  # type: ignore[arg-type]


def put(store: Store, start: int, stop: int, *facts: Fact, failures: tuple[str, ...] = ()) -> None:
    vectors = EMBEDDER.encode([fact.statement for fact in facts])
    store.put_window(start, stop, Extraction(facts, failures), vectors)


def exported(store: Store, folder: Path) -> bytes:
    store.export(folder / "export.jsonl")
    return (folder / "export.jsonl").read_bytes()


def test_turns_come_back_as_they_were_and_known_ones_are_not_added_again(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        assert store.add_turns(TURNS[:5]) == 5
        assert store.add_turns(TURNS) == 7
        assert store.turns() == TURNS
        assert store.turns_by_id(["D1:0", "D0:3", "unknown"]) == (TURNS[3], TURNS[4])
        assert store.speakers() == ("Nadia", "Omar")


def test_a_known_turn_with_other_content_is_refused_and_nothing_is_added(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        store.add_turns(TURNS[:2])
        with pytest.raises(BadInput, match="D0:1"):
            store.add_turns([TURNS[2], Turn("D0:1", "Omar", "something else")])
        assert store.turns() == TURNS[:2]


def test_neighbours_stay_within_the_session(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        store.add_turns(TURNS)
        assert [turn.id for turn in store.neighbours(["D0:3", "D2:0"], 1)] == ["D0:2", "D0:3", "D2:0", "D2:1"]


def test_a_window_replaces_what_it_gave_before_but_not_what_another_gives(tmp_path: Path) -> None:
    shared, gone, new = fact(2), fact(1), fact(3)
    with Store(tmp_path, EMBEDDER.fingerprint) as store:
        store.add_turns(TURNS)
        put(store, 0, 4, shared, gone)
        put(store, 2, 6, shared)
        put(store, 0, 6, new, failures=("one fact was cut",))
        assert set(store.facts()) == {shared, new}
        assert store.windows() == (Window(0, 6, ("one fact was cut",)), Window(2, 6))
        put(store, 2, 6)
        assert store.facts() == (new,)
        assert [id_ for id_, _ in store.search_text("fact", "thing", 9)] == [new.id]
        found = store.search_dense("fact", EMBEDDER.encode(["thing"]), 9)
        assert [[id_ for id_, _ in hits] for hits in found] == [[new.id]]


def test_facts_come_in_the_order_of_their_first_source(tmp_path: Path) -> None:
    late, early = Fact("a", sources=("D2:0", "D1:3")), Fact("b", sources=("D1:0", "D2:1"))
    with Store(tmp_path) as store:
        store.add_turns(TURNS)
        put(store, 0, 12, late, early)
        assert store.facts() == (early, late) == store.facts_by_id([late.id, early.id])


def test_a_fact_that_cites_an_unknown_turn_is_refused_and_leaves_no_trace(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        store.add_turns(TURNS)
        before = exported(store, tmp_path)
        with pytest.raises(BadInput, match="D9:9"):
            put(store, 0, 12, fact(1), Fact("x", sources=("D9:9",)))
        assert exported(store, tmp_path) == before


def test_people_are_one_person_by_spelling_and_alias(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        store.add_turns(TURNS)
        named = [("Nadia",), ("nadia", "Omar"), ("Nad",), ("Lena",)]
        facts = [Fact(str(i), persons=names, sources=("D0:0",)) for i, names in enumerate(named)]
        put(store, 0, 12, *facts)
        store.put_aliases([Alias("Nad", "Nadia", "D0:1")])
        store.put_profiles([Profile("Nadia", {"career": "potter"}, (facts[0].id,))])
        assert store.persons() == {"Nadia": 3, "Lena": 1, "Omar": 1}
        assert {fact.statement for fact in store.facts_of("NAD")} == {"0", "1", "2"}
        assert len(store.search_symbolic(["nad"], [], None, None, 9)) == 3
        assert store.profile("Nad") == store.profile("NADIA") == store.profiles()[0]
        assert store.profile("Lena") is None


def test_opening_again_continues(tmp_path: Path) -> None:
    with Store(tmp_path, EMBEDDER.fingerprint, "c1") as store:
        store.add_turns(TURNS)
        put(store, 0, 12, fact(1), fact(2))
        before, query = exported(store, tmp_path), EMBEDDER.encode(["thing 2"])
        found = store.search_dense("fact", query, 5)
    with Store(tmp_path, EMBEDDER.fingerprint, "c1") as store:
        assert exported(store, tmp_path) == before
        assert store.search_dense("fact", query, 5) == found
        assert store.add_turns(TURNS) == 0


def test_another_conversation_or_schema_or_no_database_is_refused(tmp_path: Path) -> None:
    Store(tmp_path, conversation="c1").close()
    with pytest.raises(BadInput, match=r"'c1'.*'c2'"):
        Store(tmp_path, conversation="c2")
    db = sqlite3.connect(tmp_path / FILE)
    db.execute("UPDATE meta SET value = '0' WHERE key = 'schema'")
    db.commit()
    db.close()
    with pytest.raises(BadInput, match=r"schema 0.*schema 1.*delete"):
        Store(tmp_path)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / FILE).write_text("no database, though long enough to look at" * 40)
    with pytest.raises(BadInput, match="cannot be opened"):
        Store(tmp_path / "other")


def test_turn_vectors_are_asked_for_until_they_are_there(tmp_path: Path) -> None:
    with Store(tmp_path, EMBEDDER.fingerprint) as store:
        store.add_turns(TURNS[:3])
        ids = store.missing_turn_vectors()
        assert list(ids) == ["D0:0", "D0:1", "D0:2"]
        store.put_turn_vectors(list(ids), EMBEDDER.encode([turn.text for turn in TURNS[:3]]))
        store.add_turns(TURNS[3:4])
        assert list(store.missing_turn_vectors()) == ["D0:2", "D0:3"], "D0:2 has a new neighbour"
        assert store.search_dense("turn", EMBEDDER.encode([TURNS[1].text]), 1)[0][0][0] == "D0:1"


def test_vectors_of_another_number_or_dimension_are_refused(tmp_path: Path) -> None:
    with Store(tmp_path, EMBEDDER.fingerprint) as store:
        store.add_turns(TURNS)
        with pytest.raises(BadInput, match="shape"):
            store.put_window(0, 4, Extraction((fact(1),)), np.ones((2, 64), np.float32))
        put(store, 0, 4, fact(1))
        with pytest.raises(BadInput, match="dimension 64, not 8"):
            store.put_window(4, 8, Extraction((fact(5),)), np.ones((1, 8), np.float32))
        assert store.counts()["windows"] == 1


def test_another_process_sees_what_was_written_and_waits_its_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    query = EMBEDDER.encode(["thing"])
    with Store(tmp_path, EMBEDDER.fingerprint) as one, Store(tmp_path, EMBEDDER.fingerprint) as two:
        one.add_turns(TURNS)
        assert two.search_dense("fact", query, 9) == [[]]
        put(one, 0, 4, fact(1))
        assert two.search_dense("fact", query, 9) == one.search_dense("fact", query, 9) != [[]]
        assert two.search_text("fact", "thing", 9) == one.search_text("fact", "thing", 9) != []
    monkeypatch.setattr("trimem.database.WAIT_SECONDS", 0.05)
    refused = pytest.raises(BadInput, match="in use by another process")
    with Store(tmp_path) as one, Store(tmp_path) as two, one._db.transaction(), refused:
        two.add_turns(TURNS)


def test_many_threads_read_the_same(tmp_path: Path) -> None:
    with Store(tmp_path, EMBEDDER.fingerprint) as store:
        store.add_turns(TURNS)
        put(store, 0, 12, *(fact(i) for i in range(12)))
        query = EMBEDDER.encode(["thing 7"])
        expected = store.search_dense("fact", query, 5), store.search_text("fact", "thing 7", 5), store.facts()
        seen: list[object] = []

        def read() -> None:
            for _ in range(20):
                seen.append(
                    (store.search_dense("fact", query, 5), store.search_text("fact", "thing 7", 5), store.facts())
                )

        threads = [threading.Thread(target=read) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(seen) == 160
        assert all(found == expected for found in seen)


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cuts=st.sets(st.integers(1, 11)), order=st.permutations([0, 4, 8]))
def test_any_split_of_the_turns_and_any_order_of_windows_gives_the_same_export(
    tmp_path_factory: pytest.TempPathFactory, cuts: set[int], order: list[int]
) -> None:
    folder = tmp_path_factory.mktemp("split")
    with Store(folder / "whole") as whole, Store(folder / "split") as split:
        whole.add_turns(TURNS)
        edges = [0, *sorted(cuts), 12]
        for begin, end in pairwise(edges):
            split.add_turns(TURNS[begin:end])
        for start in (0, 4, 8):
            put(whole, start, start + 4, fact(start), fact(start + 1))
        for start in order:
            put(split, start, start + 2, fact(start), fact(start + 3))  # the tail, before it fills
            put(split, start, start + 4, fact(start), fact(start + 1))
        assert exported(whole, folder) == exported(split, folder)


@pytest.mark.parametrize("broken", ["facts", "signals", "fact_text(rowid, text)", "fact_vectors", "windows"])
def test_an_error_at_any_write_leaves_the_state_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    insert = Database.insert

    def failing(self: Database, table: str, *rest: object) -> None:
        insert(self, table, *rest)  # type: ignore[arg-type]
        if table == broken:
            raise RuntimeError("power cut")

    query = EMBEDDER.encode(["thing"])
    with Store(tmp_path, EMBEDDER.fingerprint) as store:
        store.add_turns(TURNS)
        put(store, 0, 4, fact(1))
        before, found = exported(store, tmp_path), store.search_dense("fact", query, 9)
        with monkeypatch.context() as patch:
            patch.setattr(Database, "insert", failing)
            with pytest.raises(RuntimeError):
                put(store, 0, 4, fact(2))
        assert (exported(store, tmp_path), store.search_dense("fact", query, 9)) == (before, found)
    with Store(tmp_path, EMBEDDER.fingerprint) as store:
        assert (exported(store, tmp_path), store.search_dense("fact", query, 9)) == (before, found)


def test_a_turn_is_found_by_its_neighbour_in_the_session_but_not_beyond(tmp_path: Path) -> None:
    turns = [
        Turn("D1:1", "Nadia", "Where did you find the harp?", session="1"),
        Turn("D1:2", "Omar", "In an attic.", session="1"),
        Turn("D2:1", "Nadia", "Good morning.", session="2"),
    ]
    with Store(tmp_path) as store:
        for turn in turns:  # one by one: each gives the one before it a new neighbour
            store.add_turns([turn])
        assert [id for id, _ in store.search_text("turn", "harp", 5)] == ["D1:1", "D1:2"]
        assert [id for id, _ in store.search_text("turn", "attic", 5)] == ["D1:1", "D1:2"]
        assert store.missing_turn_vectors()["D2:1"] == "Nadia: Good morning."
