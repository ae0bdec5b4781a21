"""Case b05: a truncated reply names its cause, keeps what is complete and nothing else."""

from tests.cases.replies import CaseFacts, case, request
from tests.trimem.llm.fakes import Canned
from trimem.llm.base import Reply, Usage
from trimem.llm.structured import ask


def test_cut_list_keeps_complete_items_and_says_so() -> None:
    reply = Reply(case("b05")["raw"], "length", usage=Usage(900, 20))
    outcome = ask(Canned(reply), request(schema=CaseFacts))
    assert outcome.value is not None
    assert [fact.fact for fact in outcome.value.facts] == ["Nadia moved in with O'Neil."]
    assert outcome.truncated
    assert "output truncated at 20 tokens" in outcome.problems
