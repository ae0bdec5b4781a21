"""Case g02: k larger than n."""

from pathlib import Path

from tests.cases.stores import EMBEDDER, filled


def test_k_larger_than_n_gives_each_fact_once(tmp_path: Path) -> None:
    with filled(tmp_path, "snow fell", "rain fell", "hail fell") as store:
        for hits in (*store.search_dense("fact", EMBEDDER.encode(["fell"]), 10), store.search_text("fact", "fell", 10)):
            assert len({id_ for id_, _ in hits}) == len(hits) == 3
            assert all(abs(score) < 100 for _, score in hits)
