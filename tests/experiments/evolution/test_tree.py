"""The lineage printed."""

from pathlib import Path

import pytest

from experiments.ls import main
from tests.experiments.evolution.evolving import evolved


def test_ls_prints_the_tree_and_what_each_version_changed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result = evolved(tmp_path, "resolve", "evolution.steps=2", "evolution.test=false", "evolution.prompts=[extract]")
    first, second = result.lineage
    capsys.readouterr()
    assert main([str(result.directory)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"extract {first.parent} (seed)"
    assert f"step 1: {first.id} kept: gain on validation" in lines[1]
    assert any("+- Turn relative time into the absolute date" in line for line in lines)
    below = next(line for line in lines if "step 2: - not kept: no failure" in line)
    assert below.startswith("    "), "step 2 grew from step 1"
    assert second.parent == first.id
    assert lines[-1] == f"run: {result.directory}"
    assert main(["--runs", str(tmp_path / "runs")]) == 0
    assert "evolution" in capsys.readouterr().out
