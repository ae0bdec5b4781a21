"""a07: open-domain gold carries its explanation after a semicolon."""

from experiments.data.locomo import RULES
from experiments.metrics.f1 import f1_locomo


def test_only_category_3_is_cut_at_the_semicolon() -> None:
    prediction, gold = "likely no", "Likely no; she prefers dry climates"
    assert f1_locomo(prediction, gold, RULES.get(3, "plain")) == 1.0
    assert f1_locomo(prediction, gold, RULES.get(4, "plain")) == 0.5
