"""a06: comma rule applied to the wrong categories."""

import pytest

from experiments.data.locomo import RULES
from experiments.metrics.f1 import f1_locomo


@pytest.mark.parametrize(
    ("category", "prediction", "gold", "score"),
    [
        (1, "camping, pottery", "pottery, camping, painting, swimming", 0.5),
        (1, "hiking, chess, and cooking", "chess, hiking", 1.0),
        (2, "19 January 2023", "19 January, 2023", 1.0),
    ],
)
def test_only_category_1_is_split_at_commas(category: int, prediction: str, gold: str, score: float) -> None:
    assert f1_locomo(prediction, gold, RULES.get(category, "plain")) == pytest.approx(score)


def test_what_the_wrong_rule_would_give() -> None:
    assert f1_locomo("19 January 2023", "19 January, 2023", "parts") == pytest.approx(0.65)
    assert f1_locomo("camping, pottery", "pottery, camping, painting, swimming") == pytest.approx(0.6667, abs=5e-5)
    assert f1_locomo("hiking, chess, and cooking", "chess, hiking") == pytest.approx(0.8)
