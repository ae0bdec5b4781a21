"""The dense view: vectors lie in the store as BLOBs, and are searched in a flat FAISS index that copies them."""

from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import accumulate
from typing import Any

import numpy as np
import numpy.typing as npt

from trimem.database import LISTED, Database
from trimem.errors import BadInput
from trimem.protocols import Vectors
from trimem.rows import as_json

Rows = npt.NDArray[np.int64]


CPU_ROWS, GPU_ROWS = 4096, 2048
"""Rows in one part of an index. 6 MB stay in the processor's cache while all queries of a plan are scored (at 100k
facts a third faster than one query after the other over everything); on a GPU, FAISS returns at most 2,048 rows."""


class VectorIndex:
    """Ids with vectors of one dimension. Results are ordered by score, ties by id; `remove` is O(n).

    Reads may come from many threads at once, a write only while nothing reads. `gpu` keeps the vectors on the first
    GPU (see `check_gpu`).
    """

    def __init__(self, dim: int, gpu: bool = False) -> None:
        import faiss

        faiss.omp_set_num_threads(1)  # one query is slower on two threads, and answers already come from many
        self._empty = _on_gpu(dim) if gpu else lambda: faiss.IndexFlatIP(dim)
        self._room = GPU_ROWS if gpu else CPU_ROWS
        self._parts: list[Any] = []
        self._ids: list[str] = []

    def __len__(self) -> int:
        return len(self._ids)

    def add(self, ids: Sequence[str], vectors: Vectors) -> None:
        """Append rows; ids must be new."""
        rows = np.ascontiguousarray(vectors, dtype=np.float32)
        while len(rows):
            if not self._parts or self._parts[-1].ntotal >= self._room:
                self._parts.append(self._empty())
            room = self._room - self._parts[-1].ntotal
            self._parts[-1].add(rows[:room])
            rows = rows[room:]
        self._ids.extend(ids)

    def remove(self, ids: Collection[str]) -> None:
        """Drop the rows of `ids`, where they are."""
        gone = set(ids)
        for first, at in zip(self._firsts(), range(len(self._parts)), strict=True):
            part = self._parts[at]
            kept = [n for n in range(part.ntotal) if self._ids[first + n] not in gone]
            if len(kept) < part.ntotal:
                self._parts[at] = self._empty()
                self._parts[at].add(part.reconstruct_n(0, part.ntotal)[kept])
        self._ids = [id_ for id_ in self._ids if id_ not in gone]

    def search(self, queries: Vectors, k: int) -> list[list[tuple[str, float]]]:
        """The best `k` (fewer if there are fewer) of each query row."""
        if k <= 0 or not len(self):
            return [[] for _ in queries]
        rows, scores = self._candidates(np.ascontiguousarray(queries, dtype=np.float32), k)
        return [self._best(*found, k) for found in zip(rows, scores, strict=True)]

    def _candidates(self, queries: Vectors, k: int) -> tuple[Rows, Vectors]:
        """For each query the best of each part: all that could be among the best `k`, and what equals the last."""
        width, most = k + 1, max(part.ntotal for part in self._parts)
        while True:
            found = [part.search(queries, min(width, part.ntotal)) for part in self._parts if part.ntotal]
            scores = np.concatenate([of_part for of_part, _ in found], axis=1)
            least = _kth(scores, k)
            full = [of_part[:, -1] for of_part, _ in found if of_part.shape[1] == width]
            if width >= most or all((last < least).all() for last in full):
                break
            width *= 2  # the cut runs through equals: fetch them all, so that ids decide
        firsts = (first for first, part in zip(self._firsts(), self._parts, strict=True) if part.ntotal)
        return np.concatenate([rows + first for (_, rows), first in zip(found, firsts, strict=True)], axis=1), scores

    def _best(self, rows: Rows, scores: Vectors, k: int) -> list[tuple[str, float]]:
        kept = scores >= _kth(scores, k)
        ids = [self._ids[row] for row in rows[kept].tolist()]
        found = sorted(zip((-scores[kept]).tolist(), ids, strict=True))
        return [(id_, -negative) for negative, id_ in found[:k]]

    def _firsts(self) -> list[int]:
        """The row at which each part begins."""
        return list(accumulate((part.ntotal for part in self._parts[:-1]), initial=0)) if self._parts else []


def _kth(scores: Vectors, k: int) -> Vectors:
    """The k-th best along the last axis; the worst where there are fewer."""
    last = max(scores.shape[-1] - k, 0)
    return np.asarray(np.partition(scores, last, axis=-1)[..., last])


def check_gpu() -> None:
    """Raises BadInput where FAISS cannot use a GPU."""
    import faiss

    if not hasattr(faiss, "StandardGpuResources"):
        raise BadInput(
            "vectors.gpu=true: the installed FAISS runs on the processor only; "
            "pip uninstall faiss-cpu, then pip install -e '.[gpu]', or leave vectors.gpu=false."
        )
    if not faiss.get_num_gpus():
        raise BadInput("vectors.gpu=true: FAISS sees no GPU here; leave vectors.gpu=false.")


def _on_gpu(dim: int) -> Callable[[], Any]:
    """What makes an empty index on the first GPU."""
    import faiss

    resources = faiss.StandardGpuResources()
    return lambda: faiss.GpuIndexFlatIP(resources, dim)


class StoredVectors:
    """The vectors of one kind of row ("fact", "turn"). The index is read at the first search, then kept in step."""

    def __init__(self, db: Database, kind: str, gpu: bool = False) -> None:
        self._db, self._kind, self._gpu = db, kind, gpu
        self._index: VectorIndex | None = None
        self._version = -1

    def write(self, vectors: Mapping[str, Vectors]) -> None:
        """Store the vectors of known ids; belongs into the transaction that stores their texts."""
        if not vectors:
            return
        self._check_dimension(dim := len(next(iter(vectors.values()))))
        self._db.set_meta("dimension", str(dim))
        rows = self._db.rows(f"SELECT row, id FROM {self._kind}s WHERE id IN {LISTED}", as_json(list(vectors)))
        blobs = [(row, vectors[id_].tobytes()) for row, id_ in rows]
        self._db.insert(f"{self._kind}_vectors", blobs, "INSERT OR REPLACE")

    def applied(self, added: Mapping[str, Vectors], removed: Collection[str]) -> None:
        """Follow what a transaction has written, if the index is in memory."""
        if not self._index:
            self._index = None  # nothing read, or nothing there: the next search reads it
            return
        if removed:
            self._index.remove(removed)
        if added:
            self._index.add(list(added), np.stack(list(added.values())))

    def search(self, queries: Vectors, k: int) -> list[list[tuple[str, float]]]:
        """For each query row the best `k`; raises BadInput for queries of another dimension."""
        with self._db.lock:
            index = self._current()
        if not len(index):
            return [[] for _ in queries]
        self._check_dimension(queries.shape[1])
        return index.search(queries, k)

    def _current(self) -> VectorIndex:
        """The index, read anew where another process has written since."""
        version = self._db.version[0]
        if self._index is None or version != self._version:
            self._index, self._version = self._read(), version
        return self._index

    def _read(self) -> VectorIndex:
        stored = f"SELECT id, vector FROM {self._kind}_vectors JOIN {self._kind}s USING (row) ORDER BY row"
        rows = self._db.rows(stored)
        dim = int(self._db.meta("dimension") or 0)
        index = VectorIndex(dim, self._gpu)
        if rows:
            blob = b"".join(row[1] for row in rows)
            index.add([row[0] for row in rows], np.frombuffer(blob, np.float32).reshape(-1, dim))
        return index

    def _check_dimension(self, dim: int) -> None:
        stored = self._db.meta("dimension")
        if stored not in ("", str(dim)):
            raise BadInput(f"the memory holds vectors of dimension {stored}, not {dim}: use one embedder throughout.")


def by_id(ids: Sequence[str], vectors: Vectors | None) -> dict[str, Vectors]:
    """Row i of `vectors` under `ids[i]`. Raises BadInput for another number of rows, or values that are no numbers."""
    if vectors is None:
        return {}
    rows = np.asarray(vectors, dtype=np.float32)
    if rows.ndim != 2 or len(rows) != len(ids) or not np.isfinite(rows).all():
        raise BadInput(f"{len(ids)} texts need vectors of shape ({len(ids)}, dim), all finite, not {rows.shape}.")
    return dict(zip(ids, rows, strict=True))
