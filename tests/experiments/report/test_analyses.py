"""The paper's three analyses in a report: a table and a figure each, without a model."""

import csv
from pathlib import Path

import pytest

from experiments.report.__main__ import main
from experiments.runner import run
from tests.experiments.analyses.observed import observed_run
from tests.experiments.harness import config_of
from trimem.store import Store
from trimem.types import Extraction

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


def test_examples_show_queries_entries_and_what_a_longer_window_lost(tmp_path: Path) -> None:
    given = ("dataset=sample", "dataset.conversations=[sample-train]", "embedder=hash", "tracker=none")
    for window in (10, 50):
        # the scripted model extracts whatever the window; the longer one is made to lose all but its first turns
        chosen = (*given, "backbone=scripted", "dataset.limit=6", f"extractor.window={window}", "name=examples")
        status = run(config_of(*chosen, "analysis=examples"), tmp_path)
    with Store(next((Path(status["run"]) / "memory").iterdir())) as store:
        for done in store.windows():
            store.put_window(done.start, done.stop, Extraction())
    main([str(tmp_path / "runs"), "--out", str(tmp_path / "out")])
    (asked, *_) = sorted((tmp_path / "out/tables").glob("examples_examples_*.csv"))
    with asked.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 6 and all(row["queries"] and row["entries found first"].startswith("1. ") for row in rows)
    with (tmp_path / "out/tables/examples_lost.csv").open(newline="") as file:
        lost = list(csv.DictReader(file))
    assert lost and all(row["fact at window 10"] and row["turns"].startswith("D") for row in lost)


def test_the_router_s_table_shows_how_wordings_fall_on_categories(tmp_path: Path) -> None:
    status = observed_run(tmp_path, "name=floor", "analysis=router")
    main([status["run"], "--out", str(tmp_path / "out")])
    with (tmp_path / "out/tables/floor_router.csv").open(newline="") as file:
        rows = {row["kind"]: row for row in csv.DictReader(file)}
    assert rows["when"]["2 temporal (n=1)"] == "100"
    assert rows["what"]["4 single-hop (n=2)"] == "100"
    shares = [sum(float(row[name]) for row in rows.values()) for name in next(iter(rows.values())) if "(n=" in name]
    assert shares == [100] * len(shares)
