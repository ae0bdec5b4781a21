"""B.1: is the evidence found better among facts, turns or chunks? All are searched by one and the same plain BM25.

The bare question is the query; k1 1.2, b .75, no stems, speakers and captions in the text of a turn, no dates. So the
numbers depend on the units alone, and compare over memories, models and years.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from experiments.analyses.measured import Measured, memory_of, unit_of
from experiments.analyses.words import content_words
from experiments.metrics.retrieval import retrieval_scores
from experiments.stored import StoredRun
from trimem.tokens import count_tokens
from trimem.types import Conversation, Fact, Turn

KINDS = ("facts", "turns", "chunks", "full context")
CHUNK = 256
"""Tokens of a chunk of whole turns."""
DEPTH = 25

Unit = tuple[str, tuple[str, ...]]
"""A text and the ids of the turns that it stands for."""


def measure(run: StoredRun) -> dict[str, list[Measured]]:
    """By kind of unit: `hit@k`, `all@k`, `recall@k`, `sources@k` of every headline question with evidence."""
    return {kind: list(_measure(run, kind)) for kind in KINDS}


def _measure(run: StoredRun, kind: str) -> Iterator[Measured]:
    for conversation in run.dataset.conversations:
        units = units_of(kind, conversation, memory_of(run, conversation)[0])
        index = _index([text for text, _ in units])
        for question in run.dataset.questions[conversation.id]:
            gold = run.golds[question.id]
            if units and gold.evidence and gold.category in run.dataset.headline:
                found = [units[place] for place in _best(index, question.text, len(units))]
                items = [{"rank": rank, "sources": sources} for rank, (_, sources) in enumerate(found, 1)]
                scores = retrieval_scores(items, gold.evidence)
                yield Measured(gold.category, unit_of(run, conversation.id, question.id), scores)


def units_of(kind: str, conversation: Conversation, facts: Sequence[Fact]) -> list[Unit]:
    """What is searched. Facts that name no turn are searched too, and find nothing."""
    said: list[Unit] = [(_said(turn), (turn.id,)) for turn in conversation.turns]
    match kind:
        case "facts":
            return [(fact.statement, fact.sources) for fact in facts]
        case "turns":
            return said
        case "chunks":
            return _chunks(said)
        case _:
            return [_joined(said)] if said else []


def _said(turn: Turn) -> str:
    image = f" [Image: {turn.caption}]" if turn.caption else ""
    return f"{turn.speaker}: {turn.text}{image}"


def _chunks(said: Sequence[Unit]) -> list[Unit]:
    chunks: list[list[Unit]] = []
    room = 0
    for unit in said:
        tokens = count_tokens(unit[0])
        if tokens > room:
            chunks.append([])
            room = CHUNK
        chunks[-1].append(unit)
        room -= tokens
    return [_joined(chunk) for chunk in chunks]


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
