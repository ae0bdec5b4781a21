"""One process a run directory, and no directory of another schema."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.run_dir import folder_name, read_json, run_directory, write_json
from trimem.errors import BadInput


def test_a_directory_in_use_says_who_holds_it(tmp_path: Path) -> None:
    with (
        run_directory(tmp_path / "run"),
        pytest.raises(BadInput, match=r"is being worked on by process \d+ on"),
        run_directory(tmp_path / "run"),
    ):
        pass


def test_a_directory_is_free_again_afterwards(tmp_path: Path) -> None:
    for _ in range(2):
        with run_directory(tmp_path / "run") as path:
            assert path.is_dir()


def test_a_directory_of_another_schema_is_refused_with_what_to_do(tmp_path: Path) -> None:
    write_json(tmp_path / "manifest.json", {"schema": 99})
    with pytest.raises(BadInput, match=r"has schema 99, this version reads 1: move it away"), run_directory(tmp_path):
        pass


@pytest.mark.parametrize("text", ['{"schema": ', "[1]"])
def test_a_half_written_file_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "manifest.json").write_text(text)
    with pytest.raises(BadInput, match=r"manifest\.json"):
        read_json(tmp_path / "manifest.json")


def test_json_is_strict_and_replaced_in_one_step(tmp_path: Path) -> None:
    write_json(tmp_path / "a.json", {"é": "\ud800"})
    assert json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    with pytest.raises(ValueError, match="JSON compliant"):
        write_json(tmp_path / "a.json", {"x": float("nan")})
    assert list(tmp_path.iterdir()) == [tmp_path / "a.json"]


@given(st.text(min_size=1, max_size=80), st.text(min_size=1, max_size=80))
def test_ids_never_leave_their_folder_and_never_meet(one: str, other: str) -> None:
    name = folder_name(one)
    assert "/" not in name
    assert name.strip(".") == name
    assert (name == folder_name(other)) == (one == other)
