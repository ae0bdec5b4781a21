"""A judge grades answers beside the word-overlap scores: a model that sees question, gold and prediction, no dialogue.

Its verdicts lie in `judged/<metric>.jsonl` of the run, a row a question, and are asked for once; scoring reads them.
"""

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import Field, PositiveInt

from experiments.assemble import assemble
from experiments.console import track
from experiments.data.types import Dataset, GoldBook
from experiments.rows import Row, RowFile, is_answered
from experiments.run_dir import folder_name, read_json, write_json
from experiments.services import Services
from trimem.concurrency import fan_out
from trimem.errors import BadInput, TriMemError
from trimem.llm.base import LLM, Request
from trimem.llm.structured import ask
from trimem.prompts import load
from trimem.replies import ReplySchema

FOLDER = "judged"
GRADE = re.compile(r"\b(?:(not|isn['’]t|n['’]t)\s+)?(correct|incorrect|right|wrong|true|false)\b", re.IGNORECASE)
ROW = {"question_id": str, "metric": str, "of": str}


class Verdict(ReplySchema):
    """Reply to a judge's prompt."""

    reasoning: str = Field(default="", max_length=2000)
    correct: bool


@dataclass(frozen=True)
class Grade:
    """`correct` is None where there is no verdict; `problem` then says why."""

    correct: bool | None
    reason: str = ""
    problem: str = ""
    served: str = ""


class Judge:
    """A rubric and the model that applies it. `metric` names both: `judge_strict:<model>:<hash of the prompt>`."""

    def __init__(self, llm: LLM, name: str, prompt: str, max_tokens: PositiveInt = 512) -> None:
        self.llm, self.prompt, self.max_tokens = llm, load(prompt), max_tokens
        self.metric = f"judge_{name}:{llm.model}:{self.prompt.hash[:8]}"

    def grade(self, question: str, gold: str, prediction: str) -> Grade:
        """One or two calls. Raises LLMUnavailable and BudgetReached; any other failure is a grade without verdict."""
        fields = {"question": question, "gold": gold, "prediction": prediction}
        request = Request(self.prompt.render(fields), "judge", Verdict, fields, self.max_tokens)
        outcome = ask(self.llm, request)
        served = f"{outcome.reply.model} {outcome.reply.fingerprint}".strip()
        if isinstance(outcome.value, Verdict):
            return Grade(outcome.value.correct, outcome.value.reasoning, served=served)
        if outcome.reply.status == "invalid" and (said := said_plainly(outcome.reply.text)) is not None:
            return Grade(said, outcome.reply.text, served=served)
        return Grade(None, problem=f"{outcome.reply.status}: {outcome.reply.error}", served=served)


def said_plainly(text: str) -> bool | None:
    """The verdict in a reply without JSON. None unless whatever it says of right and wrong points one way."""
    grades = {
        (word.lower() in ("correct", "right", "true")) != bool(negation) for negation, word in GRADE.findall(text)
    }
    return grades.pop() if len(grades) == 1 else None


def judge_of(node: Mapping[str, Any] | None, services: Services) -> Judge | None:
    """The judge that a node of `conf/judge` describes; None for `judge=none`. Raises BadInput."""
    if not node or "rubric" not in node:
        if node and node["backbone"]:
            raise BadInput(f"judge.backbone={node['backbone']} has no judge: choose judge=strict or judge=lenient too.")
        return None
    if node["backbone"] is None and not services.config["backbone"]:
        raise BadInput("a judge needs a model: name one by judge.backbone=… (--backbone … of score).")
    judge: Judge = assemble(node, "rubric", {"llm": lambda _: services.model(node["backbone"], "judge")})
    return judge


def judge_answers(judge: Judge, directory: Path, rows: Iterable[Row], dataset: Dataset, golds: GoldBook) -> None:
    """Grade what is answered and not yet graded. A prediction that changed since is graded anew.

    Not put to a judge: failed questions, which score 0, and those whose gold is an abstention. Raises LLMUnavailable
    and BudgetReached after noting them as the cause at all answers that are left.
    """
    _note(judge, directory)
    (directory / FOLDER).mkdir(exist_ok=True)
    file = RowFile(directory / FOLDER / f"{folder_name(judge.metric)}.jsonl", _is_judged, ROW)
    known = file.read()
    questions = {q.id: q.text for asked in dataset.questions.values() for q in asked}
    asked = [row for row in rows if row["question_id"] in questions and is_answered(row)]
    asked = [row for row in asked if dataset.rules.get(golds[row["question_id"]].category, "plain") != "abstain"]

    def keep(row: Row, grade: Grade) -> None:
        verdict = {"verdict": grade.correct, "reason": grade.reason, "problem": grade.problem, "served": grade.served}
        of = {"question_id": row["question_id"], "metric": judge.metric, "of": _digest(golds, row)}
        file.append({**of, **verdict})

    def grade(row: Row) -> None:
        id = row["question_id"]
        keep(row, judge.grade(questions[id], golds[id].answer, row["prediction"]))

    left = [row for row in asked if not _stands(known.get(row["question_id"]), golds, row)]
    try:
        for _ in track(fan_out(grade, left, judge.llm.concurrency), len(left), "judging answers"):
            pass
    except TriMemError as error:
        told = file.read()
        for row in left:
            if row["question_id"] not in told:
                keep(row, Grade(None, problem=str(error)))
        raise
    finally:
        file.finish(row["question_id"] for row in asked)


def verdicts_of(directory: Path, rows: Iterable[Row], golds: GoldBook) -> dict[str, dict[str, bool | None]]:
    """What judges have said of these predictions, by metric and question id."""
    predictions = {row["question_id"]: row for row in rows}
    found: dict[str, dict[str, bool | None]] = {}
    for path in sorted((directory / FOLDER).glob("*.jsonl")):
        for id, row in RowFile(path, _is_judged, ROW).read().items():
            known = id in predictions and _stands(row, golds, predictions[id])
            found.setdefault(row["metric"], {})[id] = row["verdict"] if known else None
    return found


def _note(judge: Judge, directory: Path) -> None:
    """Into the manifest: by what, and under which instructions, it was judged."""
    manifest = read_json(directory / "manifest.json") or {}
    told = {"asked": dict(judge.llm.identity), "prompt": judge.prompt.text}
    write_json(directory / "manifest.json", {**manifest, "judges": {**manifest.get("judges", {}), judge.metric: told}})


def _is_judged(row: Row) -> bool:
    return row.get("verdict") is not None


def _stands(verdict: Row | None, golds: GoldBook, row: Row) -> bool:
    """Whether a verdict was given, and on this very prediction."""
    return bool(verdict and _is_judged(verdict) and verdict["of"] == _digest(golds, row))


def _digest(golds: GoldBook, row: Row) -> str:
    """Of what was compared."""
    gold = golds[row["question_id"]].answer
    return hashlib.sha256(f"{gold}\0{row['prediction']}".encode("utf-8", "replace")).hexdigest()[:16]
