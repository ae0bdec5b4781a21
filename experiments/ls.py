"""`python -m experiments.ls [RUN [QUESTION]]`: the runs there are; one run; the trace of one question."""

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.table import Table

from experiments.console import percent, print_table, say, score_table
from experiments.evolution.tree import show_tree
from experiments.exits import exit_code
from experiments.shelf import Shelved, by_experiment, differences, find_run, find_runs
from experiments.stored import StoredRun, open_run
from experiments.texts import TextFile
from trimem.errors import BadInput

HEADLINE = "f1_locomo"
WIDE = 200
"""Columns of the list of runs that is not shown on a terminal: a line a run, so that it can be searched."""


def main(argv: Sequence[str] | None = None) -> int:
    """Print what was asked for. Raises BadInput for a run or a question that does not exist."""
    parser = argparse.ArgumentParser(prog="python -m experiments.ls", description=__doc__)
    parser.add_argument("run", nargs="?", help="a run's directory, or the beginning of its hash")
    parser.add_argument("question", nargs="?", help="a question's id")
    parser.add_argument("--runs", type=Path, default=Path("runs"), help="where runs lie (default: runs)")
    arguments = parser.parse_args(argv)
    if arguments.run is None:
        _list(find_runs([arguments.runs]))
    elif arguments.question is None:
        _show_run(find_run(arguments.runs, arguments.run))
    else:
        _show_question(open_run(find_run(arguments.runs, arguments.run).directory), arguments.question)
    return 0


def _list(runs: Sequence[Shelved]) -> None:
    """A line a run: what it is, its state, its headline."""
    table = Table(title=f"{len(runs)} runs", title_justify="left")
    for column in ("experiment", "run", "method", "model", "data", "seed", "differs by", "state", "n", "failed"):
        table.add_column(column, overflow="fold", no_wrap=column in ("experiment", "run"))
    table.add_column(HEADLINE, justify="right")
    told = {experiment: differences(group) for experiment, group in by_experiment(runs).items()}
    for run in runs:
        known = [run.experiment, run.hash, run.method, run.model, run.manifest["dataset"]["name"], str(run.seed)]
        table.add_row(*known, told[run.experiment][run.hash], run.state, *_headline(run.metrics))
    print_table(table, WIDE)


def _headline(metrics: Mapping[str, Any] | None) -> tuple[str, str, str]:
    if metrics is None:
        return "–", "–", "–"
    cell = metrics["headline"][HEADLINE]
    return str(cell["n"]), str(metrics["failed"]), percent(cell)


def _show_run(run: Shelved) -> None:
    """Its table if it is finished, or the tree of an evolution, and where it came from."""
    if run.state == "evolution":
        show_tree(run.directory)
    if run.metrics is not None:
        score_table(run.metrics, f"{run.method}, {run.model}, {run.manifest['dataset']['name']}")
    for start in run.manifest["starts"]:
        commit = f"{(start['commit'] or 'unknown')[:12]}{' with changes' if start['dirty'] else ''}"
        say(f"started {start['time']} on commit {commit}")
    say("prompts: " + ", ".join(f"{name} {prompt['hash']}" for name, prompt in run.manifest["prompts"].items()))
    failed = run.metrics["failed_questions"] if run.metrics else []
    if failed:
        say(f"failed: {', '.join(failed)}")
    say(f"state: {run.state}")
    say(f"run: {run.directory}")


def _show_question(run: StoredRun, id: str) -> None:
    """All that is known of one question: what was asked, given, answered and scored."""
    rows = {row["question_id"]: row for row in run.rows}
    scored = {one.id: one for one in run.scored()}
    if id not in scored:
        some = ", ".join(list(scored)[:3])
        raise BadInput(f"{run.directory} has no question {id}; it has {len(scored)}, such as {some}")
    questions = {question.id: question for asked in run.dataset.questions.values() for question in asked}
    gold, row = run.golds[id], rows.get(id, {})
    say(f"question: {questions[id].text}")
    say(f"category: {gold.category} {run.dataset.categories[gold.category]}")
    say(f"gold: {gold.answer}")
    say(f"evidence: {' '.join(gold.evidence) or '–'}")
    say(f"prediction: {row.get('prediction', '–')}")
    say(f"status: {row.get('status', 'not asked')}")
    for name in ("reasoning", "problems", "plan"):
        if row.get(name):
            say(f"{name}: {row[name]}")
    scores = {**scored[id].answer, **scored[id].retrieval}
    say("scores: " + ", ".join(f"{name} {value:.3f}" for name, value in scores.items()))
    _show_items(run, row, set(gold.evidence))


def _show_items(run: StoredRun, row: Mapping[str, Any], evidence: set[str]) -> None:
    """What the reasoner was given, in order; a star marks what comes from an evidence turn."""
    texts = TextFile(run.directory / "texts.jsonl").read()
    table = Table(title="what the reasoner was given (* from an evidence turn)", title_justify="left")
    for column in ("", "rank", "kind", "sources", "text"):
        table.add_column(column, overflow="fold")
    for item in row.get("items", ()):
        star = "*" if evidence & set(item["sources"]) else ""
        text = texts.get((row["conversation"], item["kind"], item["id"]), "(text not kept)")
        table.add_row(star, str(item["rank"] or "–"), item["kind"], " ".join(item["sources"]), text)
    print_table(table)


if __name__ == "__main__":
    sys.exit(exit_code(main))
