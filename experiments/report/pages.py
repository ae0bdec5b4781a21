"""`index.html` and a page a run: plain files that need no network. Every text enters escaped, or as JSON data."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader
from markupsafe import Markup

from experiments.metrics.summary import Scored
from experiments.report.evolutions import Evolved
from experiments.report.figures import Figure
from experiments.report.tables import Table
from experiments.report.talks import Places, talk_of
from experiments.report.write import LONG
from experiments.rows import Row
from experiments.shelf import Shelved
from experiments.stored import StoredRun
from experiments.texts import TextFile
from trimem.types import Conversation, Question

MAIN = "f1_set"
"""The score that stands before each question; where a category has none (adversarial), f1_locomo."""


def write_pages(
    out: Path,
    tables: Sequence[Table],
    figures: Sequence[Figure],
    runs: Sequence[tuple[Shelved, StoredRun, str]],
    evolutions: Sequence[Evolved] = (),
) -> None:
    """All pages of a report; `runs` with how each differs from its peers."""
    templates = _environment()
    (out / "runs").mkdir(parents=True, exist_ok=True)
    for shelved, stored, told in runs:
        page = templates.get_template("run.html.j2").render(_run_page(shelved, stored, told))
        (out / "runs" / f"{shelved.hash}.html").write_text(page, encoding="utf-8", errors="replace")
    known = [
        {"experiment": s.experiment, "hash": s.hash, "method": s.method, "model": s.model, "seed": s.seed, "told": told}
        for s, _, told in runs
    ]
    for evolved in evolutions:
        page = templates.get_template("evolution.html.j2").render(evolved.page())
        (out / "runs" / f"{evolved.name}.html").write_text(page, encoding="utf-8", errors="replace")
    shown = {"tables": tables, "figures": figures, "runs": known, "evolutions": evolutions}
    index = templates.get_template("index.html.j2").render(title="Report", long=LONG, **shown)
    (out / "index.html").write_text(index, encoding="utf-8", errors="replace")


def _environment() -> Environment:
    templates = Environment(loader=PackageLoader("experiments.report"), autoescape=True, trim_blocks=True)
    loader = templates.loader
    assert loader is not None
    for name in ("css", "js"):  # ours, so it goes in as it is
        templates.globals[name] = Markup(loader.get_source(templates, f"page.{name}")[0])
    return templates


def _run_page(shelved: Shelved, stored: StoredRun, told: str) -> dict[str, Any]:
    """What `run.html.j2` shows."""
    rows = {row["question_id"]: row for row in stored.rows}
    scored = {one.id: one for one in stored.scored()}
    texts = Texts(stored.directory)
    talks: list[dict[str, Any]] = []
    questions: list[dict[str, Any]] = []
    traces: list[dict[str, Any]] = []
    places = Places()
    for number, conversation in enumerate(stored.dataset.conversations):
        places.add(conversation)
        talks.append(talk_of(number, conversation, stored.directory, places))
        for question in stored.dataset.questions[conversation.id]:
            row = rows.get(question.id, {})
            questions.append(_question(len(questions), question, row, scored[question.id], stored, places))
            traces.append(_trace(conversation, row, set(stored.golds[question.id].evidence), texts, places))
    return {
        "title": f"{shelved.method}, {shelved.model}, {stored.dataset.name}",
        "facts_of_run": " · ".join(filter(None, [shelved.experiment, shelved.hash, f"seed {shelved.seed}", told])),
        "notice": notice_of(stored.dataset.licence),
        "categories": sorted(stored.dataset.categories.items()),
        "questions": questions,
        "talks": talks,
        "prompts": sorted(shelved.manifest["prompts"].items()),
        "data": {"texts": texts.used, "traces": traces},
    }


def notice_of(licence: str) -> str:
    """What a page says about the text in it."""
    return f"The dialogues on this page are under {licence}." if "NC" in licence else ""


class Texts:
    """The texts that a page needs, each once: `used` is the list, `place` where in it an item's text stands."""

    def __init__(self, directory: Path) -> None:
        self.used: list[str] = []
        self._kept = TextFile(directory / "texts.jsonl").read()
        self._places: dict[str, int] = {}

    def place(self, conversation: str, item: Mapping[str, Any]) -> int:
        text = self._kept.get((conversation, item["kind"], item["id"]), "(text not kept)")
        if text not in self._places:
            self._places[text] = len(self.used)
            self.used.append(text)
        return self._places[text]


def _question(
    n: int, question: Question, row: Row, scored: Scored, stored: StoredRun, places: Places
) -> dict[str, Any]:
    gold = stored.golds[question.id]
    scores = {**scored.answer, **scored.retrieval}
    return {
        "n": n,
        "id": question.id,
        "text": question.text,
        "category": gold.category,
        "name": stored.dataset.categories[gold.category],
        "gold": gold.answer,
        "prediction": row.get("prediction", ""),
        "status": row.get("status", "not asked"),
        "f1": scored.answer.get(MAIN, scored.answer["f1_locomo"]),
        "scores": ", ".join(f"{name} {value:.2f}" for name, value in scores.items()),
        "evidence": places.of(scored.conversation, gold.evidence),
    }


def _trace(conversation: Conversation, row: Row, evidence: set[str], texts: Texts, places: Places) -> dict[str, Any]:
    """What the page shows of a question once it is opened: pairs of name and text, and the items."""
    told = [["reasoning", row["reasoning"]]] if row.get("reasoning") else []
    told += [["plan", _plan(row["plan"])]] if row.get("plan") else []
    told += [["problems", "\n".join(row["problems"])]] if row.get("problems") else []
    items = []
    for item in row.get("items", ()):
        turns = [[turn["n"], turn["id"]] for turn in places.of(conversation.id, item["sources"])]
        views = ", ".join(f"{view} {rank}" for view, rank in item.get("views", {}).items())
        is_evidence = bool(evidence & set(item["sources"]))
        items.append([item["kind"], texts.place(conversation.id, item), item["rank"], views, turns, is_evidence])
    return {"told": told, "items": items}


def _plan(plan: Mapping[str, Any]) -> str:
    lines = [
        f"{name}: {value if isinstance(value, str) else '; '.join(value)}" for name, value in plan.items() if value
    ]
    return "\n".join(lines)
