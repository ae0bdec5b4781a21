"""f09: a nickname belongs to a known person by the turn that shows it, and only by that."""

from pathlib import Path

from tests.cases.people import conversation, memory_of
from trimem.people import Alias, find_aliases
from trimem.types import Question

TOLD = conversation("c", ("Omar", "Nad, how is your stamp collection?"), ("Nadia", "Growing!"))


def test_the_alias_has_its_turn_as_evidence() -> None:
    assert find_aliases(TOLD.turns, TOLD.speakers) == (Alias("Nad", "Nadia", "D1:1"),)


def test_no_alias_without_a_turn() -> None:
    told = conversation("c", ("Omar", "I bought a Nad amplifier."), ("Nadia", "Well, lovely. My Omar, what a find!"))
    assert find_aliases(told.turns, told.speakers) == ()


def test_one_profile_and_the_collection_is_hers(tmp_path: Path) -> None:
    with memory_of(tmp_path, TOLD) as memory:
        assert [fact.persons for fact in memory.store.facts()] == [("Nadia",)]
        assert [fact.sources for fact in memory.store.facts()] == [("D1:1", "D1:2")]
        assert "Nad" not in {profile.person for profile in memory.store.profiles()}
        assert "stamp" in memory.answer(Question("q", "What does Nadia collect?")).text
