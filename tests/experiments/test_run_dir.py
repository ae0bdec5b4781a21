"""One process a run directory, and no directory of another schema."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.run_dir import folder_name, read_json, run_directory, write_json
from tests.experiments.harness import run_mini
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


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("manifest.json", '{"schema": 1}'),
        ("usage.json", '{"answer": 5}'),
        ("usage.json", '{"answer": {"calls": "many"}}'),
        ("memory/mini-dev-1/build.json", "{}"),
        ("memory/mini-dev-1/build.json", '{"turns": null}'),
        ("manifest.json", "[" * 100_000),
    ],
)
def test_a_file_of_a_run_that_is_not_ours_is_named_with_what_to_do(tmp_path: Path, name: str, text: str) -> None:
    directory = Path(run_mini(tmp_path)["run"])
    (directory / name).write_text(text)
    with pytest.raises(BadInput, match=rf"{Path(name).name} is not .*; move its folder away and start again"):
        run_mini(tmp_path)
