"""The scripted critic goes by what it is shown."""

import pytest

from trimem import prompts
from trimem.llm.base import Message, Request
from trimem.llm.critic import FAULTS, reply_to
from trimem.llm.scripted import rules_in

LOSS = "You judge. The right answer:\n{}"


def judged(made: str, wanted: str) -> str:
    return reply_to(Request((Message("system", LOSS.format(wanted)), Message("user", made)), "evolve"))


@pytest.mark.parametrize(
    ("made", "wanted", "fault"),
    [
        ("- Ida sold the van last Friday.\nAnswer: last Friday", "16 April 2021", 1),
        ("Answer: three days ago", "16 April 2021", 1),
        ("- Ida has a van; Per has none.\nAnswer: a van", "two vans", 0),
        ("- Ida sold a van.\nAnswer: a van", "a green van", 2),
    ],
)
def test_it_names_the_fault_that_the_text_shows(made: str, wanted: str, fault: int) -> None:
    assert FAULTS[fault].phrase in judged(made, wanted)


def test_it_finds_no_fault_where_there_is_none() -> None:
    assert "not to blame" in judged("- Ida sold a green van.\nAnswer: red", "a green van")


@pytest.mark.parametrize("fault", FAULTS, ids=["split", "resolve", "keep"])
def test_each_of_its_rules_does_what_the_scripted_extractor_looks_for(fault: object) -> None:
    assert isinstance(fault, type(FAULTS[0]))
    assert sum(rules_in(fault.rule)) == 1
    assert not any(rules_in("Work with care and leave nothing important out."))


def test_it_adds_the_rule_after_the_last_one_and_leaves_the_data_part() -> None:
    text = prompts.load("extract").text
    asked = f"<VARIABLE> {text} </VARIABLE> <FEEDBACK>{FAULTS[1].advice}</FEEDBACK>"
    reply = reply_to(Request((Message("user", asked),), "evolve"))
    assert FAULTS[1].rule in reply
    assert reply.partition(prompts.DATA)[2].startswith(text.partition(prompts.DATA)[2])
