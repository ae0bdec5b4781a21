"""A model of the Hugging Face hub, or of a local folder, in this process."""

import logging
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from typing import Any

from pydantic import PositiveInt

from trimem.devices import find_device
from trimem.errors import LLMUnavailable
from trimem.llm.base import Provider, Reply, Request, Usage
from trimem.llm.jsontext import without_thinking
from trimem.llm.wire import TOO_LONG, shape_in_words

log = logging.getLogger(__name__)

Waiting = tuple[Request, Future[Reply]]


class TransformersLocal(Provider):
    """A causal language model run by transformers. `concurrency` is the batch size; device "auto" is CUDA where it is.

    Calls that arrive while a batch is being generated form the next batch, so that threads fill the device. The
    reply's shape is asked for in words. `trust_remote_code` runs code that comes with the model, which is as good as
    handing it the machine. Raises LLMUnavailable where the model cannot be loaded.
    """

    def __init__(
        self,
        model: str,
        device: str = "auto",
        dtype: str = "auto",
        concurrency: PositiveInt = 8,
        trust_remote_code: bool = False,
    ) -> None:
        self.model, self.device, self.dtype, self.concurrency = model, find_device(device), dtype, concurrency
        if trust_remote_code:
            log.warning("backbone.trust_remote_code: code that comes with %s is run on this machine", model)
        self._tokenizer, self._network = _load(model, self.device, dtype, trust_remote_code)
        self._waiting: list[Waiting] = []
        self._guard = threading.Lock()
        self._turn = threading.Lock()

    @property
    def identity(self) -> Mapping[str, Any]:
        return {"provider": "transformers", "model": self.model, "dtype": self.dtype}

    def complete(self, request: Request) -> Reply:
        future: Future[Reply] = Future()
        with self._guard:
            self._waiting.append((request, future))
        with self._turn:
            while not future.done():
                self._serve(self._next_batch())
        return future.result()

    def prompt_ids(self, request: Request) -> list[int]:
        """Token ids as the chat template gives them. Tokenising its text again would add a second BOS."""
        messages = [{"role": message.role, "content": message.content} for message in request.messages]
        if request.schema is not None:
            messages[-1]["content"] += shape_in_words(request.schema)
        encoded = self._tokenizer.apply_chat_template(
            messages, add_generation_prompt=True, tokenize=True, return_dict=True, enable_thinking=False
        )
        return list(encoded["input_ids"])

    def _next_batch(self) -> list[Waiting]:
        """The first who waits, with others of equal parameters."""
        with self._guard:
            wanted = _parameters(self._waiting[0][0])
            batch = [entry for entry in self._waiting if _parameters(entry[0]) == wanted][: self.concurrency]
            taken = {id(entry) for entry in batch}
            self._waiting = [entry for entry in self._waiting if id(entry) not in taken]
        return batch

    def _serve(self, batch: Sequence[Waiting]) -> None:
        try:
            replies = self._generate([request for request, _ in batch])
        except BaseException as error:
            for _, future in batch:
                future.set_exception(error)
            raise
        for (_, future), reply in zip(batch, replies, strict=True):
            future.set_result(reply)

    def _generate(self, requests: Sequence[Request]) -> list[Reply]:
        prompts = [self.prompt_ids(request) for request in requests]
        room = getattr(self._network.config, "max_position_embeddings", None) or 10**9
        fits = [len(prompt) + request.max_tokens <= room for prompt, request in zip(prompts, requests, strict=True)]
        begun = time.perf_counter()
        chosen = [prompt for prompt, fit in zip(prompts, fits, strict=True) if fit]
        outputs = iter(self._tokens(chosen, requests[0]) if chosen else [])
        seconds = (time.perf_counter() - begun) / max(1, len(chosen))
        return [
            self._reply(prompt, next(outputs), seconds)
            if fit
            else Reply("", "too_long", f"{TOO_LONG}: {len(prompt)} + {request.max_tokens} tokens, {room} are possible")
            for prompt, request, fit in zip(prompts, requests, fits, strict=True)
        ]

    def _tokens(self, prompts: Sequence[list[int]], request: Request) -> list[list[int]]:
        """What the network adds to each prompt, padding not taken off."""
        import torch

        width, pad = max(map(len, prompts)), self._pad
        ids = torch.tensor([[pad] * (width - len(prompt)) + prompt for prompt in prompts], device=self.device)
        mask = torch.tensor([[0] * (width - len(prompt)) + [1] * len(prompt) for prompt in prompts], device=self.device)
        sampling: dict[str, Any] = {"do_sample": False}
        if request.temperature > 0:
            torch.manual_seed(1000 * (request.seed or 0) + request.sample)
            sampling = {"do_sample": True, "temperature": request.temperature}
        with torch.inference_mode():
            output = self._network.generate(
                input_ids=ids, attention_mask=mask, max_new_tokens=request.max_tokens, pad_token_id=pad, **sampling
            )
        added: list[list[int]] = output[:, width:].tolist()
        return added

    @property
    def _pad(self) -> int:
        own = self._tokenizer.pad_token_id
        return int(own if own is not None else self._tokenizer.eos_token_id)

    def _reply(self, prompt: Sequence[int], added: Sequence[int], seconds: float) -> Reply:
        ends = _ends(self._network.generation_config.eos_token_id) | {self._tokenizer.eos_token_id}
        stop = next((place for place, token in enumerate(added) if token in ends), None)
        kept = list(added[:stop])
        text = without_thinking(self._tokenizer.decode(kept, skip_special_tokens=True))
        usage = Usage(len(prompt), len(kept))
        if not text:
            return Reply("", "empty", "the reply has no text", self.model, usage=usage, seconds=seconds)
        if stop is None:
            return Reply(text, "length", "cut at the token limit", self.model, usage=usage, seconds=seconds)
        return Reply(text, model=self.model, usage=usage, seconds=seconds)


def _parameters(request: Request) -> tuple[Any, ...]:
    """What must be equal within a batch. Sampled requests go alone: their seed is the whole generator's."""
    alone = id(request) if request.temperature > 0 else None
    return request.max_tokens, request.temperature, alone


def _ends(ids: int | list[int] | None) -> set[int]:
    return set(ids) if isinstance(ids, list) else {ids} if ids is not None else set()


def _load(model: str, device: str, dtype: str, trusted: bool) -> tuple[Any, Any]:
    import transformers

    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(model, trust_remote_code=trusted)
        network = transformers.AutoModelForCausalLM.from_pretrained(model, dtype=dtype, trust_remote_code=trusted)
    except (OSError, ValueError) as error:
        cause = " ".join(str(error).split())[:200]
        raise LLMUnavailable(f"transformers cannot load {model!r} ({cause}): give a hub id or a folder.") from error
    return tokenizer, network.to(device).eval()
