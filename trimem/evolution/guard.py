"""What a candidate prompt must be before anybody asks it: whole, bounded, and free of benchmark text."""

import base64
import hashlib
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Self

from trimem import replies
from trimem.prompts import DATA, Prompt

FILE = Path(__file__).parent / "benchmark.hashes"
SALT = b"trimem guard 1"
BYTES = 5
RUN = 4
"""Words of a run; of names, titles and short answers shorter runs are known too."""
PHRASE = 7
"""Words of a run of dialogue: shorter ones are everyday English."""


class Leaks:
    """Salted hashes of word runs that no prompt may hold. Small enough to commit, of no use to a reader."""

    def __init__(self, hashes: Collection[bytes], lengths: Collection[int] = range(1, RUN + 1)) -> None:
        self.hashes, self.lengths = frozenset(hashes), tuple(lengths)

    @classmethod
    def of(cls, runs: Iterable[str]) -> Self:
        """From runs in plain text, of any length."""
        known = [" ".join(words(run)) for run in runs]
        return cls({_hash(run) for run in known if run}, sorted({len(run.split()) for run in known if run}))

    @classmethod
    def read(cls, path: Path) -> Self:
        """From a file that `save` wrote."""
        data = base64.b64decode(path.read_bytes())
        return cls({data[at : at + BYTES] for at in range(0, len(data), BYTES)})

    def save(self, path: Path) -> None:
        """Sorted, so that equal sets give equal files."""
        text = base64.b64encode(b"".join(sorted(self.hashes)))
        path.write_bytes(b"\n".join(text[at : at + 120] for at in range(0, len(text), 120)) + b"\n")

    def found_in(self, text: str) -> list[str]:
        """The runs of `text` that are known, each once, in order."""
        spoken = words(text)
        runs = (run for length in self.lengths for run in windows_of(spoken, length))
        return list(dict.fromkeys(run for run in runs if _hash(run) in self.hashes))


@lru_cache(maxsize=1)
def benchmark() -> Leaks:
    """LoCoMo's questions, golds, names and titles; made by `python -m experiments.data.leaks`."""
    return Leaks.read(FILE)


def words(text: str) -> list[str]:
    """Lower-case words and numbers; a possessive counts as its noun."""
    return re.findall(r"[^\W_]+(?:-[^\W_]+)*", re.sub(r"['’]s\b", "", text.lower()).replace("’", "'"))


def windows_of(spoken: list[str], length: int) -> Iterator[str]:
    """All runs of `length` words."""
    return (" ".join(spoken[at : at + length]) for at in range(len(spoken) - length + 1))


def _hash(run: str) -> bytes:
    return hashlib.blake2b(run.encode(), digest_size=BYTES, key=SALT).digest()


@dataclass(frozen=True)
class Guard:
    """Refuses candidates. `growth` bounds one edit, `longest` (characters) the whole; `leaks` are searched in turn."""

    leaks: tuple[Leaks, ...]
    growth: float = 0.15
    longest: int = 20_000

    def problems(self, text: str, parent: Prompt) -> list[str]:
        """Why `text` may not replace that of `parent`; empty: it may."""
        if not text.strip():
            return ["it is empty"]
        if text.strip() == parent.text.strip():
            return ["it is the same text"]
        return [*_structure(text, parent), *self._length(text, parent), *self._leaks(text, parent)]

    def _leaks(self, text: str, parent: Prompt) -> list[str]:
        """Text of the data that the edit brings in."""
        known = [leaks.found_in(parent.text) for leaks in self.leaks]
        new = [
            run for leaks, old in zip(self.leaks, known, strict=True) for run in leaks.found_in(text) if run not in old
        ]
        return [f"it holds text of the data: {', '.join(map(repr, dict.fromkeys(new)))}"] if new else []

    def _length(self, text: str, parent: Prompt) -> list[str]:
        rules = text.partition(DATA)[0]
        if len(rules) > len(parent.rules) * (1 + self.growth):
            share = len(rules) / len(parent.rules) - 1
            return [f"it is {share:.0%} longer, more than the {self.growth:.0%} that one edit may add"]
        return [f"it is longer than {self.longest} characters"] if len(rules) > self.longest else []


def _structure(text: str, parent: Prompt) -> Iterator[str]:
    """Fields and output schema intact."""
    rules, mark, data = text.partition(DATA)
    if not mark or data.strip() != parent.text.partition(DATA)[2].strip():
        yield f"the part from '{DATA.strip()}' on, with the fields {', '.join(parent.fields)}, is not as it was"
    lost = [key for key in schema_keys(parent) if _names(parent.rules, key) and not _names(rules, key)]
    if lost:
        yield f"it no longer names the output key(s) {', '.join(lost)}"


def schema_keys(prompt: Prompt) -> list[str]:
    """Every key of the reply that a prompt asks for, those of its items too."""
    schema = getattr(replies, prompt.schema, None)
    if schema is None:
        return []
    described = schema.model_json_schema()
    nested = [part.get("properties", {}) for part in described.get("$defs", {}).values()]
    return list(dict.fromkeys(key for keys in (described["properties"], *nested) for key in keys))


def _names(text: str, key: str) -> bool:
    return re.search(rf"[\"`]{re.escape(key)}[\"`]", text) is not None
