"""A run keeps what is done, counts what failed, and is the same whatever the number of threads."""

import json
from pathlib import Path
from typing import Any

import pytest

from experiments.run_dir import write_json
from tests.experiments.harness import MINI_QUESTIONS, read, rows_of, run_mini
from tests.stand_in import StandIn
from trimem.errors import BadInput, BudgetReached, LLMUnavailable
from trimem.types import Answer, BuildReport, Conversation, Question


def asked(status: dict[str, Any]) -> list[str]:
    return next(Path(status["run"]).glob("memory/*/asked.txt")).read_text().split()


def without_commit(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{key: value for key, value in row.items() if key != "commit"} for row in rows]


def test_a_run_leaves_a_row_a_question_in_the_order_of_the_data(tmp_path: Path) -> None:
    status = run_mini(tmp_path, "workers=4")
    assert status["exit"] == 0
    rows = rows_of(status)
    assert [row["question_id"] for row in rows] == [f"mini-dev-1:{n}" for n in range(MINI_QUESTIONS)]
    wanted = {"question_id", "conversation", "category", "prediction", "status", "items", "context_tokens", "commit"}
    assert all(wanted <= row.keys() for row in rows)
    assert [row["question_id"] for row in rows_of(status, "timings.jsonl")] == [row["question_id"] for row in rows]
    assert read(status, "metrics.json")["n"] == MINI_QUESTIONS
    assert read(status, "metrics.json")["build"]["turns"] == 7


def test_the_last_line_names_the_directory(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status = run_mini(tmp_path)
    printed = capsys.readouterr().out.splitlines()
    assert printed[-1] == f"run: {status['run']}"
    assert any("no LLM" in line for line in printed)
    assert any("backbone=" in line for line in printed)


def test_one_thread_and_sixteen_give_equal_runs(tmp_path: Path) -> None:
    one, many = (run_mini(tmp_path, f"workers={n}", f"paths.runs=runs{n}") for n in (1, 16))
    assert rows_of(one) == rows_of(many)
    assert read(one, "metrics.json") == read(many, "metrics.json")
    assert Path(one["run"]).name == Path(many["run"]).name


def test_a_finished_run_asks_and_builds_nothing_again(tmp_path: Path) -> None:
    first = run_mini(tmp_path)
    rows = rows_of(first)
    second = run_mini(tmp_path)
    assert second["run"] == first["run"]
    assert len(asked(second)) == MINI_QUESTIONS
    assert next(Path(second["run"]).glob("memory/*/builds.txt")).read_text() == "built\n"
    assert rows_of(second) == rows
    assert len(read(second, "manifest.json")["starts"]) == 2


def test_a_failed_question_is_counted_and_asked_again(tmp_path: Path) -> None:
    status = run_mini(tmp_path, "method.fail_on=Who", "max_failed=0.0")
    failed = [row for row in rows_of(status) if row["status"] != "ok"]
    assert failed
    assert all(row["status"].startswith("error: answer: ValueError: the stand-in refuses Who") for row in failed)
    assert status["exit"] == 1
    assert read(status, "metrics.json")["failed"] == len(failed)
    again = run_mini(tmp_path, "method.fail_on=Who", "max_failed=0.0")
    assert sorted(asked(again)) == sorted(
        [f"mini-dev-1:{n}" for n in range(MINI_QUESTIONS)] + [r["question_id"] for r in failed]
    )


def test_failures_under_the_limit_leave_the_exit_code_at_zero(tmp_path: Path) -> None:
    status = run_mini(tmp_path, "method.fail_on=Who", "max_failed=1.0")
    assert (status["exit"], status["reason"]) == (0, "")


def test_a_row_keeps_the_commit_that_made_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("experiments.manifest.code_version", lambda: {"commit": "aaa", "dirty": False})
    run_mini(tmp_path, "method.fail_on=Who", "max_failed=1")
    monkeypatch.setattr("experiments.manifest.code_version", lambda: {"commit": "bbb", "dirty": True})
    status = run_mini(tmp_path, "method.fail_on=Who", "max_failed=1")
    assert {row["commit"] for row in rows_of(status) if row["status"] == "ok"} == {"aaa"}
    assert {row["commit"] for row in rows_of(status) if row["status"] != "ok"} == {"bbb+changes"}


@pytest.mark.parametrize(("error", "code"), [(BudgetReached("no more"), 3), (LLMUnavailable("no key"), 2)])
def test_a_fatal_error_stops_the_run_and_keeps_what_is_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BudgetReached | LLMUnavailable, code: int
) -> None:
    original = StandIn.answer

    def answer(self: StandIn, question: Question) -> Answer:
        if question.id.endswith(":5"):
            raise error
        return original(self, question)

    monkeypatch.setattr(StandIn, "answer", answer)
    with pytest.raises(type(error)) as raised:
        run_mini(tmp_path, "workers=1")
    assert raised.value.exit_code == code
    assert len(next(tmp_path.glob("runs/default/*/predictions.jsonl")).read_text().splitlines()) == 5
    monkeypatch.setattr(StandIn, "answer", original)
    status = run_mini(tmp_path, "workers=1")
    assert len(asked(status)) == MINI_QUESTIONS


def test_a_conversation_that_cannot_be_built_fails_its_questions_and_is_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def build(self: StandIn, conversation: Conversation) -> BuildReport:
        raise ZeroDivisionError("no memory today")

    monkeypatch.setattr(StandIn, "build", build)
    status = run_mini(tmp_path)
    assert status["exit"] == 1
    assert {row["status"] for row in rows_of(status)} == {"error: build: ZeroDivisionError: no memory today"}
    assert read(status, "metrics.json")["failed"] == MINI_QUESTIONS


def test_a_seed_is_a_run_of_its_own_and_threads_are_not(tmp_path: Path) -> None:
    seeds = {run_mini(tmp_path, f"seed={seed}", f"workers={seed + 1}")["run"] for seed in (0, 1)}
    assert len(seeds) == 2
    assert run_mini(tmp_path, "workers=3", "seed=1", "max_failed=0.5")["run"] in seeds


def test_groups_that_the_method_does_not_use_are_not_in_the_hash(tmp_path: Path) -> None:
    one = run_mini(tmp_path, "embedder=hash", "extractor.window=10")
    assert one["run"] == run_mini(tmp_path)["run"]
    assert read(one, "manifest.json")["identity"]["embedder"] is None


def test_the_manifest_tells_what_the_run_was_made_of(tmp_path: Path) -> None:
    manifest = read(run_mini(tmp_path), "manifest.json")
    assert manifest["schema"] == 1
    assert len(manifest["dataset"]["sha256"]) == 64
    assert manifest["dataset"]["verified"] is False
    assert Path(manifest["dataset"]["path"]).is_absolute()
    assert manifest["seed"] == 0
    assert {"python", "torch", "faiss-cpu"} <= manifest["starts"][0]["versions"].keys()
    assert manifest["starts"][0].keys() >= {"time", "commit", "dirty"}


def test_looks_at_the_test_split_are_counted_once_a_run(tmp_path: Path) -> None:
    def looks(*overrides: str) -> int:
        status = run_mini(tmp_path, "dataset=sample", *overrides)
        return int(read(status, "manifest.json")["runs_that_read_the_test_split"])

    assert looks("dataset.split=val") == 0
    assert looks("dataset.split=test") == 1
    assert looks("dataset.split=test") == 1
    assert looks("dataset.split=test", "seed=1") == 2


def test_a_limit_asks_fewer_questions_of_a_whole_conversation(tmp_path: Path) -> None:
    status = run_mini(tmp_path, "dataset.limit=2")
    assert len(rows_of(status)) == 2
    assert read(status, "metrics.json")["build"]["turns"] == 7


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("dataset.path=nowhere.json", "nowhere.json"),
        ("dataset.verify=true", "sha256"),
        ("dataset.conversations=[conv-99]", "unknown conversation conv-99; valid: mini-dev-1"),
        ("dataset.limit=0", "dataset.limit=0"),
        ("dataset.split=7", r"dataset\.split=7: input should be a valid string"),
        ("workers=0", "workers=0: input should be greater than 0"),
        ("max_failed=2", "max_failed=2"),
        ("device=gpu", "device='gpu': input should be 'auto', 'cpu', 'cuda' or 'mps'"),
        ("name=../up", "name='../up'"),
    ],
)
def test_bad_input_is_one_message_that_names_it(tmp_path: Path, override: str, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        run_mini(tmp_path, override)
    assert not list(tmp_path.glob("runs/*/*/predictions.jsonl"))


def test_a_half_written_data_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "half.json").write_text('[{"sample_id": "x", ')
    with pytest.raises(BadInput, match=r"half\.json is not whole JSON"):
        run_mini(tmp_path, "dataset.path=half.json")


def test_a_run_directory_of_another_schema_is_refused(tmp_path: Path) -> None:
    status = run_mini(tmp_path)
    manifest = read(status, "manifest.json")
    write_json(Path(status["run"]) / "manifest.json", {**manifest, "schema": 0})
    with pytest.raises(BadInput, match="has schema 0"):
        run_mini(tmp_path)


def test_every_line_that_is_written_is_strict_json(tmp_path: Path) -> None:
    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    for path in Path(run_mini(tmp_path)["run"]).rglob("*.json*"):
        for text in path.read_text(encoding="utf-8").splitlines() if path.suffix == ".jsonl" else [path.read_text()]:
            json.loads(text, parse_constant=refuse)
