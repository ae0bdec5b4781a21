"""xMemory: the objective by hand, a merge and a split, representatives, the gate, and what every rival owes."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from baselines.xmemory import XMemory
from baselines.xmemory.gate import Gate
from baselines.xmemory.selection import representatives
from baselines.xmemory.themes import Shape, arrange, objective
from tests.baselines.conformance import CHECKS, CONVERSATION, QUESTION
from tests.baselines.scripted import Scripted, Wrapped
from trimem.embedding import HashEmbedder
from trimem.errors import BadInput
from trimem.llm.base import Reply, Request
from trimem.llm.simulated import Simulated
from trimem.reasoning import LLMReasoner
from trimem.types import Item, Question

PROMPTS = XMemory.prompts["probe"], XMemory.prompts["verdict"]


def xmemory(directory: Path, llm: Any, **settings: Any) -> XMemory:
    return XMemory(directory, llm, HashEmbedder(64), LLMReasoner(llm), **settings)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_xmemory_owes(check: Callable[[Any, Path], None], tmp_path: Path) -> None:
    check(xmemory, tmp_path)


def test_the_objective_by_hand() -> None:
    vectors = np.array([[1, 0], [1, 0], [0, 1], [0, 1]], np.float32)
    # two even groups, each of one direction: (4/2)·(4/8) = 1 and cohesion 1 each, equally far from each other
    assert objective(vectors, [[0, 1], [2, 3]]) == pytest.approx(2.0)
    # one group: (4/1)·(4/16) = 1 and cohesion cos 45° with nothing beside it
    assert objective(vectors, [[0, 1, 2, 3]]) == pytest.approx(1 + 2**-0.5)
    # uneven groups: (4/2)·(4/10) = 0.8; cohesion of the mixed three (2+√2... by its centroid (2, 1)/√5)
    mixed = (2 * 2 / 5**0.5 + 1 / 5**0.5) / 3
    assert objective(vectors, [[0, 1, 2], [3]]) == pytest.approx(0.8 + (mixed + 1) / 2)


def test_two_themes_of_one_matter_merge_and_the_objective_rises() -> None:
    turn = np.deg2rad([0, 4, 8, 12, 90, 94])
    vectors = np.stack([np.cos(turn), np.sin(turn)], axis=1).astype(np.float32)
    before = [[0, 1], [2, 3], [4, 5]]
    after = arrange(vectors, before, [], Shape())
    assert after == [[0, 1, 2, 3], [4, 5]]
    assert objective(vectors, after) > objective(vectors, before)


def test_a_theme_beyond_its_size_is_split() -> None:
    turn = np.deg2rad([*range(7), *range(60, 67)])
    vectors = np.stack([np.cos(turn), np.sin(turn)], axis=1).astype(np.float32)
    after = arrange(vectors, [list(range(14))], [], Shape(link=0.9, merge=0.99))
    assert after == [list(range(7)), list(range(7, 14))]


def test_every_statement_is_in_exactly_one_theme_of_bounded_size() -> None:
    rows = np.random.default_rng(0).normal(size=(60, 8))
    vectors = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    groups: list[list[int]] = []
    for start in range(0, 60, 6):
        groups = arrange(vectors, groups, list(range(start, start + 6)), Shape())
    assert sorted(n for group in groups for n in group) == list(range(60))
    assert max(map(len, groups)) <= 12


def test_representatives_cover_first_and_then_please() -> None:
    edges = {"a": [("b", 0.9), ("c", 0.9)], "b": [("a", 0.9)], "c": [("a", 0.9)], "d": []}
    similarity = {"a": 0.2, "b": 0.3, "c": 0.1, "d": 0.9}
    assert representatives(["a", "b", "c", "d"], edges, similarity, 5, alpha=1.0) == ["a", "d"]
    # a: .7·2.8/7.6 + .3·.125 = .295; d: .7·1/7.6 + .3·1 = .392
    assert representatives(["a", "b", "c", "d"], edges, similarity, 5, alpha=0.7) == ["d", "a"]
    assert representatives(["a", "b", "c", "d"], edges, similarity, 1, alpha=0.0) == ["d"]


def gate(llm: Any, mode: Any, fallback: Any = "topk") -> Gate:
    return Gate(llm, *PROMPTS, mode, fallback, keep=-0.40, expand=0.25, tokens=20, top=2)


EPISODES = [Item("episode", f"e{n}", f"Episode {n}.", ("T1",)) for n in range(4)]


def test_the_gate_keeps_what_does_not_add_doubt_and_expands_what_removes_it() -> None:
    doubt = {"Episode 0.": 0.2, "Episode 1.": 0.9, "Episode 2.": 1.3, "Episode 3.": 2.0}

    def probe(request: Request) -> Reply:
        shown = [text for text in request.fields["facts"] if text in doubt]
        return Reply("x", logprobs=(-(doubt[shown[0]] if shown else 1.0),))

    passed = gate(Scripted({"baseline:xmemory:probe": probe}), "logprobs").choose(Question("q", "?"), [], EPISODES)
    assert passed.kept == ("e0", "e1", "e2"), "gains .8, .1, -.3 and -1"
    assert passed.expanded == ("e0",)


def test_without_log_probabilities_the_fallback_is_named() -> None:
    llm = Scripted({"baseline:xmemory:probe": "an answer"})
    passed = gate(llm, "logprobs").choose(Question("q", "?"), [], EPISODES)
    assert passed.kept == ("e0", "e1")
    assert passed.problems == ("scripted tells no log-probabilities: gate=topk",)


def test_a_verdict_a_probe() -> None:
    def verdict(request: Request) -> Any:
        return {"helps": "Episode 0." in request.fields["facts"], "detail": True}

    passed = gate(Scripted({"baseline:xmemory:verdict": verdict}), "yesno").choose(Question("q", "?"), [], EPISODES)
    assert (passed.kept, passed.expanded) == (("e0",), ("e0",))


def test_an_unknown_gate_is_refused() -> None:
    with pytest.raises(BadInput, match="logprobs, yesno or topk"):
        gate(Simulated(), "entropy")


def test_a_message_costs_one_boundary_call_unless_boundaries_are_heuristic(tmp_path: Path) -> None:
    asked = {}
    for boundary in ("llm", "heuristic"):
        llm = Wrapped(Simulated())
        xmemory(tmp_path / boundary, llm, boundary=boundary).build(CONVERSATION)
        asked[boundary] = sum(request.stage.endswith(":boundary") for request in llm.requests)
    assert asked["heuristic"] == 0
    assert 0 < asked["llm"] <= len(CONVERSATION.turns)


def test_a_context_goes_from_statements_to_episodes_to_messages(tmp_path: Path) -> None:
    memory = xmemory(tmp_path, Simulated())
    memory.build(CONVERSATION)
    kinds = [item.kind for item in memory.retrieve(QUESTION).items]
    assert kinds == sorted(kinds, key=["fact", "episode", "turn"].index)
    assert {"fact", "episode"} <= set(kinds)


def test_every_message_is_in_exactly_one_episode(tmp_path: Path) -> None:
    memory = xmemory(tmp_path, Simulated())
    memory.build(CONVERSATION)
    told = [id for episode in memory.journal.records("episode").values() for id in episode["sources"]]
    assert told == [turn.id for turn in CONVERSATION.turns]
