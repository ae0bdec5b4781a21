"""Case c10: servers that do not tell tokens."""

from tests.cases.replies import request, scenario
from trimem.llm.meter import Meter


def test_both_answers_are_kept_and_unknown_tokens_are_not_zero() -> None:
    with scenario("c10_no_usage") as (llm, _):
        meter = Meter(llm)
        replies = meter.complete_many([request("one"), request("two")])
    assert [reply.status for reply in replies] == ["ok", "ok"]
    usage = meter.usage()["extract"]
    assert (usage.calls, usage.prompt_tokens, usage.completion_tokens, usage.usd) == (2, None, None, None)
