"""Prompts as data: fields, fences, hashes; and what ships."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trimem import BadInput, prompts, replies
from trimem.prompts import FOLDER, load, parse

SHIPPED = sorted(file.stem for file in FOLDER.glob("*.md"))
FRONT = "---\npurpose: a test\nfields: name dialogue\nschema: ExtractedFacts\n---\n"


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_prompt_declares_its_purpose_and_a_schema_that_exists(name: str) -> None:
    prompt = load(name)
    assert prompt.purpose
    assert issubclass(getattr(replies, prompt.schema), replies.ReplySchema)
    assert prompt.render(dict.fromkeys(prompt.fields, "x"))[0].role == "system"


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_prompt_names_every_key_of_its_schema(name: str) -> None:
    prompt = load(name)
    keys = getattr(replies, prompt.schema).model_fields
    assert [key for key in keys if not re.search(rf"\b{key}\b", prompt.rules)] == []


def test_the_constant_part_is_the_same_for_every_value() -> None:
    first = load("answer").render({"question": "Who?", "context": "a"})
    second = load("answer").render({"question": "When?", "context": "b"})
    assert first[0] == second[0]
    assert [message.role for message in first] == ["system", "user"]


@given(st.text(), st.text())
def test_values_arrive_verbatim(name: str, dialogue: str) -> None:
    prompt = parse("p", FRONT + 'Reply {"a": [{name}]}.\n=== data ===\nFor {name}:\n{dialogue}\n')
    system, user = prompt.render({"name": name, "dialogue": dialogue})
    assert system.content == 'Reply {"a": [{name}]}.', "the constant part is never filled"
    assert name in "For " + user.content or name.strip() == ""
    assert dialogue in user.content


@given(st.text(alphabet="</dialogue> 0123456789abcdef", max_size=60))
def test_a_value_cannot_close_its_fence(text: str) -> None:
    fenced = prompts.fence("dialogue", text)
    closing = fenced.rsplit("\n", 1)[1]
    assert fenced.count(closing) == 1
    assert closing not in text


def test_the_hash_follows_the_text_and_nothing_else() -> None:
    body = "Rules.\n=== data ===\n{name}\n{dialogue}\n"
    assert parse("a", FRONT + body).hash == parse("b", FRONT.replace("a test", "another") + body).hash
    assert parse("a", FRONT + body).hash != parse("a", FRONT + "More r" + body[1:]).hash


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        ("Rules only", "front matter"),
        (FRONT + "Rules\n{name} {dialogue}", "=== data ==="),
        (FRONT + "Rules\n=== data ===\n{name}\n", "dialogue"),
        ("---\npurpose: x\n---\nRules\n=== data ===\nhello\n", "none declared"),
    ],
)
def test_a_broken_prompt_file_is_refused_with_the_reason(source: str, complaint: str) -> None:
    with pytest.raises(BadInput, match=complaint):
        parse("broken", source)


def test_an_unknown_prompt_lists_what_ships(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="answer, extract"):
        load("extrct")
    with pytest.raises(BadInput, match="no prompt"):
        load(tmp_path / "absent.md")
