"""Request bodies and replies."""

from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import BaseModel

from tests.fake_openai import completion
from tests.trimem.llm.fakes import user
from trimem.llm.base import Usage
from trimem.llm.models import ENDPOINTS, find_model
from trimem.llm.wire import body_of, cut_prompt, reply_of, strict_schema
from trimem.replies import ExtractedFacts, QueryPlan


def body(model: str, endpoint: str, options: dict[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    return body_of(user(**changes), model, find_model(model), ENDPOINTS[endpoint], options or {})[0]


def test_plain_request_is_sent_as_it_is() -> None:
    assert body("gpt-4.1-mini", "openai", temperature=0.3, seed=7, max_tokens=50) == {
        "model": "gpt-4.1-mini",
        "messages": [{"role": "user", "content": "hello"}],
        "max_tokens": 50,
        "temperature": 0.3,
        "seed": 7,
    }


@pytest.mark.parametrize(
    ("endpoint", "switch"),
    [
        ("vllm", {"chat_template_kwargs": {"enable_thinking": False}}),
        ("llama_cpp", {"chat_template_kwargs": {"enable_thinking": False}}),
        ("ollama", {"reasoning_effort": "none"}),
        ("openrouter", {"reasoning": {"enabled": False}}),
    ],
)
def test_qwen3_thinks_only_where_told_to(endpoint: str, switch: dict[str, Any]) -> None:
    silent, thinking = body("Qwen/Qwen3-8B", endpoint), body("Qwen/Qwen3-8B", endpoint, {"thinking": True})
    assert silent == thinking | switch
    assert not set(switch) & set(thinking) and "thinking" not in thinking


def test_options_go_into_the_body_and_before_the_table() -> None:
    sent = body("gpt-5-nano", "openai", {"reasoning_effort": "high", "top_p": 0.9})
    assert (sent["reasoning_effort"], sent["top_p"]) == ("high", 0.9)


def test_shape_is_asked_for_in_each_servers_way() -> None:
    sent = body("gpt-4o", "openai", schema=QueryPlan)["response_format"]
    assert (sent["type"], sent["json_schema"]["name"], sent["json_schema"]["strict"]) == (
        "json_schema",
        "QueryPlan",
        True,
    )
    assert body("any", "vllm", schema=QueryPlan)["structured_outputs"]["json"] == strict_schema(QueryPlan)


def test_shape_in_words_leaves_the_messages_of_the_request_alone() -> None:
    request = user(schema=QueryPlan)
    sent, _ = body_of(request, "any", find_model("any"), ENDPOINTS["ollama"], {"structured": "prompt"})
    assert sent["messages"][-1]["content"].startswith("hello\n\nReply with nothing but JSON")
    assert '"queries"' in sent["messages"][-1]["content"] and request.messages[-1].content == "hello"
    assert "response_format" not in sent and "structured" not in sent


def nodes(node: Any) -> list[dict[str, Any]]:
    children = node.values() if isinstance(node, dict) else node if isinstance(node, list) else []
    return ([node] if isinstance(node, dict) else []) + [found for child in children for found in nodes(child)]


def test_strict_schema_requires_every_key_and_allows_no_other() -> None:
    objects = [node for node in nodes(strict_schema(ExtractedFacts)) if node.get("type") == "object"]
    assert len(objects) == 2
    for node in objects:
        assert node["required"] == list(node["properties"]) and node["additionalProperties"] is False
    assert strict_schema(ExtractedFacts)["properties"]["facts"]["maxItems"] == 120


def test_a_field_called_title_or_default_survives() -> None:
    class Page(BaseModel):
        title: str
        default: int = 3

    assert strict_schema(Page)["required"] == ["title", "default"]
    assert strict_schema(Page)["properties"] == {"title": {"type": "string"}, "default": {"type": "integer"}}


def reply(**message: Any) -> Any:
    finish = message.pop("finish", "stop")
    known = {"content": None, "refusal": None, "tool_calls": None} | message
    choice = SimpleNamespace(message=SimpleNamespace(**known), finish_reason=finish)
    return reply_of(SimpleNamespace(choices=[choice], model="served", usage=None, system_fingerprint="fp"))


@pytest.mark.parametrize(
    ("message", "status", "text"),
    [
        ({"content": "Paris"}, "ok", "Paris"),
        ({"content": "<think>hm</think>\nParis"}, "ok", "Paris"),
        ({"content": "Par", "finish": "length"}, "length", "Par"),
        ({"content": "", "finish": "length"}, "empty", ""),
        ({"content": "<think>so long", "finish": "length"}, "empty", ""),
        ({"content": None}, "empty", ""),
        ({"content": " \n"}, "empty", ""),
        ({"refusal": "No."}, "refused", ""),
        ({"content": "half", "finish": "content_filter"}, "content_filter", ""),
        ({"tool_calls": [{"id": "1"}], "finish": "tool_calls"}, "tool_call", ""),
        ({"content": '<tool_call>{"name": "search"}</tool_call>'}, "tool_call", ""),
    ],
)
def test_every_way_of_answering_has_its_status(message: dict[str, Any], status: str, text: str) -> None:
    found = reply(**message)
    assert (found.status, found.text) == (status, text)
    assert bool(found.error) == (status != "ok")
    assert (found.model, found.fingerprint, found.usage) == ("served", "fp", Usage())


def test_body_without_choices_is_an_error_with_what_the_server_said() -> None:
    said = SimpleNamespace(choices=None, model=None, usage=None, error={"message": "upstream is busy"})
    assert reply_of(said).status == "error" and "upstream is busy" in reply_of(said).error


def test_prompt_cut_is_seen_only_where_it_is_large() -> None:
    prompt = user("one two three four five six seven eight nine ten " * 100)
    assert "100 prompt tokens for about 1001" in cut_prompt(prompt, 100)
    assert cut_prompt(prompt, 900) == cut_prompt(prompt, None) == ""


def test_the_fake_servers_body_is_what_the_sdk_expects() -> None:
    assert completion("x")["choices"][0]["message"] == {"role": "assistant", "content": "x"}


def test_bounds_hold_for_every_list_and_text_and_loosen_none() -> None:
    shape = strict_schema(ExtractedFacts, items=20, characters=100)
    fact = shape["$defs"]["ExtractedFact"]["properties"]
    assert shape["properties"]["facts"]["maxItems"] == 20
    assert (fact["keywords"]["maxItems"], fact["keywords"]["items"]["maxLength"]) == (12, 100)
    assert fact["statement"]["maxLength"] == 100
    sent = body("any", "llama_cpp", {"bounds": {"items": 2}}, schema=ExtractedFacts)
    assert sent["response_format"]["json_schema"]["schema"] == strict_schema(ExtractedFacts, items=2)
    assert "bounds" not in sent
