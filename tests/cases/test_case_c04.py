"""Case c04: out of quota is not a rate limit."""

import pytest

from tests.cases.replies import request, scenario
from trimem.errors import LLMUnavailable


def test_twenty_calls_cost_one_request_and_one_message_on_billing() -> None:
    with scenario("c04_insufficient_quota", max_retries=4, concurrency=16) as (llm, server):
        with pytest.raises(LLMUnavailable, match="billing"):
            llm.complete_many([request(f"question {number}") for number in range(20)])
        assert len(server.bodies) == 1
