"""e11: the time zone of the process changes no date."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cases.temporal import fact_of, rows
from tests.experiments.builders import mini
from trimem import TriMem
from trimem.embedding import HashEmbedder

ZONES = ("America/Los_Angeles", "Asia/Tokyo", "UTC")


@pytest.fixture
def zone(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """Sets TZ for the process by `zone.setenv("TZ", ...)` and `time.tzset()`; undone at the end."""
    with monkeypatch.context() as patch:
        yield patch
    time.tzset()


@pytest.mark.parametrize("name", ZONES)
def test_a_session_after_midnight_keeps_its_day(name: str, zone: pytest.MonkeyPatch) -> None:
    zone.setenv("TZ", name)
    time.tzset()
    (row,) = rows("e11")
    assert fact_of(row).time == row["expect"] == "2023-09-13"


def test_stores_are_equal_under_three_time_zones(tmp_path: Path, zone: pytest.MonkeyPatch) -> None:
    (conversation,) = mini()[0].conversations
    exports = set()
    for i, name in enumerate(ZONES):
        zone.setenv("TZ", name)
        time.tzset()
        with TriMem(tmp_path / str(i), embedder=HashEmbedder()) as memory:
            memory.build(conversation)
            memory.export(tmp_path / f"{i}.jsonl")
        exports.add((tmp_path / f"{i}.jsonl").read_bytes())
    assert len(exports) == 1
    assert b"2023-09-13" in exports.pop()
