"""`bench sweep` and `bench startup`: whole commands, as a user starts them."""

import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from experiments.benches.figures import Figure, seconds
from trimem.errors import BadInput

MOST_CALLS = 1.05
CACHED_SHARE = 0.10
HELP_SECONDS = 2.0
CACHED_SECONDS = 10.0
HEAVY = ("torch", "faiss", "hydra", "wandb")
IMPORTED = f"import json, sys, trimem; print(json.dumps([name for name in {HEAVY} if name in sys.modules]))"


def sweep(overrides: Sequence[str], options: Mapping[str, Any], launch: Path) -> list[Figure]:
    """Calls of a sweep over top-K, and the wall time of the same sweep once all replies are kept."""
    model = [
        "backbone=simulated",
        f"backbone.latency={options['latency']}",
        f"backbone.concurrency={options['width']}",
        f"workers={options['width']}",
        f"retriever.top_k={','.join(map(str, options['top_k']))}",
        "tracker=none",
    ]
    with tempfile.TemporaryDirectory() as folder:
        arguments = ["-m", *overrides, *model, f"paths.cache={folder}/cache"]
        first = seconds(lambda: _run([*arguments, f"paths.runs={folder}/first"], launch))
        second = seconds(lambda: _run([*arguments, f"paths.runs={folder}/second"], launch))
        usage = [_usage(path) for path in sorted(Path(folder).glob("first/*/*/metrics.json"))]
        again = sum(_made(stages) for stages in map(_usage, Path(folder).glob("second/*/*/metrics.json")))
    made = sum(map(_made, usage))
    alone = {stage: counts["calls"] + counts["cached"] for stage, counts in usage[0].items()}
    least = sum(alone.values()) + (len(usage) - 1) * alone.get("answer", 0)
    return [
        Figure("sweep", f"calls / one build, plans and {len(usage)} x answers", made / least, "", MOST_CALLS),
        Figure("sweep", "wall, all cached / first", second / first, "", CACHED_SHARE),
        Figure("sweep", "calls, all cached", again, "", 0),
        Figure("sweep", "wall, first", first, "s"),
        Figure("sweep", "wall, all cached", second, "s"),
    ]


def startup(options: Mapping[str, Any], launch: Path) -> list[Figure]:
    """Seconds until --help stands there, until the package is imported, and of a sample run with all replies kept."""
    repeats = options["repeats"]
    imported = [seconds(lambda: python(["-c", IMPORTED], launch)) for _ in range(repeats)]
    heavy = json.loads(python(["-c", IMPORTED], launch))
    helped = [seconds(lambda: _run(["--help"], launch)) for _ in range(repeats)]
    with tempfile.TemporaryDirectory() as folder:
        sample = ["backbone=simulated", "tracker=none", f"paths.cache={folder}/cache"]
        _run([*sample, f"paths.runs={folder}/first"], launch)
        fresh = [[*sample, f"paths.runs={folder}/{number}"] for number in range(repeats + 1)]
        cached = [seconds(partial(_run, arguments, launch)) for arguments in fresh[1:]]
        loaded = _loads_torch(fresh[0], launch)
    return [
        Figure("startup", "import trimem", statistics.median(imported), "s", 1.0),
        Figure("startup", "heavy modules that it loads", len(heavy), "", 0),
        Figure("startup", "python -m experiments.run --help", statistics.median(helped), "s", HELP_SECONDS),
        Figure("startup", "sample set, all cached", statistics.median(cached), "s", CACHED_SECONDS),
        Figure("startup", "torch loaded in it", float(loaded), "", 0),
    ]


def _loads_torch(arguments: Sequence[str], launch: Path) -> bool:
    """Whether a run imports torch, by Python's own account on stderr (`import time: self | cumulative | name`)."""
    told = python(["-X", "importtime", "-m", "experiments.run", *arguments], launch, err=True)
    return any(line.rsplit("|", 1)[-1].strip() == "torch" for line in told.splitlines())


def _run(arguments: Sequence[str], launch: Path) -> str:
    return python(["-m", "experiments.run", *arguments], launch)


def python(arguments: Sequence[str], launch: Path, err: bool = False) -> str:
    """What Python prints that is started with these arguments in `launch`. Raises BadInput where it fails."""
    command = [sys.executable, *arguments]
    ended = subprocess.run(command, cwd=launch, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    if ended.returncode:
        raise BadInput(f"{' '.join(command)} ended with {ended.returncode}: {ended.stderr.strip()[-500:]}")
    return ended.stderr if err else ended.stdout


def _usage(path: Path) -> dict[str, dict[str, int]]:
    usage: dict[str, dict[str, int]] = json.loads(path.read_text())["usage"]
    return usage


def _made(stages: Mapping[str, Mapping[str, int]]) -> int:
    return sum(counts["calls"] for counts in stages.values())
