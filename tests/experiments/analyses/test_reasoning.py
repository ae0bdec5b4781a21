import pytest

from experiments.analyses.reasoning import compare
from experiments.data.types import Gold, GoldBook
from experiments.metrics.summary import Scored


def scored(id: str, f1: float, recall: float = 1.0, category: int = 4) -> Scored:
    return Scored(id, "c", id, category, False, {"f1_set": f1}, 0.0, {"context_recall": recall}, {})


def golds(**answers: tuple[str, int]) -> GoldBook:
    return {
        id: Gold(answer, tuple(f"D1:{turn}" for turn in range(turns)), 4) for id, (answer, turns) in answers.items()
    }


def test_questions_are_told_apart_by_their_evidence_and_missed_ones_left_out() -> None:
    book = golds(a=("x", 1), b=("x", 2), c=("x", 2), d=("x", 1), e=("x", 0))
    rows = [scored("a", 1), scored("b", 0.5), scored("c", 0, recall=0.5), scored("d", 0, category=5), scored("e", 1)]
    strict, loose = (compare(rows, book, (1, 2, 3, 4), least) for least in (1.0, 1e-9))
    assert (strict.one["n"], strict.several["n"], strict.several["mean"]) == (1, 1, 0.5)
    assert (loose.several["n"], loose.several["mean"]) == (2, 0.25)


def test_the_control_weighs_by_the_length_of_golds() -> None:
    # golds of several turns have two words; one-turn golds of one word score 1, of two words 0.4
    book = golds(a=("x", 1), b=("y", 1), c=("x y", 1), d=("x y", 2), e=("v w", 2))
    rows = [scored("a", 1), scored("b", 1), scored("c", 0.4), scored("d", 0.4), scored("e", 0.2)]
    found = compare(rows, book, (4,), 1.0)
    assert found.one["mean"] == pytest.approx(0.8)
    assert found.matched["mean"] == pytest.approx(0.4)
    assert found.left_out == 0


def test_lengths_without_a_one_turn_gold_are_counted() -> None:
    book = golds(a=("x", 1), d=("x y z", 2), e=("v", 2))
    found = compare([scored("a", 1), scored("d", 0), scored("e", 1)], book, (4,), 1.0)
    assert found.left_out == 1 and found.matched["mean"] == 1


def test_nothing_to_compare_is_not_measured() -> None:
    found = compare([], golds(), (4,), 1.0)
    assert found.one["mean"] is found.several["mean"] is found.matched["mean"] is None
