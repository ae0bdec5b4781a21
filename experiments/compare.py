"""`python -m experiments.compare FIRST OTHER…`: how other runs differ from the first on the questions they share."""

import argparse
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from experiments.console import WIDTH, say
from experiments.exits import exit_code
from experiments.metrics.paired import Difference, holm, paired_difference
from experiments.metrics.stats import interval_note
from experiments.metrics.summary import Scored
from experiments.stored import StoredRun, open_run
from trimem.errors import BadInput

METRICS = ("f1_locomo", "f1_set", "bleu1", "context_recall")
FLIPS_SHOWN = 5


@dataclass(frozen=True)
class Pair:
    """One question in both runs."""

    first: Scored
    second: Scored

    def scores(self, metric: str) -> tuple[float, float] | None:
        """Both scores; None where the question has none (no usable evidence, an abstention)."""
        first = {**self.first.answer, **self.first.retrieval}
        second = {**self.second.answer, **self.second.retrieval}
        return (first[metric], second[metric]) if metric in first and metric in second else None


def main(argv: Sequence[str] | None = None) -> int:
    """Print a table for each other run. BadInput for runs that cannot be compared fairly."""
    parser = argparse.ArgumentParser(prog="python -m experiments.compare", description=__doc__)
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUN", help="a run's directory; the first is compared to")
    parser.add_argument("--metric", action="append", help=f"may be repeated (default: {', '.join(METRICS)})")
    parser.add_argument("--force", action="store_true", help="compare runs that differ in more than the method")
    arguments = parser.parse_args(argv)
    if len(arguments.runs) < 2:
        raise BadInput("give two run directories or more")
    first, *others = [open_run(directory) for directory in arguments.runs]
    for other in others:
        _check_fair(first, other, arguments.force)
    metrics = arguments.metric or (*METRICS, *_shared_judges(first, *others))
    compared = [_pairs(first, other) for other in others]
    adjusted = {metric: _holm([_difference(pairs, metric) for pairs in compared]) for metric in metrics}
    for place, (other, pairs) in enumerate(zip(others, compared, strict=True)):
        p_values = {metric: adjusted[metric][place] for metric in metrics}
        _show(first, other, pairs, p_values, first.dataset.categories)
    return 0


def _check_fair(first: StoredRun, other: StoredRun, force: bool) -> None:
    """Same data, same questions, same answer prompt, same judges: else the method is not what differs."""
    differing = ["judge"] if first.verdicts and other.verdicts and not _shared_judges(first, other) else []
    differing += [name for name, value in _conditions(first).items() if value != _conditions(other)[name]]
    if differing and not force:
        raise BadInput(
            f"{first.directory} and {other.directory} differ in {', '.join(differing)}; "
            "compare like with like, or say --force to compare the questions they share"
        )
    if differing:
        say(f"warning: {other.directory} differs from the first run in {', '.join(differing)}")


def _conditions(run: StoredRun) -> dict[str, Any]:
    prompts = {name: prompt["hash"] for name, prompt in run.manifest["prompts"].items() if name.startswith("answer")}
    return {"data file": run.dataset.sha256, "questions": run.dataset.question_ids, "answer prompt": prompts}


def _shared_judges(first: StoredRun, *others: StoredRun) -> list[str]:
    """The metrics of judges that have graded all of these runs."""
    return [metric for metric in first.verdicts if all(metric in other.verdicts for other in others)]


def _pairs(first: StoredRun, other: StoredRun) -> list[Pair]:
    """Shared questions of the headline's categories, in the order of the data set."""
    seconds = {one.id: one for one in other.scored()}
    headline = first.dataset.headline
    shared = [one for one in first.scored() if one.category in headline and one.id in seconds]
    if not shared:
        raise BadInput(f"{first.directory} and {other.directory} share no question of the headline's categories")
    return [Pair(one, seconds[one.id]) for one in shared]


def _difference(pairs: Iterable[Pair], metric: str) -> Difference | None:
    """Over the questions that have this metric; None if none has."""
    measured = [(pair, scores) for pair in pairs if (scores := pair.scores(metric))]
    if not measured:
        return None
    firsts, seconds = [scores[0] for _, scores in measured], [scores[1] for _, scores in measured]
    return paired_difference(firsts, seconds, [pair.first.conversation for pair, _ in measured])


def _holm(differences: Sequence[Difference | None]) -> list[float | None]:
    """The p values of one metric over all compared runs, adjusted together."""
    known = [difference.p for difference in differences if difference and difference.p is not None]
    adjusted = iter(holm(known))
    return [next(adjusted) if one and one.p is not None else None for one in differences]


def _show(
    first: StoredRun,
    other: StoredRun,
    pairs: Sequence[Pair],
    p_values: Mapping[str, float | None],
    names: Mapping[int, str],
) -> None:
    table = Table(title=f"{other.directory} minus {first.directory}", title_justify="left")
    for column in ("metric", "questions", "n", "first", "other", "difference", "95%", "p (Holm)", "detectable"):
        table.add_column(column, justify="left" if column in ("metric", "questions") else "right")
    for metric, p in p_values.items():
        table.add_section()
        _add(table, metric, "headline", _difference(pairs, metric), p)
        for category in sorted({pair.first.category for pair in pairs}):
            part = _difference([pair for pair in pairs if pair.first.category == category], metric)
            _add(table, "", f"{category} {names[category]}", part, None)
    screen = Console(markup=False)
    (screen if screen.is_terminal else Console(width=WIDTH, markup=False)).print(table)
    say(f"intervals: {interval_note(len({pair.first.conversation for pair in pairs}))}; no p with fewer than 8")
    leading = next(iter(p_values))
    _show_conversations(pairs, leading)
    _show_flips(pairs, leading)


def _add(table: Table, metric: str, questions: str, found: Difference | None, p: float | None) -> None:
    if found is None:
        table.add_row(metric, questions, "0", *["–"] * 6)
        return
    interval = f"[{found.ci[0]:+.4f}, {found.ci[1]:+.4f}]" if found.ci else "–"
    shown = [f"{found.first:.4f}", f"{found.second:.4f}", f"{found.mean:+.4f}", interval]
    shown += ["–" if p is None else f"{p:.4f}", "–" if found.detectable is None else f"{found.detectable:.4f}"]
    table.add_row(metric, questions, str(found.n), *shown)


def _show_conversations(pairs: Sequence[Pair], metric: str) -> None:
    """The difference within each conversation, which an interval over few of them cannot replace."""
    shown = []
    for conversation in dict.fromkeys(pair.first.conversation for pair in pairs):
        found = _difference([pair for pair in pairs if pair.first.conversation == conversation], metric)
        shown += [f"{conversation} {found.mean:+.4f} (n={found.n})"] if found else []
    say(f"{metric} by conversation: {', '.join(shown)}")


def _show_flips(pairs: Sequence[Pair], metric: str) -> None:
    """How many questions got better and worse, and the ids of those that moved most."""
    changes = [(scores[1] - scores[0], pair.first.id) for pair in pairs if (scores := pair.scores(metric))]
    for word, sign in (("better", 1), ("worse", -1)):
        moved = sorted((-sign * change, id) for change, id in changes if sign * change > 0)
        most = ", ".join(id for _, id in moved[:FLIPS_SHOWN])
        say(f"{metric} {word} on {len(moved)} of {len(changes)} questions{': ' + most if most else ''}")


if __name__ == "__main__":
    sys.exit(exit_code(main))
