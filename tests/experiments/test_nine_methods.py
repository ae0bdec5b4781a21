"""All methods in one sweep, with the simulated model, and compared."""

import subprocess
import sys
from pathlib import Path

from tests.experiments.harness import ROOT

METHODS = "trimem,full_context,naive_rag,mem0,memoryos,amem,lightmem,simplemem,xmemory"


def command(*words: str) -> str:
    done = subprocess.run([sys.executable, "-m", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_nine_methods_run_side_by_side_and_are_compared(tmp_path: Path) -> None:
    small = ["dataset.conversations=[sample-train]", "dataset.limit=4", "embedder=hash", "tracker=none"]
    paths = [f"paths.runs={tmp_path / 'runs'}", f"paths.cache={tmp_path / 'cache'}"]
    shown = command(
        "experiments.run",
        "-m",
        f"method={METHODS}",
        "backbone=simulated",
        *small,
        *paths,
        f"hydra.sweep.dir={tmp_path}",
    )
    assert all(f"method={method}" in shown for method in METHODS.split(","))
    runs = sorted(str(path) for path in (tmp_path / "runs" / "default").iterdir())
    assert len(runs) == 9
    table = command("experiments.compare", *runs, "--metric", "f1_set")
    assert "difference" in table
