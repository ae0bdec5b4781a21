"""Small conversations and memories for the cases about people."""

from datetime import datetime
from pathlib import Path

from trimem import TriMem
from trimem.embedding import HashEmbedder
from trimem.types import Conversation, Session, Turn

WHEN = datetime(2023, 5, 8, 13, 56)


def conversation(id: str, *said: tuple[str, str]) -> Conversation:
    """One session of (speaker, text) turns."""
    turns = tuple(Turn(f"D1:{i}", speaker, text, WHEN, "1") for i, (speaker, text) in enumerate(said, 1))
    return Conversation(id, tuple(dict.fromkeys(speaker for speaker, _ in said)), (Session("1", WHEN, turns),))


def memory_of(folder: Path, built: Conversation, min_facts: int = 1) -> TriMem:
    """A memory without a model that holds the conversation and a profile from `min_facts` facts on."""
    from trimem.rules.profiling import RulesProfiler

    memory = TriMem(folder, embedder=HashEmbedder(), profiler=RulesProfiler(min_facts))
    memory.build(built)
    return memory
