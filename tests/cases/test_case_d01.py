"""Case d01: vLLM drops fields it does not know without a word."""

from tests.cases.replies import CaseFacts, request, scenario
from trimem.llm.models import ENDPOINTS, find_model
from trimem.llm.structured import ask
from trimem.llm.wire import body_of


def test_vllm_gets_structured_outputs_and_not_guided_json() -> None:
    body, _ = body_of(request(schema=CaseFacts), "fake", find_model("fake"), ENDPOINTS["vllm"], {})
    assert "facts" in body["structured_outputs"]["json"]["properties"]
    assert not [key for key in body if key.startswith("guided")]


def test_prose_is_asked_for_once_more_and_the_loss_is_named() -> None:
    with scenario("d01_guided_ignored") as (llm, server):
        outcome = ask(llm, request(schema=CaseFacts))
    assert outcome.value is not None
    assert [fact.fact for fact in outcome.value.facts] == ["A"]
    assert len(server.bodies) == 2
    assert outcome.problems == ("first reply: the reply holds no JSON although a JSON schema was asked for",)
