"""Full-Context: everything, in order; the oldest goes first where it does not fit."""

import logging
from pathlib import Path

import pytest

from baselines.full_context import FullContext
from tests.baselines.scripted import dialogue
from tests.fakes import FunctionLLM
from trimem.reasoning import LLMReasoner
from trimem.rules.reasoning import RulesReasoner
from trimem.tokens import count_tokens
from trimem.types import Question

TALK = dialogue(*(f"Edda: The kiln number {n} stands in hall {n}." for n in range(12)))
QUESTION = Question("q", "Where does kiln number 3 stand?")


def test_the_whole_conversation_in_order_and_the_question_last(tmp_path: Path) -> None:
    model = FunctionLLM(lambda _: '{"answer": "hall 3"}')
    memory = FullContext(tmp_path, LLMReasoner(model))
    assert memory.build(TALK).turns == 12
    assert memory.answer(QUESTION).text == "hall 3"
    user = model.asked[0].messages[1].content
    places = [user.index(f"kiln number {n} stands") for n in range(12)] + [user.index(QUESTION.text)]
    assert places == sorted(places)
    assert {id for item in memory.retrieve(QUESTION).items for id in item.sources} == {t.id for t in TALK.turns}


def test_the_prefix_is_the_same_for_every_question(tmp_path: Path) -> None:
    model = FunctionLLM(lambda _: '{"answer": "x"}')
    memory = FullContext(tmp_path, LLMReasoner(model))
    memory.build(TALK)
    for text in ("Where?", "When?"):
        memory.answer(Question("q", text))
    first, second = (request.messages[1].content for request in model.asked)
    assert first.partition("<question")[0] == second.partition("<question")[0]


def test_the_oldest_turns_are_left_out_and_it_is_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    memory = FullContext(tmp_path, RulesReasoner(), max_tokens=100)
    with caplog.at_level(logging.WARNING):
        report = memory.build(TALK)
    context = memory.retrieve(QUESTION)
    assert 0 < report.turns < 12
    assert context.tokens["total"] <= 100
    assert context.items[-1].id == "T12"
    assert f"the oldest {12 - report.turns} turns" in caplog.text
    assert count_tokens("\n".join(item.text for item in context.items)) == context.tokens["total"]


def test_it_answers_without_a_model(tmp_path: Path) -> None:
    memory = FullContext(tmp_path, RulesReasoner())
    memory.build(TALK)
    assert memory.answer(QUESTION).status == "ok"
