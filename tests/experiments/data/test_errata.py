import json
from pathlib import Path

import pytest

from experiments.data.errata import read_errata, without, wrong_answers
from experiments.data.locomo import load
from tests.experiments.builders import mini
from trimem.errors import BadInput


def test_ids_are_read_as_ours_and_nothing_else_is(tmp_path: Path) -> None:
    path = tmp_path / "errors.json"
    entries = [
        {"question_id": "locomo_0_qa1", "error_type": "WRONG_CITATION", "reasoning": "long text"},
        {"question_id": "locomo_9_qa12", "error_type": "AMBIGUOUS"},
    ]
    path.write_text(json.dumps(entries))
    errata = read_errata(path)
    assert errata == {"conv-26:1": "WRONG_CITATION", "conv-50:12": "AMBIGUOUS"}
    assert wrong_answers(errata) == {"conv-50:12"}


@pytest.mark.parametrize("content", ["[1]", '[{"question_id": "q1", "error_type": "X"}]', '[{"question_id": 3}]'])
def test_another_format_is_named(tmp_path: Path, content: str) -> None:
    path = tmp_path / "errors.json"
    path.write_text(content)
    with pytest.raises(BadInput, match="not in the format of locomo-audit"):
        read_errata(path)


def test_questions_are_left_out_and_conversations_stay() -> None:
    dataset, _ = mini()
    less = without(dataset, {"mini-dev-1:0", "mini-dev-1:12"})
    assert less.conversations == dataset.conversations
    assert less.question_ids == dataset.question_ids[1:12]


@pytest.mark.realdata
def test_the_real_audit_points_at_99_wrong_answers_and_57_citations(data_dir: Path) -> None:
    errata = read_errata(data_dir / "locomo_audit_errors.json")
    dataset, golds = load(data_dir / "locomo10.json")
    assert [conversation.id for conversation in dataset.conversations] == sorted(dataset.questions)
    assert (len(errata), len(wrong_answers(errata))) == (156, 99)
    by_category = [sum(golds[id].category == category for id in wrong_answers(errata)) for category in (1, 2, 3, 4)]
    assert by_category == [28, 26, 9, 36]
