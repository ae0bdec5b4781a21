"""Traces to read (paper D.2-D.4): queries and entries of some questions, and facts that a longer window lost."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from experiments.analyses.measured import memory_of
from experiments.report.grid import Setting
from experiments.report.tables import Table, Text
from experiments.rows import Row
from experiments.texts import TextFile

QUESTIONS = 8
ENTRIES = 3
WINDOW = "extractor.window"


def examples(experiment: str, settings: Sequence[Setting]) -> list[Table]:
    """A table of questions for each setting, and one of lost facts where settings differ by their window alone."""
    tables = [_asked(experiment, n, setting) for n, setting in enumerate(settings, 1)]
    windows = sorted((s for s in settings if s.first.settings.get(WINDOW, "").isdigit()), key=_window)
    if len(windows) > 1 and _window(windows[0]) < _window(windows[-1]):
        tables.append(_lost(experiment, windows[0], windows[-1]))
    return [table for table in tables if table.rows or table.name.endswith("_lost")]


def _asked(experiment: str, n: int, setting: Setting) -> Table:
    """Questions that were answered, well ones and bad ones: what was searched for, what was found first."""
    rows = {row["question_id"]: row for row in setting.stored.rows}
    texts = TextFile(setting.stored.directory / "texts.jsonl").read()
    questions = {q.id: q.text for asked in setting.stored.dataset.questions.values() for q in asked}
    scored = [one for one in setting.scored[0] if one.id in rows and "f1_set" in one.answer]
    ordered = sorted(scored, key=lambda one: (-one.answer["f1_set"], one.id))
    half = QUESTIONS // 2
    chosen = ordered if len(ordered) <= QUESTIONS else [*ordered[:half], *ordered[-half:]]
    columns = ("question", "asked", "queries", "entries found first", "answer", "gold", "f1_set")
    shown = [
        (
            one.id,
            questions[one.id],
            " | ".join((rows[one.id].get("plan") or {}).get("queries", ())),
            " | ".join(_entries(rows[one.id], texts)),
            rows[one.id]["prediction"],
            setting.stored.golds[one.id].answer,
            f"{one.answer['f1_set']:.2f}",
        )
        for one in chosen
    ]
    note = f"the {half} best and the {half} worst answers; all are in the pages"
    return _table(f"{experiment}_examples_{n}", f"{experiment}: {setting.label}", columns, shown, note)


def _entries(row: Row, texts: Mapping[Any, str]) -> Iterator[str]:
    ranked = sorted((item for item in row["items"] if item["rank"]), key=lambda item: item["rank"])
    for item in ranked[:ENTRIES]:
        yield f"{item['rank']}. {texts.get((row['conversation'], item['kind'], item['id']), '(text not kept)')}"


def _lost(experiment: str, short: Setting, long: Setting) -> Table:
    """Facts about evidence turns that the shorter window gave, where the longer one gave none."""
    found = []
    for conversation in short.stored.dataset.conversations:
        asked = short.stored.dataset.questions[conversation.id]
        wanted = {turn: q for q in asked for turn in short.stored.golds[q.id].evidence}
        cited = {turn for fact in memory_of(long.stored, conversation)[0] for turn in fact.sources}
        for fact in memory_of(short.stored, conversation)[0]:
            missing = [turn for turn in fact.sources if turn in wanted and turn not in cited]
            if missing:
                question = wanted[missing[0]]
                found.append((conversation.id, " ".join(missing), fact.statement, question.text))
    columns = ("conversation", "turns", f"fact at window {_window(short)}", "asked")
    note = f"turns that are evidence and that no fact cites at window {_window(long)}; {len(found)} such facts"
    title = f"{experiment}: found at window {_window(short)}, lost at {_window(long)}"
    return _table(f"{experiment}_lost", title, columns, found[: 3 * QUESTIONS], note)


def _window(setting: Setting) -> int:
    return int(setting.first.settings[WINDOW])


def _table(name: str, title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], note: str) -> Table:
    return Table(name, title, tuple(columns), tuple(tuple(Text(text) for text in row) for row in rows), (note,))
