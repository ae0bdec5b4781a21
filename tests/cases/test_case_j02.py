"""Case j02: a reply without usable tags is a failed step; of two blocks the first counts, and is checked."""

import pytest

from tests.cases.prompts import REPLIES, SEED
from trimem.evolution.guard import Guard
from trimem.evolution.rewriting import NO_TAGS, tagged


@pytest.mark.parametrize("name", ["no_tags", "empty_tags"])
def test_no_text_no_candidate(name: str) -> None:
    candidate = tagged(REPLIES[name])
    assert (candidate.text, candidate.problem) == ("", NO_TAGS)


def test_the_first_block_counts_and_neither_gets_past_the_guard() -> None:
    candidate = tagged(REPLIES["two_blocks"])
    assert candidate.text == 'first {dialogue} JSON "facts"'
    assert Guard(()).problems(candidate.text, SEED)
    assert Guard(()).problems("second", SEED)
