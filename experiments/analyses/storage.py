"""B.2: how much of the gold answers' wording is still in what a memory keeps? The share of a gold's words found there.

Whole store: everything kept of the conversation. Evidence: the evidence turns alone, and the facts that cite them.
Dates on which things were said count as kept with turns and facts; what is inferred (category 3) is not to be found.
"""

from collections.abc import Iterable, Iterator

from experiments.analyses.measured import Measured, memory_of
from experiments.analyses.words import words
from experiments.metrics.stats import unit_of
from experiments.stored import StoredRun
from trimem.types import Conversation, Fact, Turn

STORES = (("raw",), ("facts",), ("profiles",), ("facts", "profiles"), ("raw", "facts"), ("raw", "facts", "profiles"))
"""What is looked at, alone and together."""


def measure(run: StoredRun) -> dict[str, list[Measured]]:
    """By store (`facts + profiles`): `whole` and, where it has sources, `evidence` of every headline question."""
    found: dict[str, list[Measured]] = {" + ".join(store): [] for store in STORES}
    for conversation in run.dataset.conversations:
        for name, one in _measure(run, conversation):
            found[name].append(one)
    return {name: measured for name, measured in found.items() if measured}


def _measure(run: StoredRun, conversation: Conversation) -> Iterator[tuple[str, Measured]]:
    facts, profiles = memory_of(run, conversation)
    turns = {turn.id: turn for turn in conversation.turns}
    said = {id: frozenset(words(_said(turn))) for id, turn in turns.items()}
    stated = [(frozenset(words(_stated(fact, turns))), frozenset(fact.sources)) for fact in facts]
    whole = {
        "raw": _union(said.values()),
        "facts": _union(kept for kept, _ in stated),
        "profiles": _union(words(profile.text) for profile in profiles),
    }
    stores = {store: _union(whole[tier] for tier in store) for store in STORES if all(whole[tier] for tier in store)}
    for question in run.dataset.questions[conversation.id]:
        gold = run.golds[question.id]
        asked = frozenset(words(gold.answer))
        if not asked or gold.category not in run.dataset.headline:
            continue
        near = {
            "raw": _union(said[id] for id in gold.evidence),
            "facts": _union(kept for kept, sources in stated if sources & set(gold.evidence)),
        }
        unit = unit_of(len(run.dataset.conversations), conversation.id, question.id)
        for store, kept in stores.items():
            scores = {"whole": _share(asked, kept)}
            if gold.evidence and all(tier in near for tier in store):
                scores["evidence"] = _share(asked, _union(near[tier] for tier in store))
            yield " + ".join(store), Measured(gold.category, unit, scores)


def _said(turn: Turn) -> str:
    """A turn as it was said, by whom and when."""
    return f"{_date(turn)} {turn.speaker}: {turn.content}"


def _date(turn: Turn) -> str:
    """`4 January, 2024 09:05 AM`, the form in which golds name days."""
    return f"{turn.time.day} {turn.time:%B, %Y %I:%M %p}" if turn.time else ""


def _stated(fact: Fact, turns: dict[str, Turn]) -> str:
    """A fact with its fields, and the dates of its turns, with which a reasoner is shown it."""
    dates = [_date(turns[id]) for id in fact.sources if id in turns]
    fields = [fact.statement, fact.time or "", fact.location or "", *fact.persons, *fact.entities, *fact.keywords]
    return " ".join([*fields, *dates])


def _union(parts: Iterable[Iterable[str]]) -> frozenset[str]:
    return frozenset().union(*parts)


def _share(asked: frozenset[str], kept: frozenset[str]) -> float:
    return len(asked & kept) / len(asked)
