import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.metrics.f1 import f1_locomo, f1_set, f1_squad, f1_trimem

PLAIN = [f1_set, f1_trimem, f1_squad, f1_locomo]
texts = st.text(alphabet="ab ,.;'AB1é", max_size=30)


@pytest.mark.parametrize(
    ("prediction", "gold", "expected"),
    [
        # f1_set, f1_trimem, f1_squad, f1_locomo
        ("she's in Porto", "shes in porto", (2 / 3, 1.0, 1.0, 1.0)),
        ("red (or blue)", "red or blue", (1 / 3, 1.0, 1.0, 1.0)),
        ("the cat and the dog", "cat dog", (2 / 3, 2 / 3, 0.8, 1.0)),
        ("tea tea", "tea", (1.0, 1.0, 2 / 3, 2 / 3)),
        ("walking", "walked", (0.0, 0.0, 0.0, 1.0)),
        ("8:30", "8 30", (0.0, 1.0, 0.0, 0.0)),
    ],
)
def test_the_four_definitions_differ_as_defined(prediction: str, gold: str, expected: tuple[float, ...]) -> None:
    assert [metric(prediction, gold) for metric in PLAIN] == pytest.approx(expected)


@given(texts, texts)
def test_f1_is_symmetric_and_a_fraction(one: str, other: str) -> None:
    for metric in PLAIN:
        assert 0 <= metric(one, other) <= 1
        assert metric(one, other) == pytest.approx(metric(other, one))


@given(st.text(alphabet="bcd ", min_size=1, max_size=20).filter(str.strip))
def test_the_gold_itself_scores_one(text: str) -> None:
    assert [metric(text, text) for metric in PLAIN] == [1.0] * 4


@given(texts)
def test_an_empty_answer_scores_zero(gold: str) -> None:
    for rule in ("plain", "parts", "before_semicolon", "abstain"):
        assert f1_locomo("", gold, rule) == 0
    assert [metric("", gold) for metric in PLAIN] == [0.0] * 4


@pytest.mark.parametrize(
    "said", ["Not mentioned in the conversation", "No information available.", "It is NOT MENTIONED"]
)
def test_an_abstention_is_known_by_the_two_official_phrases(said: str) -> None:
    assert f1_locomo(said, "whatever", "abstain") == 1
    assert f1_locomo("I do not know", "whatever", "abstain") == 0
