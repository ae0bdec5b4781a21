"""`python -m experiments.report RUNS --out DIR`: tables (Markdown, LaTeX, CSV), figures and pages of finished runs."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from experiments.console import say
from experiments.exits import exit_code
from experiments.report.analyses import analyse
from experiments.report.figures import draw
from experiments.report.grid import remembering, settings_of
from experiments.report.pages import write_pages
from experiments.report.tables import Table, tables_of
from experiments.report.write import as_csv, latex, markdown
from experiments.shelf import by_experiment, find_runs
from trimem.errors import BadInput


def main(argv: Sequence[str] | None = None) -> int:
    """Write the report. Raises BadInput where there is no finished run."""
    parser = argparse.ArgumentParser(prog="python -m experiments.report", description=__doc__)
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUNS", help="runs, or folders that hold them")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="where the report goes")
    arguments = parser.parse_args(argv)
    load = remembering()
    groups = by_experiment(find_runs(arguments.runs))
    settings = {experiment: settings_of(runs, load) for experiment, runs in groups.items()}
    if not any(settings.values()):
        raise BadInput("none of these runs is finished: the command that began them goes on with them")
    settings = {experiment: found for experiment, found in settings.items() if found}
    analyses = {name: made for name, found in settings.items() if (made := analyse(name, found))}
    tables = {name: tables_of(name, found, groups[name]) for name, found in settings.items()}
    every = [
        table for name in settings for table in (*([analyses[name].table] if name in analyses else []), *tables[name])
    ]
    _write_tables(arguments.out, every)
    figures = [
        figure
        for name, found in settings.items()
        for figure in draw(name, found, arguments.out / "figures", [analyses[name].painter] if name in analyses else [])
    ]
    pages = [(*run, setting.told) for found in settings.values() for setting in found for run in setting.runs]
    write_pages(arguments.out, every, figures, pages)
    say(f"report: {arguments.out}")
    return 0


def _write_tables(out: Path, tables: Sequence[Table]) -> None:
    """Each table in three formats, and all of them as one Markdown page."""
    folder = out / "tables"
    folder.mkdir(parents=True, exist_ok=True)
    for table in tables:
        for suffix, render in (("md", markdown), ("tex", latex), ("csv", as_csv)):
            (folder / f"{table.name}.{suffix}").write_text(render(table), encoding="utf-8")
    (out / "report.md").write_text("\n".join(["# Report", "", *map(markdown, tables)]), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(exit_code(main))
