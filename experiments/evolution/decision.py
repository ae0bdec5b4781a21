"""When an edit is kept: a rule for choosing, not a claim about the method."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

RESAMPLES = 2000


@dataclass(frozen=True)
class Decision:
    """Whether a version replaces the current one, and why."""

    accepted: bool
    reason: str
    gain: float | None = None
    probability: float | None = None


def decide(
    before: Mapping[str, float],
    after: Mapping[str, float],
    conversations: Mapping[str, str],
    min_gain: float = 0.005,
    min_probability: float = 0.8,
) -> Decision:
    """Keep `after` (score by question id) if it gains enough, and surely enough. Anything not a number is refused."""
    gains = [after[id] - before[id] for id in before]
    gain = sum(gains) / len(gains) if gains else math.nan
    if not math.isfinite(gain):
        return Decision(False, "the score on validation is not a number")
    probability = gain_probability(gains, [conversations[id] for id in before])
    if gain < min_gain:
        return Decision(False, f"gain on validation {gain:+.4f} is under {min_gain}", gain, probability)
    if probability < min_probability:
        return Decision(False, f"P(gain > 0) = {probability:.2f} is under {min_probability}", gain, probability)
    return Decision(True, f"gain on validation {gain:+.4f}, P(gain > 0) = {probability:.2f}", gain, probability)


def gain_probability(gains: Sequence[float], conversations: Sequence[str]) -> float:
    """Share of bootstrap samples with a mean over 0: questions are drawn anew within each conversation. Seeded."""
    draw = np.random.default_rng(0)
    values, groups = np.asarray(gains), np.asarray(conversations)
    totals = np.zeros(RESAMPLES)
    for name in sorted(set(conversations)):
        own = values[groups == name]
        totals += draw.choice(own, size=(RESAMPLES, len(own))).sum(axis=1)
    return float((totals > 1e-12).mean())
