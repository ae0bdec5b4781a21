"""Case g10: text past the limit of the encoder."""

from pathlib import Path

from trimem.store import Store
from trimem.types import Turn


def test_texts_that_differ_past_the_limit_of_the_encoder_differ_for_bm25(tmp_path: Path) -> None:
    common = " ".join(f"word{i}" for i in range(380))
    ends = ("the walnut cake was burnt", "a plum tart came out well")
    turns = [Turn(f"D{i}:1", "Nadia", f"{common} {end}", session=str(i)) for i, end in enumerate(ends)]
    with Store(tmp_path) as store:
        store.add_turns(turns)
        assert [id_ for id_, _ in store.search_text("turn", "plum tart", 5)] == ["D1:1"]
