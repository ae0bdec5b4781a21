"""Judges: what they are asked, how verdicts are read, kept and counted."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments import compare, score
from experiments.exits import exit_code
from experiments.judge_check import CASES, KINDS, check_judge
from experiments.judging import Judge, said_plainly
from experiments.rows import to_line
from tests.experiments.harness import read, rows_of, run_mini
from tests.trimem.llm.fakes import Canned
from trimem.errors import BadInput
from trimem.llm.base import Reply, Request
from trimem.llm.simulated import Simulated

JUDGED = ("judge=strict", "judge.backbone=simulated")
ANSWERED = 11  # of the mini conversation; the other two are abstentions


def judge(*texts: str, status: Any = "ok") -> tuple[Judge, Canned]:
    llm = Canned(*(Reply(text, status=status, error="" if status == "ok" else "down") for text in texts))
    return Judge(llm, "strict", "experiments:judge_strict"), llm


def metric_of(status: Mapping[str, Any]) -> str:
    (metric,) = (str(name) for name in read(status, "metrics.json")["headline"] if name.startswith("judge_"))
    return metric


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ('{"reasoning": "same day", "correct": true}', True),
        ('{"correct": false}', False),
        ('```json\n{"correct": "true"}\n```', True),
        ("INCORRECT", False),
        ("The answer is incorrect.", False),
        ("Correct", True),
        ("not correct", False),
        ("That isn't right", False),
        ("WRONG", False),
        ("correct or incorrect?", None),
        ("It is hard to say.", None),
        ("", None),
    ],
)
def test_verdicts_are_read_and_incorrect_is_never_taken_for_correct(text: str, verdict: bool | None) -> None:
    one, llm = judge(text)
    grade = one.grade("When?", "May", "in May")
    assert grade.correct is verdict
    assert bool(grade.problem) == (verdict is None)
    assert 1 <= len(llm.requests) <= 2


@given(st.text(), st.text())
def test_a_reply_that_says_incorrect_alone_is_never_correct(before: str, after: str) -> None:
    assert said_plainly(f"{before} incorrect {after}") is not True


def test_a_judge_sees_question_gold_and_prediction_and_nothing_else() -> None:
    one, llm = judge('{"correct": true}')
    one.grade("When did it rain?", "in May", "May 2020")
    (request,) = llm.requests
    assert set(request.fields) == {"question", "gold", "prediction"}
    assert request.stage == "judge" and request.temperature == 0
    assert all(text in request.messages[1].content for text in ("When did it rain?", "in May", "May 2020"))


@pytest.mark.parametrize("status", ["error", "refused", "content_filter", "empty"])
def test_a_call_that_fails_is_no_verdict(status: Any) -> None:
    one, _ = judge("", status=status)
    grade = one.grade("When?", "May", "May")
    assert grade.correct is None and status in grade.problem


def test_the_metric_names_rubric_model_and_prompt(tmp_path: Path) -> None:
    strict, lenient = (Judge(Canned(), name, f"experiments:judge_{name}") for name in ("strict", "lenient"))
    assert strict.metric.startswith("judge_strict:canned:") and strict.metric[-8:] != lenient.metric[-8:]
    other = tmp_path / "mine.md"
    other.write_text(strict.prompt.source.replace("You mark", "You grade"))
    assert Judge(Canned(), "strict", str(other)).metric != strict.metric


def test_a_run_is_judged_once_and_a_changed_answer_anew(tmp_path: Path) -> None:
    status = run_mini(tmp_path, *JUDGED)
    cell = read(status, "metrics.json")["headline"][metric_of(status)]
    assert (cell["n"], cell["not_judged"]) == (ANSWERED, 0)
    assert read(status, "metrics.json")["usage"]["judge"]["calls"] == ANSWERED
    told = read(status, "manifest.json")["judges"][metric_of(status)]
    assert told["asked"]["model"] == "simulated" and "reference" in told["prompt"]
    calls = ("cache.mode=off", *JUDGED)
    assert run_mini(tmp_path, *calls)["spent"]["calls"] == 0
    directory = Path(status["run"])
    rows = rows_of(status)
    rows[0]["prediction"] = "something else"
    (directory / "predictions.jsonl").write_bytes(b"".join(map(to_line, rows)))
    assert run_mini(tmp_path, *calls)["spent"]["calls"] == 1


def test_score_adds_a_judge_to_a_finished_run_and_later_scores_keep_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status = run_mini(tmp_path)
    before = read(status, "metrics.json")
    assert score.main([status["run"], "--judge", "lenient", "--backbone", "simulated"]) == 0
    judged = read(status, "metrics.json")
    metric = metric_of(status)
    assert metric in capsys.readouterr().out
    assert judged["headline"]["f1_set"] == before["headline"]["f1_set"]
    assert score.main([status["run"]]) == 0
    assert read(status, "metrics.json") == judged


def test_a_judge_without_a_model_is_refused_before_anything_is_asked(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="a judge needs a model"):
        run_mini(tmp_path, "judge=strict")
    with pytest.raises(BadInput, match="judge=strict or"):
        run_mini(tmp_path, "judge.backbone=simulated")
    assert not list(tmp_path.rglob("predictions.jsonl"))


def test_a_judge_that_stops_keeps_what_it_judged_and_goes_on(tmp_path: Path) -> None:
    status = run_mini(tmp_path)
    command = [status["run"], "--judge", "strict", "--backbone"]
    manifest = Path(status["run"]) / "manifest.json"
    told = json.loads(manifest.read_text())
    told["config"]["budget"]["calls"] = 4
    told["config"]["cache"]["mode"] = "off"
    manifest.write_text(json.dumps(told))
    assert exit_code(lambda: score.main([*command, "simulated"])) == 3
    cell = read(status, "metrics.json")["headline"][metric_of(status)]
    assert cell["mean"] is None and 0 < cell["n"] < ANSWERED and cell["n"] + cell["not_judged"] == ANSWERED
    told["config"]["budget"]["calls"] = None
    manifest.write_text(json.dumps(told))
    assert score.main([*command, "simulated"]) == 0
    metrics = read(status, "metrics.json")
    assert metrics["headline"][metric_of(status)]["n"] == ANSWERED
    assert metrics["usage"]["judge"]["calls"] == ANSWERED


def test_runs_under_different_judges_are_not_compared(tmp_path: Path) -> None:
    runs = [run_mini(tmp_path, f"seed={seed}")["run"] for seed in (0, 1)]
    for run, name in zip(runs, ("strict", "lenient"), strict=True):
        score.main([run, "--judge", name, "--backbone", "simulated"])
    with pytest.raises(BadInput, match="differ in judge"):
        compare.main(runs)
    assert compare.main([*runs, "--force"]) == 0


def test_runs_under_one_judge_are_compared_by_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs = [run_mini(tmp_path, f"seed={seed}", *JUDGED)["run"] for seed in (0, 1)]
    compare.main(runs)
    assert "judge_strict:simulated" in capsys.readouterr().out


class Marker(Simulated):
    """Accepts what is the reference to the letter."""

    def complete(self, request: Request) -> Reply:
        return Reply(json.dumps({"correct": request.fields["gold"] == request.fields["prediction"]}))


def test_checking_a_judge_grades_each_answer_once_and_shows_what_surprises() -> None:
    checked = check_judge(Judge(Marker(), "strict", "experiments:judge_strict"))
    cases = json.loads(CASES.read_text())
    assert [(one.kind, one.answer) for one in checked] == [(kind, case[kind]) for kind in KINDS for case in cases]
    assert {one.kind for one in checked if one.surprising} == {"right"}


def test_check_judge_prints_what_it_accepts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TRIMEM_CACHE", str(tmp_path / "cache"))
    assert score.main(["--check-judge", "strict", "--backbone", "scripted"]) == 0
    shown = capsys.readouterr().out
    assert "unlike a strict marker" in shown and "cello and flute" in shown


def test_an_unknown_judge_lists_those_there_are() -> None:
    with pytest.raises(BadInput, match="lenient, strict"):
        score.main(["--check-judge", "harsh"])
