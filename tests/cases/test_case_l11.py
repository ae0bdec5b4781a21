"""Case l11: filter values as code."""

from pathlib import Path

from tests.cases.stores import holding
from trimem.types import Fact


def test_filter_values_that_look_like_code_find_nothing_and_change_nothing(tmp_path: Path) -> None:
    facts = (Fact("Alice rows", persons=("Alice",), location="Oslo", time="2023-05"),)
    with holding(tmp_path, facts) as store:
        values = (["Alice')) OR true--"], ['" OR 1 --'], "x' OR 1=1 --", "2023' --", 9)
        assert store.search_symbolic(*values) == []
        assert store.facts_of("%") == store.facts_of("*") == ()
        for text in ('" OR rows', "NEAR(rows", "statement : rows", "rows*", "^", '"', "* AND -", "ro\x00ws"):
            store.search_text("fact", text, 9)
        assert store.search_text("fact", "row* OR", 9) == store.search_text("fact", "row", 9) != []
        assert store.facts() == facts
