"""Case j03: a prompt that lost its placeholder is refused, not mended; a new one is refused or stays literal."""

import pytest

from tests.cases.prompts import REPLIES, SEED, with_rules
from trimem.evolution.guard import Guard
from trimem.evolution.rewriting import tagged
from trimem.prompts import parse


@pytest.mark.parametrize("name", ["placeholder_lost", "extra_placeholder"])
def test_it_is_refused_with_the_reason(name: str) -> None:
    problems = Guard((), growth=1.0).problems(tagged(REPLIES[name]).text, SEED)
    assert "the part from '=== data ===' on, with the fields dialogue, is not as it was" in problems


def test_an_unknown_name_in_the_rules_stays_literal() -> None:
    text = with_rules('You extract facts. Use {user_profile} first. Return ONLY JSON: {"facts": [{"persons": []}]}')
    assert Guard((), growth=1.0).problems(text, SEED) == []
    source = f"---\nfields: dialogue\n---\n{text}"
    system, user = parse("candidate", source).render({"dialogue": "Nadia: hello"})
    assert "Use {user_profile} first." in system.content
    assert "Nadia: hello" in user.content
