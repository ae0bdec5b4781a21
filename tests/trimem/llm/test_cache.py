"""The reply cache."""

import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.trimem.llm.fakes import Canned, user
from trimem.errors import BadInput
from trimem.llm.base import Reply, Request, Usage
from trimem.llm.cache import CachedLLM, key_of
from trimem.replies import AnswerReply, ExtractedFacts

OK = Reply("Paris", model="served", fingerprint="fp", usage=Usage(9, 1, 0), seconds=0.5)


def test_second_call_is_a_hit_with_everything_the_first_had(tmp_path: Path) -> None:
    llm = Canned(OK)
    cache = CachedLLM(llm, tmp_path / "new" / "llm.sqlite")
    assert cache.complete(user()) == OK
    assert cache.complete(user()) == replace(OK, cached=True)
    assert len(llm.requests) == 1


def test_a_later_process_finds_it(tmp_path: Path) -> None:
    CachedLLM(Canned(OK), tmp_path / "llm.sqlite").complete(user())
    llm = Canned()
    assert CachedLLM(llm, tmp_path / "llm.sqlite").complete(user()).cached


@pytest.mark.parametrize("status", ["length", "empty", "refused", "content_filter", "tool_call", "invalid", "error"])
def test_failures_are_not_kept(tmp_path: Path, status: str) -> None:
    llm = Canned(replace(OK, status=status), OK)  # type: ignore[arg-type]
    cache = CachedLLM(llm, tmp_path / "llm.sqlite")
    assert [cache.complete(user()).status for _ in range(2)] == [status, "ok"]


def test_stage_and_fields_are_not_sent_and_not_in_the_key() -> None:
    assert key_of({}, user()) == key_of({}, user(stage="plan", fields={"question": "?"}))


@pytest.mark.parametrize(
    "change",
    [{"max_tokens": 9}, {"temperature": 0.5}, {"seed": 1}, {"sample": 1}, {"schema": AnswerReply}, {"text": "bye"}],
)
def test_every_other_part_of_a_request_is_in_the_key(change: dict[str, Any]) -> None:
    assert key_of({}, user()) != key_of({}, user(**change))
    assert key_of({"model": "a"}, user()) != key_of({"model": "b"}, user())
    assert key_of({}, user(schema=AnswerReply)) != key_of({}, user(schema=ExtractedFacts))


@settings(deadline=None)
@given(st.text())
def test_any_text_has_a_key(text: str) -> None:
    assert len(key_of({}, user(text))) == 64


def test_refresh_asks_each_once_more_and_keeps_the_new(tmp_path: Path) -> None:
    path = tmp_path / "llm.sqlite"
    CachedLLM(Canned(OK), path).complete(user())
    llm = Canned(replace(OK, text="Rome"))
    refresh = CachedLLM(llm, path, mode="refresh")
    assert [refresh.complete(user()).cached for _ in range(2)] == [False, True]
    assert CachedLLM(Canned(), path).complete(user()).text == "Rome"


def test_off_neither_reads_nor_writes(tmp_path: Path) -> None:
    llm = Canned(OK)
    cache = CachedLLM(llm, tmp_path / "llm.sqlite", mode="off")
    assert [cache.complete(user()).cached for _ in range(2)] == [False, False]
    assert not list(tmp_path.iterdir())


def test_replay_never_asks_and_names_the_stage_of_what_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "llm.sqlite"
    CachedLLM(Canned(OK), path).complete(user())
    llm = Canned(OK)
    replay = CachedLLM(llm, path, mode="replay")
    assert replay.complete(user()).cached
    with pytest.raises(BadInput, match="'plan'"):
        replay.complete(user("another", stage="plan"))
    assert llm.requests == []


def test_unknown_mode_and_a_file_that_is_no_cache_are_bad_input(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"cache\.mode"):
        CachedLLM(Canned(), tmp_path / "a", mode="on")  # type: ignore[arg-type]
    (tmp_path / "b").write_text("not a database, and long enough to be seen as none " * 40)
    with pytest.raises(BadInput, match=r"paths\.cache"):
        CachedLLM(Canned(), tmp_path / "b")


class Slow(Canned):
    """Answers when told to."""

    def __init__(self, *replies: Reply) -> None:
        super().__init__(*replies)
        self.go = threading.Event()

    def complete(self, request: Request) -> Reply:
        self.go.wait(5)
        return super().complete(request)


def test_equal_requests_at_the_same_time_are_asked_once(tmp_path: Path) -> None:
    llm = Slow(OK)
    cache = CachedLLM(llm, tmp_path / "llm.sqlite")
    threading.Timer(0.1, llm.go.set).start()
    replies = cache.complete_many([user()] * 8 + [user("other")])
    assert len(llm.requests) == 2
    assert sum(reply.cached for reply in replies) == 7


WRITER = """
import sys
from tests.trimem.llm.fakes import Canned, user
from trimem.llm.base import Reply
from trimem.llm.cache import CachedLLM
cache = CachedLLM(Canned(Reply("x")), sys.argv[1])
cache.complete_many([user(f"{sys.argv[2]} {n}") for n in range(50)])
"""


def test_many_processes_share_one_new_file(tmp_path: Path) -> None:
    path = tmp_path / "llm.sqlite"
    commands = [[sys.executable, "-c", WRITER, str(path), str(n)] for n in range(4)]
    processes = [subprocess.Popen(command, stderr=subprocess.PIPE) for command in commands]
    assert [process.communicate()[1] for process in processes] == [b""] * 4
    cache = CachedLLM(Canned(), path, mode="replay")
    assert all(cache.complete(user(f"{process} {n}")).cached for process in range(4) for n in range(50))
