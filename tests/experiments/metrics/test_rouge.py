import pytest

from experiments.metrics.f1 import exact_match
from experiments.metrics.rouge import rouge_l


@pytest.mark.parametrize(
    ("prediction", "gold", "score"),
    [
        ("the dog barked", "the dog barked", 1.0),
        ("police kill the gunman", "police killed the gunman", 1.0),  # stems
        ("the gunman kill police", "police killed the gunman", 0.5),  # Lin 2004, section 3.1: the order counts
        ("in Ghent", "at a pottery class in Ghent", 0.5),
        ("", "Ghent", 0.0),
        ("Ghent", "", 0.0),
        ("12", "21", 0.0),
    ],
)
def test_rouge_l_is_the_f1_of_the_longest_common_subsequence(prediction: str, gold: str, score: float) -> None:
    assert rouge_l(prediction, gold) == pytest.approx(score)


@pytest.mark.parametrize(
    ("prediction", "gold", "score"),
    [("The Dog!", "dog", 1.0), ("dogs", "dog", 0.0), ("", "", 0.0), ("7 May", "May 7", 0.0)],
)
def test_exact_match_is_of_normalised_text(prediction: str, gold: str, score: float) -> None:
    assert exact_match(prediction, gold) == score
