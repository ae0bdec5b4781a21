"""From JSON values to schemas."""

from typing import Any, Literal

import pytest
from pydantic import BaseModel, Field

from trimem.llm.fitting import fit
from trimem.replies import AnswerReply, ExtractedFacts, ProfileReply, QueryPlan, Sufficiency, TargetQueries


class Number(BaseModel):
    score: int
    label: Literal["RIGHT", "WRONG"] = "WRONG"


FACT = {"statement": "Ana keeps bees.", "sources": ["D1:1"]}


@pytest.mark.parametrize(
    "value",
    [
        {"facts": [FACT]},
        [FACT],
        FACT,
        {"result": {"facts": [FACT]}},
        {"ExtractedFacts": [FACT]},
        [{"facts": [FACT]}],
        {"facts": FACT},
        {"facts": '[{"statement": "Ana keeps bees.", "sources": "D1:1"}]'},
    ],
)
def test_every_wrapping_gives_the_same_facts(value: Any) -> None:
    fitted, problems = fit(value, ExtractedFacts)
    assert fitted == ExtractedFacts.model_validate({"facts": [FACT]})
    assert problems == ()


def test_sentences_stand_for_facts() -> None:
    fitted, _ = fit({"facts": ["Ana keeps bees.", "Bo sails."]}, ExtractedFacts)
    assert fitted is not None and [fact.statement for fact in fitted.facts] == ["Ana keeps bees.", "Bo sails."]


def test_bad_items_are_dropped_and_named_and_good_ones_kept() -> None:
    fitted, problems = fit({"facts": [FACT, {"keywords": ["x"]}, 7, FACT | {"statement": "y" * 601}]}, ExtractedFacts)
    assert fitted is not None and len(fitted.facts) == 1
    assert [problem.split(":")[0] for problem in problems] == [f"facts[{index}] dropped" for index in (1, 2, 3)]
    assert "statement" in problems[0] and "600" in problems[2]


def test_runaway_list_is_cut_to_its_bound_and_named() -> None:
    fitted, problems = fit({"queries": list("abcdef")}, TargetQueries)
    assert fitted is not None and fitted.queries == ["a", "b", "c", "d"]
    assert problems == ("queries: 2 of 6 items dropped, 4 are allowed",)


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("cat, shelter", ["cat", "shelter"]),
        ("Nadia", ["Nadia"]),
        ('["a", "b"]', ["a", "b"]),
        ("When Ana moved there, what did she leave behind", ["When Ana moved there, what did she leave behind"]),
        ("none", []),
        (None, []),
        ("", []),
        (["a", None, "", "b"], ["a", "b"]),
        ([2023], ["2023"]),
    ],
)
def test_list_of_strings_from_what_came(given: Any, wanted: list[str]) -> None:
    fitted, _ = fit({"queries": ["q"], "keywords": given}, QueryPlan)
    assert fitted is not None and fitted.keywords == wanted


@pytest.mark.parametrize("blank", ["", "null", "None", "N/A", None])
def test_blank_for_an_optional_text_is_none(blank: str | None) -> None:
    fitted, _ = fit({"queries": [], "location": blank}, QueryPlan)
    assert fitted is not None and fitted.location is None


def test_number_for_a_text_is_its_digits() -> None:
    fitted, _ = fit({"answer": 2022}, AnswerReply)
    assert fitted is not None and fitted.answer == "2022"


def test_long_reasoning_is_cut_and_the_answer_kept() -> None:
    fitted, problems = fit({"answer": "Paris", "reasoning": "x" * 5000}, AnswerReply)
    assert fitted is not None and (fitted.answer, len(fitted.reasoning)) == ("Paris", 4000)
    assert problems == ("reasoning cut to 4000 characters",)


def test_null_for_a_field_with_default_is_the_default() -> None:
    fitted, _ = fit({"answer": "Paris", "reasoning": None}, AnswerReply)
    assert fitted is not None and fitted.reasoning == ""


def test_case_of_a_choice_does_not_matter() -> None:
    fitted, _ = fit({"sections": [{"section": "Life Events", "text": "Moved."}]}, ProfileReply)
    assert fitted is not None and fitted.sections[0].section == "life events"


@pytest.mark.parametrize("value", ["text", 3, None, [], {}, {"answer": None}, {"answer": ["a"]}, {"other": "x"}])
def test_what_is_no_answer_is_none_with_a_cause(value: Any) -> None:
    fitted, problems = fit(value, AnswerReply)
    assert fitted is None and problems


def test_words_for_a_number_or_a_boolean_are_read_by_pydantic() -> None:
    assert fit({"score": "7", "label": "right"}, Number)[0] == Number(score=7, label="RIGHT")
    assert fit({"complete": "yes"}, Sufficiency)[0] == Sufficiency(complete=True)


def test_field_bounds_inside_items_hold() -> None:
    class Bounded(BaseModel):
        items: list[Number] = Field(max_length=2)

    fitted, problems = fit({"items": [{"score": 1}, {"score": "many"}]}, Bounded)
    assert fitted is not None and len(fitted.items) == 1 and problems[0].startswith("items[1] dropped: score")
