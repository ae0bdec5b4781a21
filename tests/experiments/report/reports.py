"""Reports in tests: runs of the stand-in, and pages read as a browser reads them."""

import json
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from experiments.report.__main__ import main
from tests.experiments.harness import run_mini

VOID = {"meta", "link", "input", "img", "br"}


def two_seeds(folder: Path) -> list[Path]:
    """Two settings of the stand-in on the mini conversation, each under two seeds: four run directories."""
    points = [(seed, refused) for seed in (0, 1) for refused in ("", "kayak")]
    return [
        Path(run_mini(folder, f"seed={seed}", f"method.fail_on={word}", "max_failed=1", "name=golden")["run"])
        for seed, word in points
    ]


def report(folder: Path, out: str = "report") -> Path:
    assert main([str(folder / "runs"), "--out", str(folder / out)]) == 0
    return folder / out


def edit_predictions(run: Path, change: Callable[[int, dict[str, Any]], dict[str, Any]]) -> None:
    path = run / "predictions.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    path.write_text("".join(json.dumps(change(n, row)) + "\n" for n, row in enumerate(rows)), encoding="utf-8")


class Page(HTMLParser):
    """What a parser finds in a page: tags with their attributes, visible text, ids, links, the embedded data."""

    def __init__(self, path: Path) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.scripts: list[str] = []
        self._open: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag, f"</{tag}> closes nothing"

    def handle_data(self, data: str) -> None:
        (self.scripts if self._open and self._open[-1] == "script" else self.text).append(data)

    @property
    def data(self) -> Any:
        return json.loads(self.scripts[0])

    @property
    def ids(self) -> list[str]:
        return [attributes["id"] or "" for _, attributes in self.tags if "id" in attributes]

    @property
    def links(self) -> list[str]:
        return [attributes["href"] or "" for tag, attributes in self.tags if tag == "a"]
