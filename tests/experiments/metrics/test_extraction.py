"""Extraction precision and recall on a script of two turns, and on the bundled sample."""

from dataclasses import replace

import pytest

from experiments.data.sample import FACTS
from experiments.metrics.extraction import extraction_scores
from trimem.llm.script import Rules, Told, TrueFact, load_script
from trimem.types import Fact

TOLD = Told(
    speakers=("Ada", "Ben"),
    people=("Ada", "Ben"),
    turns={"D1:1": "Hello", "D1:2": "Well"},
    facts={
        "D1:1": (TrueFact(statement="Ada keeps [three] bees.", topic="bees", section="interests"),),
        "D1:2": (
            TrueFact(
                statement="Ben left <on 4 May 2020|yesterday>.", time="2020-05-04", topic="move", section="identity"
            ),
        ),
    },
    traits=(),
    questions=(),
)
BEES = Fact("Ada keeps three bees.", sources=("D1:1",))
LEFT = Fact("Ben left on 4 May 2020.", time="2020-05-04", sources=("D1:2",))


def test_the_true_facts_score_one() -> None:
    scores = extraction_scores([LEFT, BEES], TOLD)
    assert (scores.precision, scores.recall, scores.time, scores.matched) == (1.0, 1.0, 1.0, 2)


def test_a_lost_detail_costs_its_share_of_the_words() -> None:
    scores = extraction_scores([replace(BEES, statement="Ada keeps bees.", id="")], TOLD)
    assert scores.precision == pytest.approx(6 / 7)  # 3 of 3 and 3 of 4 words
    assert scores.recall == pytest.approx(3 / 7)
    assert scores.time is None


def test_a_fact_of_another_turn_or_said_twice_is_not_matched() -> None:
    assert extraction_scores([replace(BEES, sources=("D1:2",))], TOLD).matched == 0
    assert extraction_scores([BEES, replace(BEES, topic="bees", id="")], TOLD).precision == 0.5


def test_times_are_compared_apart_from_words() -> None:
    assert extraction_scores([replace(LEFT, time="2020-05-05")], TOLD).time == 0.0
    assert extraction_scores([replace(BEES, time="2020"), LEFT], TOLD).time == 0.5


def test_no_facts_score_zero() -> None:
    scores = extraction_scores([], TOLD)
    assert (scores.precision, scores.recall, scores.time) == (0.0, 0.0, None)


@pytest.mark.parametrize("id", ["sample-train", "sample-val", "sample-test"])
def test_each_rule_of_extraction_raises_the_scores(id: str) -> None:
    told = load_script(FACTS)[0].conversations[id]

    def scores(rules: Rules) -> tuple[float, float, float]:
        found = told.extract(told.turns, rules)
        facts = [Fact(item.statement, time=item.time, sources=tuple(item.sources)) for item in found]
        result = extraction_scores(facts, told)
        return result.precision, result.recall, result.time or 0.0

    best = scores(Rules())
    assert best == (1.0, 1.0, 1.0)
    assert scores(Rules(split=False))[1] < 0.8
    assert scores(Rules(resolve=False))[2] < 0.5
    assert scores(Rules(keep=False))[0] < 0.97
