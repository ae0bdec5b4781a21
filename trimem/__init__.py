"""TriMem: a memory for LLM agents that keeps raw dialogue, atomic facts and profiles side by side.

>>> from trimem import TriMem
>>> memory = TriMem("memories/ada")  # no model: rules; with one: TriMem("memories/ada", llm="gpt-4.1-mini")
>>> memory.add([{"role": "user", "name": "Ada", "content": "I moved to Ghent last week."}])
>>> memory.ask("Where did Ada move?").text
"""

from trimem.errors import BadInput, BudgetReached, LLMUnavailable, TriMemError
from trimem.memory import TriMem
from trimem.protocols import Embedder, Extractor, Memory, Planner, Profiler, Reasoner, Retriever
from trimem.types import (
    Answer,
    BuildReport,
    Context,
    Conversation,
    Extraction,
    Fact,
    Item,
    Plan,
    Profile,
    Question,
    Session,
    Turn,
)

__all__ = [
    "Answer",
    "BadInput",
    "BudgetReached",
    "BuildReport",
    "Context",
    "Conversation",
    "Embedder",
    "Extraction",
    "Extractor",
    "Fact",
    "Item",
    "LLMUnavailable",
    "Memory",
    "Plan",
    "Planner",
    "Profile",
    "Profiler",
    "Question",
    "Reasoner",
    "Retriever",
    "Session",
    "TriMem",
    "TriMemError",
    "Turn",
]
