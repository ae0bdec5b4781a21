"""f03: composed and decomposed accents are one person."""

import json
from pathlib import Path

import pytest

from tests.cases.people import conversation, memory_of
from trimem.people import key, mentioned
from trimem.types import Question

NAMES = json.loads((Path(__file__).parent / "data" / "names.json").read_text("utf-8"))["f03"]
COMPOSED, DECOMPOSED = NAMES["a"], NAMES["b"]


def test_both_forms_have_one_key() -> None:
    assert COMPOSED != DECOMPOSED
    assert key(COMPOSED) == key(DECOMPOSED)
    assert mentioned(f"Where does {DECOMPOSED} live?", [COMPOSED]) == (COMPOSED,)


@pytest.mark.parametrize("asked", [COMPOSED, DECOMPOSED])
def test_one_profile_and_either_form_finds_it(asked: str, tmp_path: Path) -> None:
    told = conversation(
        "c", (COMPOSED, "I repair old violins in my workshop."), (DECOMPOSED, "I sold a violin to the museum.")
    )
    with memory_of(tmp_path, told) as memory:
        (profile,) = memory.store.profiles()
        assert len(profile.fact_ids) == 2
        assert memory.store.profile(asked) == profile
        assert len(memory.store.facts_of(asked)) == 2
        assert len(memory.store.search_text("fact", asked, 5)) == 2
        assert memory.retrieve(Question("q", f"What does {asked} repair?")).profiles
