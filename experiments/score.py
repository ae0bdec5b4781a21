"""`python -m experiments.score RUN…`: score finished runs again, from their stored predictions.

No model is called, unless `--judge` names one to grade the answers.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from experiments import console
from experiments.cache import KEYS, KeyFile
from experiments.composing import default_config, group_node
from experiments.data.errata import read_errata, without, wrong_answers
from experiments.exits import complain, exit_code
from experiments.judge_check import check_judge, judge_table
from experiments.judging import judge_answers, judge_of
from experiments.metrics.judged import too_few_judged
from experiments.run_dir import read_json, run_directory, write_json
from experiments.services import Services
from experiments.settings import absolute, read_settings
from experiments.spending import Spending
from experiments.stored import StoredRun, open_run
from trimem.errors import BadInput


def main(argv: Sequence[str] | None = None) -> int:
    """Rewrite `metrics.json` of each run and show its table."""
    parser = argparse.ArgumentParser(prog="python -m experiments.score", description=__doc__)
    parser.add_argument("runs", nargs="*", type=Path, metavar="RUN", help="a run's directory")
    parser.add_argument("--errata", type=Path, help="locomo-audit's errors.json: adds scores without wrong golds")
    parser.add_argument("--judge", metavar="NAME", help="have the answers graded too: strict, lenient (conf/judge)")
    parser.add_argument("--check-judge", metavar="NAME", help="grade answers that are right, vague and wrong by design")
    parser.add_argument(
        "--backbone", metavar="NAME", help="whose verdict: a name from conf/backbone (default: the run's), or NAME@URL"
    )
    arguments = parser.parse_args(argv)
    if arguments.check_judge:
        return check(judge_node(arguments.check_judge, arguments.backbone))
    if not arguments.runs:
        parser.error("give a run's directory, or --check-judge")
    errata = read_errata(arguments.errata) if arguments.errata else None
    node = judge_node(arguments.judge, arguments.backbone) if arguments.judge else None
    return max(score(directory, node, errata) for directory in arguments.runs)


def score(directory: Path, node: Mapping[str, Any] | None, errata: Mapping[str, str] | None) -> int:
    """One run; 1 where its judge left too many answers without a verdict."""
    with run_directory(existing(directory)):
        run = open_run(directory)
        try:
            if node:
                judge_run(run, node)
        finally:
            run = replace(run)  # forgets the verdicts that it has read
            metrics = {**run.summarise(), "usage": read_json(directory / "usage.json") or run.metrics["usage"]}
            if errata is not None:
                metrics["corrected"] = corrected(run, errata)
            write_json(directory / "metrics.json", metrics)
    console.score_table(metrics, f"{run.manifest['experiment']}, {run.dataset.name}")
    if errata is not None:
        _show(metrics["corrected"])
    lacking = too_few_judged(metrics["headline"])
    if lacking:
        complain("; ".join(lacking))
    console.say(f"run: {directory}")
    return int(bool(lacking))


def existing(directory: Path) -> Path:
    """A run's directory; one that does not exist is not made. Raises BadInput."""
    if not (directory / "manifest.json").exists():
        raise BadInput(f"{directory} holds no finished run; give a directory that a `run:` line named")
    return directory


def judge_node(name: str, backbone: str | None) -> dict[str, Any]:
    """What `judge=name judge.backbone=backbone` would choose."""
    return {**group_node("judge", name), "backbone": backbone}


def judge_run(run: StoredRun, node: Mapping[str, Any]) -> None:
    """Have the run's answers graded. What is graded is kept, whatever ends this."""
    config = dict(run.manifest["config"])
    with closing(Services(config, read_settings(config))) as services:
        judge = judge_of(node, services)
        assert judge is not None
        spending = Spending(run.directory / "usage.json", services.usage)
        services.note_replies(KeyFile(run.directory / KEYS))
        try:
            judge_answers(judge, run.directory, run.rows, run.dataset, run.golds)
        finally:
            spending.save()


def check(node: Mapping[str, Any]) -> int:
    """Show what the judge accepts of `judge_check.json`, whose answers are right, vague or wrong by design."""
    config = absolute(default_config(), Path.cwd())
    with closing(Services(config, read_settings(config))) as services:
        judge = judge_of(node, services)
        assert judge is not None
        console.print_table(judge_table(judge, check_judge(judge)))
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
