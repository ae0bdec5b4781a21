"""Case g07: a crash between index and metadata."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cases.stores import EMBEDDER, filled
from trimem.database import Database
from trimem.store import Store
from trimem.types import Extraction, Fact


def test_a_crash_after_the_vectors_leaves_the_state_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    query = EMBEDDER.encode(["snow"])
    store = filled(tmp_path, "snow fell")
    before = store.search_dense("fact", query, 5)
    insert = Database.insert

    def crash_after_vectors(self: Database, table: str, *rest: object) -> None:
        insert(self, table, *rest)  # type: ignore[arg-type]
        if table == "fact_vectors":
            raise OSError("no space left on device")

    monkeypatch.setattr(Database, "insert", crash_after_vectors)
    with pytest.raises(OSError, match="no space"):
        store.put_window(1, 2, Extraction((Fact("rain fell", sources=("D1:1",)),)), EMBEDDER.encode(["rain fell"]))
    store.close()
    with Store(tmp_path, EMBEDDER.fingerprint) as reopened:
        assert reopened.search_dense("fact", query, 5) == before
        assert [fact.statement for fact in reopened.facts()] == ["snow fell"]


KILLED = """
import os, sys
from pathlib import Path
from trimem.database import Database
from trimem.embedding import HashEmbedder
from trimem.store import Store
from trimem.types import Extraction, Fact, Turn
insert, table = Database.insert, sys.argv[2]
def die(self, name, *rest):
    insert(self, name, *rest)
    if name == table:
        os.kill(os.getpid(), 9)
store = Store(Path(sys.argv[1]), HashEmbedder().fingerprint)
Database.insert = die
fact = Fact("rain fell", sources=("D1:1",))
store.put_window(1, 2, Extraction((fact,)), HashEmbedder().encode([fact.statement]))
"""


@pytest.mark.parametrize("table", ["windows", "facts", "fact_vectors"])
def test_kill_9_between_statements_leaves_the_state_before(tmp_path: Path, table: str) -> None:
    query = EMBEDDER.encode(["snow"])
    with filled(tmp_path, "snow fell") as store:
        before = store.search_dense("fact", query, 5), store.facts(), store.windows()
    killed = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path), table], check=False)
    assert killed.returncode == -9
    with Store(tmp_path, EMBEDDER.fingerprint) as store:
        assert (store.search_dense("fact", query, 5), store.facts(), store.windows()) == before
        assert store.search_text("fact", "rain", 5) == []
