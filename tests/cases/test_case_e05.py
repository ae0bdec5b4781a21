"""e05: month ends and leap day."""

from typing import Any

import pytest

from tests.cases.temporal import fact_of, rows


@pytest.mark.parametrize("row", rows("e05"), ids=lambda row: row["text"])
def test_month_ends_and_leap_day(row: dict[str, Any]) -> None:
    assert fact_of(row).time == row["expect"]
