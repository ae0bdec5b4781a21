"""The simulated model."""

import enum
import time
from collections import Counter
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

import trimem.replies
from tests.trimem.llm.fakes import user
from trimem.llm.base import Request
from trimem.llm.simulated import FAULTS, Simulated
from trimem.llm.structured import ask
from trimem.replies import AnswerReply, ExtractedFacts, ProfileReply, QueryPlan, ReplySchema, Sufficiency
from trimem.tokens import count_tokens

TURNS = [
    {
        "id": "D1:1",
        "speaker": "Ana",
        "text": "I moved to Lisbon with Bruno last spring! It was hard.",
        "time": "2023-05-04",
    },
    {"id": "D1:2", "speaker": "Bo", "text": "Oh?", "time": "2023-05-04"},
    {"id": "D1:3", "speaker": "Bo", "text": "My boat, the Tern, needs new sails.", "time": None},
]
FIELDS: dict[str, dict[str, Any]] = {
    "extract": {"turns": TURNS, "speakers": ["Ana", "Bo"]},
    "profile": {
        "person": "Ana",
        "profile": "",
        "facts": ["Ana moved to Lisbon.", "Ana sails."],
        "fact_ids": ["1", "2"],
    },
    "plan": {"question": "When did Ana move to Lisbon?"},
    "answer": {"question": "Where did Ana move?", "facts": ["Bo sails.", "Ana moved to Lisbon."], "profiles": []},
    "reflect": {"question": "Where did Ana move?", "facts": ["Ana moved to Lisbon."]},
}
SCHEMAS = [kind for kind in vars(trimem.replies).values() if isinstance(kind, type) and issubclass(kind, ReplySchema)]


def call(stage: str, schema: type[BaseModel] | None, **changes: Any) -> Request:
    return user(stage=stage, schema=schema, fields=FIELDS.get(stage, {}), **changes)


def value_of(request: Request) -> Any:
    return ask(Simulated(), request).value


def test_facts_name_their_speaker_and_their_source_turn() -> None:
    facts: ExtractedFacts = value_of(call("extract", ExtractedFacts))
    assert [(fact.sources, fact.persons[0]) for fact in facts.facts] == [(["D1:1"], "Ana"), (["D1:3"], "Bo")]
    assert "Lisbon" in facts.facts[0].statement and facts.facts[0].time == "2023-05-04"
    assert {"Lisbon", "Bruno"} == set(facts.facts[0].entities)


def test_plan_is_made_of_the_question() -> None:
    plan: QueryPlan = value_of(call("plan", QueryPlan))
    assert plan.queries and set(plan.queries[0].split()) <= {"when", "move", "lisbon"}
    assert "Lisbon" in plan.persons


def test_answer_is_a_span_of_the_fact_that_fits_the_question() -> None:
    answer: AnswerReply = value_of(call("answer", AnswerReply))
    assert answer.answer == "Ana moved to Lisbon"
    assert Simulated().complete(call("answer", None)).text == "Ana moved to Lisbon"


def test_profile_holds_every_fact_and_reflection_ends() -> None:
    profile: ProfileReply = value_of(call("profile", ProfileReply))
    assert [section.text for section in profile.sections] == ["Ana moved to Lisbon.", "Ana sails."]
    assert value_of(call("reflect", Sufficiency)).complete


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Inner(BaseModel):
    verdict: Literal["CORRECT", "WRONG"]
    score: float = Field(ge=0.5, le=0.9)


class Everything(BaseModel):
    """A schema of a method that the simulated model has never heard of."""

    short: str = Field(max_length=5)
    long: str = Field(min_length=300)
    aliased: int = Field(alias="otherName", gt=3, lt=5)
    nested: Inner
    many: list[Inner] = Field(min_length=3, max_length=3)
    maybe: str | None
    either: int | str
    colour: Colour
    flags: dict[str, int]
    pairs: tuple[str, ...]
    noted: Annotated[list[str], Field(max_length=1)]
    flag: bool
    share: float = Field(gt=0, lt=1)


@pytest.mark.parametrize("schema", [*SCHEMAS, Everything], ids=lambda schema: schema.__name__)
@pytest.mark.parametrize("stage", [*FIELDS, "judge", "evolve", "baseline:unheard-of"])
def test_every_schema_is_filled_at_every_stage(stage: str, schema: type[BaseModel]) -> None:
    outcome = ask(Simulated(), call(stage, schema))
    assert outcome.value is not None, outcome.problems
    schema.model_validate_json(outcome.reply.text)


def test_equal_requests_have_equal_replies_and_samples_tell_them_apart() -> None:
    texts = [Simulated().complete(call("evolve", Inner, sample=sample)).text for sample in (0, 0, 1, 2, 3, 4)]
    assert texts[0] == texts[1] and len(set(texts)) > 1


def test_tokens_are_counted() -> None:
    reply = Simulated().complete(call("answer", None))
    assert reply.usage.prompt_tokens == count_tokens("hello")
    assert reply.usage.completion_tokens == count_tokens(reply.text)


def test_faults_are_as_frequent_as_asked_of_all_kinds_and_the_same_again() -> None:
    requests = [call("extract", ExtractedFacts, sample=sample) for sample in range(600)]
    replies = Simulated(fault_rate=0.25).complete_many(requests)
    again = Simulated(fault_rate=0.25, concurrency=1).complete_many(requests)
    assert [(reply.status, reply.text) for reply in replies] == [(reply.status, reply.text) for reply in again]
    good = Simulated().complete(requests[0]).text
    kinds = Counter("malformed" if r.status == "ok" and r.text != good else r.status for r in replies)
    assert set(kinds) == {*FAULTS, "ok"}
    assert 450 - 50 < kinds["ok"] < 450 + 50


def test_latency_is_waited_side_by_side_and_no_wider_than_concurrency() -> None:
    begun = time.monotonic()
    Simulated(latency=0.1, concurrency=4).complete_many([user(str(number)) for number in range(8)])
    assert 0.2 <= time.monotonic() - begun < 0.4


def test_length_stretches_sentences_and_nothing_else() -> None:
    def extracted(length: float) -> ExtractedFacts:
        found = ask(Simulated(length=length), call("extract", ExtractedFacts)).value
        assert isinstance(found, ExtractedFacts)
        return found

    short, plain, long = map(extracted, (0.5, 1.0, 2.0))
    words = [[len(fact.statement.split()) for fact in found.facts] for found in (short, plain, long)]
    assert words[2] == [2 * n for n in words[1]]
    assert words[0] == [round(n / 2) for n in words[1]]
    for found in (short, long):
        assert [{**fact.model_dump(), "statement": ""} for fact in found.facts] == [
            {**fact.model_dump(), "statement": ""} for fact in plain.facts
        ]
