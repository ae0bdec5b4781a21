"""`python -m experiments.score RUN…`: score finished runs again, from their stored predictions; no model is called."""

import argparse
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from experiments import console
from experiments.data.errata import read_errata, without, wrong_answers
from experiments.exits import exit_code
from experiments.run_dir import run_directory, write_json
from experiments.stored import StoredRun, open_run
from trimem.errors import BadInput


def main(argv: Sequence[str] | None = None) -> int:
    """Rewrite `metrics.json` of each run and show its table."""
    parser = argparse.ArgumentParser(prog="python -m experiments.score", description=__doc__)
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUN", help="a run's directory")
    parser.add_argument("--errata", type=Path, help="locomo-audit's errors.json: adds scores without wrong golds")
    arguments = parser.parse_args(argv)
    errata = read_errata(arguments.errata) if arguments.errata else None
    for directory in arguments.runs:
        run = open_run(directory)
        metrics = run.summarise()
        if errata is not None:
            metrics["corrected"] = corrected(run, errata)
        with run_directory(directory):
            write_json(directory / "metrics.json", metrics)
        console.score_table(metrics, f"{run.manifest['experiment']}, {run.dataset.name}")
        if errata is not None:
            _show(metrics["corrected"])
        console.say(f"run: {directory}")
    return 0


def corrected(run: StoredRun, errata: Mapping[str, str]) -> dict[str, Any]:
    """Headline without the questions whose gold is wrong; retrieval without those whose evidence is wrong too."""
    if run.dataset.name != "locomo" or not run.dataset.verified:
        raise BadInput(f"{run.directory}: errata are for the published locomo10.json only, not for {run.dataset.name}")
    asked = set(run.dataset.question_ids)
    left_out = {id: kind for id, kind in errata.items() if id in asked}
    answers = replace(run, dataset=without(run.dataset, wrong_answers(left_out))).summarise()
    evidence = replace(run, dataset=without(run.dataset, left_out)).summarise()
    return {
        "left_out": dict(sorted(Counter(left_out.values()).items())),
        "headline": answers["headline"],
        "by_category": answers["by_category"],
        "macro": answers["macro"],
        "retrieval": evidence["retrieval"],
    }


def _show(scores: Mapping[str, Any]) -> None:
    """The corrected headline in one line, under the official table."""
    kinds = ", ".join(f"{kind.lower().replace('_', ' ')} {count}" for kind, count in scores["left_out"].items())
    cells = {**scores["headline"], **scores["retrieval"]}
    means = [f"{m} {cells[m]['mean']:.4f} (n={cells[m]['n']})" for m in console.SHOWN if cells[m]["mean"] is not None]
    console.say(f"corrected, without wrong golds ({kinds or 'none here'}): {', '.join(means)}")


if __name__ == "__main__":
    sys.exit(exit_code(main))
