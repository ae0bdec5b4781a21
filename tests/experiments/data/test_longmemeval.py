import json
from datetime import datetime
from importlib.resources import files
from pathlib import Path

import pytest

from experiments.data import longmemeval
from experiments.data.types import ABSTAIN
from trimem.errors import BadInput


def test_questions_with_the_same_haystack_share_a_conversation() -> None:
    dataset, golds = longmemeval.load_sample()
    assert len(dataset.conversations) == 6 and len(golds) == 7
    assert [question.id for question in dataset.questions["own_0001"]] == ["own_0001:0", "own_0001:1"]


def test_sessions_come_by_time_with_roles_and_dates() -> None:
    dataset, _ = longmemeval.load_sample()
    first = dataset.conversations[0]
    assert [(session.id, session.time) for session in first.sessions] == [
        ("s_kiln", datetime(2024, 2, 3, 10, 15)),
        ("s_goat", datetime(2024, 2, 11, 19, 40)),
    ]
    assert [turn.speaker for turn in first.sessions[0].turns] == ["user", "assistant"] * 2
    assert dataset.questions["own_0001"][0].asked_at == datetime(2024, 2, 20, 9, 0)


def test_evidence_is_the_turns_marked_true() -> None:
    _, golds = longmemeval.load_sample()
    assert golds["own_0001:0"].evidence == ("s_kiln/2",)
    assert golds["own_0005:0"].evidence == ("s_run1/0", "s_run2/0")
    assert golds["own_0005:0"].answer == "10"


def test_what_cannot_be_answered_is_a_category_of_its_own() -> None:
    dataset, golds = longmemeval.load_sample()
    gold = golds["own_0001:1"]
    assert (gold.answer, gold.evidence, dataset.categories[gold.category]) == (ABSTAIN, (), "abstention")
    assert gold.category not in dataset.headline and dataset.rules[gold.category] == "abstain"
    assert sorted(gold.category for gold in golds.values()) == [1, 2, 3, 4, 5, 6, 7]


def test_the_marks_of_evidence_reach_no_method() -> None:
    assert "has_answer" not in repr(longmemeval.load_sample()[0])


def test_a_session_id_that_comes_twice_keeps_its_turns_apart(tmp_path: Path) -> None:
    raw = json.loads((files("experiments.data") / "sample" / "longmemeval.json").read_text())[5:6]
    raw[0]["haystack_session_ids"] = ["s", "s", "t"]
    path = tmp_path / "twice.json"
    path.write_text(json.dumps(raw))
    dataset, golds = longmemeval.load(path, verify=False)
    turns = [turn.id for turn in dataset.conversations[0].turns]
    assert len(set(turns)) == len(turns)
    assert golds["own_0006:0"].evidence == ("s/0", "s#2/0")


@pytest.mark.parametrize("content", ["[", "[{}]", '[{"question_id": "../up"}]'])
def test_bad_files_are_one_line(tmp_path: Path, content: str) -> None:
    path = tmp_path / "bad.json"
    path.write_text(content)
    with pytest.raises(BadInput, match="download longmemeval-oracle"):
        longmemeval.load(path, verify=False)


@pytest.mark.realdata
def test_the_real_instance_loads(data_dir: Path) -> None:
    dataset, golds = longmemeval.load(data_dir / "longmemeval_single.json", verify=False, variant="s")
    (conversation,) = dataset.conversations
    assert (len(conversation.sessions), len(conversation.turns)) == (53, 550)
    (gold,) = golds.values()
    assert (gold.category, len(gold.evidence)) == (1, 2)
