"""a10: BLEU-1 on one-word and empty answers."""

import warnings

import pytest

from experiments.metrics.bleu import bleu1, bleu1_offline, bleu1_set

PAIRS = [
    ("yes", "no", 0.0),
    ("", "yes", 0.0),
    ("2022", "2022", 1.0),
    ("May 2023", "7 May 2023", 0.6065),
    ("7 May 2023", "May 2023", 0.6667),
    ("dance", "dance", 1.0),
]


@pytest.mark.parametrize(("prediction", "gold", "expected"), PAIRS)
def test_short_answers_score_without_warning(prediction: str, gold: str, expected: float) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scores = [metric(prediction, gold) for metric in (bleu1, bleu1_offline, bleu1_set)]
    assert scores == pytest.approx([expected] * 3, abs=5e-5)
