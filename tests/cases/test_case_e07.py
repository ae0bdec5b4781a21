"""e07: 03/04/2023 has no known order of day and month."""

import pytest

from tests.cases.temporal import fact_of, rows
from trimem.times import normalise


def test_an_ambiguous_date_stays_literal() -> None:
    (row,) = rows("e07")
    fact = fact_of(row)
    assert fact.time is None
    assert "03/04/2023" in fact.statement


@pytest.mark.parametrize("text", ["2023-04-03", "3 April 2023", "April 3rd, 2023"])
def test_iso_and_named_months_are_not_affected(text: str) -> None:
    assert normalise(text) == "2023-04-03"
