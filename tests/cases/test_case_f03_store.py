"""Case f03 in the store: composed and decomposed names."""

from pathlib import Path

from tests.cases.stores import holding
from trimem.types import Fact, Profile

COMPOSED, DECOMPOSED = "José Núñez", "Jose\u0301 Nu\u0301n\u0303ez"


def test_composed_and_decomposed_names_are_one_person_in_every_view(tmp_path: Path) -> None:
    facts = (Fact(f"{COMPOSED} paints", persons=(COMPOSED,)), Fact(f"{DECOMPOSED} sings", persons=(DECOMPOSED,)))
    with holding(tmp_path, facts) as store:
        assert list(store.persons().values()) == [2]
        store.put_profiles([Profile(COMPOSED, {"interests": "painting"})])
        store.put_profiles([Profile(DECOMPOSED, {"interests": "painting, singing"})])
        assert len(store.profiles()) == 1
        for name in (COMPOSED, DECOMPOSED):
            assert len(store.facts_of(name)) == 2
            assert len(store.search_symbolic([name], [], None, None, 9)) == 2
            assert len(store.search_text("fact", name, 9)) == 2
            assert store.profile(name) == store.profiles()[0]
