"""Case c06: calls that never return."""

import inspect
import time

from tests.cases.replies import request, scenario
from trimem.llm.openai_compatible import OpenAICompatible


def test_dead_socket_ends_as_a_timeout_of_that_call_and_others_go_on() -> None:
    with scenario("c06_hang", timeout=1, max_retries=1) as (llm, server):
        server.steps.append({"content": "fine"})
        begun = time.monotonic()
        first, second = llm.complete_many([request("one"), request("two")])
    assert {first.status, second.status} <= {"ok", "error"} and time.monotonic() - begun < 10
    assert len(server.bodies) >= 3


def test_lasting_silence_is_a_counted_failure_that_says_timeout() -> None:
    with scenario("c06_hang", timeout=0.3, max_retries=1) as (llm, server):
        reply = llm.complete(request())
    assert reply.status == "error" and "timeout" in reply.error
    assert len(server.bodies) == 2


def test_default_timeout_is_finite() -> None:
    assert 0 < inspect.signature(OpenAICompatible).parameters["timeout"].default < 600
