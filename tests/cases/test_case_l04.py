"""Case l04: one user's memory never shows another's, and a full one crowds nobody out."""

from datetime import datetime
from pathlib import Path

import pytest

from trimem.embedding import HashEmbedder
from trimem.errors import BadInput
from trimem.memory import TriMem
from trimem.retrieval import HybridRetriever

ASKED = "Where do I live?"


def memory_of(folder: Path, user: str, *said: str) -> TriMem:
    embedder = HashEmbedder(256)
    retriever = HybridRetriever(embedder, top_k=5, units=("fact", "turn"))
    memory = TriMem(folder / user, embedder=embedder, retriever=retriever, conversation=user)
    memory.add([{"role": "user", "content": text} for text in said], time=datetime(2024, 3, 11))
    return memory


def test_b_is_told_what_b_said_and_nothing_of_a(tmp_path: Path) -> None:
    more = [f"I live on floor {n} and I live well." for n in range(200)]
    with memory_of(tmp_path, "a", "I live in Oslo.", *more) as a, memory_of(tmp_path, "b", "I live in Quito.") as b:
        shown = " ".join(item.text for item in b.ask(ASKED).context.items)
        assert "Quito" in shown and "Oslo" not in shown and "floor" not in shown
        assert "Quito" not in " ".join(item.text for item in a.ask(ASKED).context.items)
        for search in (
            b.store.search_text("fact", ASKED, 5),
            b.store.search_text("turn", "live Oslo", 5),
            b.store.search_dense("fact", b.embedder.encode([ASKED]), 5)[0],
            b.store.search_symbolic(["user"], [], "Oslo", None, 5),
        ):
            ids = [id_ for id_, _ in search]
            assert len(ids) <= 1
            assert all("Quito" in fact.statement for fact in b.store.facts_by_id(ids))
        assert not [line for profile in b.store.profiles() for line in profile.sections.values() if "Oslo" in line]


def test_a_directory_is_opened_for_its_owner_alone(tmp_path: Path) -> None:
    memory_of(tmp_path, "a", "I live in Oslo.").close()
    with pytest.raises(BadInput, match=r"holds conversation 'a', not 'b'"):
        TriMem(tmp_path / "a", embedder=HashEmbedder(256), conversation="b")


def test_no_name_is_nobody_and_not_everybody() -> None:
    with pytest.raises(BadInput, match="a directory of its own"):
        TriMem("")
