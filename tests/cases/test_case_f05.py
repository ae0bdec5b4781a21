"""f05: apostrophes, slashes and quotes in names are just letters."""

import json
from pathlib import Path

import pytest

from tests.cases.people import conversation, memory_of
from trimem.people import key, mentioned, resolve

NAMES: list[str] = json.loads((Path(__file__).parent / "data" / "names.json").read_text("utf-8"))["f05"]


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_found_by_itself_only(name: str) -> None:
    assert mentioned(f"What did {name} buy?", NAMES) == (name,)
    assert resolve(key(name), NAMES) == name


def test_every_name_is_stored_and_found_as_it_is(tmp_path: Path) -> None:
    told = conversation("c", *((name, f"I bought {i} lamps at the market.") for i, name in enumerate(NAMES, 2)))
    inside = tmp_path / "memory"
    with memory_of(inside, told) as memory:
        assert {profile.person for profile in memory.store.profiles()} == set(NAMES)
        for i, name in enumerate(NAMES, 2):
            (fact,) = memory.store.facts_of(name)
            assert fact.persons == (name,)
            assert f"bought {i} lamps" in fact.statement
    assert list(tmp_path.iterdir()) == [inside]


def test_a_search_for_a_filter_like_name_returns_only_its_own(tmp_path: Path) -> None:
    told = conversation("c", *((name, "I bought lamps at the market.") for name in NAMES))
    with memory_of(tmp_path, told) as memory:
        hits = memory.store.search_symbolic(("x' OR 1=1 --",), (), None, None, 50)
        (fact,) = memory.store.facts_by_id([id_ for id_, _ in hits])
        assert fact.persons == ("x' OR 1=1 --",)
