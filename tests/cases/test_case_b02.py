"""Case b02: all objects of a bare list are kept, not the first."""

from tests.cases.replies import case, facts_of


def test_bare_list_between_prose_with_braces_gives_all_its_facts() -> None:
    assert facts_of(case("b02")["raw"]) == ["A", "B", "C"]
