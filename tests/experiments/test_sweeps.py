"""Sweeps side by side: processes of one launcher, and two commands at once, in one directory."""

import importlib.util
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.experiments.harness import MINI_QUESTIONS, ROOT, command, run_command

pytestmark = pytest.mark.soak
LAUNCHERS = {"cores": "hydra_plugins.hydra_joblib_launcher", "cluster": "hydra_plugins.hydra_ray_launcher"}


def is_installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def whole_runs(folder: Path) -> int:
    """Finished runs, each with every question once."""
    runs = list(folder.glob("runs/default/*/metrics.json"))
    for run in runs:
        rows = [json.loads(line) for line in (run.parent / "predictions.jsonl").read_text().splitlines()]
        assert len({row["question_id"] for row in rows}) == len(rows) == MINI_QUESTIONS
    return len(runs)


@pytest.mark.parametrize("launcher", LAUNCHERS)
def test_a_launcher_runs_a_sweep_and_a_failing_job_leaves_the_others_going(launcher: str, tmp_path: Path) -> None:
    if not is_installed(LAUNCHERS[launcher]):
        pytest.skip(f"{LAUNCHERS[launcher]} is not installed: this launcher was not tried")
    point = "dataset.conversations=[mini-dev-1],[nobody]"
    done = run_command(tmp_path, "-m", f"hydra/launcher={launcher}", "seed=0,1", point)
    assert done.returncode == 1
    assert "2 of 4 jobs ok" in done.stdout, done.stderr
    assert "nobody" in done.stdout[done.stdout.index("2 of 4 jobs ok") :]
    assert whole_runs(tmp_path) == 2


def test_two_commands_at_once_share_one_directory(tmp_path: Path) -> None:
    sweep = command("-m", "seed=0,1,2", "method.delay=0.02")
    place: dict[str, Any] = {"cwd": tmp_path, "env": os.environ | {"PYTHONPATH": str(ROOT)}}
    both = [subprocess.Popen(sweep, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **place) for _ in range(2)]
    ends = [process.communicate(timeout=240) for process in both]
    assert whole_runs(tmp_path) == 3
    for process, (_, errors) in zip(both, ends, strict=True):
        assert process.returncode == 0 or b"is being worked on by process" in errors
        assert b"Traceback" not in errors
    again = subprocess.run(sweep, capture_output=True, check=True, **place)
    assert b"3 of 3 jobs ok" in again.stdout
