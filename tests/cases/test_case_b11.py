"""Case b11: wrong shapes are put right."""

from typing import Any

import pytest

from tests.cases.replies import CaseFacts, case, request
from tests.trimem.llm.fakes import Canned
from trimem.llm.base import Reply
from trimem.llm.structured import ask, read

VARIANTS: list[dict[str, Any]] = case("b11")["variants"]


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: str(variant.get("note", "wrong field types")))
def test_variant_gives_the_facts_that_are_meant(variant: dict[str, Any]) -> None:
    value, _ = read(variant["raw"], CaseFacts)
    assert value is not None
    found = [fact.model_dump() for fact in value.facts]
    wanted = [{"fact": fact} if isinstance(fact, str) else fact for fact in variant["expect"]]
    assert [fact | mine for fact, mine in zip(found, wanted, strict=True)] == found


def test_an_empty_list_is_a_result_and_is_not_asked_for_again() -> None:
    llm = Canned(Reply('{"facts": []}'))
    outcome = ask(llm, request(schema=CaseFacts))
    assert outcome.value == CaseFacts(facts=[])
    assert (outcome.problems, len(llm.requests)) == ((), 1)


def test_null_for_the_list_is_empty_with_a_warning() -> None:
    value, problems = read('{"facts": null}', CaseFacts)
    assert value is not None and value.facts == []
    assert problems == ("facts was null and is taken as empty",)
