"""e04: year boundary."""

from typing import Any

import pytest

from tests.cases.temporal import fact_of, rows
from trimem.times import span


@pytest.mark.parametrize("row", rows("e04"), ids=lambda row: row["text"])
def test_relative_times_across_new_year(row: dict[str, Any]) -> None:
    time = fact_of(row).time
    assert time is not None
    first, last = span(time)
    expected = row["expect"]
    if isinstance(expected, str):
        expected = {"from": expected, "to": expected}
    assert {"from": first.isoformat(), "to": last.isoformat()} == expected
