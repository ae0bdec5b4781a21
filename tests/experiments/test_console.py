"""What is printed where stderr is no terminal, and the tables."""

from io import StringIO
from typing import Any

import pytest
from rich.console import Console
from rich.progress import Progress

from experiments.console import Bars, Pace, Steps, cost_so_far, job_table, score_table, seconds_left
from tests.fakes import conversation, dialogue
from trimem.types import StageUsage

CELL = {"mean": 0.5, "n": 4, "ci": [0.25, 0.75]}


def metrics(**changed: Any) -> dict[str, Any]:
    empty = {"mean": None, "n": 0, "ci": None}
    scores = {"f1_locomo": CELL, "f1_set": CELL, "bleu1_set": {**CELL, "ci": None}}
    return {
        "n": 5,
        "failed": 1,
        "build": {"windows": 4, "failed_windows": 1, "failed_profiles": 0},
        "interval": "95%, over questions",
        "headline": scores,
        "macro": scores,
        "retrieval": {"hit@5": empty, "context_recall": CELL},
        "by_category": {"2": {"name": "temporal", "n": 4, **scores}},
        "context_tokens": {"total": {**CELL, "mean": 1200.4}, "facts": empty},
        "usage": {"answer": {"calls": 3, "cached": 1, "seconds": 2.0, "usd": None}},
        **changed,
    }


def test_scores_stand_with_their_n_their_interval_and_their_failures(capsys: pytest.CaptureFixture[str]) -> None:
    score_table(metrics(), "TriMem, no LLM, sample")
    printed = capsys.readouterr().out
    (row,) = [line for line in printed.splitlines() if "2 temporal" in line]
    assert [cell.strip() for cell in row.strip("│").split("│")][1:4] == ["4", "50.0 [25.0, 75.0]", "50.0 [25.0, 75.0]"]
    assert "failed: 1 of 5; intervals: 95%, over questions" in printed
    assert "context tokens: total 1200" in printed
    assert "answer: 3 calls, 1 from the cache, 2.0 s, price unknown" in printed


def test_progress_without_a_terminal_is_a_line_at_each_end(capsys: pytest.CaptureFixture[str]) -> None:
    talk = conversation(dialogue(10))
    with Bars([talk], 2) as bars:
        for share in (0.2, 0.7, 1.0, 1.0):
            bars.built(talk, share)
        bars.answered()
        bars.answered()
    lines = capsys.readouterr().err.split("\n")
    assert [line for line in lines if line] == ["building memories (turns): 10 of 10", "answering questions: 2 of 2"]


def test_progress_tells_what_was_spent_so_far_and_what_time_is_left(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("experiments.console.QUIET_SECONDS", 0.0)
    usage = {"extract": StageUsage(calls=1_200, usd=0.03), "answer": StageUsage(calls=4, usd=0.0012)}
    with Bars([conversation(dialogue(10))], 3, lambda: usage) as bars:
        for _ in range(3):
            bars.answered()
    first, *_, last = [line for line in capsys.readouterr().err.split("\n") if line]
    assert first.startswith("answering questions: 1 of 3, 1,204 calls, $0.0312")
    assert last == "answering questions: 3 of 3, 1,204 calls, $0.0312"


def test_what_is_done_already_is_not_shown_as_work(capsys: pytest.CaptureFixture[str]) -> None:
    with Bars([], 0):
        pass
    assert capsys.readouterr().err == ""


def test_a_step_is_told_with_the_time_that_those_of_this_start_give(monkeypatch: pytest.MonkeyPatch) -> None:
    now = iter([0.0, 30.0, 60.0])
    monkeypatch.setattr("experiments.console.time.monotonic", lambda: next(now))
    steps = Steps(total=5, done=2)
    told = [steps.next() for _ in range(3)]
    assert told == ["step 3 of 5: ", "step 4 of 5, at most 60 s left: ", "step 5 of 5, at most 30 s left: "]


def test_an_unknown_price_is_no_price() -> None:
    assert cost_so_far({"answer": StageUsage(calls=3, usd=None)}) == "3 calls"
    assert cost_so_far({}) == ""


def test_on_a_terminal_there_are_bars_with_rate_and_cost(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    monkeypatch.setenv("COLUMNS", "160")
    talk, usage = conversation(dialogue(10)), {"answer": StageUsage(calls=7, usd=0.5)}
    with Bars([talk], 2, lambda: usage, "step 2 of 6: ") as bars:
        bars.built(talk, 0.5)
        bars.answered()
        bars.answered()
    shown = capsys.readouterr().err.splitlines()
    building, answering = ([line for line in shown if word in line][-1] for word in ("building", "answering"))
    assert "step 2 of 6: building memories (turns)" in building and "5/10" in building
    assert "/s, 0:00:00 left" in building
    assert "step 2 of 6: answering questions" in answering and "2/2" in answering
    assert "/s" in answering and "left" not in answering and "7 calls, $0.5000" in answering


def test_time_left_is_what_the_rest_takes_at_the_pace_so_far() -> None:
    clock = [100.0]
    bars = Progress(get_time=lambda: clock[0], console=Console(file=StringIO()))
    bars.add_task("building", total=40)
    (task,) = bars.tasks
    assert seconds_left(task) is None
    task.completed, clock[0] = 10, 120.0
    assert seconds_left(task) == 60.0
    assert "0.5/s, 0:01:00 left" in str(Pace().render(task))


def test_a_failed_job_shows_its_reason_and_no_score(capsys: pytest.CaptureFixture[str]) -> None:
    ok = {"overrides": ["seed=1"], "exit": 0, "reason": "", "run": "runs/x/1", "headline": {"f1_locomo": CELL}}
    job_table([ok, {"overrides": ["views=[dense]"], "exit": 2, "reason": "no such file"}])
    printed = capsys.readouterr().out
    assert "1 of 2 jobs ok" in printed
    (failed,) = [line for line in printed.splitlines() if "no such file" in line]
    cells = [cell.strip() for cell in failed.strip("│").split("│")]
    assert cells == ["views=[dense]", "failed", "–", "–", "no such file"]
