"""`score` and `compare` on finished runs of the stand-in memory."""

import json
from pathlib import Path

import pytest

from experiments import compare, score
from experiments.exits import exit_code
from experiments.rows import to_line
from tests.experiments.builders import mini_predictions
from tests.experiments.harness import read, rows_of, run_mini
from trimem.errors import BadInput


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    """A finished run on the mini conversation whose predictions are those of the cases."""
    status = run_mini(tmp_path)
    rows = [row | {"prediction": text} for row, text in zip(rows_of(status), mini_predictions(), strict=True)]
    directory = Path(status["run"])
    (directory / "predictions.jsonl").write_bytes(b"".join(map(to_line, rows)))
    return directory


def other_run(folder: Path, **changes: str) -> Path:
    """A second finished run, with some predictions changed."""
    status = run_mini(folder, "seed=1")
    directory = Path(status["run"])
    rows = [row | {"prediction": text} for row, text in zip(rows_of(status), mini_predictions(), strict=True)]
    for row in rows:
        row["prediction"] = changes.get(row["question_id"].split(":")[1], row["prediction"])
    (directory / "predictions.jsonl").write_bytes(b"".join(map(to_line, rows)))
    return directory


def test_score_reads_stored_predictions_and_keeps_build_and_usage(
    stored: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = read({"run": stored}, "metrics.json")
    assert score.main([str(stored)]) == 0
    after = read({"run": stored}, "metrics.json")
    assert after["headline"]["f1_locomo"]["mean"] == pytest.approx(0.7773, abs=5e-5)
    assert (after["build"], after["usage"]) == (before["build"], before["usage"])
    assert capsys.readouterr().out.endswith(f"run: {stored}\n")


def test_compare_shows_difference_and_flips(stored: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = other_run(tmp_path, **{"0": "never", "12": "a bike, a tent"})
    assert compare.main([str(stored), str(other), "--metric", "f1_locomo"]) == 0
    shown = capsys.readouterr().out
    assert "-0.0455" in shown  # (-1 + 0.5) / 11
    assert "better on 1 of 11 questions: mini-dev-1:12" in shown
    assert "worse on 1 of 11 questions: mini-dev-1:0" in shown
    assert "within these 1 conversations only" in shown
    assert "f1_locomo by conversation: mini-dev-1 -0.0455 (n=11)" in shown


def test_runs_on_other_questions_are_refused_unless_told(
    stored: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fewer = Path(run_mini(tmp_path, "dataset.limit=3")["run"])
    with pytest.raises(BadInput, match=r"differ in questions; .*--force"):
        compare.main([str(stored), str(fewer)])
    assert compare.main([str(stored), str(fewer), "--force"]) == 0
    shown = capsys.readouterr().out
    assert "warning" in shown and "of 3 questions" in shown


def test_another_answer_prompt_is_refused(stored: Path, tmp_path: Path) -> None:
    other = other_run(tmp_path)
    manifest = json.loads((other / "manifest.json").read_text())
    manifest["prompts"]["answer"] = {"hash": "other", "text": ""}
    (other / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(BadInput, match="differ in answer prompt"):
        compare.main([str(stored), str(other)])


@pytest.mark.parametrize("command", [score.main, compare.main])
def test_what_is_no_run_is_one_line_and_exit_2(
    command: object, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert exit_code(lambda: command([str(tmp_path), str(tmp_path)])) == 2  # type: ignore[operator]
    assert "holds no finished run" in capsys.readouterr().err


def test_a_data_file_that_changed_is_told(stored: Path) -> None:
    manifest = json.loads((stored / "manifest.json").read_text())
    manifest["dataset"]["sha256"] = "0"
    (stored / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(BadInput, match="has changed since"):
        score.main([str(stored)])


def test_errata_are_for_the_published_file_only(stored: Path, tmp_path: Path) -> None:
    errata = tmp_path / "errors.json"
    errata.write_text('[{"question_id": "locomo_0_qa1", "error_type": "AMBIGUOUS"}]')
    with pytest.raises(BadInput, match="published locomo10"):
        score.main([str(stored), "--errata", str(errata)])
    assert "corrected" not in read({"run": stored}, "metrics.json")


@pytest.mark.realdata
def test_official_and_corrected_stand_side_by_side(
    data_dir: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chosen = ("dataset=locomo", f"dataset.path={data_dir / 'locomo10.json'}", "dataset.conversations=[conv-30]")
    status = run_mini(tmp_path, *chosen)
    assert score.main([status["run"], "--errata", str(data_dir / "locomo_audit_errors.json")]) == 0
    metrics = read(status, "metrics.json")
    left_out = metrics["corrected"]["left_out"]
    wrong = sum(count for kind, count in left_out.items() if kind != "WRONG_CITATION")
    assert wrong > 0
    assert metrics["corrected"]["headline"]["f1_set"]["n"] == metrics["headline"]["f1_set"]["n"] - wrong
    assert "corrected, without wrong golds" in capsys.readouterr().out
