import pytest

from experiments.metrics.bleu import bleu1, bleu1_offline, bleu1_set


def test_the_tokeniser_moves_the_number() -> None:
    prediction, gold = "Porto, in May.", "porto in may"
    assert bleu1(prediction, gold) == pytest.approx(3 / 5)  # the comma and the full stop are tokens
    assert bleu1_offline(prediction, gold) == pytest.approx(3 / 5)
    assert bleu1_set(prediction, gold) == 1.0


def test_offline_differs_only_at_a_full_stop_inside_the_line() -> None:
    prediction, gold = "She left. He stayed.", "she left"
    assert bleu1(prediction, gold) == pytest.approx(2 / 6)
    assert bleu1_offline(prediction, gold) == pytest.approx(1 / 5)  # "left." is one token


def test_a_short_answer_pays_the_brevity_penalty() -> None:
    assert bleu1("may", "may 2023") == pytest.approx(0.36788, abs=1e-5)  # exp(1 - 2/1)
