"""Case b15: a repeated key hides nothing."""

from tests.cases.replies import CaseFacts, case
from trimem.llm.structured import read


def test_lists_of_a_repeated_key_are_joined_and_named() -> None:
    value, problems = read(case("b15")["raw"], CaseFacts)
    assert value is not None and [fact.fact for fact in value.facts] == ["A", "B"]
    assert problems == ("the key 'facts' came twice",)
