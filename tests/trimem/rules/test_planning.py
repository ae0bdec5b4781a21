from datetime import datetime

import pytest

from trimem.rules.planning import RulesPlanner
from trimem.types import Plan, Question


def plan(text: str, asked_at: datetime | None = None, max_queries: int = 1) -> Plan:
    return RulesPlanner(max_queries).plan(Question("q", text, asked_at))


def test_the_question_is_the_first_query_and_its_words_the_second() -> None:
    assert plan("What did Nadia paint?").queries == ("What did Nadia paint?",)
    assert plan("What did Nadia paint?", max_queries=3).queries == ("What did Nadia paint?", "Nadia paint")


def test_key_information() -> None:
    made = plan('Which song from "Blue Hours" did Omar sing in Lisbon in May 2023?')
    assert made.persons == ("Omar",)
    assert made.time == "2023-05"
    assert made.location == "Lisbon"
    assert {"Lisbon", "Blue Hours"} <= set(made.entities)
    assert {"song", "sing"} <= set(made.keywords) and "omar" not in made.keywords


def test_two_people_and_a_possessive() -> None:
    assert set(plan("Does Omar like Nadia's brother?").persons) == {"Omar", "Nadia"}


@pytest.mark.parametrize(("asked_at", "time"), [(None, None), (datetime(2023, 5, 25), "2022")])
def test_relative_time_counts_from_when_it_is_asked(asked_at: datetime | None, time: str | None) -> None:
    assert plan("Where did Nadia live last year?", asked_at).time == time


def test_a_question_of_nothing_is_a_plan_too() -> None:
    assert plan("?") == Plan(("?",))
