"""Case l05: pickle in the store."""

import pickle
from pathlib import Path

from trimem.embedding import HashEmbedder
from trimem.store import Store


class Touch:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, ...]:
        return Path.touch, (self.path,)


def test_opening_a_store_runs_nothing_that_lies_beside_it(tmp_path: Path) -> None:
    pwned = tmp_path / "pwned"
    embedder = HashEmbedder(8)
    for name in ("docstore.pkl", "index.pkl", "metadata.pkl"):
        (tmp_path / name).write_bytes(pickle.dumps(Touch(pwned)))
    with Store(tmp_path, embedder.fingerprint) as store:
        store.search_dense("fact", embedder.encode(["x"]), 3)
    assert not pwned.exists()
    package = Path(__file__).parents[2] / "trimem"
    sources = "".join(file.read_text(encoding="utf-8") for file in package.rglob("*.py"))
    assert not any(word in sources for word in ("pickle", "allow_pickle=True", "torch.load("))
