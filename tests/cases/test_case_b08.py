"""Case b08: the answer went into reasoning_content and content is null."""

from tests.cases.replies import request, scenario


def test_null_content_is_an_empty_reply_that_names_the_cause() -> None:
    with scenario("b08_reasoning_content") as (llm, _):
        reply = llm.complete(request())
    assert (reply.status, reply.text) == ("empty", "")
    assert "reasoning_content" in reply.error and "--reasoning-parser" in reply.error
