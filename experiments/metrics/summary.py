"""From stored predictions and golds to `metrics.json`: pure functions, no model, so a new metric costs no call."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from statistics import fmean
from typing import Any

from experiments.data.types import ABSTAIN, Dataset, Gold, GoldBook, Rule
from experiments.metrics.bleu import bleu1, bleu1_offline, bleu1_set
from experiments.metrics.f1 import exact_match, f1_locomo, f1_set, f1_squad, f1_trimem
from experiments.metrics.judged import Verdicts, judged_cell
from experiments.metrics.retrieval import covering, retrieval_scores
from experiments.metrics.rouge import rouge_l
from experiments.metrics.stats import NOT_MEASURED, Cell, interval_note, mean_cell, unit_of
from experiments.rows import Row, is_answered
from trimem.types import BuildReport

SCHEMA = 1
"""Version of `metrics.json`; a reader refuses another."""

ANSWER_METRICS: Mapping[str, Callable[[str, str], float]] = {
    "f1_set": f1_set,
    "f1_trimem": f1_trimem,
    "f1_squad": f1_squad,
    "bleu1": bleu1,
    "bleu1_offline": bleu1_offline,
    "bleu1_set": bleu1_set,
    "rouge_l": rouge_l,
    "exact_match": exact_match,
}
"""Metrics that compare with the gold's text; `f1_locomo`, which reads the category too, stands beside them."""

DESIGN_RETRIEVAL = ("hit@5", "hit@25", "recall@25", "context_recall")
FEWEST = {"fact": "fewest_facts", "turn": "fewest_turns"}
"""Where `build` tells the size of the smallest store of a kind of item."""
TOKEN_KINDS = ("facts", "turns", "profiles", "total")


@dataclass(frozen=True)
class Scored:
    """One question with its scores; `retrieval` is empty where no evidence is usable.

    `unit` is what intervals take as independent, `abstaining` the `f1_locomo` of an answer that abstains.
    """

    id: str
    conversation: str
    unit: str
    category: int
    failed: bool
    answer: Mapping[str, float]
    abstaining: float
    retrieval: Mapping[str, float]
    tokens: Mapping[str, float]


def score_rows(
    rows: Iterable[Row], golds: GoldBook, dataset: Dataset, verdicts: Verdicts | None = None
) -> list[Scored]:
    """Every question of `dataset`, in its order. One without a good row scores 0: it never leaves the average.

    A method that ranks nothing (it reads everything) has no hit@k. An answer without a judge's verdict has no score
    under that judge.
    """
    by_id = {row["question_id"]: row for row in rows}
    ranked = any(item["rank"] for row in by_id.values() for item in row["items"])
    return [
        _score(
            question.id,
            conversation.id,
            unit_of(len(dataset.conversations), conversation.id, question.id),
            by_id.get(question.id),
            golds[question.id],
            dataset.rules,
            ranked,
            {metric: given.get(question.id) for metric, given in (verdicts or {}).items()},
        )
        for conversation in dataset.conversations
        for question in dataset.questions[conversation.id]
    ]


def _score(
    id: str,
    conversation: str,
    unit: str,
    row: Row | None,
    gold: Gold,
    rules: Mapping[int, Rule],
    ranked: bool,
    verdicts: Mapping[str, bool | None],
) -> Scored:
    rule = rules.get(gold.category, "plain")
    answered = row is not None and is_answered(row)
    retrieval = retrieval_scores(row["items"] if row else [], gold.evidence) if gold.evidence else {}
    known = {metric: float(answered and bool(v)) for metric, v in verdicts.items() if v is not None or not answered}
    return Scored(
        id=id,
        conversation=conversation,
        unit=unit,
        category=gold.category,
        failed=not answered,
        answer=answer_scores(row["prediction"] if row and answered else "", gold, rule)
        | (known if rule != "abstain" else {}),
        abstaining=f1_locomo(ABSTAIN, gold.answer, rule),
        retrieval={name: score for name, score in retrieval.items() if ranked or "@" not in name},
        tokens=row["context_tokens"] if row else {},
    )


def answer_scores(prediction: str, gold: Gold, rule: Rule = "plain") -> dict[str, float]:
    """All metrics of one answer. Where the gold is an abstention only `f1_locomo` means something: did it abstain."""
    scores = {"f1_locomo": f1_locomo(prediction, gold.answer, rule)}
    if rule != "abstain":
        scores |= {name: metric(prediction, gold.answer) for name, metric in ANSWER_METRICS.items()}
    return scores


def summarise(
    rows: Iterable[Row],
    golds: GoldBook,
    dataset: Dataset,
    build: Mapping[str, int],
    usage: Mapping[str, Mapping[str, Any]],
    verdicts: Verdicts | None = None,
) -> dict[str, Any]:
    """The content of `metrics.json` (design, section 7) for the questions of `dataset`."""
    rows = list(rows)
    scored = score_rows(rows, golds, dataset, verdicts)
    headline = [one for one in scored if one.category in dataset.headline]
    has_sources = any(item["sources"] for row in rows for item in row["items"])
    failed = [one.id for one in scored if one.failed]
    names = ("f1_locomo", *ANSWER_METRICS)
    answers = _judged(_cells(headline, lambda one: one.answer, names), headline, verdicts or {})
    macro = _cells(headline, lambda one: one.answer, names, macro=True)
    return {
        "schema": SCHEMA,
        "n": len(scored),
        "failed": len(failed),
        "failed_questions": failed,
        "interval": interval_note(len(dataset.conversations)),
        "headline": answers,
        "by_category": _by_category(scored, dataset, has_sources, verdicts or {}),
        "macro": {m: c if answers[m]["mean"] is not None else NOT_MEASURED.copy() for m, c in macro.items()},
        **_abstention(scored, dataset),
        "by_conversation": _by_conversation(headline),
        "retrieval": _retrieval(headline, has_sources),
        "k_covers_a_store": covering(
            (item for row in rows for item in row["items"]),
            {kind: build[name] for kind, name in FEWEST.items() if name in build},
        ),
        "context_tokens": _cells(headline, lambda one: one.tokens, TOKEN_KINDS, highest=math.inf),
        "build": dict(build),
        "usage": {stage: dict(cost) for stage, cost in usage.items()},
    }


def build_totals(reports: Iterable[BuildReport]) -> dict[str, int]:
    """The counts of several memories' build reports, summed, and the fewest facts and turns that one of them holds.

    Usage is reported by stage elsewhere.
    """
    names = [field.name for field in fields(BuildReport) if field.name != "usage"]
    reports = list(reports)
    fewest = {f"fewest_{name}": min((getattr(r, name) for r in reports), default=0) for name in ("facts", "turns")}
    return {name: sum(getattr(report, name) for report in reports) for name in names} | fewest


def _cells(
    scored: Sequence[Scored],
    scores: Callable[[Scored], Mapping[str, float]],
    names: Sequence[str],
    macro: bool = False,
    highest: float = 1.0,
) -> dict[str, Cell]:
    """A cell for each of `names` and each other score that occurs, over the questions that have it.

    `highest` is where a score ends; counts (tokens, sources) have no end.
    """
    occurring = dict.fromkeys([*names, *(name for one in scored for name in scores(one))])
    return {
        name: _cell(
            [(one, scores(one)[name]) for one in scored if name in scores(one)],
            macro,
            math.inf if name.startswith("sources@") else highest,
        )
        for name in occurring
    }


def _cell(measured: Sequence[tuple[Scored, float]], macro: bool = False, highest: float = 1.0) -> Cell:
    return mean_cell(
        [value for _, value in measured],
        units=[one.unit for one, _ in measured],
        groups=[one.category for one, _ in measured] if macro else None,
        limits=(0.0, highest),
    )


def _retrieval(scored: Sequence[Scored], has_sources: bool) -> dict[str, Cell]:
    """Null for a method whose items name no turns: it cannot be measured, which is not a miss."""
    if not has_sources:
        return {name: NOT_MEASURED.copy() for name in DESIGN_RETRIEVAL}
    return _cells(scored, lambda one: one.retrieval, DESIGN_RETRIEVAL)


def _judged(cells: dict[str, Cell], scored: Sequence[Scored], verdicts: Verdicts) -> dict[str, Cell]:
    """The same cells; those of judges tell how many answers were not judged."""
    lacking = {metric: sum(metric not in one.answer for one in scored) for metric in verdicts}
    return cells | {m: judged_cell(cells.get(m, NOT_MEASURED), missing) for m, missing in lacking.items()}


def _by_category(
    scored: Sequence[Scored], dataset: Dataset, has_sources: bool, verdicts: Verdicts
) -> dict[str, dict[str, Any]]:
    result = {}
    for category, name in sorted(dataset.categories.items()):
        members = [one for one in scored if one.category == category]
        if members:
            answers = _cells(members, lambda one: one.answer, ())
            if dataset.rules.get(category) != "abstain":
                answers = _judged(answers, members, verdicts)
            cells = answers | _retrieval(members, has_sources)
            result[str(category)] = {"name": name, "n": len(members), **cells}
    return result


def _by_conversation(scored: Sequence[Scored]) -> dict[str, dict[str, float]]:
    """Means a conversation, without intervals: what the conversations' spread looks like."""
    result: dict[str, dict[str, float]] = {}
    for conversation in dict.fromkeys(one.conversation for one in scored):
        members = [one for one in scored if one.conversation == conversation]
        values = {name: [one.answer[name] for one in members if name in one.answer] for name in members[0].answer}
        result[conversation] = {"n": len(members), **{name: fmean(found) for name, found in values.items()}}
    return result


def _abstention(scored: Sequence[Scored], dataset: Dataset) -> dict[str, dict[str, Cell]]:
    """The score over all categories, and beside it what an answerer gets that always abstains."""
    if "abstain" not in dataset.rules.values():
        return {}
    headline = [(one, one.abstaining) for one in scored if one.category in dataset.headline]
    return {
        "all_categories": {"f1_locomo": _cell([(one, one.answer["f1_locomo"]) for one in scored])},
        "constant_abstain": {
            "headline": _cell(headline),
            "all_categories": _cell([(one, one.abstaining) for one in scored]),
        },
    }
