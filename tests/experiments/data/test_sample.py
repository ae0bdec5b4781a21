"""The bundled data set: its format, its quirks, and that the sidecar tells the truth about it."""

import json
import re
from collections import Counter
from datetime import datetime
from functools import lru_cache
from itertools import pairwise
from typing import Any

import pytest

from experiments.data.sample import CONVERSATIONS, FACTS
from trimem import times
from trimem.llm.script import DETAIL, TIME, Rules, Script, Told, load_script
from trimem.replies import ExtractedFacts
from trimem.types import SECTIONS

IDS = ("sample-train", "sample-val", "sample-test")
each = pytest.mark.parametrize("id", IDS)


@lru_cache
def samples() -> dict[str, Any]:
    return {sample["sample_id"]: sample for sample in json.loads(CONVERSATIONS.read_text(encoding="utf-8"))}


@lru_cache
def script() -> Script:
    return load_script(FACTS)[0]


def told(id: str) -> Told:
    return script().conversations[id]


def turns(id: str) -> dict[str, Any]:
    sessions = samples()[id]["conversation"]
    return {turn["dia_id"]: turn for name in sessions if re.fullmatch(r"session_\d+", name) for turn in sessions[name]}


def said(id: str, turn: str) -> datetime:
    session = re.findall(r"\d+", turn)[0]
    return datetime.strptime(samples()[id]["conversation"][f"session_{session}_date_time"], "%I:%M %p on %d %B, %Y")


@each
def test_has_the_size_and_all_five_categories(id: str) -> None:
    assert tuple(samples()) == tuple(script().conversations) == IDS
    assert len([key for key in samples()[id]["conversation"] if re.fullmatch(r"session_\d+", key)]) >= 4
    assert 60 <= len(turns(id)) <= 80
    assert 22 <= len(samples()[id]["qa"]) <= 28
    assert set(Counter(qa["category"] for qa in samples()[id]["qa"])) == {1, 2, 3, 4, 5}


@each
def test_sessions_are_in_order_and_speakers_alternate(id: str) -> None:
    sample = samples()[id]["conversation"]
    count = len([key for key in sample if re.fullmatch(r"session_\d+", key)])
    dates = [said(id, f"D{n}:1") for n in range(1, count + 1)]
    assert dates == sorted(dates)
    for n in range(1, count + 1):
        session = sample[f"session_{n}"]
        assert [turn["dia_id"] for turn in session] == [f"D{n}:{i}" for i in range(1, len(session) + 1)]
        assert all(a["speaker"] != b["speaker"] for a, b in pairwise(session))
        assert {turn["speaker"] for turn in session} == {sample["speaker_a"], sample["speaker_b"]}


def test_holds_every_quirk_of_the_benchmark() -> None:
    questions = [qa for sample in samples().values() for qa in sample["qa"]]
    answers = [qa["answer"] for qa in questions if "answer" in qa]
    evidence = [id for qa in questions for id in qa["evidence"]]
    spoken = [turn for id in IDS for turn in turns(id).values()]
    known = {(id, turn) for id in IDS for turn in turns(id)}
    assert 0 in answers and any(isinstance(answer, int) and answer > 0 for answer in answers)
    assert all(("adversarial_answer" in qa) == ("answer" not in qa) == (qa["category"] == 5) for qa in questions)
    assert any(";" in id for id in evidence) and any(id.startswith("D:") for id in evidence)
    assert any(re.search(r":0\d", id) for id in evidence)
    assert any(re.fullmatch(r"D\d+:[1-9]\d*", e) and (id, e) not in known for id in IDS for e in _evidence(id))
    assert any(qa["category"] == 3 and not qa["evidence"] for qa in questions)
    assert {("img_url" in turn) for turn in spoken if "blip_caption" in turn} == {True, False}
    assert all(
        "session_9_date_time" in s["conversation"] and "session_9" not in s["conversation"] for s in samples().values()
    )
    assert any(" 12:09 am" in f" {s['conversation'].get('session_2_date_time')}" for s in samples().values())


def _evidence(id: str) -> list[str]:
    return [evidence for qa in samples()[id]["qa"] for evidence in qa["evidence"]]


def test_a_search_query_contradicts_its_caption_wherever_there_is_one() -> None:
    queried = [turn for id in IDS for turn in turns(id).values() if "query" in turn]
    assert queried
    for turn in queried:
        assert not set(turn["query"].split()) & set(turn["blip_caption"].split()) - {"a", "in", "on", "with", "of"}


def test_repeats_a_question_with_equal_and_with_contradicting_answers() -> None:
    categories = [
        {qa["category"] for qa in sample["qa"] if qa["question"] == question}
        for sample in samples().values()
        for question, n in Counter(qa["question"] for qa in sample["qa"]).items()
        if n > 1
    ]
    assert {4} in categories and {4, 5} in categories


def test_one_first_name_lives_in_two_conversations() -> None:
    speakers = Counter(name for id in IDS for name in told(id).speakers)
    assert [name for name, n in speakers.items() if n == 2] == ["Bram"]


@each
def test_gists_are_there_to_leak(id: str) -> None:
    sample = samples()[id]
    assert all(sample[name] for name in ("event_summary", "observation", "session_summary"))
    assert any(
        "crowns" in text or "florins" in text or "shillings" in text for text in sample["session_summary"].values()
    )


@each
def test_sidecar_knows_every_turn_by_its_first_words(id: str) -> None:
    assert list(told(id).turns) == list(turns(id))
    for turn, opening in told(id).turns.items():
        assert turns(id)[turn]["text"].startswith(opening)
    assert set(told(id).facts) <= set(turns(id))


@each
def test_stated_times_follow_from_what_was_said_and_when(id: str) -> None:
    dated = 0
    for turn, facts in told(id).facts.items():
        for fact in facts:
            stated = [iso for _, iso in times.find(fact.text(), None)]
            assert stated == ([fact.time] if fact.time else []), (turn, fact.statement)
            if relative := TIME.search(fact.statement):
                dated += 1
                assert relative[2].lower() in turns(id)[turn]["text"].lower()
                assert times.resolve(relative[2], said(id, turn)) == fact.time, (turn, fact.statement)
    assert dated >= 10


@pytest.mark.parametrize(
    ("id", "turn", "time"),
    [
        ("sample-train", "D1:3", "2024-01-26"),  # last Friday, said on Friday 2 February 2024
        ("sample-train", "D2:3", "2024-02-22"),  # three days ago, said just after midnight on the 25th
        ("sample-train", "D3:8", "2024-W11"),  # last week, said on Wednesday 20 March 2024
        ("sample-train", "D5:10", "2024-05"),  # last month, said on 6 June 2024
        ("sample-val", "D3:2", "2023-11-18"),  # yesterday, said on 19 November 2023
        ("sample-val", "D5:6", "2024-02-10/2024-02-11"),  # last weekend, said on Wednesday 14 February 2024
        ("sample-test", "D4:3", "2022-07-30"),  # three weeks ago today, said on 20 August 2022
    ],
)
def test_times_worked_out_by_hand(id: str, turn: str, time: str) -> None:
    assert told(id).facts[turn][0].time == time


@each
def test_temporal_golds_are_among_the_times_of_their_turn(id: str) -> None:
    for asked in told(id).questions:
        qa = samples()[id]["qa"][asked.index]
        if qa["category"] == 2:
            assert times.normalise(qa["answer"]) in {fact.time for n in asked.needs for fact in told(id).facts[n.turn]}


@each
def test_every_statement_names_its_people_and_things(id: str) -> None:
    for facts in told(id).facts.values():
        assert not facts[0].fused
        for fact in facts:
            text = fact.text()
            assert not re.search(r"[<>|\[\]]|\b(I|you|he|she|they)\b", text), text
            assert fact.section in SECTIONS
            assert fact.persons and all(name in text for name in (*fact.persons, *fact.entities))
            assert set(fact.persons) == {name for name in told(id).people if re.search(rf"\b{name}\b", text)}
            assert not fact.location or fact.location in text
            assert all(word in text.lower() for word in fact.keywords)


@each
def test_every_reading_of_a_turn_fits_the_reply_schema_and_cites_it(id: str) -> None:
    for rules in (Rules(), Rules(False, False, False)):
        reply = ExtractedFacts(facts=told(id).extract(told(id).turns, rules))
        assert {source for fact in reply.facts for source in fact.sources} == set(told(id).facts)
        again = ExtractedFacts.model_validate_json(reply.model_dump_json())
        assert all(again.facts[i].statement[0].isupper() and "  " not in f.statement for i, f in enumerate(reply.facts))


@each
def test_every_question_has_its_entry_with_needs_that_the_dialogue_meets(id: str) -> None:
    assert [asked.question for asked in told(id).questions] == [qa["question"] for qa in samples()[id]["qa"]]
    for asked, qa in zip(told(id).questions, samples()[id]["qa"], strict=True):
        assert bool(asked.needs) == bool(asked.all) == (qa["category"] != 5)
        cited = " ".join(re.sub(r"D:?(\d+):0*(\d+)", r"D\1:\2", evidence) for evidence in qa["evidence"])
        assert not qa["evidence"] or all(re.search(rf"\b{need.turn}\b", cited) for need in asked.needs)
        for need in asked.needs:
            where = [turns(id)[need.turn]["text"]] if need.raw else [f.text() for f in told(id).facts[need.turn]]
            assert any(all(words.lower() in text.lower() for words in need.says) for text in where), asked.question


@each
def test_most_golds_are_what_the_model_answers_when_it_has_seen_all(id: str) -> None:
    pairs = [(a.all, str(qa["answer"])) for a, qa in zip(told(id).questions, samples()[id]["qa"], strict=True) if a.all]
    assert sum(ours == gold for ours, gold in pairs) >= 0.9 * len(pairs)
    assert all(set(ours.lower().split()) & set(re.findall(r"[\w'’-]+", gold.lower())) for ours, gold in pairs if ours)


@each
def test_traits_stand_on_facts_of_several_sessions(id: str) -> None:
    for trait in told(id).traits:
        assert trait.section in SECTIONS and trait.person in told(id).speakers
        assert len({turn.split(":")[0] for turn in trait.turns}) >= 2
        assert all(any(trait.person in fact.persons for fact in told(id).facts[turn]) for turn in trait.turns)


def test_a_weak_extraction_has_something_to_lose_everywhere() -> None:
    for id in IDS:
        facts = [fact for facts in told(id).facts.values() for fact in facts]
        assert sum(bool(DETAIL.search(fact.statement)) for fact in facts) >= 15
        assert sum(fact.fused for fact in facts) >= 10


def test_files_are_small() -> None:
    assert CONVERSATIONS.stat().st_size < 250_000 and FACTS.stat().st_size < 250_000
