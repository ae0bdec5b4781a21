from hypothesis import given
from hypothesis import strategies as st

from trimem.rules.profiling import RulesProfiler
from trimem.rules.sections import section_of
from trimem.types import SECTIONS, Fact, Profile

FACTS = [
    Fact("Nadia works as a nurse in a hospital", keywords=("work", "nurse"), sources=("D1:1",)),
    Fact("Nadia prefers tea to coffee.", keywords=("prefer", "tea"), sources=("D1:2",)),
    Fact("Nadia's sister lives in Oslo; they talk daily.", topic="relationships", sources=("D1:3",)),
    Fact("Nadia crossed the desert.", time="2021-05", sources=("D1:4",)),
    *(
        Fact(f"Nadia paints birds in {place} style.", topic="interests", sources=(f"D2:{i}",))
        for i, place in enumerate(("Lisbon", "Porto", "Braga", "Faro", "Evora", "Tavira"))
    ),
]


def test_facts_go_to_the_section_of_their_words() -> None:
    profile = RulesProfiler().update(None, "Nadia", FACTS)
    assert set(profile.sections) == {"career", "preferences", "relationships", "life events", "interests"}
    assert "nurse" in profile.sections["career"]
    assert profile.sections["life events"] == "Nadia crossed the desert (May 2021)"
    assert list(profile.sections) == [name for name in SECTIONS if name in profile.sections]


def test_a_section_is_bounded_and_all_fact_ids_are_kept() -> None:
    profile = RulesProfiler().update(None, "Nadia", FACTS)
    assert profile.sections["interests"].count("paints") == 4
    assert profile.fact_ids == tuple(fact.id for fact in FACTS)


@given(st.lists(st.integers(0, len(FACTS)), max_size=3))
def test_updating_in_steps_gives_the_profile_of_one_update(cuts: list[int]) -> None:
    profiler, profile, start = RulesProfiler(), None, 0
    for stop in [*sorted(cuts), len(FACTS)]:
        profile = profiler.update(profile, "Nadia", FACTS[start:stop])
        start = stop
    assert profile == profiler.update(None, "Nadia", FACTS)


def test_no_new_facts_change_nothing() -> None:
    profile = Profile("Nadia", {"career": "Nadia works as a nurse"}, ("a",))
    assert RulesProfiler().update(profile, "Nadia", []) == profile


def test_words_no_list_knows_have_no_section() -> None:
    assert section_of(["xylem", "the"]) is None
    assert section_of(["Sister", "cello"]) == "relationships"
