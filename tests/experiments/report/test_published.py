"""What papers printed, and the five verdicts."""

from dataclasses import replace

import pytest

from experiments.metrics.stats import Cell
from experiments.report.published import Published, judge, published

PRINTED = Published("locomo", "m", "simplemem", "f1_set", "", "macro", 1540, 43.24, "a paper", "read")


def cell(mean: float, low: float, high: float, n: int = 1540) -> Cell:
    return {"mean": mean, "n": n, "ci": [low, high]}


@pytest.mark.parametrize(
    ("ours", "verdict"),
    [
        (cell(0.42, 0.40, 0.44), "OK"),
        (cell(0.41, 0.40, 0.4225), "NEAR"),
        (cell(0.45, 0.4423, 0.46), "NEAR"),
        (cell(0.41, 0.40, 0.4223), "OFF"),
        (cell(0.46, 0.4425, 0.47), "OFF"),
        (None, "NOT RUN"),
        (cell(0.42, 0.40, 0.44, n=770), "NO VERDICT"),
    ],
)
def test_a_verdict_follows_from_our_interval(ours: Cell | None, verdict: str) -> None:
    assert judge(PRINTED, ours)[0] == verdict


@pytest.mark.parametrize(
    "change",
    [{"value": None}, {"certainty": "second-hand"}, {"mean": "unknown"}, {"metric": "tokens"}, {"dataset": "perltqa"}],
    ids=str,
)
def test_what_cannot_be_compared_gets_no_verdict_and_says_why(change: dict[str, object]) -> None:
    verdict, why = judge(replace(PRINTED, **change), cell(0.43, 0.40, 0.45))  # type: ignore[arg-type]
    assert verdict == "NO VERDICT"
    assert why


def test_a_mean_without_an_interval_is_never_ok() -> None:
    assert judge(PRINTED, {"mean": 0.4324, "n": 1540, "ci": None})[0] == "NEAR"


def test_printed_macro_means_are_the_means_of_their_categories() -> None:
    entries = [one for one in published() if one.mean == "macro" and one.value is not None]
    assert len(entries) == 30
    for entry in entries:
        peers = [
            one.value
            for one in published()
            if (one.source, one.model, one.method, one.metric)
            == (entry.source, entry.model, entry.method, entry.metric)
            and one.category
        ]
        assert len(peers) == 4
        known = [value for value in peers if value is not None]
        assert sum(known) / 4 == pytest.approx(entry.value, abs=0.02)


def test_no_number_is_there_twice_and_unknown_ones_are_empty() -> None:
    keys = [(o.source, o.dataset, o.model, o.method, o.metric, o.category) for o in published()]
    assert len(set(keys)) == len(keys)
    assert {one.certainty for one in published()} == {"read", "second-hand", "unknown"}
    assert all((one.value is None) == (one.certainty == "unknown") for one in published())
