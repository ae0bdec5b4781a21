"""Memories are built and questions answered in threads; each row is kept as soon as it is there."""

import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from experiments.console import Bars
from experiments.data.types import Dataset
from experiments.rows import Row, RowFile, is_answered
from experiments.run_dir import folder_name, read_as, write_json
from experiments.services import Tap
from experiments.texts import TextFile
from trimem.concurrency import fan_out
from trimem.errors import TriMemError, storage_problem
from trimem.protocols import Memory
from trimem.types import Answer, BuildReport, Context, Conversation, Item, Question, StageUsage

log = logging.getLogger(__name__)

Progress = Callable[[str, int, int], None]
"""Told by a memory that builds: what is being done, how much of it is done, how much there is."""
Opener = Callable[[Conversation, Path, Progress], Memory]
"""Opens the memory of a conversation in its directory."""

BUILD_FILE = "build.json"


@dataclass
class Answering:
    """The work of a run that is still to do, and how much of it at once.

    A question whose row is good is not asked again; a conversation whose questions are all answered is not built
    again, unless its build lost something: then that is tried again, and where it succeeds all are asked anew.
    A TriMemError stops the run; anything else that goes wrong fails that question (or, in building, that
    conversation's questions) and is counted.
    """

    directory: Path
    dataset: Dataset
    categories: Mapping[str, int]
    open_memory: Opener
    workers: int
    commit: str
    llm: Tap | None = None
    saved: Callable[[], None] = lambda: None
    usage: Callable[[], Mapping[str, StageUsage]] = dict
    told: str = ""
    _stop: threading.Event = field(default_factory=threading.Event)
    _busy: threading.Semaphore = field(init=False)
    """Held by each conversation that is being worked on, so that `wait` can wait for them."""

    def __post_init__(self) -> None:
        self.predictions = RowFile(self.directory / "predictions.jsonl", is_answered)
        self.timings = RowFile(self.directory / "timings.jsonl")
        self.texts = TextFile(self.directory / "texts.jsonl")
        self._busy = threading.Semaphore(self.workers)

    def run(self) -> list[BuildReport]:
        """Do all that is missing; one report a conversation whose memory could be built."""
        done = {id for id, row in self.predictions.read().items() if is_answered(row)}
        pending = {id: [q for q in questions if q.id not in done] for id, questions in self.dataset.questions.items()}
        jobs = [(conversation, pending[conversation.id]) for conversation in self.dataset.conversations]
        rest = [conversation for conversation, questions in jobs if not self._finished(conversation, questions)]
        with Bars(rest, sum(map(len, pending.values())), self.usage, self.told) as self._bars:
            try:
                reports = list(fan_out(self._conversation, jobs, self.workers))
            except BaseException:
                self._stop.set()
                raise
        return [report for report in reports if report]

    def wait(self) -> None:
        """After a stop: let what is under way end, so that its rows are kept."""
        for _ in range(self.workers):
            self._busy.acquire()

    def finish(self, order: Sequence[str]) -> list[Row]:
        """Put the files in the order of the data set, a row a question; the rows."""
        self.texts.finish()
        self.predictions.finish(order)
        self.timings.finish(order)
        return list(self.predictions.read().values())

    def _folder(self, conversation: Conversation) -> Path:
        return self.directory / "memory" / folder_name(conversation.id)

    def _finished(self, conversation: Conversation, questions: Sequence[Question]) -> bool:
        """Whether its memory stands with nothing lost and none of its questions is open."""
        known = read_report(self._folder(conversation))
        return bool(known and not questions and not lost(known))

    def _conversation(self, job: tuple[Conversation, Sequence[Question]]) -> BuildReport | None:
        conversation, questions = job
        folder = self._folder(conversation)
        known = read_report(folder)
        with self._busy:
            if self._stop.is_set() or self._finished(conversation, questions):
                return known
            folder.mkdir(parents=True, exist_ok=True)
            started = time.perf_counter()
            try:
                memory = self.open_memory(conversation, folder, self._progress(conversation))
                report = memory.build(conversation)
            except Exception as error:  # counted: each question gets a failed row with this cause
                if _ends_the_run(error):
                    raise
                status = self._noted("build", conversation.id, error)
                self._bars.built(conversation, 1.0)
                self._keep_all(conversation, questions, status)
                return None
            self._bars.built(conversation, 1.0)
            if known and replace(report, usage={}) != known:
                questions = self.dataset.questions[conversation.id]
                self.predictions.drop(question.id for question in questions)
            write_report(folder, report, time.perf_counter() - started)
            self.saved()
            self._questions(memory, conversation, questions)
            return report

    def _questions(self, memory: Memory, conversation: Conversation, questions: Sequence[Question]) -> None:
        """Ask them all, or until one finds that no further call can succeed: then what is under way ends first."""
        fatal: list[Exception] = []

        watch = Stopwatch(memory)

        def ask(question: Question) -> None:
            try:
                if not self._stop.is_set():
                    self._answer(memory, conversation, question, watch)
            except Exception as error:
                if not _ends_the_run(error):
                    raise
                self._stop.set()
                fatal.append(error)

        try:
            for _ in fan_out(ask, questions, self.workers):
                self.saved()
        finally:
            if hasattr(memory, "close"):
                memory.close()
        if fatal:
            raise fatal[0]

    def _answer(self, memory: Memory, conversation: Conversation, question: Question, watch: "Stopwatch") -> None:
        before = self.llm.asked() if self.llm else (0, 0)
        started = time.perf_counter()
        try:
            answer = memory.answer(question)
        except Exception as error:  # counted: a failed row with its cause
            if _ends_the_run(error):
                raise
            if self._stop.is_set():
                return  # services are being closed under it: the next start asks again
            answer = Answer("", status=self._noted("answer", question.id, error))
        after = self.llm.asked() if self.llm else (0, 0)
        cost = {"seconds": round(time.perf_counter() - started, 4), "calls": after[0] - before[0]}
        self.timings.append({"question_id": question.id, **cost, "cached": after[1] - before[1], **watch.taken()})
        self._keep(conversation, question, answer)

    def _progress(self, conversation: Conversation) -> Progress:
        """For the memory to call: windows are what takes time."""

        def tell(stage: str, done: int, total: int) -> None:
            if stage == "windows":
                self._bars.built(conversation, done / max(total, 1))

        return tell

    def _noted(self, what: str, id: str, error: Exception) -> str:
        """The failure as a status; a line on the console, the traceback in the log."""
        status = f"error: {what}: {type(error).__name__}: {error}"
        log.warning("%s: %s", id, status)
        log.info("%s", id, exc_info=error)
        return status

    def _keep_all(self, conversation: Conversation, questions: Sequence[Question], status: str) -> None:
        for question in questions:
            self._keep(conversation, question, Answer("", status=status))

    def _keep(self, conversation: Conversation, question: Question, answer: Answer) -> None:
        self.texts.keep(conversation.id, answer.context.items)
        category = self.categories[question.id]
        self.predictions.append(prediction(conversation.id, category, question, answer, self.commit))
        self._bars.answered()


class Stopwatch:
    """Times a memory's `retrieve`, planning included, wherever its `answer` calls it."""

    def __init__(self, memory: Memory) -> None:
        self._retrieve, self._here = memory.retrieve, threading.local()
        if hasattr(memory, "__dict__"):
            vars(memory)["retrieve"] = self

    def __call__(self, question: Question) -> Context:
        started = time.perf_counter()
        context = self._retrieve(question)
        self._here.seconds = round(time.perf_counter() - started, 4)
        return context

    def taken(self) -> dict[str, float]:
        """What this thread's last question took; empty if it was not timed."""
        seconds: float | None = vars(self._here).pop("seconds", None)
        return {} if seconds is None else {"retrieve_seconds": seconds}


def _ends_the_run(error: Exception) -> bool:
    """Whether the next question would meet it too: bad input, a spent budget, a full disk."""
    return isinstance(error, TriMemError) or bool(storage_problem(error))


def lost(report: BuildReport) -> int:
    """How much of the dialogue, and how many profiles, a build failed on."""
    return report.failed_windows + report.failed_profiles


def prediction(conversation: str, category: int, question: Question, answer: Answer, commit: str) -> Row:
    """The row of one answer."""
    return {
        "question_id": question.id,
        "conversation": conversation,
        "category": category,
        "prediction": answer.text,
        "status": answer.status,
        "problems": list(answer.problems),
        "reasoning": answer.reasoning,
        "plan": asdict(answer.context.plan) if answer.context.plan else None,
        "items": [_item(item) for item in answer.context.items],
        "context_tokens": dict(answer.context.tokens),
        "commit": commit,
    }


def _item(item: Item) -> dict[str, Any]:
    """An item without its text, which `texts.jsonl` holds."""
    known = {"kind": item.kind, "id": item.id, "sources": list(item.sources), "rank": item.rank}
    return {**known, "score": round(item.score, 6), **({"views": dict(item.views)} if item.views else {})}


def write_report(folder: Path, report: BuildReport, seconds: float) -> None:
    """Keep a memory's report, so that a finished memory need not be opened to tell its counts."""
    write_json(folder / BUILD_FILE, {**asdict(report), "usage": {}, "seconds": round(seconds, 3)})


def read_report(folder: Path) -> BuildReport | None:
    """The kept report; None where the memory is not finished."""
    return read_as(BuildReport, folder / BUILD_FILE)
