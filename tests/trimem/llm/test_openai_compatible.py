"""The client against a loopback server."""

import logging
import socket
import time
import traceback
from pathlib import Path
from typing import Any

import pytest

from tests.fake_openai import FakeOpenAI
from tests.trimem.llm.fakes import user
from trimem.errors import LLMUnavailable
from trimem.llm.cache import CachedLLM
from trimem.llm.openai_compatible import OpenAICompatible
from trimem.replies import AnswerReply

CANARY = "sk-canary-5f1e0c"
SOON = {"retry-after-ms": "5"}


def failing(status: int, code: str | None = None, message: str = "no", times: int = 99) -> list[dict[str, Any]]:
    error = {"message": message, "type": "t", "code": code, "param": None}
    return [{"status": status, "json": {"error": error}, "headers": SOON}] * times


def client(server: FakeOpenAI, **settings: Any) -> OpenAICompatible:
    chosen: dict[str, Any] = {"model": "fake", "endpoint": server.url, "timeout": 5} | settings
    return OpenAICompatible(**chosen)


def test_reply_carries_text_tokens_seconds_and_served_model() -> None:
    with FakeOpenAI([{"content": "Paris", "delay": 0.05}]) as server:
        reply = client(server).complete(user())
    assert (reply.text, reply.status, reply.model) == ("Paris", "ok", "fake")
    assert (reply.usage.prompt_tokens, reply.usage.completion_tokens) == (10, 5)
    assert 0.05 <= reply.seconds < 3


def test_schema_reaches_the_server() -> None:
    with FakeOpenAI([{"content": "{}"}]) as server:
        client(server).complete(user(schema=AnswerReply))
    assert server.bodies[0]["response_format"]["json_schema"]["name"] == "AnswerReply"


@pytest.mark.parametrize("step", [*failing(500, times=1), *failing(429, times=1), {"drop": True}])
def test_passing_trouble_is_retried(step: dict[str, Any]) -> None:
    with FakeOpenAI([step, {"content": "Paris"}]) as server:
        assert client(server).complete(user()).text == "Paris"
    assert len(server.bodies) == 2


@pytest.mark.parametrize("status", [500, 503, 429])
def test_lasting_trouble_is_a_counted_failure_and_not_the_end(status: int) -> None:
    with FakeOpenAI(failing(status)) as server:
        replies = client(server, max_retries=2, concurrency=2).complete_many([user("a"), user("b")])
    assert [reply.status for reply in replies] == ["error", "error"]
    assert str(status) in replies[0].error and len(server.bodies) == 6


@pytest.mark.parametrize(
    ("status", "code", "words"),
    [
        (401, "invalid_api_key", "key was not accepted"),
        (403, None, "key was not accepted"),
        (402, None, "billing"),
        (429, "insufficient_quota", "billing"),
        (404, "model_not_found", "no model 'fake'"),
        (400, "unsupported_parameter", r"backbone\.options"),
    ],
)
def test_what_every_call_would_meet_stops_at_once(status: int, code: str | None, words: str) -> None:
    with FakeOpenAI(failing(status, code)) as server:
        llm = client(server)
        for _ in range(2):
            with pytest.raises(LLMUnavailable, match=words) as failure:
                llm.complete(user())
            assert "\n" not in str(failure.value)
    assert len(server.bodies) == 1


def test_a_server_that_takes_no_shape_says_which_option_helps() -> None:
    rejected = failing(400, message="Unknown field: response_format")
    option = r"backbone\.options\.structured=prompt"
    with FakeOpenAI(rejected) as server, pytest.raises(LLMUnavailable, match=option):
        client(server).complete(user(schema=AnswerReply))


def test_nobody_at_the_address_stops_the_run_and_names_it() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
    with pytest.raises(LLMUnavailable, match=f"nobody answers at {url}"):
        OpenAICompatible("fake", url, max_retries=0).complete(user())


def test_rate_limit_halves_the_width_and_success_wins_it_back() -> None:
    limited = [*failing(429, "rate_limit_exceeded", times=1), {"content": "x"}]
    with FakeOpenAI([{"content": "first"}, *limited]) as server:
        llm = client(server, concurrency=8)
        llm.complete(user())
        llm.complete(user("limited"))
        assert llm._gate.limit == 4
        llm.complete_many([user(str(number)) for number in range(40)])
        assert llm._gate.limit == 8


def test_calls_run_side_by_side_up_to_concurrency() -> None:
    with FakeOpenAI([{"content": "x", "delay": 0.1}]) as server:
        llm = client(server, concurrency=8)
        llm.complete(user("warm"))
        begun = time.monotonic()
        llm.complete_many([user(str(number)) for number in range(24)])
        assert 0.3 <= time.monotonic() - begun < 1.0
    assert server.most_at_once == 8


def test_replies_keep_the_order_of_the_requests() -> None:
    with FakeOpenAI([{"content": str(number), "delay": (7 - number) * 0.02} for number in range(8)]) as server:
        llm = client(server, concurrency=1)
        assert [reply.text for reply in llm.complete_many([user()] * 8)] == list("01234567")


@pytest.mark.parametrize(("endpoint", "variable"), [("openai", "OPENAI_API_KEY"), ("openrouter", "OPENROUTER_API_KEY")])
def test_missing_key_names_its_variable_before_any_call(
    monkeypatch: pytest.MonkeyPatch, endpoint: str, variable: str
) -> None:
    monkeypatch.delenv(variable, raising=False)
    with pytest.raises(LLMUnavailable, match=f"^{variable} is not set"):
        OpenAICompatible("gpt-4.1-mini", endpoint)


def test_a_url_is_not_sent_the_openai_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)
    with FakeOpenAI([{"content": "x"}]) as server:
        client(server).complete(user())
    assert CANARY not in "".join(server.keys)


def test_key_is_sent_and_stands_in_nothing_else(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("MY_KEY", CANARY)
    caplog.set_level(logging.DEBUG)
    told = [{"content": "x"}, *failing(500, message=f"key {CANARY} is busy", times=1)]
    with FakeOpenAI([*told, *failing(401, message=f"bad key {CANARY}")]) as server:
        llm = client(server, api_key_env="MY_KEY", max_retries=0)
        cache = CachedLLM(llm, tmp_path / "llm.sqlite")
        seen = [repr(cache.complete(user())), repr(cache.complete(user("again"))), repr(llm), str(llm.identity)]
        with pytest.raises(LLMUnavailable) as failure:
            cache.complete(user("last"))
    assert server.keys[0] == f"Bearer {CANARY}"
    seen += ["".join(traceback.format_exception(failure.value)), str(llm.sent), caplog.text]
    seen += [file.read_bytes().decode("latin-1") for file in tmp_path.iterdir()]
    assert not [text for text in seen if CANARY in text]
