"""Case b09: repairing JSON leaves the texts in it alone."""

from tests.cases.replies import case, facts_of


def test_urls_and_comment_marks_survive_the_repair_of_a_trailing_comma() -> None:
    assert facts_of(case("b09")["raw"]) == case("b09")["expect"]
