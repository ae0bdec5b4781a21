"""The tables of models and endpoints."""

import re

import pytest

from trimem.errors import BadInput
from trimem.llm.models import ENDPOINTS, NAMES, UNKNOWN, find_endpoint, find_model, name_at


@pytest.mark.parametrize(
    ("name", "limit", "temperature", "effort"),
    [
        ("gpt-5-nano-2025-08-07", "max_completion_tokens", False, "minimal"),
        ("openai/gpt-5", "max_completion_tokens", False, "minimal"),
        ("gpt-5.1", "max_completion_tokens", False, "none"),
        ("o4-mini", "max_completion_tokens", False, "low"),
        ("gpt-4.1-mini-2025-04-14", "max_tokens", True, None),
        ("gpt-4o-2024-11-20", "max_tokens", True, None),
        ("Qwen/Qwen3-8B", "max_tokens", True, None),
        ("meta-llama/Llama-3.1-8B-Instruct", "max_tokens", True, None),
    ],
)
def test_what_a_model_takes(name: str, limit: str, temperature: bool, effort: str | None) -> None:
    model = find_model(name)
    assert (model.limit, model.temperature, model.effort) == (limit, temperature, effort)
    assert model is not UNKNOWN


@pytest.mark.parametrize(
    ("name", "switch"),
    [("Qwen/Qwen3-8B", True), ("qwen3:8b", True), ("Qwen3-4B-Instruct-2507", False), ("gpt-4o", False)],
)
def test_thinking_switch(name: str, switch: bool) -> None:
    assert find_model(name).thinking_switch is switch


def test_unknown_model_gets_the_plain_ways() -> None:
    assert find_model("my/finetune-7b") is UNKNOWN


@pytest.mark.parametrize("url", ["http://host:1/v1", "http://host:1/v1/", "http://host:1/v1/chat/completions"])
def test_url_is_cut_to_its_base(url: str) -> None:
    assert find_endpoint(url).base_url == "http://host:1/v1"


def test_only_hosted_endpoints_need_a_key() -> None:
    assert {name for name, endpoint in ENDPOINTS.items() if endpoint.key_env} == {"openai", "openrouter"}
    assert find_endpoint("http://host").key_env is None


@pytest.mark.parametrize("name", ["vlm", "", "ftp://host", "http://"])
def test_unknown_endpoint_lists_the_known(name: str) -> None:
    with pytest.raises(BadInput, match="openai, openrouter, vllm, ollama, llama_cpp"):
        find_endpoint(name)


@pytest.mark.parametrize(
    ("model", "endpoint", "name"),
    [
        ("gpt-4.1-mini", "openai", "gpt-4.1-mini-2025-04-14"),
        ("gpt-4.1-mini", "openrouter", "openai/gpt-4.1-mini"),
        ("gpt-4.1-mini", "http://proxy/v1", "gpt-4.1-mini"),
        ("qwen3-8b", "vllm", "Qwen/Qwen3-8B"),
        ("qwen3-8b", "http://gpu:8000/v1", "Qwen/Qwen3-8B"),
        ("qwen3-8b", "ollama", "qwen3:8b"),
        ("llama-3.1-8b-instruct", "openrouter", "meta-llama/llama-3.1-8b-instruct"),
        ("my/finetune-7b", "vllm", "my/finetune-7b"),
    ],
)
def test_a_model_is_called_by_its_name_at_that_server(model: str, endpoint: str, name: str) -> None:
    assert name_at(model, endpoint) == name


def test_openai_s_models_are_dated_and_every_name_has_a_family() -> None:
    assert all(re.search(r"-20\d\d-\d\d-\d\d$", names["openai"]) for names in NAMES.values() if "openai" in names)
    assert all(find_model(name) is not UNKNOWN for names in NAMES.values() for name in names.values())
