"""Case g03: another embedding model."""

from pathlib import Path

import pytest

from tests.cases.stores import EMBEDDER, filled
from trimem.errors import BadInput
from trimem.store import Store


def test_another_embedder_is_refused_by_both_names_and_the_store_is_untouched(tmp_path: Path) -> None:
    with filled(tmp_path, "snow fell") as store:
        store.export(tmp_path / "before.jsonl")
    with pytest.raises(BadInput, match=r"hashing-no-model:1:256.*other:2:768.*build again"):
        Store(tmp_path, "other:2:768")
    with Store(tmp_path, EMBEDDER.fingerprint) as store:
        store.export(tmp_path / "after.jsonl")
    assert (tmp_path / "before.jsonl").read_bytes() == (tmp_path / "after.jsonl").read_bytes()
