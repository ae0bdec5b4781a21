"""The score over steps: the prompts after each step, frozen and run afterwards, in tables, figure and page."""

import csv
import json
import re
from pathlib import Path

import pytest

from experiments.report.__main__ import main
from experiments.runner import run
from tests.experiments.evolution.evolving import Result, evolved
from tests.experiments.harness import config_of, read, run_command
from tests.experiments.report.reports import Page
from tests.experiments.report.test_browser import BROWSER, browse

CHOSEN = ("experiment=ablation_evolution_steps", "backbone=scripted", "dataset=sample", "embedder=hash", "tracker=none")
HOSTILE = "<script>document.title='broken'</script><b>"


@pytest.fixture(scope="module")
def evolution(tmp_path_factory: pytest.TempPathFactory) -> Result:
    return evolved(tmp_path_factory.mktemp("steps"), "resolve", "evolution.steps=2", "name=evolving")


@pytest.fixture(scope="module")
def out(evolution: Result) -> Path:
    """A report of the evolution and of a run under the prompts of each step, the critique being hostile."""
    folder = evolution.directory.parents[2]
    for step in range(4):
        chosen = (f"evolved={evolution.directory}", f"step={step}", "dataset.split=test")
        run(config_of(*CHOSEN, *chosen), folder)
    path = evolution.directory / "lineage.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    rows[0]["critique"] += HOSTILE
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert main([str(folder / "runs"), "--out", str(folder / "report")]) == 0
    return folder / "report"


def test_a_version_stands_below_the_one_that_it_was_made_from(evolution: Result, out: Path) -> None:
    (path,) = (out / "runs").glob("evolution_*.html")
    tree = re.sub(r"\s+", "", path.read_text().partition("<h2>Versions</h2>")[2].partition("<p")[0])
    (kept,) = [n for n, version in enumerate(evolution.lineage) if version.accepted]
    below = [n for n, version in enumerate(evolution.lineage) if version.parent == evolution.lineage[kept].id]
    branch = tree.partition(f'href="#v{kept}"')[2].partition("<ul>")[2].partition("</ul>")[0]
    assert below and [int(n) for n in re.findall(r"#v(\d+)", branch)] == below


def rows_of(out: Path, table: str) -> list[dict[str, str]]:
    with (out / f"tables/{table}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def test_steps_are_run_under_their_prompts_and_those_after_the_last_are_its(evolution: Result, out: Path) -> None:
    runs = list((out.parent / "runs/ablation_evolution_steps").iterdir())
    used = {read({"run": path}, "manifest.json")["prompts"]["extract"]["hash"] for path in runs}
    accepted = [version for version in evolution.lineage if version.accepted]
    assert used == {accepted[0].parent, *(version.id for version in accepted)}


def test_the_grid_has_a_row_for_each_step_that_changed_a_prompt_and_says_what_it_is_for(out: Path) -> None:
    rows = rows_of(out, "ablation_evolution_steps")
    assert [row["method"] for row in rows] == ["trimem step=0", "trimem step=1"]
    assert (out / "figures/ablation_evolution_steps_sweep.svg").exists()
    assert "for analysis: prompts of every step, frozen" in (out / "tables/ablation_evolution_steps.md").read_text()


def test_the_table_has_a_row_a_step_with_the_score_of_its_frozen_prompts(evolution: Result, out: Path) -> None:
    rows = rows_of(out, f"evolution_{evolution.directory.name.removeprefix('evolve-')}")
    assert [row["step"] for row in rows] == ["0", "1", "2"]
    assert float(rows[0]["validation f1_locomo"]) == pytest.approx(100 * evolution.score("seed", "val"), abs=0.06)
    assert [row["train f1_locomo"] == "–" for row in rows] == [False, False, True]
    tests = [float(row["test f1_locomo"].split()[0]) for row in rows]
    assert tests[0] == pytest.approx(100 * evolution.score("seed", "test"), abs=0.06)
    assert tests[-1] == pytest.approx(100 * evolution.score("best", "test"), abs=0.06)
    assert tests[-1] > tests[0]
    assert next(iter((out / "figures").glob("evolution_*_steps.svg"))).stat().st_size > 1000


def test_the_trace_of_every_candidate_is_a_table(evolution: Result, out: Path) -> None:
    rows = rows_of(out, f"evolution_{evolution.directory.name.removeprefix('evolve-')}_trace")
    kept = [row for row in rows if row["kept"] == "kept"]
    assert len(rows) == len(evolution.lineage) and len(kept) == 1
    assert "tell it to" in kept[0]["critique"] and "/ +" in kept[0]["change"]
    assert kept[0]["why"].startswith("gain on validation")
    (latex,) = (out / "tables").glob("evolution_*_trace.tex")
    assert r"\begin{tabular}{llrrrrrrp{4cm}p{4cm}}" in latex.read_text() and r"$\rightarrow$" in latex.read_text()


def test_the_page_shows_every_version_with_its_diff_and_neutral_text(evolution: Result, out: Path) -> None:
    (path,) = (out / "runs").glob("evolution_*.html")
    page = Page(path)
    text = " ".join(page.text)
    assert all(version.reason in text for version in evolution.lineage)
    (kept,) = [version for version in evolution.lineage if version.accepted]
    added = [line for line in kept.diff.splitlines() if line.startswith("+")]
    assert added and all(line in text for line in added)
    assert HOSTILE in text
    versions = [f"#v{n}" for n in range(len(evolution.lineage))]
    assert sorted(link for link in page.links if link.startswith("#v")) == sorted(versions)  # the tree has each once
    assert len(page.scripts) == 1  # ours
    assert all(link.removeprefix("#") in page.ids for link in page.links if link.startswith("#"))
    index = Page(out / "index.html")
    assert f"runs/{path.name}" in index.links
    assert HOSTILE in " ".join(index.text) and len(index.scripts) == 1


@pytest.mark.skipif(not BROWSER, reason="no Chromium here: the page was not tried in a browser")
def test_the_page_opens_in_a_browser_without_an_error(out: Path) -> None:
    (path,) = (out / "runs").glob("evolution_*.html")
    index = browse(out / "index.html", "--dump-dom")
    assert "<title>Report" in index.stdout and "CONSOLE" not in index.stderr
    done = browse(path, "--dump-dom")
    assert "<title>evolution" in done.stdout and "CONSOLE" not in done.stderr
    shown = re.search(r"<output>(\d+) of (\d+)</output>", done.stdout)
    assert shown and shown[1] == shown[2]


def test_a_grid_without_an_evolution_says_what_to_give(tmp_path: Path) -> None:
    ended = run_command(tmp_path, *CHOSEN, "step=0", "hydra.mode=RUN")
    assert ended.returncode == 2 and "evolved is not set" in ended.stderr
