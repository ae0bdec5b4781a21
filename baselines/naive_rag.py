"""Naive RAG: cut the dialogue into units, rank them for the question, read the best."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import NonNegativeInt, PositiveInt

from trimem.errors import BadInput
from trimem.fusion import reciprocal_rank_fusion
from trimem.protocols import Embedder, Reasoner
from trimem.rendering import turn_item
from trimem.tokens import count_tokens
from trimem.types import Answer, BuildReport, Context, Conversation, Item, Question, Turn

OVERSAMPLE = 4
"""Each view ranks this many times top-K before fusion."""


class NaiveRag:
    """Units are single turns or chunks of `chunk_tokens`; views are dense, lexical (BM25) or both, fused by rank.

    The date of the session stands in the embedded text: without it temporal questions collapse. `neighbours` turns
    either side of a unit are read with it. Chunks end with a turn, so that their sources are exact (Mem0's evaluation
    cuts inside turns). Units beyond `max_tokens` of context are left out, the worst-ranked first.
    """

    def __init__(
        self,
        directory: Path,
        embedder: Embedder,
        reasoner: Reasoner,
        unit: Literal["turn", "chunk"] = "turn",
        views: Sequence[str] = ("dense",),
        top_k: PositiveInt = 25,
        chunk_tokens: PositiveInt = 256,
        neighbours: NonNegativeInt = 0,
        max_tokens: PositiveInt = 3200,
    ) -> None:
        if unit not in ("turn", "chunk") or not views or not {"dense", "lexical"}.issuperset(views):
            raise BadInput(f"naive_rag: unit is turn or chunk, views are dense and lexical; got {unit}, {list(views)}.")
        self.directory = directory
        self.embedder = embedder
        self.reasoner = reasoner
        self.unit = unit
        self.views = tuple(views)
        self.top_k = top_k
        self.chunk_tokens = chunk_tokens
        self.neighbours = neighbours
        self.max_tokens = max_tokens
        self.units: list[Item] = []

    def build(self, conversation: Conversation) -> BuildReport:
        groups = [[turn] for turn in conversation.turns]
        if self.unit == "chunk":
            groups = chunks(conversation.turns, self.chunk_tokens)
        self.units = [_unit(group, self.unit) for group in groups]
        texts = [unit.text for unit in self.units]
        self.vectors = self.embedder.encode(texts) if "dense" in self.views and texts else np.zeros((0, 1), np.float32)
        self.bm25: Any = _bm25(texts) if "lexical" in self.views and texts else None
        return BuildReport(turns=len(conversation.turns))

    def retrieve(self, question: Question) -> Context:
        if not self.units:
            return Context()
        fused = reciprocal_rank_fusion([self._rank(view, question.text) for view in self.views])[: self.top_k]
        items: dict[str, Item] = {}
        tokens = 0
        for rank, (at, score) in enumerate(fused, start=1):
            for unit in self.units[max(0, at - self.neighbours) : at + self.neighbours + 1]:
                tokens += 0 if unit.id in items else count_tokens(unit.text)
                if tokens > self.max_tokens:
                    return _context(items.values())
                items.setdefault(unit.id, replace(unit, score=score, rank=rank))
        return _context(items.values())

    def answer(self, question: Question) -> Answer:
        return self.reasoner.answer(question, self.retrieve(question))

    def _rank(self, view: str, query: str) -> list[int]:
        """Positions of units, best first; ties in the order of the conversation."""
        if view == "dense":
            scores = self.vectors @ self.embedder.encode([query], query=True)[0]
        else:
            scores = self.bm25.get_scores(_words([query])[0])
        return [int(n) for n in np.argsort(-scores, kind="stable")[: self.top_k * OVERSAMPLE]]


def chunks(turns: Sequence[Turn], size: int) -> list[list[Turn]]:
    """Runs of whole turns of at most `size` tokens; a longer turn is a chunk of its own."""
    chunks: list[list[Turn]] = []
    room = 0
    for turn in turns:
        tokens = count_tokens(turn_item(turn).text)
        if tokens > room:
            chunks.append([])
            room = size
        chunks[-1].append(turn)
        room -= tokens
    return chunks


def _unit(group: Sequence[Turn], kind: Literal["turn", "chunk"]) -> Item:
    sources = tuple(turn.id for turn in group)
    return Item(kind, sources[0], "\n".join(turn_item(turn).text for turn in group), sources)


def _context(items: Iterable[Item]) -> Context:
    found = tuple(items)
    kind = "chunks" if found and found[0].kind == "chunk" else "turns"
    tokens = sum(count_tokens(item.text) for item in found)
    return Context(found, tokens={kind: tokens, "total": tokens})


def _words(texts: Sequence[str]) -> list[list[str]]:
    """Stemmed words without stop words, as BM25 counts them."""
    import bm25s
    import Stemmer

    return list(
        bm25s.tokenize(
            list(texts), stopwords="en", stemmer=Stemmer.Stemmer("english"), return_ids=False, show_progress=False
        )
    )


def _bm25(texts: Sequence[str]) -> Any:
    import bm25s

    index = bm25s.BM25(k1=0.9, b=0.4)
    index.index(_words(texts), show_progress=False)
    return index
