"""h09: a relative path counts from where the command was started, wherever Hydra works."""

import json
import shutil
from pathlib import Path

import pytest

from tests.experiments.harness import MINI, run_command


@pytest.mark.parametrize("chdir", ["true", "false"])
def test_a_relative_path_counts_from_the_launch_directory(tmp_path: Path, chdir: str) -> None:
    (tmp_path / "data").mkdir()
    shutil.copy(MINI, tmp_path / "data/mini.json")
    done = run_command(tmp_path, "dataset.path=data/mini.json", f"hydra.job.chdir={chdir}")
    assert done.returncode == 0, done.stderr
    directory = Path(done.stdout.splitlines()[-1].removeprefix("run: "))
    assert directory.parent == tmp_path / "runs/default"
    manifest = json.loads((directory / "manifest.json").read_text())
    assert manifest["dataset"]["path"] == str(tmp_path / "data/mini.json")
    assert not list(tmp_path.glob("runs/.jobs/**/predictions.jsonl"))
