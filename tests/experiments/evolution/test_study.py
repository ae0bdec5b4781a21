"""The command around an evolution: what it refuses, its protocols, cross-fitting, the tracker, one budget for all."""

import json
import signal
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from experiments.evolution.study import evolve
from experiments.runner import run
from experiments.settings import Budget
from experiments.spending import Purse
from tests.experiments.evolution.evolving import SAMPLE, Dying, Result, evolved, model, plant
from tests.experiments.fake_wandb import FakeWandb
from tests.experiments.harness import config_of, run_command
from trimem.errors import BadInput, BudgetReached
from trimem.prompts import load

QUICK = ("evolution.steps=1", "evolution.prompts=[extract]")


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["backbone=scripted"], "evolution=none changes no prompt: choose evolution=textgrad"),
        (["evolution=textgrad"], "extractor has none: name a model"),
        (["evolution=textgrad", "backbone=scripted", "extractor=rules"], "extractor has none"),
        (["evolution=textgrad", "backbone=scripted", "method=full_context"], "extractor has none"),
        (["evolution=textgrad", "backbone=scripted", "evolution.backward=gpt-9"], "there is no backbone gpt-9; choose"),
        (["evolution=textgrad", "backbone=scripted", "evolution.signal=loud"], "evolution.signal='loud'"),
        (
            ["evolution=textgrad", "backbone=scripted", "evolution.metrics=[f2]"],
            "there is no f2; choose from f1_locomo",
        ),
        (["evolution=textgrad", "backbone=scripted", "prompts.extract=nowhere@best"], "nowhere has no evolved prompts"),
        (
            ["evolution=textgrad", "backbone=scripted", "evolution.protocol=paper", "evolution.cross_fit=true"],
            "choose one",
        ),
    ],
)
def test_what_cannot_work_is_said_in_one_line(tmp_path: Path, overrides: list[str], message: str) -> None:
    with pytest.raises(BadInput, match=message.replace("[", r"\[")):
        evolve(config_of("embedder=hash", "tracker=none", *overrides), tmp_path)


def test_an_estimate_tells_the_most_calls_and_does_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    given = ("dataset=sample", "evolution=textgrad", "backbone=gpt-4.1-mini", "tracker=none", "estimate=true")
    status = evolve(config_of(*given), tmp_path)
    assert status["exit"] == 0 and "4 steps ask at most about" in status["told"]
    assert list(tmp_path.iterdir()) == []


def test_the_papers_protocol_stamps_its_tables(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result = evolved(tmp_path, "resolve", *QUICK, "evolution.protocol=paper", "dataset.conversations=[sample-train]")
    assert result.report["stamp"] == "in-sample"
    said = capsys.readouterr().out
    assert "IN-SAMPLE: lineage" in said
    assert "IN-SAMPLE: mean of f1_locomo" in said
    assert said.count("TriMem, scripted, sample, in-sample") == 2
    manifest = json.loads((Path(result.report["test_runs"]["best"]) / "manifest.json").read_text())
    assert manifest["stamp"] == "in-sample"


def test_cross_fitting_scores_every_question_out_of_fold(tmp_path: Path) -> None:
    status = evolved(tmp_path, "resolve", *QUICK, "evolution.cross_fit=true").status
    folder = Path(status["run"])
    seed, best = (json.loads((folder / f"{version}.json").read_text()) for version in ("seed", "best"))
    assert best["headline"]["f1_locomo"]["n"] == seed["headline"]["f1_locomo"]["n"] == 74
    assert best["headline"]["f1_locomo"]["mean"] > seed["headline"]["f1_locomo"]["mean"] + 0.1
    assert len(best["runs"]) == 3


def test_the_tracker_is_shown_curves_versions_and_the_growing_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = FakeWandb()
    monkeypatch.setitem(sys.modules, "wandb", fake)
    result = evolved(tmp_path, "resolve", *QUICK, "tracker=wandb", "evolution.test=false")
    (shown,) = fake.runs
    assert shown.settings["job_type"] == "evolve"
    (step,) = shown.logged
    assert step["kept"] == 1.0 and step["val"] > step["val_parent"]
    assert [row[2] for row in step["lineage"].data] == [version.id for version in result.lineage]
    (artifact,) = shown.artifacts
    assert artifact.aliases == ["step-1", "best"]
    assert shown.summary["best/val/score"] == result.report["scores"]["best"]["val"]


def test_one_budget_serves_every_run_of_a_command() -> None:
    settings: Any = SimpleNamespace(budget=Budget(usd=2.0, calls=10))
    purse = Purse(settings)
    purse.spend({"calls": 4, "usd": 0.5})
    purse.spend({"calls": 1, "usd": None})
    assert purse.left() == Budget(usd=1.5, calls=5)
    purse.spend({"calls": 5, "usd": 0.0})
    with pytest.raises(BudgetReached):
        purse.left()


def test_the_command_ends_with_its_directory_and_a_run_uses_the_best(tmp_path: Path) -> None:
    chosen = ("method=trimem", "dataset=sample", "embedder=hash", "backbone=scripted")
    ended = run_command(
        tmp_path, *chosen, "evolution=textgrad", "evolution.steps=0", "evolution.test=false", module="evolve"
    )
    assert ended.returncode == 0, ended.stderr
    directory = ended.stdout.splitlines()[-1].removeprefix("run: ")
    assert Result({"run": directory}).report["accepted"] == 0
    used = run_command(tmp_path, *chosen, f"prompts.extract={directory}@best", "dataset.split=test", "dataset.limit=2")
    assert used.returncode == 0, used.stderr


def test_a_run_warns_of_a_prompt_with_benchmark_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shipped = load("answer")
    mine = tmp_path / "mine.md"
    mine.write_text(replace(shipped, text=f"Think of John Williams.\n{shipped.text}").source)
    run(config_of(*SAMPLE, f"reasoner.prompt={mine}", "dataset.split=test", "dataset.limit=1"), tmp_path)
    assert "warning: prompt mine holds benchmark text: 'john', 'williams'" in capsys.readouterr().err


@pytest.mark.soak
@pytest.mark.parametrize(("stage", "n"), [("extract", 2), ("answer", 12), ("evolve", 9), ("answer", 70)])
def test_a_real_kill_changes_nothing(tmp_path: Path, stage: str, n: int) -> None:
    node = model(Dying)
    backbone = (f"backbone._target_={node['_target_']}", "backbone.concurrency=4")
    chosen = ("method=trimem", "dataset=sample", "embedder=hash", "backbone=scripted", *backbone)
    asked = (*chosen, "evolution=textgrad", f"prompts.extract={plant(tmp_path, 'resolve')}", "evolution.test=false")
    killed = run_command(tmp_path, *asked, module="evolve", DIES_IN=f"{stage} {n}")
    assert killed.returncode == -signal.SIGKILL
    ended = run_command(tmp_path, *asked, module="evolve")
    fresh = tmp_path / "fresh"
    fresh.mkdir()
    whole = run_command(fresh, *asked, module="evolve")
    assert ended.returncode == whole.returncode == 0, ended.stderr + whole.stderr
    results = [Result({"run": done.stdout.splitlines()[-1].removeprefix("run: ")}) for done in (ended, whole)]
    assert results[0].without_cost == results[1].without_cost
    assert results[0].report["scores"] == results[1].report["scores"]
