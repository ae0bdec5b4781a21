"""`python -m experiments.cache`: the replies kept of models: their size, pruning, and a run's as a cassette.

python -m experiments.cache size
python -m experiments.cache prune --model simulated --days 30
python -m experiments.cache export runs/default/0123456789ab cassette.jsonl
python -m experiments.cache import cassette.jsonl        then the run again, with cache.mode=replay
"""

import argparse
import os
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

from rich.table import Table

from experiments.console import print_table, say
from experiments.exits import complain, exit_code
from trimem.errors import BadInput
from trimem.llm.cassette import export, load, prune, sizes

KEYS = "replies.txt"
"""A run's file of the keys of the replies that it used."""
NAME = "llm.sqlite"
"""The cache's file in `paths.cache`."""


class KeyFile:
    """Notes each key once, as soon as it is used, so that a kill loses none."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._known = set(path.read_text().split()) if path.exists() else set()
        self._lock = threading.Lock()

    def __call__(self, key: str) -> None:
        with self._lock:
            if key not in self._known:
                self._known.add(key)
                with self.path.open("a") as file:
                    file.write(f"{key}\n")


def main(argv: Sequence[str] | None = None) -> int:
    """One of the four commands."""
    arguments = _parser().parse_args(argv)
    cache: Path = arguments.cache / NAME
    match arguments.command:
        case "size":
            _show(cache)
        case "prune":
            if arguments.model is None and arguments.days is None:
                raise BadInput("prune needs --model, --days or both.")
            say(f"{prune(cache, arguments.model, arguments.days)} replies deleted")
        case "export":
            return _export(cache, arguments.run, arguments.cassette)
        case _:
            say(f"{load(cache, arguments.cassette)} new replies in {cache}")
    return 0


def _parser() -> argparse.ArgumentParser:
    style = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser("python -m experiments.cache", description=__doc__, formatter_class=style)
    default = Path(os.environ.get("TRIMEM_CACHE", ".cache"))
    parser.add_argument("--cache", type=Path, default=default, help="folder, as paths.cache (default: %(default)s)")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("size", help="replies and bytes by model and stage")
    pruning = commands.add_parser("prune", help="delete replies")
    pruning.add_argument("--model", help="of this model only, as `size` names it")
    pruning.add_argument("--days", type=float, help="older than so many days only")
    exporting = commands.add_parser("export", help="a run's replies as a file")
    exporting.add_argument("run", type=Path, metavar="RUN", help="a run's directory")
    exporting.add_argument("cassette", type=Path, help="the JSONL file to write")
    importing = commands.add_parser("import", help="add the replies of such a file")
    importing.add_argument("cassette", type=Path, help="the JSONL file to read")
    return parser


def _show(cache: Path) -> None:
    table = Table(title=str(cache), title_justify="left")
    for column in ("model", "stage", "replies", "bytes"):
        table.add_column(column, justify="right" if column in ("replies", "bytes") else "left", overflow="fold")
    found = sizes(cache)
    for row in found:
        table.add_row(row.model, row.stage, f"{row.replies:,}", f"{row.bytes:,}")
    table.add_section()
    table.add_row("all", "", f"{sum(row.replies for row in found):,}", f"{cache.stat().st_size:,} on disk")
    print_table(table)


def _export(cache: Path, run: Path, cassette: Path) -> int:
    if not (run / KEYS).is_file():
        raise BadInput(f"{run} used no kept replies (no {KEYS} in it): give a run with a model and cache.mode=use.")
    written, missing = export(cache, (run / KEYS).read_text().split(), cassette)
    say(f"{written} replies in {cassette}")
    if missing:
        complain(f"{missing} replies that {run} used are no longer in {cache}; run it again to ask them anew.")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(exit_code(main))
