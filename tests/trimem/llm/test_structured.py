"""Asking for a schema."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.trimem.llm.fakes import Canned, user
from trimem.llm.base import Reply, Usage
from trimem.llm.structured import ask, read
from trimem.replies import AnswerReply, ExtractedFacts

GOOD = Reply('{"reasoning": "", "answer": "Paris"}')


def test_good_reply_is_one_call_without_problems() -> None:
    llm = Canned(GOOD)
    outcome = ask(llm, user(schema=AnswerReply))
    assert (outcome.value, outcome.problems, outcome.truncated) == (AnswerReply(answer="Paris"), (), False)
    assert outcome.reply == GOOD and len(llm.requests) == 1


def test_repair_call_shows_the_reply_and_the_error_and_keeps_the_roles_in_turn() -> None:
    llm = Canned(Reply('{"reply": "Paris"}'), GOOD)
    outcome = ask(llm, user(schema=AnswerReply))
    assert outcome.value == AnswerReply(answer="Paris")
    assert [message.role for message in llm.requests[1].messages] == ["user", "assistant", "user"]
    assert llm.requests[1].messages[1].content == '{"reply": "Paris"}'
    assert "answer: Field required" in llm.requests[1].messages[2].content
    assert outcome.problems == ("first reply: answer: Field required",)


def test_no_third_call() -> None:
    llm = Canned(Reply("no idea"))
    outcome = ask(llm, user(schema=AnswerReply))
    assert (outcome.value, outcome.reply.status, len(llm.requests)) == (None, "invalid", 2)
    assert outcome.reply.error


def test_cut_reply_without_anything_usable_is_asked_for_with_more_tokens() -> None:
    llm = Canned(Reply('{"reasoning": "long', "length", usage=Usage(9, 64)), GOOD)
    outcome = ask(llm, user(schema=AnswerReply, max_tokens=64))
    assert outcome.value == AnswerReply(answer="Paris") and not outcome.truncated
    assert [request.max_tokens for request in llm.requests] == [64, 128]
    assert llm.requests[1].messages == llm.requests[0].messages
    assert "first reply: output truncated at 64 tokens" in outcome.problems


def test_cut_that_the_server_did_not_report_is_noticed() -> None:
    outcome = ask(Canned(Reply('{"facts": [{"statement": "A"}, {"statem')), user(schema=ExtractedFacts))
    assert outcome.value is not None
    assert [fact.statement for fact in outcome.value.facts] == ["A"] and outcome.truncated


@pytest.mark.parametrize("status", ["refused", "content_filter", "tool_call", "empty", "error"])
def test_what_asking_again_cannot_mend_is_not_asked_again(status: str) -> None:
    llm = Canned(Reply("", status, "why"))  # type: ignore[arg-type]
    outcome = ask(llm, user(schema=AnswerReply))
    assert (outcome.value, outcome.reply.status, len(llm.requests)) == (None, status, 1)
    assert outcome.problems == (f"{status}: why",)


def test_request_without_schema_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(TypeError, match="answer"):
        ask(Canned(GOOD), user())


def test_thirty_facts_cut_at_nine_tenths_give_all_complete_ones() -> None:
    facts = [{"statement": f"Fact {n}, see https://example.org/a//b.", "sources": [f"D1:{n}"]} for n in range(30)]
    text = json.dumps({"facts": facts})
    value, _ = read(text[: len(text) * 9 // 10], ExtractedFacts)
    assert value is not None and 25 <= len(value.facts) < 30
    assert [fact.model_dump(include={"statement", "sources"}) for fact in value.facts] == facts[: len(value.facts)]


@settings(deadline=None)
@given(st.text(max_size=200))
def test_no_text_makes_read_raise_and_nothing_is_never_without_a_cause(text: str) -> None:
    value, problems = read(text, AnswerReply)
    assert value is not None or problems
