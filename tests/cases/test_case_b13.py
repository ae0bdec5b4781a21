"""Case b13: broken unicode escapes cost neither a file nor the other facts."""

from tests.cases.replies import CaseFacts, case, facts_of
from trimem.llm.structured import read


def test_lone_surrogate_becomes_the_replacement_character() -> None:
    found = facts_of(case("b13")["raw"])
    assert found == case("b13")["expect_texts"]
    assert [text.encode("utf-8") for text in found or []]


def test_unreadable_escape_leaves_the_other_facts() -> None:
    value, problems = read(case("b13-2")["raw"], CaseFacts)
    assert value is not None and problems
    assert {"ok one", "ok two"} <= {fact.fact for fact in value.facts}
