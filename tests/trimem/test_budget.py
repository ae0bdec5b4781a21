from hypothesis import given
from hypothesis import strategies as st

from trimem.budget import within
from trimem.tokens import count_tokens
from trimem.types import Context, Item


def context(*items: Item) -> Context:
    costs = {kind: sum(count_tokens(i.text) for i in items if f"{i.kind}s" == kind) for kind in ("facts", "turns")}
    return Context(items, None, {**costs, "total": sum(costs.values())})


FACTS = [Item("fact", f"f{n}", "one two three four", (f"t{n}",), rank=n) for n in (1, 2, 3, 4)]
TURNS = [Item("turn", f"t{n}", "one two three four", (f"t{n}",)) for n in (1, 2, 3, 4)]


def test_what_fits_is_left_as_it_is() -> None:
    whole = context(*FACTS, *TURNS)
    assert within(whole, 32) is whole


def test_each_kind_keeps_its_share_and_turns_follow_their_facts() -> None:
    cut = within(context(*FACTS, *TURNS), 16)
    assert [item.id for item in cut.items] == ["f1", "f2", "t1", "t2"]
    assert cut.tokens == {"facts": 8, "turns": 8, "total": 16}


def test_of_turns_that_nothing_ranks_the_latest_stay_in_their_order() -> None:
    assert [item.id for item in within(context(*TURNS), 8).items] == ["t3", "t4"]


@given(st.integers(0, 60))
def test_the_limit_holds(most: int) -> None:
    cut = within(context(*FACTS, *TURNS), most)
    assert sum(count_tokens(item.text) for item in cut.items) == cut.tokens["total"] <= most
