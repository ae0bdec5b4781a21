"""A model in this process."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.trimem.llm.fakes import user
from tests.trimem.llm.tiny import make_tiny_model
from trimem.errors import LLMUnavailable
from trimem.llm.base import Message, Reply, Request
from trimem.llm.transformers_local import TransformersLocal
from trimem.replies import AnswerReply


@pytest.fixture(scope="module")
def llm(tmp_path_factory: pytest.TempPathFactory) -> TransformersLocal:
    return TransformersLocal(make_tiny_model(tmp_path_factory.mktemp("tiny")), concurrency=4)


TEXTS = ["hello", "where is Ana", "what is the city of Ana", "the boat sails", "Lisbon", "Paris is the city"]


def test_batched_replies_equal_those_asked_one_by_one(llm: TransformersLocal) -> None:
    requests = [user(text, max_tokens=6) for text in TEXTS]
    alone = [llm.complete(request) for request in requests]
    batched = llm.complete_many(requests)
    assert [reply.text for reply in batched] == [reply.text for reply in alone]
    assert len({reply.text for reply in alone}) > 2
    assert all(reply.usage.prompt_tokens for reply in batched)


def test_waiting_calls_form_one_batch(llm: TransformersLocal, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    generate = llm._generate

    def counting(requests: Sequence[Request]) -> list[Reply]:
        sizes.append(len(requests))
        return generate(requests)

    monkeypatch.setattr(llm, "_generate", counting)
    with llm._turn:  # the device is busy
        pool = ThreadPoolExecutor(4)
        work = [pool.submit(llm.complete, user(text, max_tokens=3)) for text in TEXTS[:4]]
        while len(llm._waiting) < 4:
            pass
    assert all(future.result().status in ("ok", "length", "empty") for future in work)
    assert sizes == [4]


def test_reply_at_the_token_limit_is_marked_as_cut(llm: TransformersLocal) -> None:
    replies = [llm.complete(user(text, max_tokens=1)) for text in TEXTS]
    assert {reply.status for reply in replies} <= {"length", "empty"}
    assert "length" in {reply.status for reply in replies}


def test_sampling_repeats_by_seed(llm: TransformersLocal) -> None:
    def say(seed: int) -> str:
        return llm.complete(user(temperature=2.0, seed=seed, max_tokens=12)).text

    assert say(1) == say(1)
    assert len({say(seed) for seed in range(4)}) > 1


def test_prompt_that_does_not_fit_is_an_error_of_that_call(llm: TransformersLocal) -> None:
    long, short = llm.complete_many([user("boat " * 90, max_tokens=4), user("boat", max_tokens=4)])
    assert long.status == "too_long" and "64" in long.error
    assert short.status != "too_long"


def test_shape_is_asked_for_in_words(llm: TransformersLocal) -> None:
    plain, shaped = user("boat"), user("boat", schema=AnswerReply)
    assert len(llm.prompt_ids(shaped)) > len(llm.prompt_ids(plain)) + 10


def test_missing_model_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(LLMUnavailable, match="hub id or a folder"):
        TransformersLocal(str(tmp_path / "nothing"))


def test_system_message_is_kept(llm: TransformersLocal) -> None:
    messages = (Message("system", "hello"), Message("user", "boat"))
    assert len(llm.prompt_ids(Request(messages, "answer"))) == 1 + 3 + 3 + 1
