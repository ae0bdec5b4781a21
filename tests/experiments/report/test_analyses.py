"""The paper's three analyses in a report: a table and a figure each, without a model."""

import csv
from pathlib import Path

import pytest

from experiments.report.__main__ import main
from tests.experiments.analyses.observed import observed_run

ROWS = {
    "retrieval": ["facts", "turns", "chunks", "full context"],
    "storage": ["raw", "facts", "raw + facts"],
    "reasoning": ["trimem", "trimem"],
}


@pytest.mark.parametrize("kind", ROWS)
def test_an_analysis_is_a_table_and_a_figure(tmp_path: Path, kind: str) -> None:
    status = observed_run(tmp_path, f"analysis={kind}", "name=motivation", "method.use_profiles=false")
    assert main([status["run"], "--out", str(tmp_path / "out")]) == 0
    with (tmp_path / "out/tables/motivation_analysis.csv").open(newline="") as file:
        rows = list(csv.reader(file))
    assert [row[0] for row in rows[1:]] == ROWS[kind]
    assert all("–" not in row[2:4] for row in rows[1:])
    report = (tmp_path / "out/report.md").read_text()
    assert "proxy: facts noted by LoCoMo's annotators" in report
    for suffix in ("png", "svg"):
        assert (tmp_path / f"out/figures/motivation_analysis.{suffix}").stat().st_size > 1000
    assert "motivation_analysis" in (tmp_path / "out/index.html").read_text()


def test_a_run_that_names_no_analysis_has_none(tmp_path: Path) -> None:
    status = observed_run(tmp_path, "name=plain")
    main([status["run"], "--out", str(tmp_path / "out")])
    assert not list((tmp_path / "out").rglob("*analysis*"))
