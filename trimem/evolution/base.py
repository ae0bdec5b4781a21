"""The words of prompt evolution: a failed question as a case, a candidate prompt, and who proposes one."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

from trimem.prompts import DATA, Prompt

Miss = Literal["extraction", "retrieval", "reasoning", "format", "gold doubtful"]
"""Where a wrong answer went wrong: the fact was never written; written but not shown; shown but misread (by the profile
or the reasoner); right but badly put; or nothing in the evidence says what the gold says."""


@dataclass(frozen=True, slots=True)
class Case:
    """A failed question as a backward model may see it: every name is masked in all texts.

    `session` tells two sightings of one fault from two faults; `loss` is 1 minus the score. `given` is what the memory
    was asked, `made` what it made of it, `wanted` the right answer.
    """

    id: str
    session: str
    miss: Miss
    loss: float
    given: str
    made: str
    wanted: str


@dataclass(frozen=True, slots=True)
class Candidate:
    """The text that may replace a prompt's; empty where there is none, and `problem` then tells why."""

    text: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Proposal:
    """What an optimizer makes of a prompt: candidates, the critique behind them, the cases that support it."""

    candidates: tuple[Candidate, ...] = ()
    critique: str = ""
    cases: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


@runtime_checkable
class PromptOptimizer(Protocol):
    """Proposes better texts for a prompt. Keeps no state between steps, so a killed evolution can go on."""

    needs_cases: bool
    """Whether it has nothing to propose where nothing failed."""

    def propose(self, prompt: Prompt, cases: Sequence[Case], history: Sequence[str]) -> Proposal:
        """`history`: the critiques of earlier steps, oldest first. Never raises for what a model wrote."""


def constraints(prompt: Prompt, growth: float) -> list[str]:
    """What a candidate must keep to, in words; `trimem.evolution.guard` checks the same."""
    rules = round(len(prompt.rules.split()) * (1 + growth))
    return [
        f"Everything from the line '{DATA.strip()}' on stays exactly as it is.",
        "The output format, its keys and the way the reply is given stay as they are.",
        f"The part before that line has at most {rules} words: change or add a rule, do not rewrite the whole.",
        "The rules are general: no name, title, place, question or answer from the cases appears in them.",
    ]
