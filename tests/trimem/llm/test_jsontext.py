"""Reading JSON out of what models write."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trimem.llm.jsontext import CUT, complete_part, values, without_thinking

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(st.characters(exclude_categories=["Cs"]), max_size=12),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text("abc\"'“,:{}[]", max_size=4), inner, max_size=4)
    ),
    max_leaves=20,
)
DOCUMENT = st.dictionaries(st.text("abc", min_size=1, max_size=3), JSON, min_size=1, max_size=4)


@pytest.mark.parametrize(
    ("raw", "left"),
    [
        ("<think>a {draft}</think>\n\nParis", "Paris"),
        ("<think>one</think><think>two</think>Paris", "Paris"),
        ("thoughts whose opening tag the template ate\n</think>\n\nParis", "Paris"),
        ("<think>never finished", ""),
        ('{"said": "he typed <think>x</think> twice"}', '{"said": "he typed <think>x</think> twice"}'),
        ('```json\n{"said": "typed </think>"}\n```', '```json\n{"said": "typed </think>"}\n```'),
        ("Paris", "Paris"),
    ],
)
def test_thoughts_go_and_text_stays(raw: str, left: str) -> None:
    assert without_thinking(raw) == left


def first(text: str) -> tuple[Any, tuple[str, ...]]:
    return next(values(text), (None, ()))


@settings(deadline=None)
@given(DOCUMENT)
def test_well_formed_json_is_read_as_it_stands(document: dict[str, Any]) -> None:
    for text in (json.dumps(document), json.dumps(document, ensure_ascii=False, indent=1)):
        assert first(text) == (document, ())
        assert first(f"Here you are:\n```json\n{text}\n```\nAnything else?")[0] == document


@settings(deadline=None)
@given(st.lists(DOCUMENT, min_size=1, max_size=4), st.data())
def test_of_a_cut_list_exactly_the_complete_items_are_kept(items: list[dict[str, Any]], data: st.DataObject) -> None:
    ascii_only = data.draw(st.booleans())
    ends = [len(json.dumps({"facts": items[:n]}, ensure_ascii=ascii_only)) - 2 for n in range(1, len(items) + 1)]
    cut = data.draw(st.integers(len('{"facts": ['), ends[-1] + 1))
    kept, problems = first(json.dumps({"facts": items}, ensure_ascii=ascii_only)[:cut])
    assert kept["facts"] == items[: sum(end <= cut for end in ends)]
    assert problems == (CUT,)


@settings(deadline=None)
@given(st.text())
def test_no_text_makes_it_raise(text: str) -> None:
    for value, _ in values(text):
        json.dumps(value).encode("utf-8")


@settings(deadline=None)
@given(DOCUMENT, st.data())
def test_damage_anywhere_does_not_make_it_raise(document: dict[str, Any], data: st.DataObject) -> None:
    text = json.dumps(document)
    place = data.draw(st.integers(0, len(text)))
    junk = data.draw(st.sampled_from(['"', "}", "]", "\\", ",", "“", "\ud83d", "{", "'"]))
    for value, _ in values(text[:place] + junk + text[place + 1 :]):
        json.dumps(value, ensure_ascii=False).encode("utf-8")


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ('{"facts": ["a", "b"', '{"facts": ["a"]}'),
        ('{"facts": [{"s": "a", "k": ["x"]}, {"s": "b", "k": ["y", "z', '{"facts": [{"s": "a", "k": ["x"]}]}'),
        ('{"facts": [{"s": "a"}]', '{"facts": [{"s": "a"}]}'),
        ('{"answer": "Paris", "reasoning": "since the', '{"answer": "Paris"}'),
        ('{"facts": [], "more": [{"s": 1}, {"s"', '{"facts": [], "more": [{"s": 1}]}'),
        ("['it''s, well', 'cut he", "['it''s, well']"),
    ],
)
def test_cut_document_ends_after_its_last_complete_item(text: str, kept: str) -> None:
    assert complete_part(text) == (kept, True)


def test_whole_document_is_not_cut_and_ends_where_it_ends() -> None:
    assert complete_part('{"a": "}"} and more') == ('{"a": "}"}', False)


def test_inner_quotes_without_escape_stay_in_the_text() -> None:
    value, problems = first('{"facts": ["He said "hi" to her", "B"]}')
    assert value == {"facts": ['He said "hi" to her', "B"]}
    assert problems


def test_longest_of_several_documents_comes_first() -> None:
    assert first('Not {} but {"facts": ["a"]}')[0] == {"facts": ["a"]}


def test_inside_a_damaged_document_no_piece_is_taken_for_the_whole() -> None:
    found = [value for value, _ in values('{"facts": [{"s": "a"}, {"s": "b"} {"s": "c"}]}')]
    assert found == [{"facts": [{"s": "a"}, {"s": "b"}, {"s": "c"}]}]


@pytest.mark.parametrize("text", ["[" * 50_000, '{"a":' * 50_000])
def test_deep_nesting_is_no_crash(text: str) -> None:
    assert all(problems for _, problems in values(text))


def test_empty_repeat_of_a_key_in_damaged_json_hides_nothing() -> None:
    assert list(values('{"facts": ["A"], "facts": [],}')) == []
