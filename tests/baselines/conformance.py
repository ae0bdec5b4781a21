"""What every rival owes, whatever its method. A test file names its memory and runs all of CHECKS on it."""

import re
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

from tests.baselines.scripted import Wrapped, dialogue
from trimem.llm.base import Reply
from trimem.llm.simulated import Simulated
from trimem.types import Conversation, Question

Make = Callable[[Path, Any], Any]
"""Directory and LLM -> the memory under test."""

SAID = (
    ("Edda", "kiln", "Bergamo", "proud"),
    ("Ruben", "canoe", "Narvik", "nervous"),
    ("Edda", "loom", "Utrecht", "glad"),
    ("Ruben", "atlas", "Cadiz", "curious"),
)
MORE = [
    f"{who}: My {thing} number {n} arrived from {place} today, I am {mood} about it."
    for n, (who, thing, place, mood) in enumerate(SAID * 6)
]
CONVERSATION = dialogue(*MORE)
QUESTION = Question("q1", "Where did the canoe of Ruben come from?")


class Killed(Exception):
    """Stands for a kill in the middle of a build."""


def every_turn_reaches_the_store(make: Make, tmp_path: Path) -> None:
    memory = make(tmp_path / "a", Simulated())
    assert memory.build(CONVERSATION).turns == 24
    assert _stored_turns(memory, tmp_path) == {turn.id for turn in CONVERSATION.turns}


def equal_runs_are_equal(make: Make, tmp_path: Path) -> None:
    first, second = (make(tmp_path / name, Simulated(concurrency=n)) for name, n in (("a", 1), ("b", 8)))
    reports = [memory.build(CONVERSATION) for memory in (first, second)]
    assert reports[0] == reports[1]
    assert _export(first, tmp_path) == _export(second, tmp_path)
    assert first.retrieve(QUESTION) == second.retrieve(QUESTION)


def building_again_asks_nothing(make: Make, tmp_path: Path) -> None:
    llm = Wrapped(Simulated())
    memory = make(tmp_path / "a", llm)
    report = memory.build(CONVERSATION)
    asked = len(llm.requests)
    assert memory.build(CONVERSATION) == report
    assert len(llm.requests) == asked


def later_sessions_are_added(make: Make, tmp_path: Path) -> None:
    memory = make(tmp_path / "a", Simulated())
    early = Conversation(CONVERSATION.id, CONVERSATION.speakers, CONVERSATION.sessions[:2])
    assert memory.build(early).turns == 12
    assert memory.build(CONVERSATION).turns == 24
    assert _stored_turns(memory, tmp_path) == {turn.id for turn in CONVERSATION.turns}


def a_killed_build_goes_on_where_it_was(make: Make, tmp_path: Path) -> None:
    whole = make(tmp_path / "whole", Simulated())
    whole.build(CONVERSATION)
    expected = _export(whole, tmp_path)
    for at in (1, 2, 5, 9):
        killed = _build_killed(make, tmp_path / str(at), at)
        assert killed or at > 2, "a build of one or two calls proves nothing"
        memory = make(tmp_path / str(at), Simulated())
        memory.build(CONVERSATION)
        assert _export(memory, tmp_path) == expected, f"killed at call {at}"


def two_conversations_never_mix(make: Make, tmp_path: Path) -> None:
    other = dialogue(*[line.replace("canoe", "piano") for line in MORE[:12]], id="c2", prefix="U")
    alone = make(tmp_path / "alone", Simulated())
    alone.build(CONVERSATION)
    one, two = make(tmp_path / "one", Simulated()), make(tmp_path / "two", Simulated())
    two.build(other)
    one.build(CONVERSATION)
    assert _export(one, tmp_path) == _export(alone, tmp_path)
    assert all(id.startswith("U") for item in two.retrieve(QUESTION).items for id in item.sources)
    assert "canoe" not in _export(two, tmp_path)


def useless_replies_survive_and_are_counted(make: Make, tmp_path: Path) -> None:
    for name, said in {"prose": "As you wish!", "bogus": '{"facts": [7, null]}', "cut": '{"facts": [{"sta'}.items():
        memory = make(tmp_path / name, _Stubborn(said))
        report = memory.build(CONVERSATION)
        assert report.turns == 24
        assert report.failed_windows > 0
        assert memory.answer(QUESTION).status != "ok" or not memory.retrieve(QUESTION).facts


def faults_at_any_step_survive(make: Make, tmp_path: Path) -> None:
    memory = make(tmp_path / "a", Simulated(fault_rate=0.4))
    assert memory.build(CONVERSATION).turns == 24
    for n in range(5):
        memory.answer(Question(f"q{n}", f"What about the loom number {n}?"))


def no_prompt_knows_the_wall_clock(make: Make, tmp_path: Path) -> None:
    llm = Wrapped(Simulated())
    memory = make(tmp_path / "a", llm)
    memory.build(CONVERSATION)
    memory.answer(QUESTION)
    prompts = ["\n".join(message.content for message in request.messages) for request in llm.requests]
    assert not [prompt for prompt in prompts if re.search(rf"\b{datetime.now().year}\b", prompt)]
    shown = [prompt for prompt, request in zip(prompts, llm.requests, strict=True) if request.fields.get("turns")]
    assert shown
    assert all("2019" in prompt for prompt in shown if "T1]" in prompt or "T12]" in prompt)


def contexts_are_ranked_and_counted(make: Make, tmp_path: Path) -> None:
    memory = make(tmp_path / "a", Simulated())
    memory.build(CONVERSATION)
    context = memory.retrieve(QUESTION)
    ranks = sorted(item.rank for item in context.items if item.rank)
    assert ranks == list(range(1, len(ranks) + 1)) != []
    assert context.tokens["total"] == sum(n for kind, n in context.tokens.items() if kind != "total") > 0
    known = {turn.id for turn in CONVERSATION.turns}
    assert all(item.sources and known.issuperset(item.sources) for item in context.items)


CHECKS = [
    every_turn_reaches_the_store,
    equal_runs_are_equal,
    building_again_asks_nothing,
    later_sessions_are_added,
    a_killed_build_goes_on_where_it_was,
    two_conversations_never_mix,
    useless_replies_survive_and_are_counted,
    faults_at_any_step_survive,
    no_prompt_knows_the_wall_clock,
    contexts_are_ranked_and_counted,
]


class _Stubborn(Wrapped):
    """Says the same to everything."""

    def __init__(self, said: str) -> None:
        super().__init__(Simulated())
        self.said = said

    def complete(self, request: Any) -> Reply:
        return Reply(self.said)


def _build_killed(make: Make, directory: Path, at: int) -> bool:
    """Whether the build came as far as its call number `at`."""

    def before(number: int) -> None:
        if number >= at:
            raise Killed

    memory = make(directory, Wrapped(Simulated(concurrency=1), before))
    try:
        memory.build(CONVERSATION)
    except Killed:
        return True
    finally:
        memory.close()
    return False


def _export(memory: Any, tmp_path: Path) -> str:
    memory.export(tmp_path / "export.jsonl")
    return (tmp_path / "export.jsonl").read_text(encoding="utf-8")


def _stored_turns(memory: Any, tmp_path: Path) -> set[str]:
    return set(re.findall(r'"id": ?"(T\d+)"', _export(memory, tmp_path)))
