"""`python -m experiments.score RUN…`: score finished runs again, from their stored predictions; no model is called."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from experiments import console
from experiments.exits import exit_code
from experiments.run_dir import run_directory, write_json
from experiments.stored import open_run


def main(argv: Sequence[str] | None = None) -> int:
    """Rewrite `metrics.json` of each run and show its table."""
    parser = argparse.ArgumentParser(prog="python -m experiments.score", description=__doc__)
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUN", help="a run's directory")
    for directory in parser.parse_args(argv).runs:
        run = open_run(directory)
        with run_directory(directory):
            metrics = run.summarise()
            write_json(directory / "metrics.json", metrics)
        console.score_table(metrics, f"{run.manifest['experiment']}, {run.dataset.name}")
        console.say(f"run: {directory}")
    return 0


if __name__ == "__main__":
    sys.exit(exit_code(main))
