"""Case b16: curly quotes as JSON's own quotes."""

from tests.cases.replies import case, facts_of


def test_structural_curly_quotes_are_read_and_inner_ones_kept() -> None:
    assert facts_of(case("b16")["raw"]) == case("b16")["expect"]
