"""The model behind its layers: seeds, counts, what served, and who is asked for it."""

import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from experiments.services import Services, Tap
from experiments.settings import absolute, read_settings
from experiments.spending import Spending
from tests.experiments.harness import MINI, config_of
from trimem.errors import BadInput, BudgetReached
from trimem.llm.base import Message, Reply, Request
from trimem.llm.simulated import Simulated
from trimem.types import StageUsage


def request(text: str = "hello", stage: str = "answer") -> Request:
    return Request((Message("user", text),), stage)


def services(folder: Path, *overrides: str) -> Services:
    data = ("dataset=locomo", f"dataset.path={MINI}")
    config = absolute(config_of("backbone=simulated", *data, *overrides), folder)
    return Services(config, read_settings(config))


class Listening(Simulated):
    """Remembers what it was asked."""

    def __init__(self) -> None:
        super().__init__()
        self.heard: list[Request] = []

    def complete(self, request: Request) -> Reply:
        self.heard.append(request)
        return super().complete(request)

    def complete_many(self, requests: Sequence[Request]) -> list[Reply]:
        return [self.complete(one) for one in requests]


def test_seed_zero_leaves_requests_alone_and_another_marks_them() -> None:
    model = Listening()
    Tap(model, 0).complete(request())
    Tap(model, 5).complete_many([request(), request()])
    assert [(r.seed, r.sample) for r in model.heard] == [(None, 0), (5, 5), (5, 5)]


def test_what_a_thread_asked_is_its_own() -> None:
    tap = Tap(Simulated(), 0)
    tap.complete_many([request("a"), request("b")])
    seen: list[tuple[int, int]] = []

    def other() -> None:
        tap.complete(request("c"))
        seen.append(tap.asked())

    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    assert (tap.asked(), seen) == ((2, 0), [(1, 0)])
    assert set(tap.served) == {"simulated"}


def test_services_are_made_once_and_only_if_asked_for(tmp_path: Path) -> None:
    found = services(tmp_path, "embedder=hash")
    assert (found.llm, found.embedder) == (None, None)
    make = found.makers()
    assert make["llm"]("reasoner") is make["llm"]("planner")
    assert make["embedder"]("retriever") is make["embedder"]("method")
    found.close()


def test_replies_are_kept_between_processes_and_counted_apart(tmp_path: Path) -> None:
    for cached in (0, 1):
        found = services(tmp_path)
        found.makers()["llm"]("reasoner").complete(request())
        usage = found.usage()["answer"]
        assert (usage.calls, usage.cached) == (1 - cached, cached)
        found.close()


def test_a_budget_of_calls_stops_new_ones(tmp_path: Path) -> None:
    llm = services(tmp_path, "budget.calls=1").makers()["llm"]("reasoner")
    llm.complete(request("one"))
    llm.complete(request("one"))
    with pytest.raises(BudgetReached, match=r"budget\.calls=1"):
        llm.complete(request("two"))


def test_a_part_that_needs_a_model_says_what_to_do_without_one(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"^reasoner needs a model, and backbone=none: .*or set reasoner=rules\.$"):
        services(tmp_path, "backbone=none").makers()["llm"]("reasoner")


def test_spending_adds_up_over_starts_and_unknown_stays_unknown(tmp_path: Path) -> None:
    first = {"answer": StageUsage(2, 1, 10, 4, 0.5, 0.25)}
    second = {"answer": StageUsage(1, 0, 5, 2, 0.25, None), "plan": StageUsage(1)}
    Spending(tmp_path / "usage.json", lambda: first).save()
    total = Spending(tmp_path / "usage.json", lambda: second).total()
    assert list(total) == ["answer", "plan"]
    assert (total["answer"]["calls"], total["answer"]["cached"], total["answer"]["seconds"]) == (3, 1, 0.75)
    assert (total["answer"]["prompt_tokens"], total["answer"]["usd"]) == (15, None)
