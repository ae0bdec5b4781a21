"""The command from runs to files: the golden tables, what stands beside numbers, what is not finished."""

import csv
import re
from pathlib import Path

import pytest

from experiments.report.__main__ import main
from tests.experiments.harness import run_mini
from tests.experiments.report.reports import report, two_seeds
from trimem.errors import BadInput

GOLDEN = Path(__file__).parent / "golden"


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    two_seeds(folder)
    return report(folder)


def steady(text: str) -> str:
    """Without what changes from machine to machine: seconds and memory."""
    header = next(line for line in text.splitlines() if line.startswith("| model"))
    costs = ("build s", "retrieval s", "s a question", "run s", "peak GB")
    timed = [n for n, name in enumerate(header.split(" | ")) if name in costs]
    lines = []
    for line in text.splitlines():
        cells = line.split(" | ")
        if len(cells) == len(header.split(" | ")) and not line.startswith(("| model", "| ---")):
            cells = ["#" if n in timed else cell for n, cell in enumerate(cells)]
        lines.append(" | ".join(cells))
    return "\n".join(lines) + "\n"


def test_the_tables_are_the_golden_ones(out: Path) -> None:
    written = steady((out / "tables/golden.md").read_text()) + (out / "tables/golden_categories.md").read_text()
    assert written == (GOLDEN / "stand_in.md").read_text()


def test_every_table_comes_in_three_formats_that_agree(out: Path) -> None:
    with (out / "tables/golden.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["method"] for row in rows] == ["StandIn fail_on=", "StandIn fail_on=kayak"]
    latex = (out / "tables/golden.tex").read_text()
    assert latex.count(r"\toprule") == latex.count(r"\bottomrule") == 1
    assert r"fail\_on=kayak" in latex
    assert re.search(r"[^\\][_%&#$]", latex.replace(" & ", " ").replace(r"$\approx$", "")) is None


def test_seeds_are_one_row_with_their_number_and_failures_of_all(out: Path) -> None:
    with (out / "tables/golden.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["seeds"], row["failed"]) for row in rows] == [("2", "0 of 26"), ("2", "6 of 26")]


def test_a_report_of_the_same_runs_is_the_same(out: Path) -> None:
    again = report(out.parent, "again")
    for file in sorted(path for path in out.rglob("*") if path.is_file()):
        assert file.read_bytes() == (again / file.relative_to(out)).read_bytes(), file.name


def test_unfinished_runs_are_named_and_a_report_of_nothing_is_refused(tmp_path: Path) -> None:
    done, other = (Path(run_mini(tmp_path, f"seed={seed}")["run"]) for seed in (0, 1))
    (other / "metrics.json").unlink()
    assert f"not finished and not shown: {other.name} (stopped)" in (report(tmp_path) / "report.md").read_text()
    (done / "metrics.json").unlink()
    with pytest.raises(BadInput, match="none of these runs is finished"):
        main([str(tmp_path / "runs"), "--out", str(tmp_path / "nothing")])
    with pytest.raises(BadInput, match="no run in"):
        main([str(tmp_path / "nowhere"), "--out", str(tmp_path / "nothing")])
