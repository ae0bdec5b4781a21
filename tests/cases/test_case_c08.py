"""Case c08: a content filter blocks with null content."""

from tests.cases.replies import CaseFacts, request, scenario
from trimem.llm.structured import ask


def test_filtered_reply_has_its_status_and_is_not_asked_again() -> None:
    with scenario("c08_content_filter") as (llm, server):
        outcome = ask(llm, request(schema=CaseFacts))
    assert (outcome.value, outcome.reply.status) == (None, "content_filter")
    assert len(server.bodies) == 1
