"""The scripted model, stage by stage, on the bundled sample."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

import pytest
from pydantic import BaseModel

from experiments.data.sample import CONVERSATIONS, FACTS
from trimem import prompts, replies
from trimem.errors import BadInput
from trimem.llm.base import LLM, Message, Request
from trimem.llm.script import Rules
from trimem.llm.scripted import Scripted, rules_in
from trimem.types import Profile

MODEL = Scripted(FACTS)
NONE = "Not mentioned in the conversation"
GOOD = "Write one fact per entry. Turn relative times into absolute dates. Keep numbers and modifiers."
BENCH = "How long is the bench in Ottilie's workshop?"


def ask(stage: str, schema: type[BaseModel] | None, system: str = "", /, **fields: Any) -> Any:
    messages = (Message("system", system), Message("user", "do it"))
    reply = MODEL.complete(Request(messages, stage, schema, fields))
    assert reply.status == "ok"
    return json.loads(reply.text)


def spoken(id: str, sessions: Iterable[int]) -> dict[str, Any]:
    sample = {s["sample_id"]: s for s in json.loads(CONVERSATIONS.read_text(encoding="utf-8"))}[id]["conversation"]
    turns = [
        {"id": t["dia_id"], "speaker": t["speaker"], "text": t["text"], "time": None}
        for n in sessions
        for t in sample[f"session_{n}"]
    ]
    return {"turns": turns, "speakers": sorted({turn["speaker"] for turn in turns})}


def extract(id: str, system: str = GOOD, sessions: Iterable[int] = range(1, 6)) -> list[Mapping[str, Any]]:
    found: list[Mapping[str, Any]] = ask("extract", replies.ExtractedFacts, system, **spoken(id, sessions))["facts"]
    return found


def statements(id: str, system: str = GOOD) -> list[str]:
    return [fact["statement"] for fact in extract(id, system)]


def answer(question: str, facts: list[str], turns: Iterable[str] = (), profiles: Iterable[str] = ()) -> str:
    shown = [{"id": id, "text": "…"} for id in turns]
    fields = {"question": question, "facts": facts, "turns": shown, "profiles": list(profiles)}
    text: str = ask("answer", replies.AnswerReply, "", **fields)["answer"]
    return text


def test_is_an_llm() -> None:
    assert isinstance(MODEL, LLM)
    assert MODEL.identity["script"] == MODEL.fingerprint


def test_replies_are_equal_and_their_tokens_counted() -> None:
    request = Request((Message("user", "hello there"),), "plan", replies.QueryPlan, {"question": BENCH})
    first, *others = MODEL.complete_many([request] * 4)
    assert all(other == first for other in others)
    assert first.usage.prompt_tokens == 2 and (first.usage.completion_tokens or 0) > 10


def test_extraction_obeys_the_rules_that_the_prompt_states() -> None:
    text = "Bram bought an accordion for 45 crowns at the market in Pendrake."
    assert text in statements("sample-train")
    assert text not in statements("sample-train", "One fact per entry. Resolve relative dates.")
    lease = "Ottilie signed the lease for a workshop on Fennick Lane"
    assert f"{lease} on 26 January 2024." in statements("sample-train")
    assert f"{lease} last Friday." in statements("sample-train", "Write facts.")
    assert len(statements("sample-train")) > len(statements("sample-train", "Write facts.")) > 30


def test_extraction_tells_namesakes_apart_by_what_they_say() -> None:
    for id, job in (("sample-train", "deckhand"), ("sample-test", "bakery")):
        window = spoken(id, [1])
        turns = [turn for turn in window["turns"] if turn["speaker"] == "Bram"]
        facts = ask("extract", replies.ExtractedFacts, GOOD, turns=turns, speakers=["Bram"])["facts"]
        assert job in facts[0]["statement"]


def test_the_shipped_extraction_prompt_states_all_three_rules() -> None:
    assert rules_in(prompts.load("extract").rules) == Rules(True, True, True)


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("Extract facts from the dialogue as JSON, with statement, time and sources.", (False, False, False)),
        ("List what is said. `time` is an ISO date of the event or null.", (False, False, False)),
        ("Each entry states exactly one fact.", (True, False, False)),
        ("Never merge\ntwo facts.", (True, False, False)),
        ("Break up compound sentences.", (True, False, False)),
        ("Convert words such as yesterday with the session's date.", (False, True, False)),
        ("Times must be calendar dates.", (False, True, False)),
        ("Preserve quantities, colours and qualifiers.", (False, False, True)),
        ("Do not drop adjectives.", (False, False, True)),
        (GOOD, (True, True, True)),
    ],
)
def test_rules_are_found_in_many_wordings(text: str, rules: tuple[bool, bool, bool]) -> None:
    assert rules_in(text) == Rules(*rules)


def test_answers_all_part_or_none_by_what_is_shown() -> None:
    facts = statements("sample-train")
    weak = statements("sample-train", "Write facts.")
    assert answer(BENCH, facts) == "seven feet"
    assert answer(BENCH, weak) == "It is an oak bench"
    assert answer(BENCH, ["Bram is allergic to walnuts."]) == NONE
    assert answer("Which musical instruments has Bram owned?", facts[:9]) == "accordion"


def test_a_raw_turn_answers_where_no_fact_of_it_was_found() -> None:
    weak = statements("sample-train", "Write facts.")
    assert answer(BENCH, ["Bram is allergic to walnuts."], ["D1:5"]) == "seven feet"
    assert answer(BENCH, weak, ["D1:5"]) == "It is an oak bench"


def test_wording_is_found_in_the_raw_turn_only() -> None:
    question, facts = "Which words were engraved on the ring in the moon clock?", statements("sample-train")
    assert answer(question, facts) == "It was a wedding ring"
    assert answer(question, facts, ["D3:7"]) == '"to H., keep time for me"'


def test_adversarial_questions_are_never_answered() -> None:
    assert answer("What is the name of Bram's cat?", statements("sample-train"), ["D1:11"]) == NONE


def test_a_question_asked_twice_goes_by_the_facts() -> None:
    goat = "What is the goat of Bram's landlady called?"
    assert answer(goat, statements("sample-test")) == "Florimond"
    assert answer(goat, ["Bram runs a bakery."]) == NONE


def test_the_profile_grows_by_sections_and_concludes_a_trait_over_sessions() -> None:
    question = "Would Ottilie sooner patch a torn coat or replace it?"
    profile = Profile("Ottilie")
    for session in range(1, 6):
        facts = [f["statement"] for f in extract("sample-train", sessions=[session]) if "Ottilie" in f["persons"]]
        known = profile.text if profile.sections else ""
        fields = {
            "person": "Ottilie",
            "profile": known,
            "facts": facts,
            "fact_ids": [str(i) for i in range(len(facts))],
        }
        reply = ask("profile", replies.ProfileReply, "", **fields)
        profile = Profile("Ottilie", {item["section"]: item["text"] for item in reply["sections"]})
        assert ("thrifty" in profile.text) == (session >= 3)
    assert "alto in the Tidewater Choir" in profile.sections["interests"]
    assert profile.text.count("is thrifty and would") == 1
    assert answer(question, [], profiles=[profile.text]) == "patch it"


def test_a_section_keeps_within_the_schema_and_loses_its_oldest() -> None:
    facts = [f"Ottilie did thing number {n} in a house by the river that day." for n in range(40)]
    reply = ask("profile", replies.ProfileReply, person="Ottilie", profile="", facts=facts, fact_ids=[])
    assert facts[-1] in reply["sections"][0]["text"] and facts[0] not in reply["sections"][0]["text"]


def test_plans_hold_the_question_first_and_nothing_of_the_answer() -> None:
    for schema in (replies.QueryPlan, replies.TargetQueries):
        plan = ask("plan", schema, question=BENCH)
        assert plan["queries"] == [BENCH, "Ottilie workshop oak bench"]
    keys = ask(
        "plan", replies.KeyInformation, question="What was Bram's job in the winter, and what is it since April 2024?"
    )
    assert keys["persons"] == ["Bram"] and keys["time_expression"] == "April 2024" and "queries" not in keys
    assert ask("plan", replies.QueryPlan, question="When did Bram move onto the Plover?")["entities"] == ["Plover"]


def test_no_query_gives_a_gold_away() -> None:
    for told in MODEL.script.conversations.values():
        for asked in told.questions:
            if asked.query and asked.all:
                news = set(asked.all.lower().split()) - set(asked.question.lower().split())
                assert not news or news - set(asked.query.lower().split()), asked.query


def test_reflection_asks_on_until_the_facts_suffice() -> None:
    facts = statements("sample-train")
    assert ask("reflect", replies.Sufficiency, question=BENCH, facts=facts)["complete"]
    short = ask("reflect", replies.Sufficiency, question=BENCH, facts=[])
    assert not short["complete"] and short["queries"] == ["Ottilie workshop oak bench"]


class Verdict(BaseModel):
    reason: str
    correct: bool


@pytest.mark.parametrize(
    ("prediction", "correct"),
    [("seven feet", True), ("It is seven feet long", True), ("six metres", False), (NONE, False)],
)
def test_judges_by_words(prediction: str, correct: bool) -> None:
    verdict = ask("judge", Verdict, question=BENCH, prediction=prediction, gold="seven feet")
    assert verdict["correct"] is correct


def test_knows_the_sample_only() -> None:
    with pytest.raises(BadInput, match="only knows the sample data set, not the question"):
        ask("plan", replies.QueryPlan, question="Who am I?")
    window = spoken("sample-train", [1])
    with pytest.raises(BadInput, match="not a conversation of Ann and Bob"):
        ask("extract", replies.ExtractedFacts, turns=window["turns"], speakers=["Ann", "Bob"])
    other = [{**turn, "text": "Something else."} for turn in window["turns"]]
    with pytest.raises(BadInput, match="not a conversation of Bram and Ottilie"):
        ask("extract", replies.ExtractedFacts, turns=other, speakers=window["speakers"])


def test_a_stage_without_a_script_is_named() -> None:
    with pytest.raises(BadInput, match="no script for stage 'dream'"):
        ask("dream", None, question="?")
