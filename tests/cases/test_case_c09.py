"""Case c09: spellings of the base URL."""

import pytest

from tests.cases.replies import request, scenario
from trimem.errors import LLMUnavailable


@pytest.mark.parametrize("path", ["/v1", "/v1/", "/v1/chat/completions"])
def test_spelling_works(path: str) -> None:
    with (
        scenario("c09_strict_path") as (_, server),
        scenario("c09_strict_path", endpoint=server.host + path) as (llm, _),
    ):
        assert llm.complete(request()).status == "ok"
        assert server.paths == ["/v1/chat/completions"]


def test_bare_host_fails_once_showing_the_url_and_the_fix() -> None:
    with scenario("c09_strict_path") as (_, server), scenario("c09_strict_path", endpoint=server.host) as (llm, _):
        with pytest.raises(LLMUnavailable) as failure:
            llm.complete_many([request(str(number)) for number in range(20)])
        assert f"{server.host}/chat/completions" in str(failure.value) and f"{server.host}/v1 " in str(failure.value)
        assert len(server.bodies) == 1
