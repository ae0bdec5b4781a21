"""What W&B is told, and that it can harm nothing."""

import json
import sys
from pathlib import Path

import pytest

from experiments.tracking import bounded, summary_of
from tests.experiments.fake_wandb import FakeWandb
from tests.experiments.harness import read, run_mini

CELL = {"mean": 0.5, "n": 4, "ci": [0.25, 0.75]}
UNKNOWN = {"mean": None, "n": 0, "ci": None}


@pytest.fixture
def wandb(monkeypatch: pytest.MonkeyPatch) -> FakeWandb:
    fake = FakeWandb()
    monkeypatch.setitem(sys.modules, "wandb", fake)
    return fake


def test_every_score_is_in_the_summary_with_its_interval() -> None:
    metrics = {
        "n": 4,
        "failed": 1,
        "headline": {"f1_set": CELL},
        "macro": {"f1_set": {**CELL, "ci": None}},
        "retrieval": {"hit@5": UNKNOWN},
        "by_category": {"2": {"name": "temporal", "n": 4, "f1_set": CELL}},
        "context_tokens": {"total": CELL},
        "build": {"facts": 7},
        "usage": {"answer": {"calls": 3, "usd": None}},
    }
    flat = summary_of(metrics)
    assert (flat["f1_set"], flat["f1_set/ci_low"], flat["f1_set/ci_high"], flat["f1_set/n"]) == (0.5, 0.25, 0.75, 4)
    assert flat["category/2/f1_set"] == 0.5
    assert flat["build/facts"] == 7
    assert flat["usage/answer/calls"] == 3
    assert "macro/f1_set/ci_low" not in flat
    assert not any(name.startswith(("retrieval/", "usage/answer/usd")) for name in flat)


def test_a_run_is_described_by_its_config_its_rows_and_its_files(wandb: FakeWandb, tmp_path: Path) -> None:
    status = run_mini(tmp_path, "tracker=wandb", "tracker.tags=[mine]", "name=night")
    (run,) = wandb.runs
    assert run.settings["id"] == Path(status["run"]).name
    assert run.settings["dir"] == status["run"]
    assert run.settings["group"] == "night"
    assert run.settings["job_type"] == "eval"
    assert run.settings["mode"] == "offline"
    assert {"StandIn", "locomo", "mine"} <= set(run.settings["tags"])
    assert run.settings["config"]["method"]["_target_"].endswith("StandIn")
    assert not {"paths", "tracker"} & run.settings["config"].keys()
    assert run.summary["n"] == read(status, "metrics.json")["n"]
    assert len(run.logged[0]["questions"].data) == 13
    assert json.dumps(run.settings["config"])
    assert [artifact.type for artifact in run.artifacts] == ["results"]


def test_bounded_work_that_fails_or_hangs_is_told_in_words() -> None:
    def fail() -> None:
        raise RuntimeError("no")

    assert bounded(lambda: None, 1) == ""
    assert bounded(fail, 1) == "RuntimeError: no"
