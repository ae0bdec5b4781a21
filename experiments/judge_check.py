"""What does a judge accept? It grades answers that are right, vague or specifically wrong by design."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.table import Table

from experiments.console import neutral, track
from experiments.judging import Grade, Judge
from trimem.concurrency import fan_out

CASES = Path(__file__).parent / "data" / "judge_check.json"
KINDS = ("right", "vague", "wrong")


@dataclass(frozen=True)
class Checked:
    """One answer of a known kind with what the judge said of it."""

    kind: str
    gold: str
    answer: str
    grade: Grade

    @property
    def surprising(self) -> bool:
        """Whether a strict marker would have said otherwise."""
        return self.grade.correct is not (self.kind == "right")


def check_judge(judge: Judge) -> list[Checked]:
    """Every answer of `judge_check.json`, graded; kind by kind."""
    cases = json.loads(CASES.read_text(encoding="utf-8"))
    answers = [(kind, case["question"], case["gold"], case[kind]) for kind in KINDS for case in cases]

    def grade(one: tuple[str, str, str, str]) -> Checked:
        kind, question, gold, answer = one
        return Checked(kind, gold, answer, judge.grade(question, gold, answer))

    return list(track(fan_out(grade, answers, judge.llm.concurrency), len(answers), "checking the judge"))


def judge_table(judge: Judge, checked: Sequence[Checked]) -> Table:
    """How many of each kind it accepts, and which of its verdicts a strict marker would not share."""
    table = Table(title=neutral(judge.metric), title_justify="left")
    for column in ("answers", "n", "accepted", "not judged", "unlike a strict marker: answer (gold)"):
        table.add_column(column, justify="right" if column in ("n", "accepted", "not judged") else "left")
    for kind in KINDS:
        members = [one for one in checked if one.kind == kind]
        accepted = sum(one.grade.correct is True for one in members)
        unknown = sum(one.grade.correct is None for one in members)
        unlike = "; ".join(f"{one.answer} ({one.gold})" for one in members if one.surprising)
        table.add_row(kind, str(len(members)), str(accepted), str(unknown), neutral(unlike))
    return table
