"""A long life: sessions come one by one for years; what each costs stays flat, and nothing planted is lost."""

import random
import resource
import statistics
import time
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from trimem.embedding import HashEmbedder
from trimem.llm.simulated import Simulated
from trimem.memory import TriMem
from trimem.retrieval import HybridRetriever
from trimem.tokens import count_tokens
from trimem.types import Question, Turn

TURNS = 40
EVERY = 10
"""Sessions between two planted facts."""
WORDS = [
    f"{a}{b}" for a in ("bar", "mel", "tor", "sun", "fen", "gil") for b in ("na", "do", "sk", "ley", "wick", "mere")
]
PROFILE_TOKENS = 500


@dataclass
class Life:
    """What was measured, session by session: CPU seconds, bytes on disk, peak memory of the process."""

    planted: list[tuple[str, str]] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    peaks: list[int] = field(default_factory=list)


def session(n: int, chance: random.Random, life: Life) -> list[Turn]:
    """Forty turns of two people; now and then one of them tells something once and never again."""
    said = datetime(2020, 1, 1, 9) + timedelta(days=n)
    turns = [
        Turn(
            f"D{n}:{i}",
            ("Nadia", "Omar")[i % 2],
            f"Today I saw the {' '.join(chance.choices(WORDS, k=6))} again.",
            said,
            str(n),
        )
        for i in range(TURNS)
    ]
    if n % EVERY == 0:
        code = f"zq{n}x"
        turns[7] = Turn(f"D{n}:7", "Omar", f"The code of my locker number {n} is {code}.", said, str(n))
        life.planted.append((f"D{n}:7", f"What is the code of locker number {n}?"))
    return turns


def live(memory: TriMem, folder: Path, sessions: int) -> Life:
    life, chance = Life(), random.Random(1)
    for n in range(sessions):
        begun = time.process_time()
        memory.add(session(n, chance, life))
        memory.flush()
        life.seconds.append(time.process_time() - begun)
        life.sizes.append(sum(path.stat().st_size for path in folder.iterdir()))
        life.peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
    return life


def check(folder: Path, sessions: int) -> None:
    embedder = HashEmbedder(64)
    retriever = HybridRetriever(embedder, units=("fact", "turn"), fusion="sources")
    with TriMem(folder, llm=Simulated(), embedder=embedder, retriever=retriever) as memory:
        life = live(memory, folder, sessions)
        tenth = max(sessions // 10, 5)
        first, last = (statistics.median(life.seconds[part]) for part in (slice(5, 5 + tenth), slice(-tenth, None)))
        print(f"{sessions} sessions: {first * 1000:.0f} ms a session at first, {last * 1000:.0f} ms at last")
        growth = (life.sizes[-1] - life.sizes[sessions // 2]) / (sessions - sessions // 2)
        early = (life.sizes[sessions // 2] - life.sizes[sessions // 10]) / (sessions // 2 - sessions // 10)
        print(f"{early / 1000:.0f} kB a session in the first half, {growth / 1000:.0f} kB in the second")
        print(f"peak memory {life.peaks[sessions // 10] / 1e6:.0f} MB, at last {life.peaks[-1] / 1e6:.0f} MB")
        assert last < 2 * first + 0.02
        assert growth < 1.5 * early
        assert life.peaks[-1] - life.peaks[sessions // 10] < 300e6 + 6_000 * TURNS * sessions
        for profile in memory.store.profiles():
            assert all(count_tokens(text) <= PROFILE_TOKENS for text in profile.sections.values())
        found = [
            id in {s for item in memory.retrieve(Question("q", asked)).items for s in item.sources}
            for id, asked in life.planted
        ]
        assert len(found) == -(-sessions // EVERY)
        assert all(found), f"{found.count(False)} of {len(found)} planted facts were not found"


def test_a_hundred_sessions_cost_the_same_each_and_lose_nothing(tmp_path: Path) -> None:
    check(tmp_path, 100)


@pytest.mark.soak
def test_a_thousand_sessions_cost_the_same_each_and_lose_nothing(tmp_path: Path) -> None:
    check(tmp_path, 1_000)
