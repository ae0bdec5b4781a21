import hashlib
import json
import logging
from collections import Counter
from pathlib import Path

import pytest

from experiments.data import files, locomo
from experiments.data.sources import PinnedFile
from experiments.data.types import ABSTAIN
from tests.experiments.builders import locomo_file, mini, qa
from trimem.errors import BadInput


def test_a_missing_file_is_one_line_that_says_where_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"cannot read .*gone\.json .*raw\.githubusercontent\.com") as caught:
        locomo.load(tmp_path / "gone.json")
    assert "\n" not in str(caught.value)


def test_another_digest_is_refused_unless_told(tmp_path: Path) -> None:
    path = locomo_file(tmp_path / "other.json", {"conv-26": [qa()]})
    with pytest.raises(BadInput, match=r"verify=false"):
        locomo.load(path)
    dataset, _ = locomo.load(path, verify=False)
    assert not dataset.verified
    assert dataset.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert dataset.splits == {"train": ("conv-26",)}


def test_a_half_written_file_is_named(tmp_path: Path) -> None:
    path = locomo_file(tmp_path / "half.json", {"conv-26": [qa()]})
    path.write_text(path.read_text()[:-40])
    with pytest.raises(BadInput, match=r"half\.json is not whole JSON"):
        locomo.load(path, verify=False)


@pytest.mark.parametrize("content", ['{"a": 1}', "[1]", '[{"sample_id": "x"}]', "null"])
def test_another_shape_is_named(tmp_path: Path, content: str) -> None:
    path = tmp_path / "shape.json"
    path.write_text(content)
    with pytest.raises(BadInput, match="not in LoCoMo's format"):
        locomo.load(path, verify=False)


def test_windows_line_ends_are_the_same_file(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    unix = b'[\n {"a": 1}\n]\n'
    path = tmp_path / "crlf.json"
    path.write_bytes(unix.replace(b"\n", b"\r\n"))
    pinned = PinnedFile("a.json", "", sha256=hashlib.sha256(unix).hexdigest())
    with caplog.at_level(logging.WARNING):
        data, digest, verified = files.read_pinned(path, pinned, verify=True, get_it="")
    assert (json.loads(data), digest, verified) == ([{"a": 1}], pinned.sha256, True)
    assert "Windows line ends" in caplog.text


@pytest.mark.parametrize(
    ("image_text", "captions"),
    [("caption", ["with a link", "without"]), ("caption_if_url", ["with a link", None]), ("none", [None, None])],
)
def test_captions_are_kept_as_asked(tmp_path: Path, image_text: locomo.ImageText, captions: list[str | None]) -> None:
    path = locomo_file(tmp_path / "images.json", {"conv-26": [qa()]})
    samples = json.loads(path.read_text())
    first, second = samples[0]["conversation"]["session_1"]
    first |= {"blip_caption": "with a link", "img_url": ["https://example.org/1.jpg"], "query": "leak"}
    second |= {"blip_caption": "without", "query": "leak"}
    path.write_text(json.dumps(samples))
    dataset, _ = locomo.load(path, verify=False, image_text=image_text)
    assert [turn.caption for turn in dataset.conversations[0].turns] == captions


def test_nothing_but_dialogue_questions_and_golds_is_read(tmp_path: Path) -> None:
    path = locomo_file(tmp_path / "leak.json", {"conv-26": [qa()]})
    samples = json.loads(path.read_text())
    samples[0] |= {
        "observation": {"session_1_observation": {"Ida": [["LEAK", "D1:1"]]}},
        "session_summary": {"session_1_summary": "LEAK"},
        "event_summary": {"events_session_1": {"Ida": ["LEAK"]}},
    }
    samples[0]["conversation"]["session_1"][0] |= {"query": "LEAK", "re-download": "LEAK"}
    path.write_text(json.dumps(samples))
    assert "LEAK" not in repr(locomo.load(path, verify=False))


def test_the_data_set_holds_no_gold() -> None:
    dataset, golds = mini()
    told = repr(dataset.questions) + repr(dataset.conversations)
    assert "The Saturday before 4 May 2023" in {gold.answer for gold in golds.values()}
    assert "The Saturday before" not in told
    assert "evidence" not in told and "category" not in told


def test_a_category_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="conv-26:0 has category 7"):
        locomo.load(locomo_file(tmp_path / "x.json", {"conv-26": [qa(7)]}), verify=False)


def test_an_answerable_question_without_answer_is_refused(tmp_path: Path) -> None:
    question = qa(4)
    del question["answer"]
    with pytest.raises(BadInput, match="answer"):
        locomo.load(locomo_file(tmp_path / "x.json", {"conv-26": [question]}), verify=False)


@pytest.mark.realdata
def test_the_real_file_gives_the_known_counts(data_dir: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        dataset, golds = locomo.load(data_dir / "locomo10.json")
    assert dataset.verified and dataset.sha256 == locomo.SOURCE.files[0].sha256
    assert Counter(gold.category for gold in golds.values()) == {1: 282, 2: 321, 3: 96, 4: 841, 5: 446}
    usable = [id for id, gold in golds.items() if gold.evidence and gold.category != 5]
    assert len(usable) == 1536
    assert {gold.answer for gold in golds.values() if gold.category == 5} == {ABSTAIN}
    assert sum(turn.caption is not None for c in dataset.conversations for turn in c.turns) == 1226
    unreadable = [record.getMessage() for record in caplog.records]
    assert unreadable == [
        "locomo10.json: evidence that points at no turn is left out: "
        "conv-42:58 'D10:19', conv-42:88 'D', conv-47:38 'D4:36'"
    ]
    assert sorted(id for ids in dataset.splits.values() for id in ids) == sorted(dataset.questions)


@pytest.mark.realdata
def test_a_real_copy_with_windows_line_ends_is_verified(data_dir: Path, tmp_path: Path) -> None:
    path = tmp_path / "crlf.json"
    path.write_bytes((data_dir / "locomo10.json").read_bytes().replace(b"\n", b"\r\n"))
    dataset, _ = locomo.load(path)
    assert dataset.verified


def test_the_bundled_sample_has_a_conversation_a_split_and_all_categories() -> None:
    dataset, golds = locomo.load_sample()
    assert dataset.verified and "MIT" in dataset.licence
    assert dataset.splits == {"train": ("sample-train",), "val": ("sample-val",), "test": ("sample-test",)}
    for conversation in dataset.conversations:
        categories = {golds[question.id].category for question in dataset.questions[conversation.id]}
        assert categories == set(dataset.categories)
