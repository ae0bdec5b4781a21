"""Case c01: gpt-5 and o-series reject max_tokens and temperature."""

from tests.cases.replies import request, scenario


def test_gpt5_gets_max_completion_tokens_and_no_temperature_at_once() -> None:
    with scenario("c01_gpt5", model="gpt-5-nano") as (llm, server):
        reply = llm.complete(request(temperature=0.2, max_tokens=512))
    assert reply.status == "ok"
    assert server.bodies[0]["max_completion_tokens"] == 512
    assert not {"max_tokens", "temperature", "top_p"} & set(server.bodies[0])


def test_what_was_not_applied_is_noted_and_what_was_sent_is_kept() -> None:
    with scenario("c01_gpt5", model="gpt-5-nano") as (llm, _):
        llm.complete(request(temperature=0.2, max_tokens=512))
    assert "temperature=0.2 is not sent: gpt-5-nano does not take it" in llm.notes.values()
    assert llm.sent["extract"]["max_completion_tokens"] == 512


def test_gpt41_gets_its_temperature() -> None:
    with scenario("c01_gpt5", model="gpt-4.1-mini") as (llm, server):
        server.reject = []
        llm.complete(request(temperature=0.2, max_tokens=512))
    assert (server.bodies[0]["temperature"], server.bodies[0]["max_tokens"]) == (0.2, 512)
