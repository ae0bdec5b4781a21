"""Case b17: a refusal is a status and never a fact."""

from tests.cases.replies import CaseFacts, case, request, scenario
from tests.trimem.llm.fakes import Canned
from trimem.llm.base import Reply
from trimem.llm.structured import ask


def test_refusal_in_words_stores_nothing_and_is_not_asked_again() -> None:
    llm = Canned(Reply(case("b17")["raw"]))
    outcome = ask(llm, request(schema=CaseFacts))
    assert (outcome.value, outcome.reply.status, len(llm.requests)) == (None, "refused", 1)


def test_refusal_field_of_the_message_is_the_same_status() -> None:
    with scenario("b17_refusal") as (llm, server):
        outcome = ask(llm, request(schema=CaseFacts))
    assert (outcome.value, outcome.reply.status, len(server.bodies)) == (None, "refused", 1)
    assert outcome.reply.text == ""
