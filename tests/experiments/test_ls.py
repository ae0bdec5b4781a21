"""What is on the shelf: a line a run, one run, one question's trace."""

from pathlib import Path

import pytest

from experiments.ls import main
from experiments.run_dir import run_directory
from experiments.shelf import differences, find_runs, method_names
from tests.experiments.harness import run_mini
from trimem.errors import BadInput


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ls")
    for seed in (0, 1):
        run_mini(folder, f"seed={seed}")
    run_mini(folder, "method.fail_on=kayak", "max_failed=1")
    return folder


def shown(capsys: pytest.CaptureFixture[str], folder: Path, *arguments: str) -> str:
    assert main([*arguments, "--runs", str(folder / "runs")]) == 0
    return capsys.readouterr().out


def test_the_list_has_a_line_a_run_with_what_makes_it_differ(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [line for line in shown(capsys, folder).splitlines() if "StandIn" in line]
    assert len(lines) == 3
    assert all("done" in line for line in lines)
    assert sum("fail_on=kayak" in line for line in lines) == 1


def test_a_run_is_named_by_the_beginning_of_its_hash(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = next(run for run in find_runs([folder / "runs"]) if differences([run])[run.hash] == "" and run.seed == 1)
    printed = shown(capsys, folder, run.hash[:6])
    assert "headline (micro)" in printed
    assert printed.endswith(f"run: {run.directory}\n")
    assert shown(capsys, folder, str(run.directory)) == printed


def test_a_question_s_trace_shows_what_was_read_and_marks_the_evidence(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = find_runs([folder / "runs"])[0]
    printed = shown(capsys, folder, run.hash, "mini-dev-1:0")
    for label in ("question: ", "gold: ", "prediction: ", "status: ok", "f1_locomo"):
        assert label in printed
    assert "(text not kept)" not in printed
    row = next(line for line in printed.splitlines() if "│ turn" in line)
    assert "D1:" in row


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing"], "no run's directory"),
        (["", "mini-dev-1:0"], "3 runs"),
        (["{first}", "who"], "has no question who"),
    ],
)
def test_what_does_not_exist_is_named(folder: Path, arguments: list[str], message: str) -> None:
    first = find_runs([folder / "runs"])[0].hash
    with pytest.raises(BadInput, match=message):
        main([*(a.replace("{first}", first) for a in arguments), "--runs", str(folder / "runs")])


def test_a_run_without_metrics_is_running_while_a_process_holds_it(tmp_path: Path) -> None:
    directory = Path(run_mini(tmp_path)["run"])
    (directory / "metrics.json").unlink()
    (run,) = find_runs([directory])
    states = [run.state]
    with run_directory(directory):
        states.append(run.state)
    assert states == ["stopped", "running"]


def test_a_folder_without_runs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no run in"):
        find_runs([tmp_path])


def test_methods_are_called_as_on_the_command_line() -> None:
    assert method_names()["trimem.memory.TriMem"] == "trimem"
    assert method_names()["baselines.naive_rag.NaiveRag"] == "naive_rag"
