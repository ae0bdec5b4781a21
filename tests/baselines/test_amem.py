"""A-Mem: a conversation of eight turns worked out by hand, links, rewritten neighbours, and what every rival owes."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from baselines.amem import AMem
from baselines.base import FOLDER
from tests.baselines.conformance import CHECKS, CONVERSATION
from tests.baselines.scripted import Scripted, TableEmbedder, Wrapped, dialogue
from trimem.embedding import HashEmbedder
from trimem.errors import BadInput
from trimem.llm.simulated import Simulated
from trimem.reasoning import LLMReasoner
from trimem.types import Question

LINES = (
    "Edda: I bought a kiln.",
    "Ruben: I paddle a canoe.",
    "Edda: The kiln is hot.",
    "Ruben: The canoe leaks.",
    "Edda: A loom stands beside the kiln.",
    "Ruben: My atlas is old.",
    "Edda: The loom is oak.",
    "Ruben: The atlas shows Cadiz.",
)
TABLE = {
    "kiln": (1, 0, 0, 0, 0),
    "canoe": (0, 1, 0, 0, 0),
    "loom": (0, 0, 1, 0, 0),
    "atlas": (0, 0, 0, 1, 0),
    "pottery": (0, 0, 0, 0, 1),
}
NOTHING = {"should_evolve": False}
EVOLUTIONS: dict[str, Any] = {
    "T2": NOTHING,
    # the second line on the kiln is linked to the first and rewrites it
    "T3": {
        "should_evolve": True,
        "actions": ["strengthen", "update_neighbor"],
        "suggested_connections": ["T1"],
        "tags_to_update": ["craft", "heat"],
        "neighbors": [{"id": "[T1]", "context": "Edda takes up pottery.", "tags": ["craft", "pottery"]}],
    },
    # a link that was not offered, and rewriting without the action for it
    "T4": {
        "should_evolve": True,
        "actions": ["strengthen"],
        "suggested_connections": ["T2", "T9"],
        "neighbors": [{"id": "T2", "context": "never written"}],
    },
    # rewrites one neighbour's context only, and one that does not exist
    "T5": {
        "should_evolve": True,
        "actions": ["update_neighbor"],
        "neighbors": [{"id": "T3", "context": "The kiln stands by a loom."}, {"id": "T77", "context": "nowhere"}],
    },
    "T6": "This is no JSON.",
    "T7": {"should_evolve": True, "actions": ["strengthen"], "suggested_connections": ["T5"]},
    "T8": NOTHING,
}


def scripts(changes: dict[str, Any] | None = None) -> dict[str, Any]:
    evolutions = EVOLUTIONS | (changes or {})
    return {
        "baseline:amem:note": lambda request: {
            "keywords": [request.fields["turns"][0]["text"].split()[-1].strip(".")],
            "context": f"About {request.fields['turns'][0]['speaker']}.",
            "tags": ["talk"],
        },
        "baseline:amem:evolve": lambda request: evolutions[request.fields["turns"][0]["id"]],
        "baseline:amem:query": {"keywords": ["loom", "pottery"]},
        "answer": {"answer": "oak"},
    }


def make(directory: Path, llm: Any, **settings: Any) -> AMem:
    return AMem(directory, llm, HashEmbedder(), LLMReasoner(llm), **settings)


def scripted(directory: Path, llm: Any, **settings: Any) -> AMem:
    return AMem(directory, llm, TableEmbedder(TABLE), LLMReasoner(llm), **settings)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_amem_owes(check: Callable[..., None], tmp_path: Path) -> None:
    check(make, tmp_path)


def test_links_and_rewritten_neighbours_are_those_worked_out_by_hand(tmp_path: Path) -> None:
    llm = Scripted(scripts())
    memory = scripted(tmp_path, llm)
    report = memory.build(dialogue(*LINES))
    notes = memory.journal.records("note")
    assert list(notes) == [f"T{n}" for n in range(1, 9)]
    assert notes["T1"] == {
        "id": "T1",
        "content": "Edda: I bought a kiln.",
        "time": "2019-01-07T18:30:00",
        "keywords": ["kiln"],
        "context": "Edda takes up pottery.",
        "tags": ["craft", "pottery"],
        "links": [],
    }
    assert {id: note["links"] for id, note in notes.items() if note["links"]} == {
        "T3": ["T1"],
        "T4": ["T2"],
        "T7": ["T5"],
    }
    assert (notes["T3"]["context"], notes["T3"]["tags"]) == ("The kiln stands by a loom.", ["craft", "heat"])
    assert (notes["T2"]["context"], notes["T2"]["tags"]) == ("About Ruben.", ["talk"])
    assert (report.turns, report.windows, report.failed_windows) == (8, 8, 1)  # T6, stored without evolution
    assert notes["T6"]["keywords"] == ["old"]
    problems = memory.problems
    assert any("'T9', which is no neighbour" in problem for problem in problems)
    assert any("rewrite of 'T77'" in problem for problem in problems)


def test_a_conversation_costs_two_calls_a_turn_less_one(tmp_path: Path) -> None:
    llm = Wrapped(Simulated())
    make(tmp_path, llm).build(CONVERSATION)
    assert len(llm.requests) == 2 * len(CONVERSATION.turns) - 1


def test_the_model_is_shown_the_nearest_notes_under_their_ids(tmp_path: Path) -> None:
    llm = Scripted(scripts())
    scripted(tmp_path, llm, neighbours=2).build(dialogue(*LINES))
    shown = {
        r.fields["turns"][0]["id"]: [m["id"] for m in r.fields["memories"]] for r in llm.requests if "evolve" in r.stage
    }
    assert shown["T5"] == ["T1", "T3"]  # both on the kiln, the older first
    assert shown["T7"] == ["T5", "T1"]  # the loom; then, as none is near, the first
    assert shown["T2"] == ["T1"]


def test_vectors_of_rewritten_notes_stay_until_the_threshold(tmp_path: Path) -> None:
    stale, fresh = scripted(tmp_path / "stale", Scripted(scripts())), None
    stale.build(dialogue(*LINES))
    fresh = scripted(tmp_path / "fresh", Scripted(scripts()), evolution_threshold=4)
    fresh.build(dialogue(*LINES))  # T3, T4, T5 and T7 evolve: the fourth embeds all anew
    (kiln, pottery) = (0, 4)
    for memory, expected in ((stale, (1.0, 0.0)), (fresh, (2**-0.5, 2**-0.5))):
        ids, vectors = memory.journal.vectors("note")
        first = vectors[ids.index("T1")]
        assert (first[kiln], first[pottery]) == pytest.approx(expected)
    assert stale.journal.records("note") == fresh.journal.records("note")


def test_the_keywords_are_searched_with_and_links_followed(tmp_path: Path) -> None:
    llm = Scripted(scripts())
    memory = scripted(tmp_path, llm, top_k=1)
    memory.build(dialogue(*LINES))
    context = memory.retrieve(Question("q", "Which wood is it made of?"))
    assert llm.requests[-1].stage == "baseline:amem:query"
    assert [(item.id, item.rank) for item in context.items] == [("T7", 1), ("T5", 0)]
    assert (
        context.items[0].text == "[2019-01-14] Edda: The loom is oak. (context: About Edda.; keywords: oak; tags: talk)"
    )
    assert context.items[1].sources == ("T5",)
    assert context.plan is not None
    assert context.plan.keywords == ("loom", "pottery")
    assert memory.answer(Question("q", "Which wood?")).text == "oak"


def test_a_note_that_is_found_and_linked_enters_once_with_its_rank(tmp_path: Path) -> None:
    memory = scripted(tmp_path, Scripted(scripts()), top_k=2, query="question")
    memory.build(dialogue(*LINES))
    context = memory.retrieve(Question("q", "the loom"))
    assert [(item.id, item.rank) for item in context.items] == [("T7", 1), ("T5", 2)]


def test_a_failed_query_call_falls_back_to_the_question_and_says_so(tmp_path: Path) -> None:
    memory = scripted(tmp_path, Scripted(scripts() | {"baseline:amem:query": "no idea"}), top_k=1, follow_links=False)
    memory.build(dialogue(*LINES))
    answer = memory.answer(Question("q", "the atlas"))
    assert [item.id for item in answer.context.items] == ["T6"]
    assert answer.problems


def test_without_evolution_there_is_one_call_a_turn_and_no_link(tmp_path: Path) -> None:
    llm = Scripted(scripts())
    memory = scripted(tmp_path, llm, evolve=False)
    memory.build(dialogue(*LINES))
    assert llm.calls() == {"note": 8}
    assert not any(note["links"] for note in memory.journal.records("note").values())


def test_an_unknown_way_to_search_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="'keywords' or 'question'"):
        make(tmp_path, Simulated(), query="answer")


def test_the_native_answer_prompt_is_blind_to_categories(tmp_path: Path) -> None:
    llm = Scripted(scripts())
    memory = AMem(tmp_path, llm, TableEmbedder(TABLE), LLMReasoner(llm, str(FOLDER / "amem_answer.md")))
    memory.build(dialogue(*LINES))
    memory.answer(Question("q1", "When was the kiln bought?"))
    memory.answer(Question("q2", "Would she like glass?"))
    answers = [request for request in llm.requests if request.stage == "answer"]
    assert answers[0].messages[0] == answers[1].messages[0]
    assert "[2019-01-07] Edda: I bought a kiln." in answers[0].messages[1].content
