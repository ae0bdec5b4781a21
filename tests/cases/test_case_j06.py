"""Case j06: no gain, worse, a tie and NaN keep the prompt; only a real gain replaces it."""

import math

from experiments.evolution.decision import decide

IDS = [f"q{n}" for n in range(40)]
ONE = dict.fromkeys(IDS, "conv")


def scored(mean: float) -> dict[str, float]:
    return dict.fromkeys(IDS, mean)


def test_of_these_validation_scores_only_the_last_is_kept() -> None:
    kept, best = ["seed"], scored(0.50)
    for step, mean in enumerate([0.40, 0.50, math.nan, 0.55], start=1):
        decision = decide(best, scored(mean), ONE)
        best = scored(mean) if decision.accepted else best
        kept.append(f"step {step}" if decision.accepted else kept[-1])
        assert decision.reason
    assert kept == ["seed", "seed", "seed", "seed", "step 4"]
    assert best == scored(0.55)


def test_every_candidate_is_stored_with_its_score() -> None:
    assert decide(scored(0.5), scored(0.4), ONE).gain is not None
    assert decide(scored(0.5), scored(math.nan), ONE).gain is None
