"""The dense view: vectors lie in the store as BLOBs, and are searched in a flat FAISS index that copies them."""

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from trimem.database import LISTED, Database
from trimem.errors import BadInput
from trimem.protocols import Vectors
from trimem.rows import as_json


class VectorIndex:
    """Ids with vectors of one dimension. Results are ordered by score, ties by id; `remove` is O(n).

    Reads may come from many threads at once, a write only while nothing reads.
    """

    def __init__(self, dim: int) -> None:
        import faiss

        faiss.omp_set_num_threads(1)  # one query is slower on two threads, and answers already come from many
        self._index = faiss.IndexFlatIP(dim)
        self._ids: list[str] = []

    def __len__(self) -> int:
        return len(self._ids)

    def add(self, ids: Sequence[str], vectors: Vectors) -> None:
        """Append rows; ids must be new."""
        self._index.add(np.ascontiguousarray(vectors, dtype=np.float32))
        self._ids.extend(ids)

    def remove(self, ids: Collection[str]) -> None:
        """Drop the rows of `ids`, where they are."""
        import faiss

        gone = set(ids)
        rows = [row for row, id_ in enumerate(self._ids) if id_ in gone]
        self._index.remove_ids(faiss.IDSelectorBatch(np.asarray(rows, dtype=np.int64)))
        self._ids = [id_ for id_ in self._ids if id_ not in gone]

    def search(self, queries: Vectors, k: int) -> list[list[tuple[str, float]]]:
        """The best `k` (fewer if there are fewer) of each query row."""
        return [self._best(query[None, :], k) for query in np.ascontiguousarray(queries, dtype=np.float32)]

    def _best(self, query: Vectors, k: int) -> list[tuple[str, float]]:
        total = len(self)
        if k <= 0 or not total:
            return []
        width = min(k + 1, total)
        scores, rows = self._index.search(query, width)
        while width < total and scores[0, -1] == scores[0, k - 1]:
            width = min(2 * width, total)  # the cut runs through equals: fetch them all, so that ids decide
            scores, rows = self._index.search(query, width)
        found = sorted(
            (-score, self._ids[row]) for row, score in zip(rows[0].tolist(), scores[0].tolist(), strict=True)
        )
        return [(id_, -negative) for negative, id_ in found[:k]]


class StoredVectors:
    """The vectors of one kind of row ("fact", "turn"). The index is read at the first search, then kept in step."""

    def __init__(self, db: Database, kind: str) -> None:
        self._db = db
        self._kind = kind
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
        index = VectorIndex(dim)
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
