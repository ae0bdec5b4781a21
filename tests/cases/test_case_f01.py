"""f01: the same first name in two conversations is two people."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.cases.people import conversation, memory_of
from trimem.types import Question

A = conversation("a", ("John", "I surf big waves on the coast every weekend."), ("Mia", "My cousin loves surfing too."))
B = conversation("b", ("John", "I coach chess at the local school club."), ("Ada", "My brother plays chess as well."))


def test_nothing_of_the_other_john_is_seen(tmp_path: Path) -> None:
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(lambda c: memory_of(tmp_path / c.id, c), (A, B))
    with first, second:
        context = second.retrieve(Question("q", "What sport does John do?"))
        profile = second.store.profile("John")
        assert profile is not None and "chess" in profile.text
        seen = " ".join([profile.text, *(item.text for item in context.items)]).lower()
        assert "chess" in seen
        assert "surf" not in seen
