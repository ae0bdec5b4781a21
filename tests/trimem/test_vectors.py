from pathlib import Path
from unittest import mock

import faiss
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trimem.errors import BadInput
from trimem.store import Store
from trimem.vectors import VectorIndex


@settings(max_examples=80, deadline=None)
@given(
    n=st.integers(0, 60),
    k=st.integers(1, 80),
    seed=st.integers(0, 999),
    removed=st.sets(st.integers(0, 59)),
    room=st.integers(1, 70),
)
def test_parts_find_what_exact_search_in_numpy_finds(n: int, k: int, seed: int, removed: set[int], room: int) -> None:
    rng = np.random.default_rng(seed)
    vectors = rng.integers(-2, 3, (n, 8)).astype(np.float32)  # whole numbers: many equal scores, all of them exact
    queries = rng.integers(-2, 3, (3, 8)).astype(np.float32)
    ids = [f"id{i}" for i in rng.permutation(n)]
    with mock.patch("trimem.vectors.CPU_ROWS", room):
        index = VectorIndex(8)
    index.add(ids[: n // 2], vectors[: n // 2])
    index.add(ids[n // 2 :], vectors[n // 2 :])
    index.remove([id_ for row, id_ in enumerate(ids) if row in removed])
    kept = [row for row in range(n) if row not in removed]
    for query, hits in zip(queries, index.search(queries, k), strict=True):
        scored = [(ids[row], float(vectors[row] @ query)) for row in kept]
        assert hits == sorted(scored, key=lambda hit: (-hit[1], hit[0]))[:k]


def test_equals_beyond_the_cut_are_chosen_by_id_whatever_the_order_of_insertion() -> None:
    ids = [f"{i:03}" for i in range(300)]
    for order in (ids, ids[::-1]):
        index = VectorIndex(2)
        index.add(order, np.ones((300, 2), np.float32))
        assert [id_ for id_, _ in index.search(np.ones((1, 2), np.float32), 5)[0]] == ids[:5]


def pretend_gpu(patch: pytest.MonkeyPatch, gpus: int) -> None:
    """What faiss-gpu adds to the module, on the processor: no GPU is at hand in the tests."""
    patch.setattr(faiss, "StandardGpuResources", object, raising=False)
    patch.setattr(faiss, "GpuIndexFlatIP", lambda _, dim: faiss.IndexFlatIP(dim), raising=False)
    patch.setattr(faiss, "get_num_gpus", lambda: gpus, raising=False)


def test_on_a_gpu_no_search_asks_for_more_rows_than_it_can_return(monkeypatch: pytest.MonkeyPatch) -> None:
    pretend_gpu(monkeypatch, 1)
    index = VectorIndex(2, gpu=True)
    index.add([f"{i:05}" for i in range(5000)], np.ones((5000, 2), np.float32))
    assert max(part.ntotal for part in index._parts) == 2048
    assert [id_ for id_, _ in index.search(np.ones((1, 2), np.float32), 3000)[0]] == [f"{i:05}" for i in range(3000)]


def test_without_a_gpu_a_memory_is_refused_at_once_with_what_to_do(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    if not hasattr(faiss, "StandardGpuResources"):
        with pytest.raises(BadInput, match=r"pip uninstall faiss-cpu, then pip install -e '.\[gpu\]'"):
            Store(tmp_path, gpu=True)
    pretend_gpu(monkeypatch, 0)
    with pytest.raises(BadInput, match="FAISS sees no GPU"):
        Store(tmp_path, gpu=True)
