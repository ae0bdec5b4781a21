"""Case g12: ingesting twice."""

from pathlib import Path

import numpy as np

from tests.cases.stores import EMBEDDER, filled


def test_storing_a_window_twice_doubles_nothing(tmp_path: Path) -> None:
    with filled(tmp_path, "snow fell", "rain fell") as store:
        store.export(tmp_path / "once.jsonl")
    with filled(tmp_path, "snow fell", "rain fell") as store:
        store.export(tmp_path / "twice.jsonl")
        assert store.counts()["facts"] == 2
        assert len(store.search_dense("fact", np.asarray(EMBEDDER.encode(["fell"])), 9)[0]) == 2
    assert (tmp_path / "once.jsonl").read_bytes() == (tmp_path / "twice.jsonl").read_bytes()
