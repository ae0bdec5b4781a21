"""Case a17: a judge that is down gives no accuracy, and says so."""

from pathlib import Path

import pytest

from experiments import score
from experiments.data import locomo
from experiments.exits import exit_code
from experiments.metrics.summary import summarise
from experiments.rows import is_answered
from tests.cases.replies import DATA
from tests.experiments.builders import locomo_file, qa, row
from tests.experiments.harness import read, rows_of, run_mini
from tests.fake_openai import FakeOpenAI


def test_no_verdict_is_no_accuracy_and_each_row_keeps_the_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status = run_mini(tmp_path, "dataset.limit=5")
    with FakeOpenAI.from_file(DATA / "http" / "a17_judge_down.json") as server:
        backbone = f"qwen3-8b@{server.url}"
        ended = exit_code(lambda: score.main([status["run"], "--judge", "strict", "--backbone", backbone]))
    assert ended != 0
    assert "Payment required" in capsys.readouterr().err
    (metric,) = (name for name in read(status, "metrics.json")["headline"] if name.startswith("judge_"))
    cell = read(status, "metrics.json")["headline"][metric]
    answered = [row for row in rows_of(status) if is_answered(row)]
    assert cell["mean"] is None and cell["n"] == 0 and cell["not_judged"] == len(answered) == 5
    (file,) = Path(status["run"]).glob("judged/*.jsonl")
    verdicts = rows_of(status, f"judged/{file.name}")
    assert len(verdicts) == 5 and all("Payment required" in verdict["problem"] for verdict in verdicts)


def test_two_of_five_judged_are_bounds_and_three_not_judged(tmp_path: Path) -> None:
    dataset, golds = locomo.load(locomo_file(tmp_path / "x.json", {"x": [qa()] * 5}), verify=False)
    rows = [row(id, "a tree") for id in dataset.question_ids]
    verdicts = {"judge_x:m:1": {"x:0": True, "x:1": False, "x:2": None}}
    summary = summarise(rows, golds, dataset, {}, {}, verdicts)
    cell = summary["headline"]["judge_x:m:1"]
    assert (cell["mean"], cell["n"], cell["not_judged"], cell["bounds"]) == (None, 2, 3, [0.2, 0.8])
