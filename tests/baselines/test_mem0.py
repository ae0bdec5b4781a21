"""Mem0: a conversation of ten turns worked out by hand, its four operations, and what every rival owes."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from baselines.base import FOLDER
from baselines.mem0 import Mem0
from tests.baselines.conformance import CHECKS, CONVERSATION
from tests.baselines.scripted import Scripted, TableEmbedder, Wrapped, dialogue
from trimem.embedding import HashEmbedder
from trimem.llm.base import Request
from trimem.llm.simulated import Simulated
from trimem.reasoning import LLMReasoner
from trimem.types import Conversation, Question

LINES = (
    "Edda: I bought a kiln in Bergamo.",
    "Ruben: I paddle a canoe.",
    "Edda: The kiln fires to 1200 degrees.",
    "Ruben: I sold the canoe.",
    "Edda: As I said, I have a kiln.",
    "Ruben: I now row a dinghy.",  # the first session ends here
    "Edda: My loom is new.",
    "Ruben: Good for you.",
    "Ruben: And the loom, is it big?",
    "Ruben: My atlas is old.",
)
FACTS = {
    "T1": ["Edda bought a kiln in Bergamo."],
    "T2": ["Ruben paddles a canoe."],
    "T3": ["Edda's kiln fires to 1200 degrees."],
    "T4": ["Ruben sold his canoe."],
    "T5": ["Edda has a kiln."],
    "T6": ["Ruben rows a dinghy."],
    "T7": ["Edda has a new loom."],
    "T8": [],
    "T9": ["Ruben has an old atlas."],
}
DECISIONS = {
    "Edda's kiln fires to 1200 degrees.": ("UPDATE", "m1", "Edda's kiln from Bergamo fires to 1200 degrees."),
    "Ruben sold his canoe.": ("DELETE", "m2", None),
    "Edda has a kiln.": ("NOOP", None, None),
    "Edda has a new loom.": ("ADD", None, None),
    "Ruben has an old atlas.": ("ADD", None, None),
}
TABLE = {
    "kiln": (1, 0, 0, 0),
    "canoe": (0, 1, 0, 0),
    "dinghy": (0, 0.8, 0.6, 0),
    "loom": (0, 0, 1, 0),
    "atlas": (0, 0, 0, 1),
}


def scripts(decisions: dict[str, Any] | None = None) -> dict[str, Any]:
    known = DECISIONS if decisions is None else decisions

    def decide(request: Request) -> Any:
        decision = known[request.fields["facts"][0]]
        return decision if isinstance(decision, str) else dict(zip(("operation", "id", "text"), decision, strict=True))

    return {
        "baseline:mem0:extract": lambda request: {"facts": FACTS[request.fields["turns"][0]["id"]]},
        "baseline:mem0:decide": decide,
        "baseline:mem0:summary": lambda request: {"summary": f"Summary of {len(request.fields['turns'])} turns."},
        "answer": {"answer": "Bergamo"},
    }


def make(directory: Path, llm: Any, **settings: Any) -> Mem0:
    return Mem0(directory, llm, HashEmbedder(), LLMReasoner(llm), **settings)


def scripted(directory: Path, llm: Any, **settings: Any) -> Mem0:
    return Mem0(directory, llm, TableEmbedder(TABLE), LLMReasoner(llm), **settings)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_mem0_owes(check: Callable[..., None], tmp_path: Path) -> None:
    check(make, tmp_path)


def test_the_four_operations_leave_the_store_worked_out_by_hand(tmp_path: Path) -> None:
    llm = Scripted(scripts())
    memory = scripted(tmp_path, llm)
    report = memory.build(dialogue(*LINES))
    first, second = "2019-01-07T18:30:00", "2019-01-14T18:30:00"
    assert memory.journal.records("memory of Edda") == {
        "m1": {
            "text": "Edda's kiln from Bergamo fires to 1200 degrees.",
            "created": first,
            "updated": first,
            "sources": ["T1", "T3"],
        },
        "m4": {"text": "Edda has a new loom.", "created": second, "updated": second, "sources": ["T7"]},
    }
    assert memory.journal.records("memory of Ruben") == {
        # the canoe, m2, is deleted; the dinghy met an empty store and cost no decision
        "m3": {"text": "Ruben rows a dinghy.", "created": first, "updated": first, "sources": ["T6"]},
        "m5": {"text": "Ruben has an old atlas.", "created": second, "updated": second, "sources": ["T9", "T10"]},
    }
    assert (report.turns, report.windows, report.failed_windows, report.facts) == (10, 5, 0, 4)
    # five batches of two turns; Edda is silent in the last, so nine extractions
    assert llm.calls() == {"extract": 9, "decide": 5}
    assert memory.problems == []


def test_an_update_in_a_later_session_carries_its_date(tmp_path: Path) -> None:
    decisions = DECISIONS | {"Edda has a new loom.": ("UPDATE", "[m1]", "Edda has a kiln and a loom.")}
    memory = scripted(tmp_path, Scripted(scripts(decisions)))
    memory.build(dialogue(*LINES))
    merged = memory.journal.records("memory of Edda")["m1"]
    assert (merged["created"][:10], merged["updated"][:10]) == ("2019-01-07", "2019-01-14")
    best = memory.retrieve(Question("q", "What about the kiln?")).items[0]
    assert best.text == "[2019-01-14] Edda has a kiln and a loom."
    assert best.sources == ("T1", "T3", "T7")
    # its vector is that of the new wording, halfway between kiln and loom
    assert best.score == pytest.approx(2**-0.5)


def test_unknown_ids_and_unreadable_decisions_lose_no_fact_and_are_counted(tmp_path: Path) -> None:
    decisions = {
        "Edda's kiln fires to 1200 degrees.": ("UPDATE", "m77", "nonsense"),
        "Ruben sold his canoe.": ("DELETE", "m78", None),
        "Edda has a kiln.": "I would rather not say.",
        "Ruben rows a dinghy.": ("UPDATE", None, None),
        "Edda has a new loom.": ("ADD", None, None),
        "Ruben has an old atlas.": ("REPLACE", "m1", "nonsense"),
    }
    memory = scripted(tmp_path, Scripted(scripts(decisions)))
    report = memory.build(dialogue(*LINES))
    stored = [memory.journal.records(f"memory of {speaker}").values() for speaker in ("Edda", "Ruben")]
    texts = [value["text"] for values in stored for value in values]
    assert sorted(texts) == sorted(
        fact for facts in FACTS.values() for fact in facts if fact != "Ruben sold his canoe."
    )
    assert report.failed_windows == 2  # the batches of T5 and T9: their decisions could not be read
    assert any("DELETE of 'm78'" in problem for problem in memory.problems)


def test_the_extractor_sees_the_summary_and_the_last_messages_but_not_more(tmp_path: Path) -> None:
    llm = Scripted(scripts())
    scripted(tmp_path, llm, recent=2, summary_every=4).build(dialogue(*LINES))
    # 4 turns before the third batch, 4 more before the fifth
    assert llm.calls()["summary"] == 2
    shown = [r.messages[1].content for r in llm.requests if r.stage.endswith("extract")]
    last = shown[-1]
    assert "Summary of 4 turns." in last
    assert "[T7]" in last
    assert "[T8]" in last
    assert "[T6]" not in last
    assert "(none yet)" in shown[0]


def test_each_speaker_has_top_k_memories_ranked_together(tmp_path: Path) -> None:
    memory = scripted(tmp_path, Scripted(scripts()), top_k=1)
    memory.build(dialogue(*LINES))
    context = memory.retrieve(Question("q", "the loom"))
    assert [(item.id, item.rank) for item in context.items] == [("m4", 1), ("m3", 2)]
    assert [item.score for item in context.items] == pytest.approx([1.0, 0.6])


def test_a_context_budget_leaves_out_the_worst(tmp_path: Path) -> None:
    memory = scripted(tmp_path, Scripted(scripts()), max_tokens=40)
    memory.build(dialogue(*LINES))
    context = memory.retrieve(Question("q", "the loom"))
    assert [item.rank for item in context.items] == [1, 2]
    assert context.tokens["total"] <= 40


def test_the_native_answer_prompt_reads_the_same_context(tmp_path: Path) -> None:
    llm = Scripted(scripts())
    memory = Mem0(tmp_path, llm, TableEmbedder(TABLE), LLMReasoner(llm, str(FOLDER / "mem0_answer.md")))
    memory.build(dialogue(*LINES))
    assert memory.answer(Question("q", "Where is the kiln from?")).text == "Bergamo"
    assert "five or six words" in llm.requests[-1].messages[0].content
    assert "[2019-01-07] Edda's kiln from Bergamo" in llm.requests[-1].messages[1].content


def test_calls_follow_from_turns_speakers_and_facts(tmp_path: Path) -> None:
    llm = Wrapped(Simulated())
    make(tmp_path, llm).build(CONVERSATION)
    stages = [request.stage.rpartition(":")[2] for request in llm.requests]
    assert stages.count("extract") == 24  # 12 batches, both speak in each
    assert stages.count("summary") == 2


def test_sessions_do_not_share_a_batch(tmp_path: Path) -> None:
    memory = make(tmp_path, Simulated())
    odd = dialogue(*LINES, per_session=5)
    assert memory.build(odd).windows == 6  # 2 + 2 + 1 turns, twice


def test_an_empty_memory_has_an_empty_context(tmp_path: Path) -> None:
    memory = make(tmp_path, Simulated())
    assert memory.build(Conversation("c", (), ())).turns == 0
    assert memory.retrieve(Question("q", "Who?")).items == ()
