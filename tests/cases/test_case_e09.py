"""e09: words that are no time never stand in the time field."""

import pytest

from tests.cases.temporal import rows, said
from trimem.times import normalise, resolve, span


def test_last_tuesday_is_resolved_or_nothing() -> None:
    (row,) = rows("e09")
    assert normalise("last Tuesday") is None
    assert resolve("last Tuesday", said(row)) == "2023-06-06"


@pytest.mark.parametrize(
    ("text", "iso"),
    [("2023-13-45", None), ("May 2023", "2023-05"), ("2023", "2023"), ("8 May, 2023", "2023-05-08")],
)
def test_the_field_holds_iso_with_its_precision_or_nothing(text: str, iso: str | None) -> None:
    assert normalise(text) == iso


def test_a_month_is_not_turned_into_its_first_day() -> None:
    first, last = span("2023-05")
    assert (first.day, last.day) == (1, 31)
