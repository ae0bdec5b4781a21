import json
import logging
import shutil
from datetime import datetime
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from experiments.data import perltqa
from trimem.errors import BadInput

SAMPLE = files("experiments.data") / "sample"


@pytest.fixture
def release() -> tuple[Any, Any]:
    """The bundled sample, to be bent."""
    return json.loads((SAMPLE / "perltmem.json").read_text()), json.loads((SAMPLE / "perltqa.json").read_text())


def write(folder: Path, memory: Any, asked: Any) -> Path:
    (folder / "perltmem_en_v2.json").write_text(json.dumps(memory, ensure_ascii=False), encoding="utf-8")
    (folder / "perltqa_en_v2.json").write_text(json.dumps(asked, ensure_ascii=False), encoding="utf-8")
    return folder


@pytest.mark.parametrize(("ingest", "questions"), [("dialogues", 3), ("dialogues+events", 5), ("all", 10)])
def test_only_what_is_ingested_is_asked_about(
    ingest: perltqa.Ingest, questions: int, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        dataset, golds = perltqa.load_sample(ingest)
    assert len(dataset.question_ids) == len(golds) == questions
    turns = {turn.id for conversation in dataset.conversations for turn in conversation.turns}
    assert all(gold.evidence and turns.issuperset(gold.evidence) for gold in golds.values())
    assert f"questions whose reference was not ingested: {11 - questions}" in caplog.text
    assert "questions about people without memory: 1" in caplog.text


def test_sessions_are_dialogues_by_time_after_what_has_no_date() -> None:
    signe, _ = perltqa.load_sample("all")[0].conversations
    assert [(session.id, session.time) for session in signe.sessions] == [
        ("0", None),
        ("0_0_1", None),
        ("0_0_0", datetime(2021, 3, 9)),
        ("0_0_0#0@2021-03-09 22:40", datetime(2021, 3, 9, 22, 40)),
        ("0_0_0#0@2021-03-10 06:15", datetime(2021, 3, 10, 6, 15)),
    ]
    assert signe.speakers == ("Signe Aalto", "Bram Okoye")
    said = signe.sessions[3].turns[0]
    assert (said.id, said.speaker) == ("0_0_0#0@2021-03-09 22:40/0", "Bram Okoye")
    assert said.text == "I saw smoke on the rock. Are you all right?"


def test_a_time_that_is_no_date_stays_in_the_text() -> None:
    signe, tomasz = perltqa.load_sample("dialogues+events")[0].conversations
    assert signe.sessions[0].turns[0].text.startswith("one mild winter: ")
    assert tomasz.sessions[0].turns[0].text.startswith("2018: ")


def test_a_section_written_as_the_text_of_a_dict_is_read_without_running_it(
    tmp_path: Path, release: tuple[Any, Any], caplog: pytest.LogCaptureFixture
) -> None:
    tomasz = perltqa.load_sample("all")[0].conversations[1]
    (turn,) = (turn for turn in tomasz.turns if turn.id == "1_0")
    assert turn.text == "Adaeze Rey (older sister): She runs the family's bakery."
    memory, asked = release
    memory["Tomasz Rey"]["social_relationship"] = "__import__('os').getcwd()"
    with caplog.at_level(logging.WARNING):
        perltqa.load(write(tmp_path, memory, asked), verify=False, ingest="all")
    assert "unreadable social_relationship: 1" in caplog.text


def test_both_containers_of_both_files_and_nested_lines_give_the_same(tmp_path: Path, release: tuple[Any, Any]) -> None:
    memory, asked = release
    for person in asked:
        for sections in person.values():
            for name in {"social_relationship", "events", "dialogues"} & set(sections):
                sections[name] = {id: group for entry in sections[name] for id, group in entry.items()}
    for person in memory.values():
        for dialogue in person["dialogues"].values():
            dialogue["contents"] = {stamp: [lines] for stamp, lines in dialogue["contents"].items()}
    folder = write(tmp_path, list(memory.values()), asked)
    dataset, golds = perltqa.load(folder, verify=False, ingest="all")
    bundled, bundled_golds = perltqa.load_sample("all")
    assert dataset.conversations == bundled.conversations
    assert (dataset.questions, golds) == (bundled.questions, bundled_golds)


def test_paper30_leaves_out_the_two_stubs(tmp_path: Path, release: tuple[Any, Any]) -> None:
    memory, asked = release
    memory["Chen Zhi"] = memory.pop("Tomasz Rey")
    asked[1] = {"Chen Zhi": asked[1]["Tomasz Rey"]}
    folder = write(tmp_path, memory, asked)
    assert len(perltqa.load(folder, verify=False)[0].conversations) == 2
    assert [c.id for c in perltqa.load(folder, verify=False, people="paper30")[0].conversations] == ["signe-aalto"]


def test_a_draw_repeats_with_its_seed_and_ids_do_not_move(tmp_path: Path, release: tuple[Any, Any]) -> None:
    folder = write(tmp_path, *release)

    def drawn(seed: int) -> tuple[str, ...]:
        return perltqa.load(folder, verify=False, ingest="all", per_section=1, sample_seed=seed)[0].question_ids

    every = perltqa.load(folder, verify=False, ingest="all")[0].question_ids
    assert drawn(1) == drawn(1)
    assert len({drawn(seed) for seed in range(8)}) > 1
    assert len(drawn(1)) == 8 and set(drawn(1)) <= set(every)


def test_bad_files_are_one_line(tmp_path: Path, release: tuple[Any, Any]) -> None:
    with pytest.raises(BadInput, match=r"perltmem_en_v2\.json .*download perltqa-en_v2"):
        perltqa.load(tmp_path)
    folder = write(tmp_path, *release)
    with pytest.raises(BadInput, match=r"verify=false"):
        perltqa.load(folder)
    write(tmp_path, {"x": 3}, release[1])
    with pytest.raises(BadInput, match="not in PerLTQA's format"):
        perltqa.load(folder, verify=False)


@pytest.mark.realdata
def test_the_real_excerpt_loads(data_dir: Path, tmp_path: Path) -> None:
    for name in ("perltmem_en_v2", "perltqa_en_v2"):
        shutil.copy(data_dir / "perltqa" / f"{name}.PARTIAL.json", tmp_path / f"{name}.json")
    dataset, golds = perltqa.load(tmp_path, verify=False, ingest="all")
    assert len(dataset.conversations) == 1
    counts = {category: sum(gold.category == category for gold in golds.values()) for category in dataset.categories}
    assert sum(counts.values()) == 41 and counts[1] == 13
