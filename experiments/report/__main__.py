"""`python -m experiments.report RUNS --out DIR`: tables (Markdown, LaTeX, CSV), figures and pages of finished runs."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from experiments.console import say
from experiments.exits import exit_code
from experiments.report.analyses import analyse
from experiments.report.evolutions import evolutions_of
from experiments.report.figures import Figure, draw, draw_kinds
from experiments.report.gap import gaps
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
    runs = find_runs(arguments.runs)
    groups, evolutions = by_experiment(runs), evolutions_of(runs)
    settings = {name: found for name, group in groups.items() if (found := settings_of(group, load))}
    if not settings and not evolutions:
        raise BadInput("none of these runs is finished: the command that began them goes on with them")
    tables, figures, folder = list[Table](), list[Figure](), arguments.out / "figures"
    for name, found in settings.items():
        more, kinds = analyse(name, found)
        tables += [*more, *tables_of(name, found, groups[name]), *gaps(name, found)]
        figures += draw(name, found, folder, kinds)
    for evolved in evolutions:
        tables += evolved.tables
        figures += draw_kinds(evolved.name, evolved.kinds, folder)
    _write_tables(arguments.out, tables)
    pages = [(*run, setting.told) for found in settings.values() for setting in found for run in setting.runs]
    write_pages(arguments.out, tables, figures, pages, evolutions)
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
