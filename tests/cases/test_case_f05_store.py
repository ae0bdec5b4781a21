"""Case f05 in the store: names with signs in them."""

from pathlib import Path

import pytest

from tests.cases.stores import holding
from trimem.store import FILE
from trimem.types import Fact, Profile

NAMES = (
    "O'Neil",
    "Anne-Marie",
    "Dr. Smith",
    "Jean-Luc (work)",
    "A/B",
    "x' OR 1=1 --",
    "Alice')) OR true--",
    "李明",
    "name with  two  spaces",
    "CON",
)


@pytest.mark.parametrize("name", NAMES)
def test_any_name_is_stored_and_found_as_it_is_written(tmp_path: Path, name: str) -> None:
    memory = tmp_path / "memory"
    with holding(memory, tuple(Fact(f"{each} rows", persons=(each,)) for each in NAMES)) as store:
        assert name in store.persons()
        assert [fact.persons for fact in store.facts_of(name)] == [(name,)]
        assert [id_ for id_, _ in store.search_symbolic([name], [], None, None, 99)] == [store.facts_of(name)[0].id]
        assert store.facts_of(name)[0].id in dict(store.search_text("fact", name, 99))
        store.put_profiles([Profile(name, {"interests": "rowing"})])
        assert store.profile(name) == Profile(name, {"interests": "rowing"})
    assert [path.name for path in tmp_path.iterdir()] == ["memory"]
    assert {path.name for path in memory.iterdir()} <= {FILE, f"{FILE}-wal", f"{FILE}-shm"}
