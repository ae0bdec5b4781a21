"""i03: three jobs in one process are three W&B runs, each finished before the next begins."""

import sys
from pathlib import Path

import pytest

from tests.experiments.fake_wandb import FakeWandb
from tests.experiments.harness import run_mini


def test_three_jobs_are_three_runs_of_one_group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = FakeWandb()
    monkeypatch.setitem(sys.modules, "wandb", fake)
    for seed in range(3):
        run_mini(tmp_path, "tracker=wandb", f"seed={seed}", "name=sweep")
    ids = [run.settings["id"] for run in fake.runs]
    assert len(set(ids)) == 3
    assert fake.events == [event for id in ids for event in (("init", id), ("finish", id))]
    assert {run.settings["group"] for run in fake.runs} == {"sweep"}
    assert [run.settings["config"]["seed"] for run in fake.runs] == [0, 1, 2]
    assert {run.settings["reinit"] for run in fake.runs} == {"finish_previous"}
