"""Case b04: back-ticks inside a string are text."""

from tests.cases.replies import case, facts_of


def test_fences_inside_a_string_stay_byte_for_byte() -> None:
    assert facts_of(case("b04")["raw"]) == case("b04")["expect"]
