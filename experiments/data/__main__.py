"""`python -m experiments.data list|download|verify|stats NAME`: getting the benchmarks, never inside a run."""

import argparse
import logging
import os
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from rich.console import Console

from experiments.data import locomo, longmemeval, perltqa
from experiments.data.download import download, is_right
from experiments.data.sources import SOURCES, Source
from experiments.data.types import Dataset, GoldBook
from trimem.errors import BadInput, TriMemError

console = Console(markup=False, highlight=False, soft_wrap=True)

LOADERS: Mapping[str, Callable[[Path], tuple[Dataset, GoldBook]]] = {
    "locomo": lambda folder: locomo.load(folder / "locomo10.json", verify=False),
    "perltqa-en_v2": lambda folder: perltqa.load(folder, verify=False, variant="en_v2", ingest="all"),
    "perltqa-en": lambda folder: perltqa.load(folder, verify=False, variant="en", ingest="all"),
    "longmemeval-oracle": lambda folder: longmemeval.load(folder / "longmemeval_oracle.json", verify=False),
    "longmemeval-s": lambda folder: longmemeval.load(folder / "longmemeval_s_cleaned.json", False, "s"),
}
"""How the folder of a source becomes a data set, for `stats`."""


def main(argv: Sequence[str] | None = None, sources: Mapping[str, Source] = SOURCES) -> int:
    """Run the command; returns the exit code (0 fine, 1 a file is not the pinned one, 2 bad input)."""
    arguments = _parser().parse_args(argv)
    try:
        if arguments.command == "list":
            return _list(sources)
        if arguments.name not in sources:
            raise BadInput(f"unknown data set {arguments.name}; known: {', '.join(sources)}")
        source = sources[arguments.name]
        folder = arguments.folder or _cache() / source.name
        if arguments.command == "download":
            return _download(source, folder, arguments.accept_license, arguments.allow_unverified)
        return _verify(source, folder) if arguments.command == "verify" else _stats(source, folder)
    except TriMemError as error:
        Console(stderr=True, markup=False, highlight=False, soft_wrap=True).print(f"error: {error}")
        return error.exit_code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m experiments.data", description="Get and check the benchmarks.")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="what there is, its size and licence")
    for name, text in [
        ("download", "fetch the pinned files and check them"),
        ("verify", "compare files with the pinned digests"),
        ("stats", "count conversations, turns and questions"),
    ]:
        command = commands.add_parser(name, help=text)
        command.add_argument("name", help="a name that `list` shows")
        command.add_argument("--folder", type=Path, help="where the files are (default: the user's cache)")
        if name == "download":
            command.add_argument("--accept-license", action="store_true", help="you have read the licence and keep it")
            command.add_argument("--allow-unverified", action="store_true", help="keep a file with another digest")
    return parser


def _cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "trimem" / "data"


def _list(sources: Mapping[str, Source]) -> int:
    for source in sources.values():
        sizes = [f"{file.name} ({file.size:,} bytes)" if file.size else file.name for file in source.files]
        console.print(f"{source.name}: {', '.join(sizes)}; {source.licence}")
    return 0


def _download(source: Source, folder: Path, accepted: bool, allow_unverified: bool) -> int:
    console.print(f"{source.name}. Licence: {source.licence}. Cite: {source.citation}.")
    if source.non_commercial and not accepted:
        raise BadInput(f"{source.name} is for non-commercial use; say that you keep its licence with --accept-license")
    for file in source.files:
        path = download(file, folder, allow_unverified)
        console.print(f"{path}: {'verified' if is_right(path, file) else 'NOT the pinned file'}")
    return 0


def _verify(source: Source, folder: Path) -> int:
    right = [is_right(folder / file.name, file) for file in source.files]
    for file, good in zip(source.files, right, strict=True):
        console.print(f"{folder / file.name}: {'is' if good else 'is NOT'} the file with {file.digest}")
    return 0 if all(right) else 1


def _stats(source: Source, folder: Path) -> int:
    if source.name not in LOADERS:
        raise BadInput(f"{source.name} is not a set of conversations; there is nothing to count")
    dataset, golds = LOADERS[source.name](folder)
    turns = [len(conversation.turns) for conversation in dataset.conversations]
    console.print(f"{dataset.name} (sha256 {dataset.sha256}, {'verified' if dataset.verified else 'NOT verified'})")
    console.print(f"conversations {len(turns)}, turns {sum(turns):,}, questions {len(dataset.question_ids):,}")
    counts = Counter(golds[id].category for id in dataset.question_ids)
    for category, name in dataset.categories.items():
        console.print(f"category {category} {name}: {counts[category]:,}")
    usable = sum(bool(golds[id].evidence) for id in dataset.question_ids if golds[id].category in dataset.headline)
    console.print(f"questions of the headline with usable evidence: {usable:,}")
    return 0


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    sys.exit(main())
