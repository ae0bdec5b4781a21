"""e01: relative dates are resolved against the session, whatever the system clock says."""

from datetime import date, datetime

import pytest

from tests.cases.temporal import fact_of, rows
from trimem import times


class NoClock(date):
    """A date that does not know today."""

    @classmethod
    def today(cls) -> "NoClock":
        raise AssertionError("the clock was read")


def test_yesterday_is_the_day_before_the_session(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(times, "date", NoClock)
    (row,) = rows("e01")
    fact = fact_of(row)
    assert fact.time == row["expect"] == "2023-05-07"
    assert str(datetime.now().year) not in f"{fact.statement} {fact.time}"
