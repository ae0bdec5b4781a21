"""i08: W&B absent or switched off: runs need it only where they name it, and then one line says what to do."""

import sys
from pathlib import Path

import pytest

from tests.experiments.harness import run_mini


@pytest.mark.parametrize(("tracker", "hints"), [("none", 0), ("wandb", 1)])
def test_without_the_package_a_run_ends_well(
    tracker: str, hints: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "wandb", None)
    status = run_mini(tmp_path, f"tracker={tracker}")
    assert status["exit"] == 0
    lines = [line for line in capsys.readouterr().err.splitlines() if "wandb" in line]
    assert len(lines) == hints
    assert all("pip install wandb, or set tracker=none" in line for line in lines)
