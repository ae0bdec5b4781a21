"""What a person sees: progress while it runs, a table when it is done. Progress goes to stderr, results to stdout."""

import threading
import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

SHOWN = ("f1_locomo", "f1_set", "bleu1_set")
"""Scores in the table on the screen; `metrics.json` has all."""
QUIET_SECONDS = 10.0
"""Without a terminal a line of progress is printed this often, and at each end."""


class Bars:
    """Bars for building and answering; where stderr is no terminal, a line now and then."""

    def __init__(self, turns: int, questions: int) -> None:
        self.console = Console(stderr=True)
        self._total = {"building (turns)": turns, "answering (questions)": questions}
        self._done = dict.fromkeys(self._total, 0)
        self._printed = time.monotonic()
        self._lock = threading.Lock()
        columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn())
        self._live = Progress(TextColumn("{task.description}"), *columns, console=self.console)
        self._tasks = {name: self._live.add_task(name, total=total) for name, total in self._total.items()}

    def __enter__(self) -> Self:
        if self.console.is_terminal:
            self._live.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._live.stop()

    def built(self, turns: int) -> None:
        """So many more turns are in a memory."""
        self._advance("building (turns)", turns)

    def answered(self) -> None:
        """One more question has its row."""
        self._advance("answering (questions)", 1)

    def _advance(self, name: str, by: int) -> None:
        with self._lock:
            self._done[name] += by
            self._live.advance(self._tasks[name], by)
            finished = self._done[name] == self._total[name]
            if not self.console.is_terminal and (finished or time.monotonic() - self._printed > QUIET_SECONDS):
                self._printed = time.monotonic()
                self.console.print(f"{name}: {self._done[name]}/{self._total[name]}", highlight=False)


def score_table(metrics: Mapping[str, Any], title: str) -> None:
    """Scores by category, then the headline, each with its n and its interval; what failed; what it cost."""
    table = Table(title=title, title_justify="left")
    table.add_column("category")
    for name in ("n", *SHOWN, "hit@5", "context_recall"):
        table.add_column(name, justify="right")
    for id, row in metrics["by_category"].items():
        table.add_row(f"{id} {row['name']}", str(row["n"]), *(_cell(row.get(m)) for m in _columns()))
    headline = {**metrics["headline"], **metrics["retrieval"]}
    n = str(headline[SHOWN[0]]["n"])
    table.add_section()
    table.add_row("headline (micro)", n, *(_cell(headline.get(m)) for m in _columns()), style="bold")
    table.add_row("headline (macro)", n, *(_cell(metrics["macro"].get(m)) for m in _columns()))
    tokens = {kind: cell for kind, cell in metrics["context_tokens"].items() if cell["mean"] is not None}
    console = Console()
    console.print(table)
    console.print(f"failed: {metrics['failed']} of {metrics['n']}; intervals: {metrics['interval']}", highlight=False)
    console.print("context tokens: " + ", ".join(f"{kind} {cell['mean']:.0f}" for kind, cell in tokens.items()))
    for stage, cost in metrics["usage"].items():
        console.print(f"{stage}: {_cost(cost)}", highlight=False)


def _columns() -> tuple[str, ...]:
    return (*SHOWN, "hit@5", "context_recall")


def _cell(cell: Mapping[str, Any] | None) -> str:
    """`41.2 [38.0, 44.1]`: percent, with the interval where there is one."""
    if cell is None or cell["mean"] is None:
        return "–"
    mean = f"{100 * cell['mean']:.1f}"
    return f"{mean} [{100 * cell['ci'][0]:.1f}, {100 * cell['ci'][1]:.1f}]" if cell["ci"] else mean


def _cost(cost: Mapping[str, Any]) -> str:
    usd = "price unknown" if cost["usd"] is None else f"${cost['usd']:.4f}"
    return f"{cost['calls']} calls, {cost['cached']} from the cache, {cost['seconds']:.1f} s, {usd}"


def job_table(jobs: Sequence[Mapping[str, Any]]) -> None:
    """How each job of a sweep ended."""
    table = Table(title=f"{sum(not job['exit'] for job in jobs)} of {len(jobs)} jobs ok", title_justify="left")
    for column in ("job", "ended", "f1_locomo", "n", "run or reason"):
        table.add_column(column, overflow="fold")
    for job in jobs:
        headline = (job.get("headline") or {}).get("f1_locomo")
        scores = (_cell(headline), str(headline["n"])) if headline else ("–", "–")
        ended = "failed" if job["exit"] else "ok"
        table.add_row(" ".join(job["overrides"]), ended, *scores, str(job.get("run") or job.get("reason", "")))
    Console().print(table)


def say(line: str) -> None:
    """One line on stdout, as it is: never wrapped, never coloured."""
    print(line, flush=True)  # noqa: T201 - the command's own voice
