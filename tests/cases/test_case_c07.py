"""Case c07: a prompt that is too long is not sent again unchanged."""

from tests.cases.replies import CaseFacts, request, scenario
from trimem.llm.structured import ask


def test_context_overflow_is_one_request_and_an_error_naming_the_limit() -> None:
    with scenario("c07_context", max_retries=4) as (llm, server):
        outcome = ask(llm, request("x" * 60_000, schema=CaseFacts))
    assert len(server.bodies) == 1
    assert (outcome.value, outcome.reply.status) == (None, "too_long")
    assert "context" in outcome.reply.error and "8192" in outcome.reply.error
