"""Where the benchmarks come from: pinned addresses and digests, licences, citations. Their text is not ours to ship.

The digests of LoCoMo and its errata were measured on the files; the others are those that several public projects
pin. The addresses could not be tried from where this was written.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PinnedFile:
    """One file at a fixed commit. Of `sha256` and `git_blob` (git's own checksum) at least one is known."""

    name: str
    url: str
    sha256: str | None = None
    git_blob: str | None = None
    size: int | None = None

    @property
    def digest(self) -> str:
        """The digest that is pinned, with its kind."""
        return f"sha256 {self.sha256}" if self.sha256 else f"git blob {self.git_blob}"

    def digest_of(self, data: bytes) -> str:
        """The same kind of digest of `data`: equal to `digest` if and only if it is this file."""
        if self.sha256:
            return f"sha256 {hashlib.sha256(data).hexdigest()}"
        header = f"blob {len(data)}\0".encode()
        return f"git blob {hashlib.sha1(header + data, usedforsecurity=False).hexdigest()}"


@dataclass(frozen=True, slots=True)
class Source:
    """A data set that a user can download."""

    name: str
    files: tuple[PinnedFile, ...]
    licence: str
    citation: str
    non_commercial: bool = False

    @property
    def get_it(self) -> str:
        """One sentence for error messages."""
        urls = " and ".join(file.url for file in self.files)
        return f"Get it with `python -m experiments.data download {self.name}` or from {urls}"


_NC = "CC BY-NC 4.0: non-commercial use only, with credit"
_LOCOMO = "https://raw.githubusercontent.com/snap-research/locomo/3eb6f2c585f5e1699204e3c3bdf7adc5c28cb376/data"
_AUDIT = "https://raw.githubusercontent.com/dial481/locomo-audit/9493fb4b4af4256ed17a18e8fd0b3cfdeec29539"
_PERLTQA = "https://raw.githubusercontent.com/Elvin-Yiming-Du/PerLTQA"
_PERLTQA_V2 = f"{_PERLTQA}/8d9e19868e239740ef701e603ec205cd581f221b/Dataset/en_v2"
_PERLTQA_V1 = f"{_PERLTQA}/5a9b11783cc75068896ce5181ae5cf1d4fb4207a/Dataset/en"
_LONGMEMEVAL = (
    "https://huggingface.co/datasets/xiaowu0162/longmemeval-cleaned/resolve/98d7416c24c778c2fee6e6f3006e7a073259d48f"
)
_PERLTQA_CITATION = "Du et al., PerLTQA, SIGHAN-10 2024, arXiv 2402.16288"
_LONGMEMEVAL_CITATION = "Wu et al., LongMemEval, ICLR 2025, arXiv 2410.10813"

_ALL = (
    Source(
        name="locomo",
        files=(
            PinnedFile(
                "locomo10.json",
                f"{_LOCOMO}/locomo10.json",
                sha256="79fa87e90f04081343b8c8debecb80a9a6842b76a7aa537dc9fdf651ea698ff4",
                size=2805274,
            ),
        ),
        licence=_NC,
        citation="Maharana et al., LoCoMo, ACL 2024, arXiv 2402.17753",
        non_commercial=True,
    ),
    Source(
        name="locomo-errata",
        files=(
            PinnedFile(
                "errors.json",
                f"{_AUDIT}/errors.json",
                sha256="f298ef46263fada20688a1d672be37d4f488c6da3b19343eea55ae5c1b5fe55e",
                size=150552,
            ),
        ),
        licence=_NC,
        citation="dial481/locomo-audit, an audit of LoCoMo's answers by a model with human review",
        non_commercial=True,
    ),
    Source(
        name="perltqa-en_v2",
        files=(
            PinnedFile(
                "perltmem_en_v2.json",
                f"{_PERLTQA_V2}/perltmem_en_v2.json",
                sha256="fb3011d78babdc9c5323a8d303ca7d4cdb9e2e08992c9890f9ccb2362ff8be94",
            ),
            PinnedFile(
                "perltqa_en_v2.json",
                f"{_PERLTQA_V2}/perltqa_en_v2.json",
                sha256="ca9f29cbb23eb8f7dbfb792359d9ff90eec066e6d927c83f6c0b7d0bf7baff23",
            ),
        ),
        licence=_NC,
        citation=_PERLTQA_CITATION,
        non_commercial=True,
    ),
    Source(
        name="perltqa-en",
        files=(
            PinnedFile(
                "perltmem_en.json",
                f"{_PERLTQA_V1}/perltmem_en.json",
                git_blob="bb80efb14d694d7e12f74f197b352eeb4e9b753a",
            ),
            PinnedFile(
                "perltqa_en.json",
                f"{_PERLTQA_V1}/perltqa_en.json",
                git_blob="865a2e59a7091441e95a388f0ed4f006ed5e8163",
            ),
        ),
        licence=_NC,
        citation=_PERLTQA_CITATION,
        non_commercial=True,
    ),
    Source(
        name="longmemeval-oracle",
        files=(
            PinnedFile(
                "longmemeval_oracle.json",
                f"{_LONGMEMEVAL}/longmemeval_oracle.json",
                sha256="821a2034d219ab45846873dd14c14f12cfe7776e73527a483f9dac095d38620c",
                size=15388478,
            ),
        ),
        licence="MIT",
        citation=_LONGMEMEVAL_CITATION,
    ),
    Source(
        name="longmemeval-s",
        files=(
            PinnedFile(
                "longmemeval_s_cleaned.json",
                f"{_LONGMEMEVAL}/longmemeval_s_cleaned.json",
                sha256="d6f21ea9d60a0d56f34a05b609c79c88a451d2ae03597821ea3d5a9678c3a442",
                size=277383467,
            ),
        ),
        licence="MIT",
        citation=_LONGMEMEVAL_CITATION,
    ),
)
SOURCES: Mapping[str, Source] = {source.name: source for source in _ALL}
"""What `python -m experiments.data` knows, by name."""
