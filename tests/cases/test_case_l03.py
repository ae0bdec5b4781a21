"""Case l03: ids are names, never paths; whatever they hold, nothing leaves the run directory or steers a console."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from experiments.console import neutral
from experiments.run_dir import folder_name
from tests.experiments.builders import locomo_file, qa
from tests.experiments.harness import rows_of, run_command, run_mini
from trimem.errors import BadInput
from trimem.memory import TriMem

GIVEN = ["../evil", "..", "/tmp/trimem_abs", "a/../../b", "mini\\..\\x", "mini-dev-1\0x", "."]
MORE = [
    "x" * 10_000,
    "🦔",
    "\u202egnp.exe",
    "\x1b[2J\x1b]0;owned\x07",
    "con",
    "~",
    "$HOME",
    "a\nb",
    "%2e%2e%2f",
    "\ud800",
]
TOO_EMPTY = ["", " "]


def file_of(tmp_path: Path, ids: Sequence[str]) -> Path:
    return locomo_file(tmp_path / "data.json", {id: [qa()] for id in ids})


def overrides(data: Path) -> list[str]:
    return ["method=trimem", "embedder=hash", "dataset=locomo", "dataset.verify=false", f"dataset.path={data}"]


def test_hostile_ids_each_get_their_own_folder_inside_the_run(tmp_path: Path) -> None:
    launch = tmp_path / "outer" / "launch"
    launch.mkdir(parents=True)
    before = set(tmp_path.rglob("*")) | {Path("/tmp/trimem_abs")}
    status = run_mini(launch, *overrides(file_of(launch, GIVEN + MORE)), "tracker=none")
    assert [row["status"] for row in rows_of(status)] == ["ok"] * len(GIVEN + MORE)
    made = set(tmp_path.rglob("*")) - before
    assert not Path("/tmp/trimem_abs").exists()
    assert all(path.is_relative_to(launch) for path in made)
    assert {path.name for path in launch.iterdir()} <= {"runs", ".cache", "data.json"}
    folders = [path.name for path in (Path(status["run"]) / "memory").iterdir()]
    assert len(folders) == len(GIVEN + MORE)
    assert all(name.isascii() and len(name) < 100 for name in folders)


@pytest.mark.parametrize("id", TOO_EMPTY)
def test_an_id_of_nothing_is_refused(tmp_path: Path, id: str) -> None:
    with pytest.raises(BadInput, match="empty id"):
        run_mini(tmp_path, *overrides(file_of(tmp_path, [id])))
    with pytest.raises(BadInput, match="a directory of its own"):
        TriMem(id)


def test_an_id_that_imitates_the_folder_of_another_gets_its_own() -> None:
    honest = folder_name("a/b")
    assert folder_name(honest) != honest
    assert folder_name("") not in ("", ".")


def test_a_message_about_a_hostile_id_steers_no_terminal(tmp_path: Path) -> None:
    data = file_of(tmp_path, ["\x1b[2J\x1b]0;owned\x07\u202e", "harmless"])
    ended = run_command(tmp_path, *overrides(data), "dataset.conversations=[nobody]")
    assert ended.returncode == 2
    (message,) = (line for line in ended.stderr.splitlines() if line.startswith("error"))
    assert "\\x1b[2J" in message
    assert all(c.isprintable() or c == "\n" for c in ended.stdout + ended.stderr)


def test_neutral_text_is_what_it_was() -> None:
    for text in ("née 🦔 中文 [dense] – …", "tab\tand\nline"):
        assert neutral(text) == text


def test_halves_of_surrogate_pairs_in_a_data_file_cost_no_question(tmp_path: Path) -> None:
    data = file_of(tmp_path, ["a"])
    sample = json.loads(data.read_text())
    sample[0]["conversation"]["session_1"][0]["text"] += " \ud83d and \ude00"
    sample[0]["qa"][0]["question"] = "What did Ida \ud83d plant?"
    data.write_text(json.dumps(sample))
    (row,) = rows_of(run_mini(tmp_path, *overrides(data), "tracker=none"))
    assert row["status"] == "ok"
    with TriMem(tmp_path / "library") as memory:
        memory.add([{"role": "user", "content": "I planted a pear tree \ud83d"}])
        assert memory.ask("What \udc00 did I plant?").status == "ok"
