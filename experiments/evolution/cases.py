"""Failed questions of a batch as masked cases: what was asked, what the memory made of it, where it went wrong."""

import random
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from experiments.data.types import Dataset, GoldBook
from experiments.evolution.measure import Bench, Prompts
from experiments.evolution.settings import Signal
from experiments.rows import Row
from trimem.evolution.attribution import Trace, attribute
from trimem.evolution.base import Case, Miss
from trimem.evolution.masking import Mask
from trimem.rendering import render_turns
from trimem.store import Store
from trimem.types import Conversation, Fact, Question

CAUSES: Mapping[str, tuple[Miss, ...]] = {"extract": ("extraction",), "profile": ("reasoning",)}
"""The misses that a prompt can cause; under `signal=staged` it is changed for no other."""


def batch(data: Dataset, golds: GoldBook, size: int, seed: int) -> Dataset:
    """`size` questions drawn over all conversations, each category by its share, at least one of each."""
    draw = random.Random(seed)
    by_category: dict[int, list[str]] = defaultdict(list)
    for id in data.question_ids:
        by_category[golds[id].category].append(id)
    total = len(data.question_ids)
    chosen: list[str] = []
    for _, ids in sorted(by_category.items()):
        share = max(1, round(size * len(ids) / total))
        chosen += draw.sample(ids, min(share, len(ids)))
    left = [id for id in data.question_ids if id not in set(chosen)]  # shares are rounded
    chosen += draw.sample(left, max(0, min(size - len(chosen), len(left))))
    kept = set(draw.sample(chosen, min(size, len(chosen))))
    questions = {id: tuple(q for q in asked if q.id in kept) for id, asked in data.questions.items()}
    return replace(data, questions=questions)


def find_cases(
    bench: Bench, prompts: Prompts, data: Dataset, failed: Mapping[str, float], signal: Signal
) -> list[Case]:
    """The failed questions (score by id) among those of `data`, in its order."""
    rows = bench.rows(prompts)
    cases: list[Case] = []
    for conversation in data.conversations:
        asked = [question for question in data.questions[conversation.id] if question.id in failed]
        if asked:
            with bench.store(prompts, conversation.id) as store:
                cases += _cases(conversation, asked, store, rows, bench.material.golds, failed, signal)
    return cases


def feeding(prompt: str, cases: Sequence[Case], signal: Signal) -> list[Case]:
    """The cases that may change a prompt."""
    return [case for case in cases if signal == "response" or case.miss in CAUSES[prompt]]


def _cases(
    conversation: Conversation,
    asked: Sequence[Question],
    store: Store,
    rows: Mapping[str, Row],
    golds: GoldBook,
    failed: Mapping[str, float],
    signal: Signal,
) -> Iterator[Case]:
    mask = _mask(conversation, store)
    turns = {turn.id: turn for turn in conversation.turns}
    for question in asked:
        gold, row = golds[question.id], rows[question.id]
        evidence = [turns[id] for id in gold.evidence]
        facts = [fact for fact in store.facts() if set(fact.sources) & set(gold.evidence)]
        shown = {source for item in row["items"] for source in item["sources"]}
        miss = attribute(Trace(gold.answer, row["prediction"], evidence, facts, shown, gold.category == 3))
        given, made = f"Question: {question.text}", f"Answer: {row['prediction']}"
        if signal == "staged":
            given = f"Dialogue:\n{render_turns(evidence)}\n\n{given}"
            made = "\n\n".join([*_stages(facts, row, store), f"What went wrong: {miss}", made])
        yield Case(
            id=question.id,
            session=f"{conversation.id}/{evidence[0].session}" if evidence else conversation.id,
            miss=miss,
            loss=1 - failed[question.id],
            given=mask(given),
            made=mask(made),
            wanted=mask(gold.answer),
        )


def _stages(facts: Sequence[Fact], row: Row, store: Store) -> Iterator[str]:
    """What extraction, retrieval and profiling did for the question."""
    lines = [f"- {fact.statement}" for fact in facts]
    yield "\n".join(["Facts written from this dialogue:", *(lines or ["(none)"])])
    ranked = {item["id"]: item["rank"] for item in row["items"] if item["kind"] == "fact"}
    found = [f"{ranked[fact.id]}" for fact in facts if fact.id in ranked]
    yield f"Of these the reader was shown {len(found)} of {len(facts)}, at rank {', '.join(found) or '-'}."
    named = [store.profile(item["id"]) for item in row["items"] if item["kind"] == "profile"]
    yield "\n".join(["Profiles the reader was shown:", *(profile.text for profile in named if profile)])


def _mask(conversation: Conversation, store: Store) -> Mask:
    facts = store.facts()
    return Mask(
        persons=[*conversation.speakers, *(name for fact in facts for name in fact.persons)],
        places=[fact.location for fact in facts if fact.location],
        titles=[name for fact in facts for name in fact.entities],
    )
