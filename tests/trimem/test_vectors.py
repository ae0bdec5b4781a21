import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from trimem.vectors import VectorIndex


@settings(max_examples=40, deadline=None)
@given(n=st.integers(0, 60), k=st.integers(1, 80), seed=st.integers(0, 999), removed=st.sets(st.integers(0, 59)))
def test_faiss_finds_what_exact_search_in_numpy_finds(n: int, k: int, seed: int, removed: set[int]) -> None:
    rng = np.random.default_rng(seed)
    vectors = rng.integers(-2, 3, (n, 8)).astype(np.float32)  # whole numbers: many equal scores, all of them exact
    queries = rng.integers(-2, 3, (3, 8)).astype(np.float32)
    ids = [f"id{i}" for i in rng.permutation(n)]
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
