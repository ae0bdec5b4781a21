"""Any server that speaks OpenAI's chat completions: OpenAI, OpenRouter, vLLM, Ollama, llama.cpp, or a URL."""

import logging
import os
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pydantic import NonNegativeInt, PositiveFloat, PositiveInt

from trimem.errors import BadInput, LLMUnavailable
from trimem.llm.base import Provider, Reply, Request, Usage
from trimem.llm.gate import Gate
from trimem.llm.http import http_client
from trimem.llm.models import find_endpoint, find_model, name_at
from trimem.llm.wire import TOO_LONG, USED_UP, body_of, cut_prompt, is_quota, reply_of, verdict

LOG = logging.getLogger(__name__)
ROOM = 4096
"""A reply whose whole budget went into thinking is asked for once more with at least so many tokens."""


class OpenAICompatible(Provider):
    """A chat model behind an HTTP server. `model` is a key of `models.NAMES` or the server's own name for it.

    `endpoint` is a name in `models.ENDPOINTS` or a URL, `timeout` seconds a try, `max_retries` the SDK's (it obeys
    Retry-After). `options` go into the request body as they are (`{"reasoning_effort": "low"}`), save three of
    ours: `thinking` (false: a thinking model's thoughts are off), `structured` (see `models.Structured`) and `bounds`
    (`{"items": 4, "characters": 160}`: the most of each list and text in a reply).
    The key is read from the environment only; a missing one raises LLMUnavailable here, before any work.
    """

    def __init__(
        self,
        model: str,
        endpoint: str = "openai",
        concurrency: PositiveInt = 16,
        timeout: PositiveFloat = 120.0,
        max_retries: NonNegativeInt = 4,
        api_key_env: str | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self.model, self.endpoint, self.concurrency = name_at(model, endpoint), endpoint, concurrency
        self.traits, self.server = find_model(self.model), find_endpoint(endpoint)
        self.options = dict(options or {})
        self.sent: dict[str, dict[str, Any]] = {}
        self.notes: dict[str, str] = {}
        self._dead = ""
        self._retries = max_retries
        self._gate = Gate(concurrency)
        self._secret = _key(api_key_env or self.server.key_env)
        self._client = self._connect(timeout)

    @property
    def identity(self) -> Mapping[str, Any]:
        """`sent` and `notes` hold what else a manifest wants: parameters by stage, and what was not as asked."""
        return identity_of(self.model, self.endpoint, self.options)

    def complete(self, request: Request) -> Reply:
        """One call; one more, with room to answer, where thinking used up the whole budget."""
        reply = self._call(request)
        if reply.status == "empty" and reply.error == USED_UP and self._retries:
            taller = replace(request, max_tokens=max(ROOM, 4 * request.max_tokens))
            self._note(
                "empty", f"a reply was empty at {request.max_tokens} tokens and was asked for with {taller.max_tokens}"
            )
            second = self._call(taller)
            spent = _add(reply.usage, second.usage)
            return replace(second, usage=spent, seconds=reply.seconds + second.seconds, calls=2)
        return reply

    def _call(self, request: Request) -> Reply:
        import openai

        body, unsent = body_of(request, self.model, self.traits, self.server, self.options)
        self.sent[request.stage] = {key: value for key, value in body.items() if key != "messages"}
        if self.traits.thinking_switch and not self.options.get("thinking", False):
            self._note("thinking", "thinking is off; backbone.options.thinking=true switches it on")
        for name in unsent:
            self._note(name, f"{name} is not sent: {self.model} does not take it")
        with self._gate.slot():
            if self._dead:
                raise LLMUnavailable(self._dead)
            begun = time.perf_counter()
            try:
                # not chat.completions.create, which spends a third of our time on walking through each body
                kind = openai.types.chat.ChatCompletion
                reply = reply_of(self._client.post("/chat/completions", cast_to=kind, body=body))
                self._gate.speed_up()
            except openai.OpenAIError as error:
                reply = self._failure(error)
            self._gate.open()
        self._note("cut prompt", cut_prompt(request, reply.usage.prompt_tokens))
        return replace(reply, seconds=time.perf_counter() - begun)

    def _failure(self, error: Exception) -> Reply:
        """A failure of this call alone as a reply; LLMUnavailable where every further call would fail too."""
        message, fatal = verdict(error, self.model, self.server.base_url)
        message = message.replace(self._secret, "***") if self._secret else message
        if fatal:
            self._dead = message
            raise LLMUnavailable(message) from None
        return Reply("", "too_long" if message.startswith(TOO_LONG) else "error", message, self.model)

    def _note(self, kind: str, text: str) -> None:
        """Say a thing of one kind once, and keep it for the manifest."""
        if text and kind not in self.notes:
            self.notes[kind] = text
            LOG.warning("%s: %s", self.model, text)

    def _connect(self, timeout: float) -> Any:
        import openai

        return openai.OpenAI(
            api_key=self._secret or "none",
            base_url=self.server.base_url,
            timeout=timeout,
            max_retries=self._retries,
            http_client=http_client(timeout, self._watch),
        )

    def _watch(self, response: Any) -> None:
        """See each try's response: slow down on 429, and keep the SDK from retrying what waiting cannot mend."""
        if response.status_code == 429:
            if is_quota(response.text):
                response.headers["x-should-retry"] = "false"
            else:
                self._gate.slow_down()


def identity_of(model: str, endpoint: str = "openai", options: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The identity of a client with these settings, known without its key."""
    named = {"provider": "openai_compatible", "endpoint": endpoint, "url": find_endpoint(endpoint).base_url}
    return {**named, "model": name_at(model, endpoint), "options": dict(options or {})}


def _key(variable: str | None) -> str:
    """The key in an environment variable; empty where the endpoint needs none."""
    if variable is None:
        return ""
    if not variable.isidentifier():
        raise BadInput("backbone.api_key_env wants the name of an environment variable; keys stand in no config.")
    key = os.environ.get(variable, "").strip()
    if not key:
        raise LLMUnavailable(f"{variable} is not set: export it, or choose a local endpoint or backbone=none.")
    return key


def _add(first: Usage, second: Usage) -> Usage:
    def total(a: int | None, b: int | None) -> int | None:
        return None if a is None or b is None else a + b

    return Usage(
        total(first.prompt_tokens, second.prompt_tokens),
        total(first.completion_tokens, second.completion_tokens),
        total(first.reasoning_tokens, second.reasoning_tokens),
    )
