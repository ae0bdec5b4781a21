"""LightMem: its buffers, its soft insert and its offline update, worked out by hand."""

from pathlib import Path
from typing import Any

import pytest

from baselines.lightmem import LightMem
from experiments.identity import method_name
from tests.baselines.conformance import CHECKS
from tests.baselines.scripted import Scripted, TableEmbedder, dialogue
from trimem.embedding import HashEmbedder
from trimem.llm.base import Request
from trimem.reasoning import LLMReasoner
from trimem.types import Question


def make(directory: Path, llm: Any) -> LightMem:
    return LightMem(directory, llm, HashEmbedder(), LLMReasoner(llm), sensory_tokens=120, stm_tokens=200)


@pytest.mark.parametrize("check", CHECKS)
def test_conforms(check: Any, tmp_path: Path) -> None:
    check(make, tmp_path)


# Ten turns, three topics: a boat (1-4), bread (5-7), the boat again (8-10). Along each axis of the table turns are
# equal, across axes orthogonal, so the topic changes at T5 and at T8.
LINES = [
    "Ilse: I bought a boat at last.",
    "Marek: A boat, what colour?",
    "Ilse: The boat is blue.",
    "Marek: A blue boat suits you.",
    "Ilse: Do you still bake bread?",
    "Marek: I bake rye bread on Sundays.",
    "Ilse: Your bread is famous.",
    "Marek: How is the boat now?",
    "Ilse: The boat is red now, I painted it.",
    "Marek: A red boat then.",
]
TABLE = {"boat": (1, 0, 0, 0), "bread": (0, 1, 0, 0), "hangs": (0, 0, 1, 0), "?": (0, 0, 0, 0.01)}
FACTS = {
    "T3": "Ilse's boat is blue.",
    "T6": "Marek bakes rye bread on Sundays.",
    "T9": "Ilse painted her boat red.",
}


def extract(request: Request) -> dict[str, Any]:
    ids = [turn["id"] for turn in request.fields["turns"]]
    facts = [{"statement": text, "sources": [id]} for id, text in FACTS.items() if id in ids]
    return {"facts": facts + [{"statement": "A lamp hangs there.", "sources": ["T99"]}] * ("T5" in ids)}


def update(request: Request) -> dict[str, Any]:
    target = request.fields["memories"][0]["text"]
    return {"action": "update", "new_memory": f"{target} Later it was painted red."}


def build(tmp_path: Path, scripts: dict[str, Any], **settings: Any) -> tuple[LightMem, Scripted]:
    llm = Scripted({"baseline:lightmem:extract": extract, "baseline:lightmem:update": update, **scripts})
    sizes: dict[str, Any] = {"sensory_tokens": 1000, "stm_tokens": 130, "compressor": "none"} | settings
    return LightMem(tmp_path, llm, TableEmbedder(TABLE), LLMReasoner(llm), **sizes), llm


def test_buffers_cut_at_topics_and_facts_are_stored_as_they_come(tmp_path: Path) -> None:
    memory, llm = build(tmp_path, {}, update_threshold=1.1)
    report = memory.build(dialogue(*LINES))
    batches = [batch["segments"] for batch in memory.journal.records("batch").values()]
    assert batches == [
        [["T1", "T2", "T3", "T4"], ["T5", "T6", "T7"]],
        [["T8", "T9", "T10"]],
    ]
    entries = memory.journal.records("entry")
    assert {id: (e["text"], e["speaker"], e["topic"], e["sources"]) for id, e in entries.items()} == {
        "m1": ("Ilse's boat is blue.", "Ilse", "T1", ["T3"]),
        "m2": ("Marek bakes rye bread on Sundays.", "Marek", "T5", ["T6"]),
        "m3": ("A lamp hangs there.", "", "T1", []),
        "m4": ("Ilse painted her boat red.", "Ilse", "T8", ["T9"]),
    }
    assert (report.windows, report.facts, report.facts_without_source, report.turns) == (2, 4, 1, 10)
    assert llm.calls() == {"extract": 2}


def test_an_update_completes_the_earlier_entry_and_leaves_its_vector_stale(tmp_path: Path) -> None:
    memory, llm = build(tmp_path, {})
    memory.build(dialogue(*LINES))
    entries = memory.journal.records("entry")
    assert entries["m1"]["text"] == "Ilse's boat is blue. Later it was painted red."
    assert entries["m1"]["sources"] == ["T3", "T9"]
    assert entries["m4"]["text"] == "Ilse painted her boat red."  # only later entries change earlier ones
    assert llm.calls() == {"extract": 2, "update": 1}
    assert memory.journal.records("decision") == {}


def test_a_contradicted_entry_is_deleted(tmp_path: Path) -> None:
    memory, _ = build(tmp_path, {"baseline:lightmem:update": {"action": "delete"}})
    assert memory.build(dialogue(*LINES)).facts == 3
    assert "m1" not in memory.journal.records("entry")


@pytest.mark.parametrize("said", ["nonsense", {"action": "explode"}, {"action": "update", "new_memory": " "}])
def test_an_update_that_cannot_be_read_changes_nothing(tmp_path: Path, said: Any) -> None:
    memory, _ = build(tmp_path, {"baseline:lightmem:update": said})
    memory.build(dialogue(*LINES))
    assert memory.journal.records("entry")["m1"]["text"] == "Ilse's boat is blue."


@pytest.mark.parametrize("reembed, similarity", [(False, 1.0), (True, 0.7071)])
def test_reembedding_is_an_option(tmp_path: Path, reembed: bool, similarity: float) -> None:
    said = {"action": "update", "new_memory": "The boat hangs in the shed."}
    memory, _ = build(tmp_path, {"baseline:lightmem:update": said}, reembed=reembed)
    memory.build(dialogue(*LINES))
    scores = {item.id: item.score for item in memory.retrieve(Question("q", "boat")).items}
    assert scores["m1"] == pytest.approx(similarity, abs=1e-3)


def test_a_question_reads_both_speakers_with_recording_days(tmp_path: Path) -> None:
    memory, _ = build(tmp_path, {}, update_threshold=1.1, top_k=3)
    memory.build(dialogue(*LINES))
    items = memory.retrieve(Question("q", "Which boat?")).items
    assert [(item.rank, item.text) for item in items] == [
        (1, "[Ilse, Monday 7 January 2019] Ilse's boat is blue."),
        (2, "[Ilse, Monday 14 January 2019] Ilse painted her boat red."),
        (3, "[Marek, Monday 7 January 2019] Marek bakes rye bread on Sundays."),
    ]


def test_the_row_says_which_compressor_was_used() -> None:
    def named(compressor: str) -> str:
        return method_name({"_target_": "baselines.lightmem.LightMem", "compressor": compressor})

    assert [named(c) for c in ("idf", "none", "llmlingua2")] == ["LightMem (idf)", "LightMem (none)", "LightMem"]
