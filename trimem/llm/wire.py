"""What goes over the wire and what comes back: a Request as a request body, a completion as a Reply, an error judged.

Pure functions; `openai_compatible` calls with them.
"""

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from pydantic import BaseModel

from trimem.llm.base import Reply, Request, Status, Usage, json_schema
from trimem.llm.jsontext import without_thinking
from trimem.llm.models import Endpoint, Model
from trimem.tokens import count_tokens

OURS = ("thinking", "structured", "bounds")
USED_UP = "the token limit was used up before any answer, most likely by thinking"
TOO_LONG = "the prompt is longer than the model takes"
UNSUPPORTED = ("unsupported_parameter", "unsupported_value", "unknown_parameter")


def body_of(
    request: Request, name: str, model: Model, server: Endpoint, options: Mapping[str, Any]
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The request body, and the settings that this model does not take and that are therefore left out."""
    body: dict[str, Any] = {
        "model": name,
        "messages": [{"role": message.role, "content": message.content} for message in request.messages],
        model.limit: request.max_tokens,
    }
    if model.temperature:
        body["temperature"] = request.temperature
    if model.effort:
        body["reasoning_effort"] = model.effort
    if request.seed is not None:
        body["seed"] = request.seed
    if model.thinking_switch and not options.get("thinking", False):
        body.update(server.thinking_off)
    if request.schema is not None:
        shape = strict_schema(request.schema, **options.get("bounds", {}))
        _ask_for(request.schema.__name__, shape, options.get("structured", server.structured), body)
    body.update({key: value for key, value in options.items() if key not in OURS})
    unsent = () if model.temperature else (f"temperature={request.temperature:g}",)
    if request.logprobs and model.logprobs:
        body["logprobs"] = True
    elif request.logprobs:
        unsent = (*unsent, "logprobs")
    return body, unsent


def _ask_for(name: str, shape: Mapping[str, Any], how: str, body: dict[str, Any]) -> None:
    """Put the reply's shape into the body, in the way the server understands."""
    if how == "structured_outputs":
        body["structured_outputs"] = {"json": shape}
    elif how == "json_schema":
        named = {"name": name, "strict": True, "schema": shape}
        body["response_format"] = {"type": "json_schema", "json_schema": named}
    else:
        last = body["messages"][-1]
        body["messages"][-1] = {**last, "content": last["content"] + _in_words(shape)}


def shape_in_words(schema: type[BaseModel]) -> str:
    """The reply's shape for the end of a prompt, where the server cannot be told otherwise."""
    return _in_words(strict_schema(schema))


def _in_words(shape: Mapping[str, Any]) -> str:
    return f"\n\nReply with nothing but JSON that fits this JSON schema:\n{json.dumps(shape)}"


@lru_cache(maxsize=256)
def strict_schema(schema: type[BaseModel], items: int | None = None, characters: int | None = None) -> dict[str, Any]:
    """The JSON schema as OpenAI's strict mode wants it: every key required, no others, no defaults or text lengths.

    Lengths of lists stay: they stop a runaway list. Those of texts go, since grammars of local servers choke on them.
    `items` and `characters` bound every list and text: a tiny model repeats itself until something stops it. Made once
    for each choice, so not to be changed.
    """
    unwanted = ("default", "title", "minLength", "maxLength")

    def strict(node: Any) -> Any:
        if isinstance(node, list):
            return [strict(item) for item in node]
        if not isinstance(node, dict):
            return node
        kept = {key: strict(value) for key, value in node.items() if key not in unwanted}
        if isinstance(node.get("properties"), dict):
            # a field may itself be called "title"
            kept["properties"] = {name: strict(value) for name, value in node["properties"].items()}
            kept |= {"required": list(node["properties"]), "additionalProperties": False}
        if items and node.get("type") == "array":
            kept["maxItems"] = min(items, node.get("maxItems", items))
        if characters and node.get("type") == "string" and "enum" not in node:
            kept["maxLength"] = characters
        return kept

    shape: dict[str, Any] = strict(json_schema(schema))
    return shape


def reply_of(completion: Any) -> Reply:
    """A chat completion as a Reply; every way of having no answer is a status of its own."""
    if completion.choices:
        text, status, error = _judge(completion.choices[0].message, completion.choices[0].finish_reason)
    else:
        cause = getattr(completion, "error", None) or "no choices"
        text, status, error = "", "error", f"the server replied without an answer: {cause}"
    fingerprint = getattr(completion, "system_fingerprint", None) or ""
    usage, logprobs = _usage(completion.usage), _logprobs(completion.choices)
    return Reply(text, status, error, completion.model or "", fingerprint, usage, logprobs=logprobs)


def _judge(message: Any, finish: str | None) -> tuple[str, Status, str]:
    text = without_thinking(message.content or "")
    if getattr(message, "refusal", None):
        return "", "refused", message.refusal
    if finish == "content_filter":
        return "", "content_filter", "the provider's filter blocked the reply"
    if text.startswith("<tool_call>") or (not text and getattr(message, "tool_calls", None)):
        return "", "tool_call", "the model called a tool though none was offered"
    if not text:
        return "", "empty", _why_empty(message, finish)
    if finish == "length":
        return text, "length", "cut at the token limit"
    return text, "ok", ""


def _logprobs(choices: Any) -> tuple[float, ...]:
    """Log-probabilities of the tokens of the first choice, where the server tells them."""
    told = getattr(choices[0], "logprobs", None) if choices else None
    return tuple(token.logprob for token in getattr(told, "content", None) or ())


def _why_empty(message: Any, finish: str | None) -> str:
    if finish == "length":
        return USED_UP
    thoughts = getattr(message, "reasoning_content", None) or getattr(message, "reasoning", None)
    if thoughts:
        return (
            f"content is empty but reasoning_content has {len(thoughts)} characters: switch thinking off, "
            "or start the server without --reasoning-parser"
        )
    return "the reply has no text"


def _usage(usage: Any) -> Usage:
    if usage is None:
        return Usage()
    details = getattr(usage, "completion_tokens_details", None)
    return Usage(usage.prompt_tokens, usage.completion_tokens, getattr(details, "reasoning_tokens", None))


def is_quota(text: str) -> bool:
    """Whether a 429's body says that money is out, which no waiting mends."""
    return "insufficient_quota" in text or "billing_hard_limit" in text


def verdict(error: Exception, model: str, url: str) -> tuple[str, bool]:
    """One line on what went wrong, and whether every further call would fail in the same way."""
    import openai

    if isinstance(error, openai.APITimeoutError):
        return f"timeout: {url} did not answer in time", False
    if isinstance(error, openai.APIConnectionError):
        cause = type(error.__cause__).__name__
        if cause in ("DecodingError", "RemoteProtocolError", "ReadError"):
            return f"{url} sent a broken reply: {error.__cause__}", False
        refused = cause == "ConnectError"
        return f"nobody answers at {url}: is the server running? ({error.__cause__ or error})", refused
    if not isinstance(error, openai.APIStatusError):
        return f"{type(error).__name__}: {error}", False
    status, said, code = error.status_code, _said(error), getattr(error, "code", None)
    if status in (401, 403):
        return f"the key was not accepted at {url} ({status}): {said}", True
    if status == 402 or is_quota(f"{code} {error.body}"):
        return f"out of credit or quota at {url}, see your plan and billing ({status}): {said}", True
    if status == 404 or code == "model_not_found":
        hint = "" if url.endswith("/v1") else f"; most servers want {url}/v1 as endpoint"
        return f"no model {model!r} at {url}/chat/completions (404){hint}: {said}", True
    if code in UNSUPPORTED:
        return f"{model} at {url} does not take a parameter, see backbone.options: {said}", True
    if status == 400 and ("response_format" in said or "json_schema" in said):
        return f"{url} does not take the reply's shape; set +backbone.options.structured=prompt: {said}", True
    if is_context(said, code):
        return f"{TOO_LONG}: {said}", False
    return f"HTTP {status} from {url}: {said}", False


def is_context(said: str, code: str | None) -> bool:
    """Whether an error says that the prompt is too long."""
    words = ("context length", "context window", "context size", "maximum context", "too many tokens")
    return code == "context_length_exceeded" or any(word in said.lower() for word in words)


def _said(error: Any) -> str:
    body = error.body if isinstance(error.body, dict) else {}
    message = body.get("message") or (body.get("error") or {}) or error.message
    return " ".join(str(message).split())[:300]


def cut_prompt(request: Request, counted: int | None) -> str:
    """A warning where the server counted far fewer prompt tokens than were sent: it has cut the prompt in silence."""
    text = "\n".join(message.content for message in request.messages)
    if not counted or len(text) < 6 * counted:  # text runs at about 4 characters a token
        return ""
    expected = count_tokens(text)
    if expected < 2 * counted:
        return ""
    return (
        f"the server reports {counted} prompt tokens for about {expected}: the context was probably cut; "
        f"raise its context length (Ollama: num_ctx or OLLAMA_CONTEXT_LENGTH)"
    )
