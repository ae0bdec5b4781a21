"""`experiment=smoke`: four methods, two seeds, through the command, a second start, the report and the pages."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.experiments.harness import ROOT
from tests.experiments.report.reports import Page


def command(folder: Path, module: str, *arguments: str) -> str:
    call = [sys.executable, "-m", f"experiments.{module}", *arguments]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "COLUMNS": "120"}
    done = subprocess.run(call, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("smoke")
    narrowed = command(folder, "run", "experiment=smoke", "method=naive_rag,trimem", "seed=1", "tracker=none")
    assert "2 of 2 jobs ok" in narrowed
    rest = command(folder, "run", "experiment=smoke", "tracker=none")
    assert "8 of 8 jobs ok" in rest
    return folder


def test_the_second_call_did_what_was_missing(folder: Path) -> None:
    runs = list(folder.glob("runs/smoke/*/metrics.json"))
    assert len(runs) == 8
    assert len(command(folder, "ls").split("smoke")) - 1 == 8


def test_the_report_and_its_pages_hold_all_of_them(folder: Path) -> None:
    assert command(folder, "report", "runs", "--out", "out").endswith("report: out\n")
    table = (folder / "out/tables/smoke.md").read_text()
    assert [f"| simulated | {name} | 2 | 12 | 0 of 24 |" in table for name in ("trimem", "simplemem")] == [True, True]
    assert "its scores say nothing about a method" in table
    assert len(list((folder / "out/runs").iterdir())) == 8
    assert len([link for link in Page(folder / "out/index.html").links if link.startswith("runs/")]) == 8
    pictures = {path.name for path in (folder / "out/figures").iterdir()}
    assert pictures == {f"smoke_{kind}.{s}" for kind in ("categories", "tokens", "stages") for s in ("png", "svg")}
