"""Looking after the reply cache."""

import json
from pathlib import Path

import pytest

from tests.trimem.llm.fakes import Canned, user
from trimem.errors import BadInput
from trimem.llm.base import Reply, Usage
from trimem.llm.cache import CachedLLM
from trimem.llm.cassette import COLUMNS, export, load, prune, sizes

OK = Reply("Paris \u2028 \U0001f600", model="served", usage=Usage(9, 1, 0), logprobs=(-0.5,))


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """Three replies of two models in two stages."""
    path = tmp_path / "llm.sqlite"
    other = Canned(OK)
    other.model = "other"
    CachedLLM(Canned(OK), path).complete_many([user("a"), user("b", stage="plan")])
    CachedLLM(other, path).complete(user("c"))
    return path


def keys(cache: Path) -> list[str]:
    found: list[str] = []
    replay = CachedLLM(Canned(), cache, mode="replay")
    replay.used = found.append
    replay.complete_many([user("a"), user("b"), user("c")])
    return found


def test_sizes_are_told_by_model_and_stage(cache: Path) -> None:
    found = sizes(cache)
    assert [row[:3] for row in found] == [("canned", "answer", 1), ("canned", "plan", 1), ("other", "answer", 1)]
    assert all(row.bytes > 50 for row in found)


def test_pruning_by_model_and_by_age(cache: Path) -> None:
    assert prune(cache, "canned", days=1) == 0
    assert prune(cache, "canned", days=None) == 2
    assert [row.model for row in sizes(cache)] == ["other"]
    assert prune(cache, None, days=0) == 1


def test_a_cassette_carries_exactly_the_wanted_replies_elsewhere(cache: Path, tmp_path: Path) -> None:
    wanted = sorted(keys(cache))[:2]
    assert export(cache, [*wanted, wanted[0]], tmp_path / "c.jsonl") == (2, 0)
    copy = tmp_path / "new" / "llm.sqlite"
    assert (load(copy, tmp_path / "c.jsonl"), load(copy, tmp_path / "c.jsonl")) == (2, 0)
    assert export(copy, wanted, tmp_path / "d.jsonl") == (2, 0)
    assert (tmp_path / "d.jsonl").read_bytes() == (tmp_path / "c.jsonl").read_bytes()


def test_replies_come_back_as_they_were(cache: Path, tmp_path: Path) -> None:
    export(cache, keys(cache), tmp_path / "c.jsonl")
    load(tmp_path / "copy.sqlite", tmp_path / "c.jsonl")
    reply = CachedLLM(Canned(), tmp_path / "copy.sqlite", mode="replay").complete(user("a"))
    assert (reply.text, reply.usage, reply.logprobs, reply.cached) == (OK.text, OK.usage, OK.logprobs, True)


def test_keys_that_are_no_longer_kept_are_counted(cache: Path, tmp_path: Path) -> None:
    wanted = keys(cache)
    prune(cache, "other", None)
    assert export(cache, wanted, tmp_path / "c.jsonl") == (2, 1)


@pytest.mark.parametrize("line", ["{", "[]", "{}", json.dumps(dict.fromkeys(COLUMNS, "x"))])
def test_a_line_that_is_no_reply_is_named_and_nothing_is_added(cache: Path, tmp_path: Path, line: str) -> None:
    export(cache, keys(cache), tmp_path / "c.jsonl")
    with (tmp_path / "c.jsonl").open("a") as file:
        file.write(line)
    with pytest.raises(BadInput, match=r"c\.jsonl, line 4 is no kept reply"):
        load(tmp_path / "copy.sqlite", tmp_path / "c.jsonl")
    assert not (tmp_path / "copy.sqlite").exists()


def test_no_cache_and_no_cassette_are_bad_input(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no LLM cache"):
        sizes(tmp_path / "nothing")
    with pytest.raises(BadInput, match="cannot be read"):
        load(tmp_path / "new", tmp_path / "nothing")
