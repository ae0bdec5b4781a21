"""Case j05: braces in a prompt and in a dialogue arrive as they are."""

from dataclasses import replace

from tests.cases.prompts import DIALOGUE, REPLIES, SEED, with_rules
from trimem.evolution.guard import Guard
from trimem.evolution.rewriting import tagged
from trimem.prompts import parse

RULES = tagged(REPLIES["single_braces"]).text.partition("\nDialogue:")[0]


def test_of_a_seed_that_asks_for_more_it_is_refused_with_the_reason() -> None:
    assert Guard((), growth=1.0).problems(with_rules(RULES), SEED) == ["it no longer names the output key(s) persons"]


def test_single_braces_are_accepted_and_sent_as_single_braces() -> None:
    parent = replace(SEED, text=SEED.text.replace(', "persons": ["..."]', ""))
    text = with_rules(RULES, parent)
    assert Guard((), growth=1.0).problems(text, parent) == []
    system, _ = parse("candidate", f"---\nfields: dialogue\n---\n{text}").render({"dialogue": "x"})
    assert system.content == 'You extract facts. Return ONLY JSON: {"facts": [{"fact": "..."}]}'


def test_the_dialogue_arrives_verbatim() -> None:
    system, user = SEED.render({"dialogue": DIALOGUE})
    assert DIALOGUE in user.content
    assert '{"facts": [{"fact": "...", "persons": ["..."]}]}' in system.content
