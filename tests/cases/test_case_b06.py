"""Case b06: a draft in the model's thoughts is not its answer."""

from tests.cases.replies import case, facts_of


def test_draft_inside_thinking_is_not_read() -> None:
    assert facts_of(case("b06")["raw"]) == ["final"]
