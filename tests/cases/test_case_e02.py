"""e02: weekday arithmetic."""

from datetime import date

from tests.cases.temporal import fact_of, rows


def test_last_saturday_said_on_a_thursday() -> None:
    (row,) = rows("e02")
    time = fact_of(row).time
    assert time == row["expect"] == "2023-05-20"
    assert date.fromisoformat(time).weekday() == 5
