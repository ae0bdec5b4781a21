"""The journal of the rival memories: whole steps only, order kept, one owner, equal exports."""

import sqlite3
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest

from baselines.journal import Journal
from trimem.errors import BadInput
from trimem.types import Turn


def test_values_and_records_survive_reopening_in_their_order(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    with journal.step():
        journal.set("at", 3)
        for id in ("b", "a", "c"):
            journal.put("note", id, {"text": id}, np.eye(3, dtype=np.float32)[ord(id) - 97])
        journal.put("note", "b", {"text": "changed"})
        journal.remove("note", "c")
    journal.close()
    again = Journal(tmp_path)
    assert again.get("at") == 3
    assert again.get("nothing", "default") == "default"
    assert list(again.records("note").items()) == [("b", {"text": "changed"}), ("a", {"text": "a"})]
    ids, vectors = again.vectors("note")
    assert ids == ["b", "a"]
    np.testing.assert_array_equal(vectors, [[0, 1, 0], [1, 0, 0]])
    assert (again.count("note"), again.count("page")) == (2, 0)


def test_a_step_that_raises_leaves_nothing(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    with pytest.raises(RuntimeError), journal.step():
        journal.set("at", 1)
        journal.put("note", "a", {})
        raise RuntimeError("killed")
    assert journal.get("at") is None
    assert journal.records("note") == {}


def test_turns_come_back_as_they_were_and_count_as_processed(tmp_path: Path) -> None:
    first = Turn("D1:1", "Nadia", "Hello.", datetime(2023, 5, 8, 13, 56), "D1", "a red kite")
    second = Turn("D1:2", "Tomas", "Hi.")
    journal = Journal(tmp_path)
    with journal.step():
        journal.take([first])
    assert journal.turns() == [first]
    assert journal.new([first, second]) == [second]


def test_ids_are_never_given_twice(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    with journal.step():
        first = journal.new_id("m")
        journal.put("memory", first, {})
        journal.remove("memory", first)
        assert [first, journal.new_id("m"), journal.new_id("s")] == ["m1", "m2", "s1"]


def test_a_journal_belongs_to_one_conversation_and_embedder(tmp_path: Path) -> None:
    Journal(tmp_path).claim(conversation="one", embedder="e:1")
    with pytest.raises(BadInput, match="conversation 'one', not 'two'"):
        Journal(tmp_path).claim(embedder="e:1", conversation="two")
    Journal(tmp_path).claim(conversation="one", embedder="e:1")


def test_equal_content_exports_equal_bytes_whatever_the_order_of_writing(tmp_path: Path) -> None:
    for name, order in (("x", "ab"), ("y", "ba")):
        journal = Journal(tmp_path / name)
        with journal.step():
            for id in order:
                journal.put("note", id, {"z": 1, "id": id})
                journal.set(f"k{id}", "é")
        journal.export(tmp_path / f"{name}.jsonl")
    exported = (tmp_path / "x.jsonl").read_bytes()
    assert exported == (tmp_path / "y.jsonl").read_bytes()
    assert exported.decode().splitlines()[0] == '{"id": "a", "kind": "note", "value": {"id": "a", "z": 1}}'


def test_a_file_that_is_no_journal_is_refused_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "baseline.sqlite").write_text("not a database, and long enough to be read as one" * 30)
    with pytest.raises(BadInput, match="and build again"):
        Journal(tmp_path)


def test_a_journal_of_another_version_is_refused(tmp_path: Path) -> None:
    db = sqlite3.connect(tmp_path / "baseline.sqlite")
    db.execute("PRAGMA user_version = 99")
    db.close()
    with pytest.raises(BadInput, match="schema 99"):
        Journal(tmp_path)
