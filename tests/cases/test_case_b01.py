"""Case b01: a code fence is stripped, the JSON in it is not."""

from tests.cases.replies import case, facts_of


def test_facts_in_a_fence_followed_by_prose_are_kept() -> None:
    assert facts_of(case("b01")["raw"]) == case("b01")["expect"]
