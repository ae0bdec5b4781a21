from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.trimem.test_store import TURNS, fact, put
from trimem.search import _top
from trimem.store import Store


@given(scores=st.lists(st.sampled_from([0.0, 1.0, 1.5, 2.0, 7.0]), max_size=300), k=st.integers(0, 40))
def test_the_top_is_that_of_a_full_sort_however_many_are_equal(scores: list[float], k: int) -> None:
    places = [place for place in range(len(scores)) if scores[place] > 0]
    best = sorted(places, key=lambda place: (-scores[place], place))[:k]
    assert sorted(_top(np.array(scores, dtype=np.float64), k)) == sorted(best)


@pytest.mark.parametrize("common", [0.0, 2.0])
def test_words_that_stand_nearly_everywhere_count_as_others_do(tmp_path: Path, common: float) -> None:
    with Store(tmp_path) as store:
        store.add_turns(TURNS)
        put(store, 0, 12, *(fact(i, location=("Oslo", "Rome", None)[i % 3]) for i in range(12)))
        before = store.search_text("fact", "thing 7", 5), store.search_symbolic(["nadia"], [], "Oslo", None, 9)
        with mock.patch("trimem.search.COMMON", common):
            store.put_aliases([])  # a write: lists are read anew
            after = store.search_text("fact", "thing 7", 5), store.search_symbolic(["nadia"], [], "Oslo", None, 9)
    assert before == after
    assert [signals for _, signals in after[1]] == [2.0] * 4 + [1.0] * 5


def test_signals_among_given_facts_keep_their_order(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        store.add_turns(TURNS)
        facts = [fact(i, location="Oslo") for i in range(5)]
        put(store, 0, 12, *facts, fact(9))
        ids = sorted((fact.id for fact in facts), reverse=True)
        found = store.search_symbolic([], [], "Oslo", None, 4, [*ids, "unknown", fact(9).id])
    assert found == [(id_, 1.0) for id_ in ids[:4]]
