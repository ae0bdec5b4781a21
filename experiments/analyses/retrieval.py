"""B.1: is the evidence found better among facts, turns or chunks? All are searched by one and the same plain BM25.

The bare question is the query; k1 1.2, b .75, no stems, speakers and captions in the text of a turn, no dates. So the
numbers depend on the units alone, and compare over memories, models and years.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from baselines.naive_rag import chunks
from experiments.analyses.measured import Measured, memory_of
from experiments.analyses.words import content_words
from experiments.metrics.retrieval import retrieval_scores
from experiments.metrics.stats import unit_of
from experiments.stored import StoredRun
from trimem.types import Conversation, Fact, Turn

KINDS = ("facts", "turns", "chunks", "full context")
CHUNK = 256
"""Tokens of a chunk of whole turns, as Naive RAG cuts them."""
DEPTH = 25

Unit = tuple[str, tuple[str, ...]]
"""A text and the ids of the turns that it stands for."""


def measure(run: StoredRun) -> dict[str, list[Measured]]:
    """By kind of unit: `hit@k`, `all@k`, `recall@k`, `sources@k` of every headline question with evidence."""
    found: dict[str, list[Measured]] = {kind: [] for kind in KINDS}
    for conversation in run.dataset.conversations:
        facts, _ = memory_of(run, conversation)
        for kind in KINDS:
            found[kind] += _measure(run, conversation, units_of(kind, conversation, facts))
    return found


def _measure(run: StoredRun, conversation: Conversation, units: Sequence[Unit]) -> Iterator[Measured]:
    index = _index([text for text, _ in units])
    for question in run.dataset.questions[conversation.id]:
        gold = run.golds[question.id]
        if units and gold.evidence and gold.category in run.dataset.headline:
            best = [units[place] for place in _best(index, question.text, len(units))]
            items = [{"rank": rank, "sources": sources} for rank, (_, sources) in enumerate(best, 1)]
            unit = unit_of(len(run.dataset.conversations), conversation.id, question.id)
            yield Measured(gold.category, unit, retrieval_scores(items, gold.evidence))


def units_of(kind: str, conversation: Conversation, facts: Sequence[Fact]) -> list[Unit]:
    """What is searched. Facts that name no turn are searched too, and find nothing."""
    said = [_unit(turn) for turn in conversation.turns]
    match kind:
        case "facts":
            return [(fact.statement, fact.sources) for fact in facts]
        case "turns":
            return said
        case "chunks":
            return [_joined([_unit(turn) for turn in group]) for group in chunks(conversation.turns, CHUNK)]
        case _:
            return [_joined(said)] if said else []


def _unit(turn: Turn) -> Unit:
    image = f" [Image: {turn.caption}]" if turn.caption else ""
    return f"{turn.speaker}: {turn.text}{image}", (turn.id,)


def _joined(units: Sequence[Unit]) -> Unit:
    return "\n".join(text for text, _ in units), tuple(id for _, sources in units for id in sources)


def _index(texts: Sequence[str]) -> Any:
    import bm25s

    corpus = [content_words(text) for text in texts]
    if not any(corpus):
        return None
    index = bm25s.BM25(k1=1.2, b=0.75, method="lucene")
    index.index(corpus, show_progress=False)
    return index


def _best(index: Any, question: str, n: int) -> list[int]:
    """Places of the best units; ties in the order of the conversation."""
    known = index.vocab_dict if index else {}
    asked = [word for word in dict.fromkeys(content_words(question)) if word in known]
    scores = index.get_scores(asked) if asked else np.zeros(n)
    return [int(place) for place in np.argsort(-scores, kind="stable")[:DEPTH]]
