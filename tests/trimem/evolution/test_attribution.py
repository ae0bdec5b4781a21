"""Which stage a wrong answer is laid to."""

from dataclasses import replace
from datetime import datetime

import pytest

from trimem.evolution.attribution import Trace, attribute
from trimem.evolution.base import Miss
from trimem.types import Fact, Turn

TURN = Turn("D1:3", "Ida", "I sold the green caravan for 900 crowns last Friday.", datetime(2021, 4, 19, 9), "1")
FACT = Fact("Ida sold her green caravan for 900 crowns.", time="2021-04-16", sources=("D1:3",))
SOUND = Trace("900 crowns", "I do not know", [TURN], [FACT], {"D1:3"})


@pytest.mark.parametrize(
    ("trace", "miss"),
    [
        (SOUND, "reasoning"),
        (replace(SOUND, shown=set()), "retrieval"),
        (replace(SOUND, facts=[Fact("Ida sold a caravan.")]), "extraction"),
        (replace(SOUND, facts=[]), "extraction"),
        (replace(SOUND, prediction="She got as much as 900 crowns for it, she says"), "format"),
        (replace(SOUND, gold="a tractor"), "gold doubtful"),
        (replace(SOUND, evidence=[]), "gold doubtful"),
        (replace(SOUND, gold="Likely yes", inferred=True), "reasoning"),
        (replace(SOUND, gold="16 April 2021"), "reasoning"),
        (replace(SOUND, gold="16 April 2021", facts=[Fact("Ida sold it last Friday.")]), "extraction"),
        (replace(SOUND, gold="16 April 2021", evidence=[replace(TURN, time=None)]), "gold doubtful"),
    ],
)
def test_the_earliest_stage_that_could_have_caused_it(trace: Trace, miss: Miss) -> None:
    assert attribute(trace) == miss


def test_endings_and_case_do_not_make_a_difference() -> None:
    assert attribute(replace(SOUND, gold="the Greens", facts=[Fact("It was GREEN.")])) == "reasoning"
