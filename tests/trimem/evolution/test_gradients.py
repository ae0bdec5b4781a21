"""TextGrad over one of our models: what it is shown, what comes of its replies, and that its traps are disarmed."""

import logging
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from trimem import prompts
from trimem.evolution.base import Candidate, Case, PromptOptimizer
from trimem.evolution.gradients import TextGradOptimizer, textgrad
from trimem.evolution.rewriting import NO_TAGS, RewriteOptimizer, tagged
from trimem.llm.base import Provider, Reply, Request

EXTRACT = prompts.load("extract")
CASES = [Case(f"q{n}", f"s{n}", "extraction", 1.0, f"given {n}", f"made {n} {{x}}", f"wanted {n}") for n in range(3)]
BETTER = f"<IMPROVED_VARIABLE>{EXTRACT.text}Better.</IMPROVED_VARIABLE>"


@dataclass
class Canned(Provider):
    """Replies by kind of call, and keeps the requests."""

    improved: Callable[[Request], str] = lambda _: BETTER
    patterns: str = '{"patterns": [{"advice": "Be exact.", "cases": [1, 2, 3]}]}'
    loss: Callable[[Request], Reply] = lambda _: Reply("It is blurred.")
    seen: list[Request] = field(default_factory=list)
    model: str = "canned"
    concurrency: int = 1

    @property
    def identity(self) -> dict[str, Any]:
        return {}

    def complete(self, request: Request) -> Reply:
        self.seen.append(request)
        text = request.messages[-1].content
        if request.schema:
            return Reply(self.patterns)
        if "IMPROVED_VARIABLE" in "".join(m.content for m in request.messages):
            return Reply(self.improved(request))
        return Reply("feedback: say more") if "<OBJECTIVE_FUNCTION>" in text else self.loss(request)

    def asked(self, mark: str) -> list[str]:
        texts = ["\n".join(message.content for message in request.messages) for request in self.seen]
        return [text for text in texts if mark in text]


def proposed(llm: Canned, history: Sequence[str] = ()) -> Any:
    return TextGradOptimizer(llm).propose(EXTRACT, CASES, history)


def test_both_optimizers_fit_the_protocol() -> None:
    assert isinstance(TextGradOptimizer(Canned()), PromptOptimizer)
    assert isinstance(RewriteOptimizer(Canned()), PromptOptimizer)


def test_a_failure_costs_three_calls_a_step_one_and_a_candidate_one() -> None:
    llm = Canned()
    proposal = proposed(llm)
    assert len(llm.seen) == 3 * len(CASES) + 1 + 2
    assert [candidate.text for candidate in proposal.candidates] == [EXTRACT.text + "Better."] * 2
    assert proposal.cases == ("q0", "q1", "q2")
    assert proposal.critique == "Be exact."
    assert {request.stage for request in llm.seen} == {"evolve"}
    assert [(r.temperature, r.sample) for r in llm.seen[-2:]] == [(0.0, 0), (0.7, 1)]


def test_the_optimizer_is_shown_the_whole_prompt_and_the_critiques_of_earlier_steps() -> None:
    llm = Canned()
    proposed(llm, history=["too old", "be brief", "be kind"])
    (step, _) = llm.asked("<FEEDBACK>")
    assert f"<VARIABLE> {EXTRACT.text} </VARIABLE>" in step
    assert "<FEEDBACK>Be exact.</FEEDBACK>" in step
    assert "be brief" in step and "be kind" in step and "too old" not in step
    assert "=== data ===" in step and "made 0 {x}" in step


def test_each_failure_is_judged_against_its_right_answer() -> None:
    llm = Canned()
    proposed(llm)
    judged, carried_back = llm.asked("wanted 1")
    assert "made 1" in judged and "given 1" not in judged
    assert "It is blurred." in carried_back
    assert [text for text in llm.asked("given 1") if "<LM_SYSTEM_PROMPT> " + EXTRACT.text in text]


def test_a_pattern_of_one_question_or_one_session_is_chance() -> None:
    lonely = Canned(patterns='{"patterns": [{"advice": "x", "cases": [2, 2]}]}')
    assert proposed(lonely).candidates == ()
    assert proposed(lonely).problems == ("no pattern was seen in 2 questions of 2 sessions",)
    near = [Case(f"q{n}", "same", "extraction", 1.0, "g", "m", "w") for n in range(3)]
    assert TextGradOptimizer(Canned()).propose(EXTRACT, near, ()).candidates == ()


def test_a_critique_that_fails_is_left_out_and_told() -> None:
    def once(request: Request) -> Reply:
        text = request.messages[-1].content
        return Reply("", status="refused", error="no") if "made 1" in text else Reply("It is blurred.")

    llm = Canned(loss=once, patterns='{"patterns": [{"advice": "Be exact.", "cases": [1, 2]}]}')
    proposal = proposed(llm)
    assert proposal.problems == ("q1: refused: no",)
    assert proposal.cases == ("q0", "q2")


@pytest.mark.parametrize("optimizer", [TextGradOptimizer, RewriteOptimizer])
@pytest.mark.parametrize("reply", ["Here it is: better.", "<IMPROVED_VARIABLE>\n</IMPROVED_VARIABLE>"])
def test_a_reply_without_usable_tags_is_no_candidate(optimizer: Any, reply: str) -> None:
    proposal = optimizer(Canned(improved=lambda _: reply), candidates=1).propose(EXTRACT, CASES, ())
    assert proposal.candidates == (Candidate(problem=NO_TAGS),)


def test_the_control_sees_the_prompt_and_no_failure() -> None:
    llm = Canned()
    proposal = RewriteOptimizer(llm).propose(EXTRACT, CASES, ["one step"])
    assert len(llm.seen) == len(proposal.candidates) == 2
    assert not llm.asked("made 0") and not llm.asked("wanted 0") and llm.asked(EXTRACT.text.strip())
    assert [request.sample for request in llm.seen] == [2, 3], "each step draws anew"


def test_of_several_tags_the_first_pair_counts() -> None:
    twice = "<IMPROVED_VARIABLE>a</IMPROVED_VARIABLE> <IMPROVED_VARIABLE>b</IMPROVED_VARIABLE>"
    assert tagged(twice) == Candidate("a")


def test_the_library_writes_no_log_and_sets_no_global_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    library = textgrad()
    proposed(Canned())
    assert list(tmp_path.iterdir()) == []
    assert logging.getLogger("textgrad").handlers == []
    assert library.SingletonBackwardEngine().get_engine() is None


def test_importing_the_package_does_not_import_the_library() -> None:
    code = "import sys, trimem.evolution.gradients, trimem.llm.scripted; sys.exit('textgrad' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
