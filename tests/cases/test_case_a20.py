"""a20: PerLTQA: people with the same name overwrite each other; anchors of -1."""

import json
import logging
from pathlib import Path
from typing import Any

import pytest

from experiments.data import perltqa
from experiments.data.types import Dataset, GoldBook
from tests.experiments.builders import CASES


def _load(folder: Path, reference: str) -> tuple[Dataset, GoldBook]:
    """The case's people; its question refers to `reference`, and a second one tells the pilot from the baker."""
    case: dict[str, Any] = json.loads((CASES / "perltqa_same_name.json").read_text(encoding="utf-8"))
    case["mem"][1]["events"] = {"e1": case["mem"][1]["events"]["e0"]} if reference == "e0" else case["mem"][1]["events"]
    (question,) = case["qa"][0]["Li Wei"]["events"]
    question["Reference Memory"] = reference
    (folder / "perltmem_en_v2.json").write_text(json.dumps(case["mem"]), encoding="utf-8")
    (folder / "perltqa_en_v2.json").write_text(json.dumps(case["qa"]), encoding="utf-8")
    return perltqa.load(folder, verify=False, ingest="all")


def test_the_question_goes_to_the_one_whose_memory_it_cites(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        dataset, golds = _load(tmp_path, "e0")
    (baker,) = dataset.conversations
    assert "baker" in repr(baker) and "pilot" not in repr(baker)
    (gold,) = golds.values()
    assert (gold.answer, gold.evidence) == ("a bakery", ("e0",))
    assert "people without social_relationship: 1" in caplog.text


def test_a_reference_that_both_could_mean_is_not_guessed(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        _, golds = _load(tmp_path, "['e0']")
    assert golds == {}
    assert "questions whose reference two people share: 1" in caplog.text


def test_chinese_is_read_as_utf8_and_names_a_folder(tmp_path: Path) -> None:
    memory = [{"profile": {"Protagonist": "李伟", "职业": "面包师"}, "dialogues": {}, "events": {}}]
    qa = {
        "Question": "李伟做什么工作?",
        "Answer": "面包师",
        "Reference Memory": "职业",
        "Memory Anchors": [{"面": [-1, -1]}],
    }
    (tmp_path / "perltmem_en_v2.json").write_text(json.dumps(memory, ensure_ascii=False), encoding="utf-8")
    (tmp_path / "perltqa_en_v2.json").write_text(
        json.dumps([{"李伟": {"profile": [qa]}}], ensure_ascii=False), encoding="utf-8"
    )
    dataset, golds = perltqa.load(tmp_path, verify=False, ingest="all")
    assert dataset.question_ids == ("李伟:0",)
    assert golds["李伟:0"].evidence == ("profile/职业",)
