"""What differs between models and between servers, as data. A new model is a line here, not a branch in the client."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from trimem.errors import BadInput

Structured = Literal["json_schema", "structured_outputs", "prompt"]
"""How a server is told the reply's shape: OpenAI's `response_format`; vLLM's field; in words at the prompt's end."""


@dataclass(frozen=True)
class Model:
    """One family of models. `context` counts tokens; `effort` is the reasoning effort sent (None: not sent)."""

    pattern: str
    context: int
    limit: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    temperature: bool = True
    effort: str | None = None
    thinking_switch: bool = False
    logprobs: bool = True


# The first pattern found in the model's lower-cased name (without a vendor's prefix) wins.
MODELS = (
    Model(r"^gpt-5\.\d", 400_000, "max_completion_tokens", temperature=False, effort="none", logprobs=False),
    Model(r"^gpt-5", 400_000, "max_completion_tokens", temperature=False, effort="minimal", logprobs=False),
    Model(r"^o[1-9]", 200_000, "max_completion_tokens", temperature=False, effort="low", logprobs=False),
    Model(r"^gpt-4\.1", 1_047_576),
    Model(r"^gpt-4o", 128_000),
    Model(r"^qwen-?3(?!.*instruct-2507)", 40_960, thinking_switch=True),
    Model(r"^(meta-)?llama-?3\.[1-3]", 131_072),
    Model(r"^smollm2", 8_192),
)
UNKNOWN = Model("", 32_768)

# One model has another name at each server; "*" is where nothing else stands. A name that is not here is sent as it is.
# Dated snapshots, so that next year's numbers come from the same weights (OpenRouter dates only some).
NAMES: Mapping[str, Mapping[str, str]] = {
    "gpt-4o": {"openai": "gpt-4o-2024-11-20", "openrouter": "openai/gpt-4o-2024-11-20"},
    "gpt-4.1-mini": {"openai": "gpt-4.1-mini-2025-04-14", "openrouter": "openai/gpt-4.1-mini"},
    "gpt-5-nano": {"openai": "gpt-5-nano-2025-08-07", "openrouter": "openai/gpt-5-nano"},
    "qwen3-8b": {"*": "Qwen/Qwen3-8B", "openrouter": "qwen/qwen3-8b", "ollama": "qwen3:8b"},
    "llama-3.1-8b-instruct": {
        "*": "meta-llama/Llama-3.1-8B-Instruct",
        "openrouter": "meta-llama/llama-3.1-8b-instruct",
        "ollama": "llama3.1:8b",
    },
}


@dataclass(frozen=True)
class Endpoint:
    """One kind of server. `thinking_off` is what its request body carries to switch a thinking model's thoughts off."""

    base_url: str
    key_env: str | None = None
    structured: Structured = "json_schema"
    thinking_off: Mapping[str, Any] = field(default_factory=dict)


_TEMPLATE_SWITCH = {"chat_template_kwargs": {"enable_thinking": False}}
ENDPOINTS = {
    "openai": Endpoint("https://api.openai.com/v1", "OPENAI_API_KEY"),
    "openrouter": Endpoint(
        "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY", thinking_off={"reasoning": {"enabled": False}}
    ),
    "vllm": Endpoint("http://127.0.0.1:8000/v1", None, "structured_outputs", _TEMPLATE_SWITCH),
    "ollama": Endpoint("http://127.0.0.1:11434/v1", thinking_off={"reasoning_effort": "none"}),
    "llama_cpp": Endpoint("http://127.0.0.1:8080/v1", thinking_off=_TEMPLATE_SWITCH),
}


def find_model(name: str) -> Model:
    """The family of a model by its name, with or without the vendor (`qwen/qwen3-8b`)."""
    bare = name.lower().rsplit("/", 1)[-1]
    return next((model for model in MODELS if re.search(model.pattern, bare)), UNKNOWN)


def name_at(model: str, endpoint: str) -> str:
    """What `model` is called at `endpoint` (a name in ENDPOINTS or a URL)."""
    names = NAMES.get(model, {})
    return names.get(endpoint, names.get("*", model))


def find_endpoint(name: str) -> Endpoint:
    """A server by its name in ENDPOINTS or by its URL, with or without `/chat/completions` at its end.

    A URL is taken as it stands: some vendors serve under `/v1`, some do not. Raises BadInput for anything else.
    """
    if name in ENDPOINTS:
        return ENDPOINTS[name]
    if not re.match(r"https?://[^/\s]+", name):
        raise BadInput(f"backbone.endpoint={name}: choose one of {', '.join(ENDPOINTS)}, or give an http(s) URL.")
    return Endpoint(re.sub(r"(/chat/completions)?/*$", "", name), thinking_off=_TEMPLATE_SWITCH)
