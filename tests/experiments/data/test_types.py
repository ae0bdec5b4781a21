import json
from pathlib import Path

import pytest

from experiments.data import locomo
from experiments.data.types import Dataset, GoldBook
from tests.experiments.builders import locomo_file, qa
from trimem.errors import BadInput


@pytest.fixture
def loaded(tmp_path: Path) -> tuple[Dataset, GoldBook]:
    questions = [qa(4), qa(1), qa(4), qa(5)]
    path = locomo_file(tmp_path / "x.json", {"conv-26": questions, "conv-41": questions, "conv-44": questions[:1]})
    return locomo.load(path, verify=False)


def test_everything_is_selected_by_default(loaded: tuple[Dataset, GoldBook]) -> None:
    dataset, golds = loaded
    assert dataset.select(golds) == dataset
    assert len(dataset.question_ids) == 9


def test_a_split_keeps_its_conversations(loaded: tuple[Dataset, GoldBook]) -> None:
    dataset, golds = loaded
    part = dataset.select(golds, split="test")
    assert [conversation.id for conversation in part.conversations] == ["conv-41"]
    assert list(part.questions) == ["conv-41"]


def test_limit_counts_questions_of_the_wanted_categories_in_each_conversation(
    loaded: tuple[Dataset, GoldBook],
) -> None:
    dataset, golds = loaded
    part = dataset.select(golds, categories=[1, 4], limit=2)
    assert part.question_ids == ("conv-26:0", "conv-26:1", "conv-41:0", "conv-41:1", "conv-44:0")
    assert part.conversations == dataset.conversations


def test_conversations_come_in_the_order_of_the_data_set(loaded: tuple[Dataset, GoldBook]) -> None:
    dataset, golds = loaded
    part = dataset.select(golds, conversations=["conv-44", "conv-26"])
    assert [conversation.id for conversation in part.conversations] == ["conv-26", "conv-44"]


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"split": "dev"}, "unknown split dev; valid: all, train, val, test"),
        ({"conversations": ["conv-1"]}, "unknown conversation conv-1; valid: conv-26, conv-41, conv-44"),
        ({"categories": [6]}, "unknown category 6; valid: 1, 2, 3, 4, 5"),
        ({"split": "test", "conversations": ["conv-26"]}, "conv-26 not in split test .conv-41.; set dataset.split=all"),
        ({"limit": 0}, "dataset.limit=0"),
        ({"categories": [3]}, "no question is left"),
    ],
)
def test_what_does_not_exist_is_told_with_what_does(
    loaded: tuple[Dataset, GoldBook], asked: dict[str, object], told: str
) -> None:
    dataset, golds = loaded
    with pytest.raises(BadInput, match=told):
        dataset.select(golds, **asked)  # type: ignore[arg-type]


def test_two_conversations_of_one_name_are_refused(tmp_path: Path) -> None:
    path = locomo_file(tmp_path / "x.json", {"conv-26": [qa()]})
    path.write_text(json.dumps(json.loads(path.read_text()) * 2))
    with pytest.raises(BadInput, match="two conversations are called conv-26"):
        locomo.load(path, verify=False)
