"""`bench report`: tables, figures and pages of many runs. One run is made, and lies there once for each seed."""

import resource
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from experiments.benches.commands import python
from experiments.benches.figures import Figure, seconds
from experiments.identity import content_hash
from experiments.run_dir import read_json, write_json

MOST_SECONDS = 60.0
MOST_BYTES = 1.5e9


def report(overrides: Sequence[str], options: Mapping[str, Any], launch: Path) -> list[Figure]:
    """Wall time and peak memory of the command, which is the largest process that was started here."""
    with tempfile.TemporaryDirectory() as folder:
        runs = Path(folder) / "runs"
        fixed = ["tracker=none", "embedder=hash", f"paths.runs={runs}", f"paths.cache={folder}/cache"]
        python(["-m", "experiments.run", *fixed, *overrides], launch)
        (made,) = runs.glob("*/*/metrics.json")
        for seed in range(1, options["runs"]):
            _copy(made.parent, seed)
        n = int((read_json(made) or {})["n"])
        spent = seconds(lambda: python(["-m", "experiments.report", str(runs), "--out", f"{folder}/out"], launch))
        size = sum(path.stat().st_size for path in Path(folder, "out").rglob("*") if path.is_file())
    name = f"{options['runs']} runs x {n:,} questions"
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    return [
        Figure("report", name, spent, "s", MOST_SECONDS),
        Figure("report", f"peak memory, {name}", peak, "bytes", MOST_BYTES),
        Figure("report", f"written, {name}", size, "bytes"),
    ]


def _copy(run: Path, seed: int) -> None:
    """The same run as if made with another seed."""
    manifest = read_json(run / "manifest.json") or {}
    identity = {**manifest["identity"], "seed": seed}
    copy = run.with_name(content_hash(identity))
    shutil.copytree(run, copy)
    write_json(copy / "manifest.json", {**manifest, "run": copy.name, "identity": identity, "seed": seed})
