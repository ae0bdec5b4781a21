"""When an edit is kept."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.evolution.decision import decide, gain_probability

FIFTY = [f"q{n}" for n in range(50)]
WHERE = {id: f"c{n % 2}" for n, id in enumerate(FIFTY)}
BEFORE = dict.fromkeys(FIFTY, 0.5)


def shifted(*gains: float) -> dict[str, float]:
    """The scores before, the first questions changed by `gains`."""
    return {**BEFORE, **{id: 0.5 + gain for id, gain in zip(FIFTY, gains, strict=False)}}


@pytest.mark.parametrize(
    ("after", "accepted", "reason"),
    [
        (shifted(0.2), False, "gain on validation +0.0040 is under 0.005"),
        (shifted(0.5, 0.5, 0.5), True, "P(gain > 0) = 0.9"),
        (shifted(0.5, 0.5, -0.5), False, "is under 0.8"),
        (shifted(-0.5), False, "gain on validation -0.0100"),
        (shifted(), False, "+0.0000"),
        (shifted(float("nan")), False, "not a number"),
        ({**BEFORE, "q0": float("inf")}, False, "not a number"),
    ],
)
def test_the_rule(after: dict[str, float], accepted: bool, reason: str) -> None:
    decision = decide(BEFORE, after, WHERE)
    assert (decision.accepted, reason in decision.reason) == (accepted, True), decision.reason


def test_resampling_stays_within_conversations() -> None:
    """One conversation gains on every question and the other loses as surely: no sample can tell a gain."""
    gains = [0.1] * 10 + [-0.1] * 10
    assert gain_probability(gains, ["a"] * 10 + ["b"] * 10) == 0.0
    assert 0.3 < gain_probability(gains, ["a"] * 20) < 0.6


@given(st.lists(st.floats(-1, 1, allow_nan=False), min_size=1, max_size=30))
def test_a_probability_is_one_and_always_the_same(gains: list[float]) -> None:
    probability = gain_probability(gains, ["c"] * len(gains))
    assert 0 <= probability <= 1
    assert probability == gain_probability(gains, ["c"] * len(gains))
