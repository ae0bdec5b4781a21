"""Case d05: a server cuts the prompt in silence."""

import logging

import pytest

from tests.cases.replies import request, scenario


def test_warning_comes_once_and_is_kept(caplog: pytest.LogCaptureFixture) -> None:
    prompt = "Nadia paddled her kayak across the lake at dawn. " * 550
    with scenario("d05_prompt_cut") as (llm, _), caplog.at_level(logging.WARNING):
        llm.complete_many([request(prompt), request(prompt + "Again.")])
    assert len(caplog.records) == 1
    note = llm.notes["cut prompt"]
    assert "2048 prompt tokens" in note and "num_ctx" in note


def test_an_honest_count_gives_no_warning() -> None:
    with scenario("d05_prompt_cut") as (llm, _):
        llm.complete(request("Nadia paddled her kayak across the lake at dawn. " * 180))
    assert llm.notes == {}
