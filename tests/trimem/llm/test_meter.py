"""Counting and stopping."""

import time
from pathlib import Path

import pytest

from tests.trimem.llm.fakes import Canned, user
from trimem.errors import BadInput, BudgetReached
from trimem.llm.base import Reply, Request, Usage
from trimem.llm.cache import CachedLLM
from trimem.llm.meter import Meter
from trimem.types import StageUsage

PRICE = 1000 * 0.4e-6 + 100 * 1.6e-6
OK = Reply("x", usage=Usage(1000, 100), seconds=2.0)


class Hosted(Canned):
    """A model that genai-prices lists."""

    model = "gpt-4.1-mini-2025-04-14"
    identity = {"endpoint": "openai"}  # noqa: RUF012


def test_calls_tokens_seconds_and_dollars_by_stage() -> None:
    meter = Meter(Hosted(OK))
    meter.complete_many([user(stage="extract"), user(stage="extract"), user(stage="answer")])
    usage = meter.usage()
    assert list(usage) == ["answer", "extract"]
    assert usage["extract"] == StageUsage(2, 0, 2000, 200, 4.0, 2 * PRICE)
    assert usage["answer"].usd == PRICE


def test_hits_are_counted_and_not_billed(tmp_path: Path) -> None:
    meter = Meter(CachedLLM(Hosted(OK), tmp_path / "llm.sqlite"))
    for _ in range(3):
        meter.complete(user())
    assert meter.usage()["answer"] == StageUsage(1, 2, 1000, 100, 2.0, PRICE, cached_tokens=2 * 1100)


def test_unknown_price_is_none_and_not_zero() -> None:
    meter = Meter(Canned(OK))
    meter.complete(user())
    assert meter.usage()["answer"] == StageUsage(1, 0, 1000, 100, 2.0, None)


def test_a_given_price_goes_first() -> None:
    meter = Meter(Canned(OK), prices={"canned": (1.0, 10.0)})
    meter.complete(user())
    assert meter.usage()["answer"].usd == pytest.approx(0.002)


def test_one_call_with_unknown_tokens_makes_the_sum_unknown() -> None:
    meter = Meter(Hosted(OK, Reply("x", usage=Usage(20, None))))
    for _ in range(2):
        meter.complete(user())
    usage = meter.usage()["answer"]
    assert (usage.calls, usage.prompt_tokens, usage.completion_tokens, usage.usd) == (2, 1020, None, None)


def test_a_call_that_failed_for_good_counts_and_costs_nothing() -> None:
    meter = Meter(Hosted(Reply("", "error", "HTTP 500"), OK))
    for _ in range(2):
        meter.complete(user())
    assert meter.usage()["answer"] == StageUsage(2, 0, 1000, 100, 2.0, PRICE)


def test_no_more_than_the_budgeted_calls_are_made_by_many_threads() -> None:
    class Slow(Canned):
        def complete(self, request: Request) -> Reply:
            time.sleep(0.002)
            return super().complete(request)

    llm = Slow(OK)
    meter = Meter(llm, budget_calls=25)
    with pytest.raises(BudgetReached, match=r"budget\.calls=25"):
        meter.complete_many([user(str(number)) for number in range(100)])
    time.sleep(0.05)
    assert len(llm.requests) == 25


def test_dollars_stop_new_calls_and_kept_replies_are_still_served(tmp_path: Path) -> None:
    meter = Meter(CachedLLM(Hosted(OK), tmp_path / "llm.sqlite"), budget_usd=0.001)
    meter.complete(user("one"))
    meter.complete(user("two"))
    with pytest.raises(BudgetReached, match=r"budget\.usd=0\.001"):
        meter.complete(user("three"))
    assert meter.complete(user("one")).cached


def test_a_dollar_budget_without_a_price_is_refused_before_any_work() -> None:
    with pytest.raises(BadInput, match="canned"):
        Meter(Canned(OK), budget_usd=1.0)
