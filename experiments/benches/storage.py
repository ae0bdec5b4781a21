"""`bench retrieve` and `bench ingest`: the store and the three views over it, embedding apart."""

import multiprocessing
import statistics
import tempfile
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np

from experiments.benches.figures import Figure, seconds, tail
from experiments.benches.invented import DIM, WINDOW, Invented, Written
from experiments.peak import peak_bytes
from trimem.protocols import Vectors
from trimem.retrieval import HybridRetriever
from trimem.store import Store
from trimem.types import Question

TOP_K = 25
MOST_MS = {1_000: 2.0, 10_000: 5.0, 100_000: 25.0}
TAIL_FACTOR = 3.0
LEAST_RATE = 5_000.0
OPENING_SECONDS = 2.0
SESSION_RATIO = 1.5
SESSION = 5
"""Windows in an added session."""
SESSIONS = 20
"""Sessions added: SQLite empties its log after every third or so."""
CHECKED = 20
"""Queries that are compared with an exact search in numpy."""


class Drawn:
    """Stands for an embedder whose work is done: hands out vectors that were drawn before."""

    dim = DIM
    fingerprint = f"drawn:{DIM}"

    def __init__(self, vectors: Vectors) -> None:
        self._vectors, self._next = vectors, 0

    def encode(self, texts: Sequence[str], query: bool = False) -> Vectors:  # noqa: ARG002 - as drawn
        rows = np.arange(self._next, self._next + len(texts)) % len(self._vectors)
        self._next += len(texts)
        return np.asarray(self._vectors[rows])


def retrieve(sizes: Sequence[int], questions: int) -> list[Figure]:
    """Milliseconds a question (three views, fusion, source turns, budgets), memory, and agreement with exact search."""
    return [figure for size in sizes for figure in _retrieve(size, questions)]


def _retrieve(size: int, questions: int) -> list[Figure]:
    invented = Invented()
    with tempfile.TemporaryDirectory() as folder:
        with Store(Path(folder), Drawn.fingerprint) as store:
            stored = _fill(store, invented, size)
            queries = invented.vectors(max(questions, CHECKED))
            times = _ask(store, invented, queries, questions)
            hits = store.search_dense("fact", queries[:CHECKED], TOP_K)
        recall = _recall([[id_ for id_, _ in found] for found in hits], queries[:CHECKED], stored)
        opening, held = _opened_elsewhere(Path(folder))
    middle, most = statistics.median(times) * 1000, MOST_MS.get(size)
    name = f"{size:,} facts"
    return [
        Figure("retrieve", f"p50, {name}", middle, "ms", most),
        Figure("retrieve", f"p99, {name}", tail(times) * 1000, "ms", most and TAIL_FACTOR * most),
        Figure("retrieve", f"p99 / p50, {name}", tail(times) * 1000 / middle, "", TAIL_FACTOR),
        Figure("retrieve", f"recall@{TOP_K} of exact search, {name}", recall, "", 1.0, "least"),
        Figure("retrieve", f"memory once searched, {name}", held / size, "bytes/fact"),
        Figure("retrieve", f"open and search once, {name}", opening, "s", OPENING_SECONDS),
    ]


def _fill(store: Store, invented: Invented, facts: int) -> tuple[list[str], Vectors]:
    """Store so many facts; their ids and vectors."""
    ids, vectors = list[str](), list[Vectors]()
    for written in invented.windows(facts):
        _put(store, [written])
        ids += [fact.id for fact in written[2].facts]
        vectors.append(written[3])
    return ids, np.concatenate(vectors)


def _ask(store: Store, invented: Invented, queries: Vectors, questions: int) -> list[float]:
    """Seconds of each question. The first ones, which read indexes and posting lists, are not counted."""
    retriever = HybridRetriever(Drawn(queries), top_k=TOP_K)
    plans = [invented.plan() for _ in range(questions)]
    asked = [Question(str(number), plan.queries[0]) for number, plan in enumerate(plans)]
    for question, plan in zip(asked[:CHECKED], plans[:CHECKED], strict=True):
        retriever.retrieve(question, plan, store)
    work = zip(asked[CHECKED:], plans[CHECKED:], strict=True)
    return [seconds(partial(retriever.retrieve, question, plan, store)) for question, plan in work]


def _recall(found: Sequence[Sequence[str]], queries: Vectors, stored: tuple[list[str], Vectors]) -> float:
    """The share of the exact best that the store found."""
    ids, vectors = stored
    best = np.argsort(-(queries @ vectors.T), axis=1, kind="stable")[:, :TOP_K]
    shares = [len({ids[row] for row in rows} & set(hits)) / len(rows) for rows, hits in zip(best, found, strict=True)]
    return statistics.mean(shares)


def _opened_elsewhere(folder: Path) -> tuple[float, int]:
    """Seconds to open a memory and search it once in a fresh process, and bytes that this added."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(_open, folder).result()


def _open(folder: Path) -> tuple[float, int]:
    import faiss  # noqa: F401 - loaded beforehand, so that neither its time nor its memory is counted

    queries, before = Invented(seed=1).vectors(1), peak_bytes()

    def work() -> None:
        with Store(folder, Drawn.fingerprint) as store:
            store.search_dense("fact", queries, TOP_K)
            store.search_text("fact", "w1", TOP_K)

    return seconds(work), peak_bytes() - before


def ingest(sizes: Sequence[int]) -> list[Figure]:
    """Facts a second into an empty store, and what one more session costs a store of each size."""
    filled = {size: _ingest(size) for size in sizes}
    rates = [Figure("ingest", f"{n:,} facts", rate, "facts/s", LEAST_RATE, "least") for n, (rate, _) in filled.items()]
    costs = {size: statistics.median(sessions) for size, (_, sessions) in filled.items()}
    means = {size: statistics.mean(sessions) for size, (_, sessions) in filled.items()}
    name = f"one more session, {max(sizes):,} to {min(sizes):,} facts"
    return [
        *rates,
        Figure("ingest", name, costs[max(sizes)] / costs[min(sizes)], "", SESSION_RATIO),
        Figure("ingest", f"{name}, mean", means[max(sizes)] / means[min(sizes)], ""),
        *(Figure("ingest", f"one more session, {size:,} facts", cost * 1000, "ms") for size, cost in costs.items()),
    ]


def _ingest(size: int) -> tuple[float, list[float]]:
    """Facts a second, and the seconds of each further session."""
    invented = Invented()
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder), Drawn.fingerprint) as store:
        work = list(invented.windows(size))
        rate = size / seconds(partial(_put, store, work))
        store.search_dense("fact", invented.vectors(1), TOP_K)  # the index is in memory and is kept in step
        sessions = [list(invented.windows(SESSION * WINDOW, size + n * SESSION * WINDOW)) for n in range(SESSIONS)]
        return rate, [seconds(partial(_put, store, session)) for session in sessions]


def _put(store: Store, work: Iterable[Written]) -> None:
    for at, turns, found, vectors in work:
        store.add_turns(turns)
        store.put_window(at, at + len(turns), found, vectors)
