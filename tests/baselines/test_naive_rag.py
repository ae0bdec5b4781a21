"""Naive RAG: units, views, neighbours, budget."""

from pathlib import Path
from typing import Any

import pytest

from baselines.naive_rag import NaiveRag
from tests.baselines.scripted import TableEmbedder, dialogue
from trimem.embedding import HashEmbedder
from trimem.errors import BadInput
from trimem.rules.reasoning import RulesReasoner
from trimem.tokens import count_tokens
from trimem.types import Conversation, Question

LINES = (
    "Edda: I bought a kiln.",
    "Ruben: I paddle a canoe.",
    "Edda: The weather was mild.",
    "Ruben: My atlas is old.",
    "Edda: The kiln is hot.",
)
TABLE = {"kiln": (1, 0, 0), "canoe": (0, 1, 0), "atlas": (0, 0, 1)}
TALK = dialogue(*LINES)


def rag(directory: Path, embedder: Any = None, **settings: Any) -> NaiveRag:
    memory = NaiveRag(directory, embedder or TableEmbedder(TABLE), RulesReasoner(), **settings)
    memory.build(TALK)
    return memory


def found(memory: NaiveRag, text: str) -> list[str]:
    return [item.id for item in memory.retrieve(Question("q", text)).items]


def test_the_dense_view_ranks_by_cosine(tmp_path: Path) -> None:
    assert found(rag(tmp_path, top_k=2), "the kiln") == ["T1", "T5"]


def test_the_lexical_view_stems_and_needs_no_embedder(tmp_path: Path) -> None:
    class Refuses(TableEmbedder):
        def encode(self, texts: Any, query: bool = False) -> Any:
            raise AssertionError("a lexical run embeds nothing")

    assert found(rag(tmp_path, Refuses(TABLE), views=["lexical"], top_k=1), "Who was paddling?") == ["T2"]


def test_two_views_are_fused_by_rank(tmp_path: Path) -> None:
    assert found(rag(tmp_path, views=["dense", "lexical"], top_k=1), "the old atlas") == ["T4"]


def test_the_date_stands_in_what_is_embedded_and_read(tmp_path: Path) -> None:
    seen: list[str] = []

    class Notes(TableEmbedder):
        def encode(self, texts: Any, query: bool = False) -> Any:
            seen.extend(texts)
            return super().encode(texts, query)

    memory = rag(tmp_path, Notes(TABLE))
    assert all(text.startswith("[2019-") for text in seen[:5])
    assert memory.retrieve(Question("q", "kiln")).items[0].text.startswith("[2019-")


def test_neighbours_are_read_with_their_unit_once(tmp_path: Path) -> None:
    memory = rag(tmp_path, top_k=2, neighbours=1)
    items = memory.retrieve(Question("q", "the kiln")).items
    assert [item.id for item in items] == ["T1", "T2", "T4", "T5"]
    assert [item.rank for item in items] == [1, 1, 2, 2]


def test_chunks_end_with_a_turn_and_name_all_their_turns(tmp_path: Path) -> None:
    memory = rag(tmp_path, HashEmbedder(64), unit="chunk", chunk_tokens=40)
    assert [id for unit in memory.units for id in unit.sources] == [turn.id for turn in TALK.turns]
    assert all(count_tokens(unit.text) <= 40 for unit in memory.units)
    assert len(memory.units) > 1


def test_the_budget_leaves_out_the_worst_ranked(tmp_path: Path) -> None:
    memory = rag(tmp_path, top_k=5, max_tokens=40)
    context = memory.retrieve(Question("q", "the kiln"))
    assert [item.id for item in context.items][:1] == ["T1"]
    assert len(context.items) < 5
    assert context.tokens["total"] <= 40


def test_an_empty_conversation_answers(tmp_path: Path) -> None:
    memory = NaiveRag(tmp_path, TableEmbedder(TABLE), RulesReasoner(), views=["dense", "lexical"])
    memory.build(Conversation("none", (), ()))
    assert memory.answer(Question("q", "Who?")).context.items == ()


@pytest.mark.parametrize("settings", [{"unit": "page"}, {"views": ["graph"]}, {"views": []}])
def test_a_wrong_choice_is_named(tmp_path: Path, settings: Any) -> None:
    with pytest.raises(BadInput, match="turn or chunk"):
        rag(tmp_path, **settings)
