"""What a person sees: progress while it runs, a table when it is done. Progress goes to stderr, results to stdout."""

import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any, Self, TypeVar

from rich import progress
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)
from rich.table import Table
from rich.text import Text

from trimem.types import Conversation, StageUsage

T = TypeVar("T")
SHOWN = ("f1_locomo", "f1_set", "bleu1_set")
"""Scores in the table on the screen; `metrics.json` has all."""
WIDTH = 132
"""Columns of a table that is not shown on a terminal."""
QUIET_SECONDS = 10.0
"""Without a terminal a line of progress is printed this often, and at each end."""


class Pace(progress.ProgressColumn):
    """Units a second since the work began, and the seconds that the rest takes at this pace.

    Work ends in bursts, many windows at once, so what the last moments gave says little.
    """

    def render(self, task: progress.Task) -> Text:
        seconds = task.finished_time or task.elapsed
        rate = f"{task.completed / seconds:.1f}/s" if seconds else ""
        left = seconds_left(task)
        return Text(rate if left is None else f"{rate}, {timedelta(seconds=round(left))} left")


def seconds_left(task: progress.Task) -> float | None:
    """None before anything is done, and when all is."""
    if task.finished or not task.completed or not task.elapsed or task.remaining is None:
        return None
    return task.elapsed / task.completed * task.remaining


class Steps:
    """Work of several steps, of which some were done at an earlier start."""

    def __init__(self, total: int, done: int) -> None:
        self._total, self._done, self._begun, self._started = total, done, 0, time.monotonic()

    def next(self) -> str:
        """Begins a step: `step 2 of 6, at most 140 s left: `, by the time that this start's steps have taken."""
        left = self._total - self._done
        seconds = (time.monotonic() - self._started) / self._begun * left if self._begun else None
        self._done, self._begun = self._done + 1, self._begun + 1
        told = "" if seconds is None else f", at most {seconds:.0f} s left"
        return f"step {self._done} of {self._total}{told}: "


class Bars:
    """Bars for building (in turns) and answering (in questions) what is missing: rate, time left and cost so far.

    No terminal on stderr: a line now and then. `usage` tells what was spent by stage, `told` what all this is part of.
    """

    def __init__(
        self,
        conversations: Sequence[Conversation],
        questions: int,
        usage: Callable[[], Mapping[str, StageUsage]] = dict,
        told: str = "",
    ) -> None:
        self._usage = usage
        cost = TextColumn("{task.fields[cost]}")
        columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), Pace(), cost)
        self._console = Console(stderr=True, markup=False, highlight=False)
        self._live = Progress(TextColumn("{task.description}"), *columns, console=self._console)
        turns = sum(len(conversation.turns) for conversation in conversations)
        self._building = self._add(f"{told}building memories (turns)", turns)
        self._answering = self._add(f"{told}answering questions", questions)
        self._built: dict[str, int] = {}
        self._lock = threading.Lock()
        self._printed = time.monotonic()
        self._said: dict[TaskID, float] = {}

    def _add(self, what: str, total: int) -> TaskID:
        return self._live.add_task(what, total=total, visible=total > 0, start=False, cost="")

    def __enter__(self) -> Self:
        self._live.start_task(self._building)
        if self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._console.is_terminal:
            self._live.stop()

    def built(self, conversation: Conversation, share: float) -> None:
        """How much of a conversation's memory stands, from 0 to 1."""
        with self._lock:
            self._built[conversation.id] = round(share * len(conversation.turns))
            if share == 1.0:
                self._begin_answering()
            self._live.update(self._building, completed=sum(self._built.values()), cost=cost_so_far(self._usage()))
            self._print(self._building)

    def answered(self) -> None:
        """One more question has its row."""
        with self._lock:
            self._begin_answering()
            self._live.update(self._answering, advance=1, cost=cost_so_far(self._usage()))
            self._print(self._answering)

    def _begin_answering(self) -> None:
        """With the first memory that stands: the time before it says nothing about answers."""
        if not self._live.tasks[self._answering].started:
            self._live.start_task(self._answering)

    def _print(self, id: TaskID) -> None:
        task = self._live.tasks[id]
        line = f"{task.description}: {task.completed:.0f} of {task.total:.0f}"
        left = seconds_left(task)
        told = "" if left is None else f"{left:.0f} s left"
        line = ", ".join(filter(None, [line, task.fields["cost"], told]))
        due = task.finished or time.monotonic() - self._printed > QUIET_SECONDS
        if due and not self._console.is_terminal and task.completed != self._said.get(id):
            self._printed, self._said[id] = time.monotonic(), task.completed
            self._console.print(line)


def cost_so_far(usage: Mapping[str, StageUsage]) -> str:
    """`1,204 calls, $0.0312`; without dollars where a price is not known; empty where nothing was asked."""
    calls = sum(stage.calls for stage in usage.values())
    prices = [stage.usd for stage in usage.values()]
    usd = "" if None in prices else f", ${sum(price or 0 for price in prices):.4f}"
    return f"{calls:,} calls{usd}" if calls else ""


def track(work: Iterable[T], total: int, what: str) -> Iterator[T]:
    """`work` as it is, with a bar on a terminal's stderr."""
    console = Console(stderr=True, markup=False, highlight=False)
    yield from progress.track(work, what, total, console=console, disable=not console.is_terminal, transient=True)


def neutral(text: str) -> str:
    """`text` in which no character steers a terminal or turns the direction of writing; such are shown as escapes."""
    return "".join(c if c.isprintable() or c in "\n\t" else c.encode("unicode_escape").decode() for c in text)


class NeutralFormatter(logging.Formatter):
    """For log messages, which quote what models and data files say."""

    def format(self, record: logging.LogRecord) -> str:
        return neutral(super().format(record))


def score_table(metrics: Mapping[str, Any], title: str) -> None:
    """Scores by category, then the headline, each with its n and its interval; what failed; what it cost."""
    table = Table(title=neutral(title), title_justify="left")
    table.add_column("category", no_wrap=True)
    columns = _columns(metrics)
    for name in ("n", *columns):
        table.add_column(neutral(name.partition(":")[0]), justify="right")
    for id, row in metrics["by_category"].items():
        table.add_row(neutral(f"{id} {row['name']}"), str(row["n"]), *(percent(row.get(m)) for m in columns))
    headline = {**metrics["headline"], **metrics["retrieval"]}
    n = str(headline[SHOWN[0]]["n"])
    table.add_section()
    table.add_row("headline (micro)", n, *(percent(headline.get(m)) for m in columns), style="bold")
    table.add_row("headline (macro)", n, *(percent(metrics["macro"].get(m)) for m in columns))
    tokens = {kind: cell for kind, cell in metrics["context_tokens"].items() if cell["mean"] is not None}
    print_table(table)
    say(f"failed: {metrics['failed']} of {metrics['n']}; intervals: {metrics['interval']}")
    build = metrics["build"]
    if build.get("failed_windows") or build.get("failed_profiles"):
        say(
            f"build: {build['failed_windows']} of {build['windows']} windows gave no facts because their calls failed, "
            f"{build['failed_profiles']} profiles are not up to date; the same command tries them again"
        )
    for name, cell in headline.items():
        if "not_judged" in cell:
            say(f"{name}: {cell['n']} answers judged, {cell['not_judged']} not")
    if covering := metrics.get("k_covers_a_store"):
        say(f"k = {', '.join(map(str, covering))} takes in the whole of a store here: finding something is no feat")
    say("context tokens: " + ", ".join(f"{kind} {cell['mean']:.0f}" for kind, cell in tokens.items()))
    for stage, cost in metrics["usage"].items():
        say(f"{stage}: {_cost(cost)}")


def _columns(metrics: Mapping[str, Any]) -> tuple[str, ...]:
    judges = (name for name, cell in metrics["headline"].items() if "not_judged" in cell)
    return (*SHOWN, *judges, "hit@5", "context_recall")


def percent(cell: Mapping[str, Any] | None) -> str:
    """`41.2 [38.0, 44.1]`: percent, with the interval where there is one; `38.0–44.1` where too much was not judged."""
    if cell and cell["mean"] is None and cell.get("not_judged"):
        return f"{100 * cell['bounds'][0]:.1f}–{100 * cell['bounds'][1]:.1f}"
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
    for column in ("differs by", "ended", "f1_locomo", "n", "run or reason"):
        table.add_column(column, overflow="fold")
    for job in jobs:
        headline = (job.get("headline") or {}).get("f1_locomo")
        scores = (percent(headline), str(headline["n"])) if headline else ("–", "–")
        ended = "failed" if job["exit"] else "ok"
        came_to = job["reason"] or job.get("run") or job.get("told", "")
        told = (" ".join(job["overrides"]), ended, *scores, str(came_to))
        table.add_row(*map(neutral, told))
    print_table(table)


def print_table(table: Table, width: int = WIDTH) -> None:
    """A table on stdout, at most `width` where that is no terminal."""
    console = Console(markup=False)  # `[dense]` is a value here, not a style
    (console if console.is_terminal else Console(markup=False, width=width)).print(table)


def say(line: str) -> None:
    """One line on stdout, as it is: never wrapped, never coloured."""
    print(neutral(line), flush=True)  # noqa: T201 - the command's own voice
