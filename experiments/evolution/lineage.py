"""`lineage.jsonl`: one row a version of a prompt, kept or not; enough to go on from and to tell the story."""

import difflib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from experiments.rows import write_atomically
from trimem.prompts import Prompt


@dataclass(frozen=True)
class Version:
    """One row. `id` is the hash of the prompt's text, empty where a step gave none; scores are means of the metrics.

    `won` and `lost` are the questions of train and validation on which it did better and worse than its parent.
    `calls`, tokens and `usd` are those of the whole step, on its first row; `look` counts looks at validation so far.
    """

    step: int
    prompt: str
    id: str
    parent: str
    accepted: bool
    reason: str
    diff: str = ""
    critique: str = ""
    problems: list[str] = field(default_factory=list)
    caused_by: list[str] = field(default_factory=list)
    misses: dict[str, int] = field(default_factory=dict)
    won: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    train: float | None = None
    train_parent: float | None = None
    val: float | None = None
    val_parent: float | None = None
    probability: float | None = None
    look: int = 0
    calls: int = 0
    prompt_tokens: int | None = 0
    completion_tokens: int | None = 0
    usd: float | None = 0.0

    def compared(self, before: Mapping[str, float], after: Mapping[str, float]) -> Self:
        """With these questions' scores under its parent and under itself added to those it won and lost."""
        won, lost = ([id for id in before if sign * (after[id] - before[id]) > 0] for sign in (1, -1))
        return replace(self, won=[*self.won, *won], lost=[*self.lost, *lost])

    def costing(self, before: Mapping[str, Any], after: Mapping[str, Any]) -> Self:
        """With what was spent between two sums; what is unknown in one of them is unknown."""
        spent: dict[str, Any] = {
            key: None if None in (after[key], before[key]) else after[key] - before[key] for key in after
        }
        return replace(self, **spent)


def read_lineage(path: Path) -> list[Version]:
    """The rows so far; a step is written as a whole, so none is torn."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return [Version(**json.loads(line)) for line in lines]


def write_lineage(path: Path, versions: Iterable[Version]) -> None:
    """All rows in one step."""
    lines = [json.dumps(asdict(version), ensure_ascii=False, allow_nan=False) + "\n" for version in versions]
    write_atomically(path, "".join(lines).encode("utf-8", "replace"))


def diff(before: Prompt, after: str) -> str:
    """What an edit changed, as a unified diff without file names."""
    lines = difflib.unified_diff(before.text.splitlines(), after.splitlines(), lineterm="", n=0)
    return "\n".join(list(lines)[2:])


def write_prompts(folder: Path, prompts: dict[str, Prompt]) -> dict[str, str]:
    """Each prompt as a file that a run can use; their paths by name."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = {name: folder / f"{name}.md" for name in prompts}
    for name, prompt in prompts.items():
        write_atomically(paths[name], prompt.source.encode())
    return {name: str(path) for name, path in paths.items()}
