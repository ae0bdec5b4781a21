import os
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path

import pytest

from trimem.rules.extraction import RulesExtractor
from trimem.types import Fact, Turn

SAID = datetime(2023, 5, 25, 10, 31)  # a Thursday


def extract(*said: tuple[str, str], caption: str | None = None) -> list[Fact]:
    """The facts of turns D1:1, D1:2, ... by (speaker, text)."""
    turns = [Turn(f"D1:{i}", speaker, text, SAID, "1", caption) for i, (speaker, text) in enumerate(said, 1)]
    return list(RulesExtractor().extract(turns).facts)


@pytest.mark.parametrize(
    ("text", "statement"),
    [
        ("I adopted a cat.", "Nadia adopted a cat."),
        ("I'm learning the oboe.", "Nadia is learning the oboe."),
        ("I've sold my boat.", "Nadia has sold Nadia's boat."),
        ("I don't eat meat.", "Nadia doesn't eat meat."),
        ("I write poems and then teach them.", "Nadia writes poems and then teaches them."),
        ("My kids love dinosaurs.", "Nadia's kids love dinosaurs."),
        ("We went camping in the hills.", "Nadia and others went camping in the hills."),
        ("You play chess well.", "Omar plays chess well."),
        ("You were limping at the race.", "Omar was limping at the race."),
        ("Your garden smells of mint.", "Omar's garden smells of mint."),
        ("Went rowing on the lake.", "Nadia went rowing on the lake."),
        ("The museum has a mummy.", "Nadia said: The museum has a mummy."),
        ("Hey Omar! Wow, Omar, I painted the fence.", "Nadia painted the fence."),
        ("Lena bakes rye bread.", "Lena bakes rye bread."),
    ],
)
def test_persons_are_named_and_verbs_agree(text: str, statement: str) -> None:
    facts = extract(("Nadia", text), ("Omar", "Ok."))
    assert [fact.statement for fact in facts] == [statement]
    assert facts[0].sources == ("D1:1",)


@pytest.mark.parametrize(
    "text", ["Hey Omar!", "Thanks, Omar!", "Wow, that's great!", "So glad to hear that!", "", "😀"]
)
def test_greetings_and_praise_give_no_fact(text: str) -> None:
    assert extract(("Nadia", text), ("Omar", "Bye!")) == []


def test_a_question_nobody_answers_gives_no_fact() -> None:
    assert extract(("Nadia", "Have you ever climbed a volcano?")) == []


def test_an_answer_that_means_nothing_alone_is_joined_to_its_question() -> None:
    (fact,) = extract(("Omar", "What do you grow on the balcony?"), ("Nadia", "Tomatoes."))
    assert fact.statement == "Omar asked: What does Nadia grow on the balcony? Nadia answered: Tomatoes."
    assert fact.sources == ("D1:1", "D1:2")
    assert fact.persons == ("Nadia",)


def test_an_answer_that_stands_alone_is_not_joined() -> None:
    (fact,) = extract(("Omar", "What's new?"), ("Nadia", "I planted tomatoes on the balcony."))
    assert fact.statement == "Nadia planted tomatoes on the balcony."
    assert fact.sources == ("D1:2",)


def test_a_caption_is_a_fact_of_its_turn() -> None:
    (fact,) = extract(("Nadia", "Look!"), caption="a red kayak on a lake")
    assert fact.statement == "Nadia shared an image: a red kayak on a lake."
    assert (fact.persons, fact.sources) == (("Nadia",), ("D1:1",))


def test_time_place_persons_and_titles() -> None:
    (fact,) = extract(("Nadia", 'Last week I read "The Salt Road" to my niece Pia in Lisbon.'))
    assert fact.time == "2023-W20"
    assert fact.location == "Lisbon"
    assert fact.persons[0] == "Nadia"
    assert set(fact.entities) == {"Lisbon", "The Salt Road"}
    assert {"read", "niece"} <= set(fact.keywords)
    assert fact.topic == "relationships"


def test_a_statement_on_the_listener_is_the_listeners_and_how_others_describe_them() -> None:
    (fact,) = extract(("Omar", "Hi."), ("Nadia", "You are a patient teacher."))
    assert (fact.persons, fact.topic) == (("Omar",), "how others describe them")


def test_a_nickname_is_resolved_to_the_person() -> None:
    facts = extract(("Omar", "Nad, your soup tasted of ginger."), ("Nadia", "Omar, I added lime."))
    assert [fact.statement for fact in facts] == ["Nadia's soup tasted of ginger.", "Nadia added lime."]


def test_the_same_window_gives_the_same_facts_in_any_thread() -> None:
    said = [("Nadia", "I counted nine herons near the old mill."), ("Omar", "My aunt Rosa counts owls in Porto.")]
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda _: extract(*said), range(8)))
    assert all(result == results[0] for result in results)
    assert len(results[0]) == 2


@pytest.mark.realdata
def test_every_source_lies_in_its_window_and_the_speed_is_usable(data_dir: Path) -> None:
    from experiments.data import locomo

    dataset, _ = locomo.load(data_dir / "locomo10.json")
    turns = next(c for c in dataset.conversations if c.id == "conv-30").turns
    extractor, begun = RulesExtractor(), time.perf_counter()
    for start in range(0, len(turns), 38):
        window = turns[start : start + 40]
        ids = {turn.id for turn in window}
        assert all(fact.sources and ids.issuperset(fact.sources) for fact in extractor.extract(window).facts)
    assert len(turns) / (time.perf_counter() - begun) > (5 if os.environ.get("CI") else 10)
