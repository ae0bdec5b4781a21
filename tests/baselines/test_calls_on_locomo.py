"""What Mem0, A-Mem and MemoryOS ask of a model on LoCoMo; skipped without the data set."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from baselines.amem import AMem
from baselines.mem0 import Mem0
from baselines.memoryos import MemoryOS
from baselines.memoryos.pages import pair
from experiments.data import locomo
from tests.baselines.scripted import Wrapped
from trimem.embedding import HashEmbedder
from trimem.llm.simulated import Simulated
from trimem.reasoning import LLMReasoner
from trimem.types import Conversation

pytestmark = pytest.mark.realdata


@pytest.fixture
def conversations(data_dir: Path) -> tuple[Conversation, ...]:
    return locomo.load(data_dir / "locomo10.json")[0].conversations


def calls(method: Any, directory: Path, conversation: Conversation) -> Counter[str]:
    """Calls by step of building one conversation, all turns of which must arrive."""
    llm = Wrapped(Simulated())
    memory = method(directory, llm, HashEmbedder(), LLMReasoner(llm))
    report = memory.build(conversation)
    assert (report.turns, report.failed_windows) == (len(conversation.turns), 0)
    return Counter(request.stage.rpartition(":")[2] for request in llm.requests)


def test_amem_asks_twice_a_turn_less_once_a_conversation(
    conversations: tuple[Conversation, ...], tmp_path: Path
) -> None:
    assert calls(AMem, tmp_path, conversations[0]) == {"note": 419, "evolve": 418}
    # over all ten this is the 11,754 that a third party counted
    assert sum(2 * len(conversation.turns) - 1 for conversation in conversations) == 11_754


def test_mem0_extracts_once_a_speaker_and_batch(conversations: tuple[Conversation, ...], tmp_path: Path) -> None:
    asked = calls(Mem0, tmp_path, conversations[0])
    assert (asked["extract"], asked["summary"]) == (419, 41)


def test_memoryos_asks_three_times_a_page_that_moves(conversations: tuple[Conversation, ...], tmp_path: Path) -> None:
    asked = calls(MemoryOS, tmp_path, conversations[0])
    assert (asked["continuity"], asked["meta"], asked["topics"]) == (207, 208, 208)  # 215 pages less the queue's 7
    assert asked["profile"] == asked["knowledge"] > 0


def test_every_turn_of_locomo_is_on_a_page(conversations: tuple[Conversation, ...]) -> None:
    pages = 0
    for conversation in conversations:
        exchanges = pair(conversation.turns, conversation.speakers[0])
        assert [turn for exchange in exchanges for turn in exchange] == list(conversation.turns)
        pages += len(exchanges)
    assert pages == 3_075
