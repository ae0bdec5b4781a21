"""Case c02: 200 OK with empty text, because thinking used up the budget."""

import pytest

from tests.cases.replies import DATA, request, scenario
from tests.fake_openai import FakeOpenAI
from trimem.errors import BudgetReached
from trimem.llm.meter import Meter
from trimem.llm.openai_compatible import OpenAICompatible


def test_second_request_has_a_larger_budget_and_its_answer_counts() -> None:
    with scenario("c02_empty_length") as (llm, server):
        reply = llm.complete(request(max_tokens=400))
    assert reply.status == "ok" and '"answer": "A"' in reply.text
    assert [body["max_tokens"] for body in server.bodies] == [400, 4096]


def test_tokens_of_both_requests_are_counted() -> None:
    with scenario("c02_empty_length") as (llm, _):
        usage = llm.complete(request(max_tokens=400)).usage
    assert (usage.prompt_tokens, usage.completion_tokens) == (910, 405)


def test_a_reply_that_stays_empty_is_a_failure() -> None:
    with FakeOpenAI.from_file(DATA / "http" / "c02_empty_length.json") as server:
        server.steps = server.steps[:1]
        reply = OpenAICompatible("fake", server.url, max_retries=1).complete(request(max_tokens=400))
    assert (reply.status, reply.text, len(server.bodies)) == ("empty", "", 2)


def test_both_requests_count_against_the_budget_of_calls() -> None:
    with scenario("c02_empty_length") as (llm, server):
        meter = Meter(llm, budget_calls=2)
        meter.complete(request(max_tokens=400))
        with pytest.raises(BudgetReached):
            meter.complete(request("What else?"))
    assert len(server.bodies) == meter.usage()["extract"].calls == 2
