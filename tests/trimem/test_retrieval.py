from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from trimem.embedding import HashEmbedder
from trimem.errors import BadInput
from trimem.protocols import Retriever
from trimem.retrieval import HybridRetriever
from trimem.store import Store
from trimem.tokens import count_tokens
from trimem.types import Context, Extraction, Fact, Plan, Profile, Question, Turn

EMBEDDER = HashEmbedder()
TURNS = (
    Turn("D1:1", "Nadia", "I bought a blue kayak", datetime(2023, 5, 8, 9), "s1"),
    Turn("D1:2", "Omar", "Great colour!", datetime(2023, 5, 8, 9), "s1"),
    Turn("D1:3", "Omar", "I sold my old piano in Bergen", datetime(2023, 5, 8, 9), "s1"),
    Turn("D2:1", "Nadia", "My cello teacher moved to Porto", datetime(2023, 6, 2, 9), "s2"),
)
KAYAK = Fact(
    "Nadia bought a blue kayak.", time="2023-05-08", persons=("Nadia",), entities=("kayak",), sources=("D1:1",)
)
PIANO = Fact("Omar sold his old piano.", location="Bergen", persons=("Omar",), entities=("piano",), sources=("D1:3",))
CELLO = Fact("Nadia's cello teacher moved.", time="2023-06", location="Porto", persons=("Nadia",), sources=("D2:1",))
FACTS = (KAYAK, PIANO, CELLO)
QUESTION = Question("q", "Who sold the piano?")
PLAN = Plan((QUESTION.text,), persons=("Omar",))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store(tmp_path, EMBEDDER.fingerprint)
    store.add_turns(TURNS)
    store.put_window(0, 4, Extraction(FACTS), EMBEDDER.encode([fact.statement for fact in FACTS]))
    store.put_turn_vectors([turn.id for turn in TURNS], EMBEDDER.encode([turn.content for turn in TURNS]))
    profiles = [Profile("Nadia", {"interests": "kayaks"}), Profile("Omar", {"interests": "music", "career": "tuner"})]
    store.put_profiles(profiles)
    return store


def ids(context: Context) -> list[str]:
    return [item.id for item in context.items]


def test_the_fact_asked_for_comes_first_then_its_turn_and_the_profile(store: Store) -> None:
    context = HybridRetriever(EMBEDDER, top_k=1).retrieve(QUESTION, PLAN, store)
    assert [(item.kind, item.text, item.rank) for item in context.items] == [
        ("fact", "Omar sold his old piano. (Bergen)", 1),
        ("turn", "[2023-05-08] Omar: I sold my old piano in Bergen", 0),
        ("profile", "Omar:\n- interests: music\n- career: tuner", 0),
    ]
    assert context.facts[0].sources == ("D1:3",)
    assert context.tokens == {
        "facts": count_tokens(context.facts[0].text),
        "turns": count_tokens(context.turns[0].text),
        "profiles": count_tokens(context.profiles[0].text),
        "total": sum(count_tokens(item.text) for item in context.items),
    }


@pytest.mark.parametrize("fusion", ["rrf", "none"])
def test_an_item_tells_which_views_found_it_and_where(store: Store, fusion: str) -> None:
    (piano, *_) = HybridRetriever(EMBEDDER, fusion=fusion).retrieve(QUESTION, PLAN, store).facts
    assert dict(piano.views) == {"dense": 1, "lexical": 1, "symbolic": 1}
    (alone, *_) = HybridRetriever(EMBEDDER, views=["lexical"], fusion=fusion).retrieve(QUESTION, PLAN, store).facts
    assert dict(alone.views) == {"lexical": 1}


@pytest.mark.parametrize("view", ["dense", "lexical", "symbolic"])
@pytest.mark.parametrize("fusion", ["rrf", "none"])
def test_each_view_alone_finds_the_fact(store: Store, view: str, fusion: str) -> None:
    retriever = HybridRetriever(EMBEDDER, views=[view], fusion=fusion)
    assert retriever.retrieve(QUESTION, PLAN, store).facts[0].id == PIANO.id


def test_symbolic_signals_reorder_what_the_other_views_find(store: Store) -> None:
    question = Question("q", "What moved?")
    plan = Plan(("What moved?",), persons=("Nadia",), time="2023-05-01/2023-05-31")
    by_text = HybridRetriever(EMBEDDER, views=["lexical"]).retrieve(question, plan, store)
    assert ids(by_text)[0] == CELLO.id
    by_signals = HybridRetriever(EMBEDDER, views=["symbolic"]).retrieve(question, plan, store)
    assert [item.id for item in by_signals.facts] == [KAYAK.id, CELLO.id]


def test_without_fusion_queries_follow_one_another_and_are_cut_at_top_k(store: Store) -> None:
    plan = Plan(("blue kayak", "old piano"))
    retriever = HybridRetriever(EMBEDDER, top_k=2, views=["dense"], fusion="none")
    first, second = (store.search_dense("fact", EMBEDDER.encode([query]), 2)[0] for query in plan.queries)
    expected = list(dict.fromkeys(id_ for id_, _ in first + second))[:2]
    assert [item.id for item in retriever.retrieve(QUESTION, plan, store).facts] == expected


def test_turns_can_be_searched_beside_facts_and_keep_their_rank(store: Store) -> None:
    context = HybridRetriever(EMBEDDER, units=["fact", "turn"], top_k=2).retrieve(QUESTION, PLAN, store)
    assert {item.kind for item in context.items if item.rank} == {"fact", "turn"}
    assert sorted(item.rank for item in context.items if item.rank) == [1, 2]
    only_turns = HybridRetriever(EMBEDDER, units=["turn"], use_raw=False, use_profiles=False)
    found = only_turns.retrieve(QUESTION, PLAN, store)
    assert {item.kind for item in found.items} == {"turn"}
    assert min(found.items, key=lambda item: item.rank).id == "D1:3"


def test_when_tokens_are_short_turns_of_better_facts_win_and_stand_in_order(store: Store) -> None:
    cost = {turn.id: count_tokens(f"[{turn.time:%Y-%m-%d}] {turn.speaker}: {turn.content}") for turn in TURNS}
    plan = Plan((PIANO.statement, CELLO.statement), persons=("Omar",))
    budget = {"turns": cost["D1:3"] + max(cost["D1:1"], cost["D2:1"])}
    context = HybridRetriever(EMBEDDER, budget=budget).retrieve(QUESTION, plan, store)
    second = context.facts[1].sources[0]
    assert context.facts[0].id == PIANO.id
    assert [turn.id for turn in context.turns] == sorted(["D1:3", second])


def test_neighbours_come_along_within_the_session(store: Store) -> None:
    context = HybridRetriever(EMBEDDER, top_k=1, neighbours=1).retrieve(QUESTION, PLAN, store)
    assert [turn.id for turn in context.turns] == ["D1:2", "D1:3"]


def test_profiles_are_of_the_people_planned_for_else_named_else_of_the_speakers(store: Store) -> None:
    retriever = HybridRetriever(EMBEDDER)

    def people(text: str, persons: tuple[str, ...] = ()) -> list[str]:
        context = retriever.retrieve(Question("q", text), Plan((text,), persons=persons), store)
        return [item.id for item in context.profiles]

    assert people("What does Nadia like?", ("OMAR",)) == ["Omar"]
    assert people("What does Nadia like?") == ["Nadia"]
    assert people("What does Zoe like?", ("Zoe",)) == ["Nadia", "Omar"]


def test_the_longest_profile_loses_its_last_lines(store: Store) -> None:
    whole = count_tokens("Omar:\n- interests: music\n- career: tuner")
    for budget, text in (
        (whole, "Omar:\n- interests: music\n- career: tuner"),
        (whole - 1, "Omar:\n- interests: music"),
    ):
        context = HybridRetriever(EMBEDDER, budget={"profiles": budget}).retrieve(QUESTION, PLAN, store)
        assert [item.text for item in context.profiles] == [text]
    none = HybridRetriever(EMBEDDER, budget={"profiles": 1}).retrieve(QUESTION, PLAN, store)
    assert none.profiles == ()


def test_tiers_can_be_switched_off(store: Store) -> None:
    context = HybridRetriever(EMBEDDER, use_raw=False, use_profiles=False).retrieve(QUESTION, PLAN, store)
    assert {item.kind for item in context.items} == {"fact"}


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"views": ["dense", "fuzzy"]}, "fuzzy.*dense, lexical, symbolic"),
        ({"fusion": "sum"}, "sum.*rrf, none"),
        ({"units": ["page"]}, "page.*fact, turn"),
        ({"budget": {"raw": 1}}, "raw.*facts, turns, profiles"),
        ({"embedder": None}, "needs an embedder"),
    ],
)
def test_unknown_names_are_refused_with_the_valid_ones(wrong: dict[str, object], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        HybridRetriever(**{"embedder": EMBEDDER, **wrong})  # type: ignore[arg-type]


def test_it_is_a_retriever() -> None:
    assert isinstance(HybridRetriever(EMBEDDER), Retriever)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(facts=st.integers(0, 60), turns=st.integers(0, 60), profiles=st.integers(0, 40), top_k=st.integers(1, 4))
def test_budgets_are_kept_and_equal_calls_give_equal_contexts(
    store: Store, facts: int, turns: int, profiles: int, top_k: int
) -> None:
    budget = {"facts": facts, "turns": turns, "profiles": profiles}
    retriever = HybridRetriever(EMBEDDER, top_k=top_k, budget=budget)
    context = retriever.retrieve(QUESTION, PLAN, store)
    assert all(context.tokens[tier] <= most for tier, most in budget.items())
    assert len(context.facts) <= top_k
    assert context == retriever.retrieve(QUESTION, PLAN, store)


def test_votes_meet_at_source_turns_and_no_turn_takes_two_places(store: Store) -> None:
    twin = Fact("Omar parted with a piano.", persons=("Omar",), sources=("D1:3",))
    known = (*FACTS, twin)
    store.put_window(0, 4, Extraction(known), EMBEDDER.encode([fact.statement for fact in known]))
    context = HybridRetriever(EMBEDDER, top_k=4, units=("fact", "turn"), fusion="sources").retrieve(
        QUESTION, PLAN, store
    )
    ranked = sorted((item for item in context.items if item.rank), key=lambda item: item.rank)
    assert ranked[0].text.startswith("Omar sold his old piano")
    places = [item.sources for item in ranked]
    assert len(places) == len(set(places)), "the twin brings nothing new"
    assert ("D1:2",) in places, "a turn without a fact stands for itself"


def test_without_raw_dialogue_a_turn_is_no_place_of_its_own(store: Store) -> None:
    retriever = HybridRetriever(EMBEDDER, units=("fact", "turn"), fusion="sources", use_raw=False)
    assert retriever.retrieve(QUESTION, PLAN, store).turns == ()


def test_a_fact_without_a_source_can_still_be_found(store: Store) -> None:
    lost = Fact("Zelda juggles quinces.")
    store.put_window(0, 4, Extraction((lost,)), EMBEDDER.encode([lost.statement]))
    context = HybridRetriever(EMBEDDER, fusion="sources").retrieve(QUESTION, Plan(("Who juggles quinces?",)), store)
    assert context.facts[0].id == lost.id


def test_the_turns_of_the_person_asked_about_gain(store: Store) -> None:
    store.add_turns([Turn("D3:0", "Omar", "I fixed the gate"), Turn("D3:1", "Nadia", "You fixed the gate")])
    asked = Question("q", "Who fixed the gate?")
    for person, first in (("Omar", "D3:0"), ("Nadia", "D3:1")):
        retriever = HybridRetriever(None, units=("turn",), fusion="sources", views=("lexical", "symbolic"))
        ranked = retriever.retrieve(asked, Plan((asked.text,), persons=(person,)), store).turns
        assert min(ranked, key=lambda item: item.rank).id == first
