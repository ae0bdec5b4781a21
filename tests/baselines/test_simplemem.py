"""SimpleMem: three views without fusion in a hand-made store, planning and reflection, and what every rival owes."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from baselines.simplemem import SimpleMem, meets, shown
from experiments.data import locomo
from tests.baselines.conformance import CHECKS
from tests.baselines.scripted import Scripted, TableEmbedder, Wrapped, dialogue
from trimem.embedding import HashEmbedder
from trimem.llm.base import Request
from trimem.llm.simulated import Simulated
from trimem.reasoning import LLMReasoner
from trimem.types import Fact, Plan, Question

LINES = (
    "Edda: I bought a kiln.",
    "Ruben: I paddle a canoe.",
    "Edda: The kiln is hot.",
    "Ruben: My atlas is old.",
)
TABLE = {"kiln": (1, 0, 0), "canoe": (0, 1, 0), "atlas": (0, 0, 1)}
QUESTION = Question("q", "What about the kiln?")
PLANS: dict[str, Any] = {
    "baseline:simplemem:plan": {"question_type": "list", "required_info": ["the kiln"], "minimal_queries_needed": 1},
    "baseline:simplemem:queries": {"queries": ["What about the kiln?", "kiln heat"]},
    "baseline:simplemem:keys": {"keywords": ["atlas"], "persons": ["Ruben"]},
    "baseline:simplemem:check": {"complete": True},
    "answer": {"reasoning": "", "answer": "hot"},
}


def extract(request: Request) -> Any:
    """A restatement a line, its speaker as its person."""
    facts = [
        {"statement": f"{turn['speaker']} says: {turn['text']}", "persons": [turn["speaker"]], "sources": [turn["id"]]}
        for turn in request.fields["turns"]
    ]
    return {"facts": facts}


def simplemem(directory: Path, llm: Any, **settings: Any) -> SimpleMem:
    return SimpleMem(directory, llm, HashEmbedder(64), LLMReasoner(llm), **settings)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_simplemem_owes(check: Callable[[Any, Path], None], tmp_path: Path) -> None:
    check(lambda directory, llm: simplemem(directory, llm, window=10), tmp_path)


def test_views_follow_one_another_each_with_its_own_k(tmp_path: Path) -> None:
    llm = Scripted({"baseline:simplemem:extract": extract, **PLANS})
    memory = SimpleMem(
        tmp_path, llm, TableEmbedder(TABLE), LLMReasoner(llm), semantic_top_k=2, keyword_top_k=1, structured_top_k=5
    )
    assert memory.build(dialogue(*LINES)).windows == 1
    found = [item.sources[0] for item in memory.retrieve(QUESTION).items]
    assert set(found[:2]) == {"T1", "T3"}, "the dense view: the two on the kiln, once though two queries found them"
    assert found[2:] == ["T4", "T2"], "then the keyword's line, then Ruben's other one"


def test_a_question_costs_three_plans_a_check_and_the_answer(tmp_path: Path) -> None:
    llm = Scripted({"baseline:simplemem:extract": extract, **PLANS})
    memory = simplemem(tmp_path, llm)
    memory.build(dialogue(*LINES))
    assert memory.answer(QUESTION).text == "hot"
    assert llm.calls() == {"extract": 1, "plan": 1, "queries": 1, "keys": 1, "check": 1, "answer": 1}


def test_reflection_searches_for_what_is_missing_twice_at_most(tmp_path: Path) -> None:
    rounds = iter([{"queries": ["the canoe"]}, {"queries": ["the atlas"]}, {"queries": ["more"]}])
    scripts = {
        **PLANS,
        "baseline:simplemem:extract": extract,
        "baseline:simplemem:keys": {},
        "baseline:simplemem:check": {"complete": False, "missing": "the boat"},
        "baseline:simplemem:more": lambda _: next(rounds),
    }
    llm = Scripted(scripts)
    memory = SimpleMem(tmp_path, llm, TableEmbedder(TABLE), LLMReasoner(llm), semantic_top_k=1)
    memory.build(dialogue(*LINES))
    context = memory.retrieve(QUESTION)
    assert [item.sources[0] for item in context.items][1:] == ["T2", "T4"]
    assert context.plan is not None
    assert context.plan.queries[-2:] == ("the canoe", "the atlas")
    assert llm.calls()["check"] == llm.calls()["more"] == 2


def test_the_structured_view_is_an_and_of_what_is_asked() -> None:
    fact = Fact("x", time="2021-05-03", location="Bergen, Norway", persons=("Edda",), entities=("Loomfest",))
    assert meets(fact, Plan((), persons=("EDDA",), time="2021-05", location="bergen"))
    assert not meets(fact, Plan((), persons=("Edda",), location="Oslo"))
    assert not meets(fact, Plan((), time="2022"))
    assert not meets(fact, Plan(()))
    assert shown(fact) == "x [time: 2021-05-03; place: Bergen, Norway; people: Edda; things: Loomfest]"


def test_no_raw_dialogue_and_no_profiles(tmp_path: Path) -> None:
    memory = simplemem(tmp_path, Simulated())
    report = memory.build(dialogue(*LINES))
    assert report.profiles == 0
    assert {item.kind for item in memory.retrieve(QUESTION).items} == {"fact"}


@pytest.mark.realdata
def test_locomo_takes_158_extractions(data_dir: Path, tmp_path: Path) -> None:
    conversations = locomo.load(data_dir / "locomo10.json")[0].conversations
    llm = Wrapped(Simulated())
    report = simplemem(tmp_path, llm).build(conversations[1])
    assert report.windows == len(llm.requests) == 10
    from trimem.memory import windows

    assert sum(len(windows(len(conversation.turns), 40, 2)) for conversation in conversations) == 158
