"""Cases f03, f05, l05, l11: names and filter values are data, never syntax; a store holds no code."""

import pickle
from pathlib import Path

import pytest

from trimem.embedding import HashEmbedder
from trimem.store import FILE, Store
from trimem.types import Extraction, Fact, Profile, Turn

COMPOSED, DECOMPOSED = "José Núñez", "Jose\u0301 Nu\u0301n\u0303ez"
NAMES = (
    "O'Neil",
    "Anne-Marie",
    "Dr. Smith",
    "Jean-Luc (work)",
    "A/B",
    "x' OR 1=1 --",
    "Alice')) OR true--",
    "李明",
    "name with  two  spaces",
    "CON",
)


def filled(folder: Path, facts: tuple[Fact, ...]) -> Store:
    store = Store(folder)
    store.add_turns([Turn("D1:1", "Nadia", "We talked.")])
    store.put_window(0, 1, Extraction(facts))
    return store


def test_f03_composed_and_decomposed_names_are_one_person_in_every_view(tmp_path: Path) -> None:
    facts = (Fact(f"{COMPOSED} paints", persons=(COMPOSED,)), Fact(f"{DECOMPOSED} sings", persons=(DECOMPOSED,)))
    with filled(tmp_path, facts) as store:
        assert list(store.persons().values()) == [2]
        store.put_profiles([Profile(COMPOSED, {"interests": "painting"})])
        store.put_profiles([Profile(DECOMPOSED, {"interests": "painting, singing"})])
        assert len(store.profiles()) == 1
        for name in (COMPOSED, DECOMPOSED):
            assert len(store.facts_of(name)) == 2
            assert len(store.search_symbolic([name], [], None, None, 9)) == 2
            assert len(store.search_text("fact", name, 9)) == 2
            assert store.profile(name) == store.profiles()[0]


@pytest.mark.parametrize("name", NAMES)
def test_f05_any_name_is_stored_and_found_as_it_is_written(tmp_path: Path, name: str) -> None:
    memory = tmp_path / "memory"
    with filled(memory, tuple(Fact(f"{each} rows", persons=(each,)) for each in NAMES)) as store:
        assert name in store.persons()
        assert [fact.persons for fact in store.facts_of(name)] == [(name,)]
        assert [id_ for id_, _ in store.search_symbolic([name], [], None, None, 99)] == [store.facts_of(name)[0].id]
        assert store.facts_of(name)[0].id in dict(store.search_text("fact", name, 99))
        store.put_profiles([Profile(name, {"interests": "rowing"})])
        assert store.profile(name) == Profile(name, {"interests": "rowing"})
    assert [path.name for path in tmp_path.iterdir()] == ["memory"]
    assert {path.name for path in memory.iterdir()} <= {FILE, f"{FILE}-wal", f"{FILE}-shm"}


def test_l11_filter_values_that_look_like_code_find_nothing_and_change_nothing(tmp_path: Path) -> None:
    facts = (Fact("Alice rows", persons=("Alice",), location="Oslo", time="2023-05"),)
    with filled(tmp_path, facts) as store:
        values = (["Alice')) OR true--"], ['" OR 1 --'], "x' OR 1=1 --", "2023' --", 9)
        assert store.search_symbolic(*values) == []
        assert store.facts_of("%") == store.facts_of("*") == ()
        for text in ('" OR rows', "NEAR(rows", "statement : rows", "rows*", "^", '"', "* AND -", "ro\x00ws"):
            store.search_text("fact", text, 9)
        assert store.search_text("fact", "row* OR", 9) == store.search_text("fact", "row", 9) != []
        assert store.facts() == facts


class Touch:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, ...]:
        return Path.touch, (self.path,)


def test_l05_opening_a_store_runs_nothing_that_lies_beside_it(tmp_path: Path) -> None:
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
