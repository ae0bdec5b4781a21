import pytest

from trimem.reasoning import ABSTAIN
from trimem.rules.evidence import rank, read
from trimem.rules.question_types import read_question
from trimem.rules.reasoning import RulesReasoner
from trimem.types import Context, Item, Plan, Question


def context(*lines: str, facts: tuple[str, ...] = ()) -> Context:
    """Turn items from "[date] speaker: text" lines, ranked behind the facts, each with its own source."""
    items = [Item("fact", f"f{i}", text, (f"F:{i}",), 1.0, i) for i, text in enumerate(facts, 1)]
    items += [Item("turn", f"T:{i}", text, (f"T:{i}",), 1.0, len(facts) + i) for i, text in enumerate(lines, 1)]
    return Context(tuple(items))


def answer(question: str, *lines: str, facts: tuple[str, ...] = ()) -> str:
    return RulesReasoner().answer(Question("q", question), context(*lines, facts=facts)).text


@pytest.mark.parametrize(
    ("question", "line", "expected"),
    [
        ("When did Nadia adopt a cat?", "Yesterday I adopted a cat.", "7 May 2023"),
        ("When did Nadia adopt a cat?", "I adopted a cat!", "8 May 2023"),
        ("When did Nadia sell the boat?", "I sold the boat last year.", "2022"),
        ("When did Nadia row?", "I rowed last week.", "the week before 8 May 2023"),
        ("When will Nadia move?", "I will move next month.", "June 2023"),
        ("Who taught Nadia pottery?", "My aunt Rosa Lind taught me pottery.", "Rosa Lind"),
        ("Where did Nadia buy the lamp?", "I bought the lamp in Lisbon.", "Lisbon"),
        ("Where did Nadia find the keys?", "I found the keys at the old bakery.", "old bakery"),
        ("How many lamps does Nadia own?", "I own two houses and seven lamps.", "seven"),
        ("How long has Nadia rowed?", "I have rowed for three years.", "three years"),
        ("Does Nadia eat meat?", "I don't eat meat.", "No"),
        ("Would Nadia enjoy rowing?", "I love rowing.", "Likely yes"),
        ("Why did Nadia sell the boat?", "I sold the boat because it leaked.", "it leaked"),
        ("What did Nadia repair?", "I repaired an old violin.", "old violin"),
        ("What helps Nadia sleep?", "Warm milk helps me sleep.", "Warm milk"),
        ("What is Nadia's favorite fruit?", "My favorite fruit is the quince.", "quince"),
        ("What was the audition for?", "I had an audition for a radio play.", "radio play"),
    ],
)
def test_each_type_has_its_own_shortest_answer(question: str, line: str, expected: str) -> None:
    noise = "[2023-05-09] Omar: The weather was grey and the bus was late."
    assert answer(question, noise, f"[2023-05-08] Nadia: {line}") == expected


def test_facts_are_read_with_their_time() -> None:
    facts = ("Omar fixed a roof. (2021)", "Nadia crossed the desert. (May 2021; Jordan)")
    assert answer("When did Nadia cross the desert?", facts=facts) == "May 2021"


def test_several_answers_are_listed() -> None:
    lines = ("[2023-05-08] Nadia: I play the oboe.", "[2023-06-08] Nadia: I also play the harp.")
    assert answer("What instruments does Nadia play?", *lines) in {"oboe, harp", "harp, oboe"}


def test_the_person_asked_about_decides_between_equal_sentences() -> None:
    lines = ("[2023-05-08] Omar: I repaired a clock.", "[2023-05-08] Nadia: I repaired a violin.")
    assert answer("What did Nadia repair?", *lines) == "violin"
    assert answer("What did Omar repair?", *lines) == "clock"


@pytest.mark.parametrize("question", ["What does Nadia collect?", "When did Nadia dive?", "Is Nadia a diver?"])
def test_what_no_sentence_speaks_of_is_not_mentioned(question: str) -> None:
    assert answer(question, "[2023-05-08] Nadia: I adopted a cat.") == ABSTAIN
    assert answer(question) == ABSTAIN


def test_a_person_nobody_speaks_of_is_not_mentioned() -> None:
    given = Context(context("[2023-05-08] Nadia: I adopted a cat.").items, Plan(("?",), persons=("Zoe",)))
    assert RulesReasoner().answer(Question("q", "Did Zoe adopt a cat?"), given).text == ABSTAIN


def test_any_kind_of_item_is_read_line_by_line() -> None:
    text = "[2023-05-08] Omar: How are you?\n[2023-05-08] Nadia: I adopted a ginger cat."
    chunk = Context((Item("chunk", "c", text, ("D1:1", "D1:2"), 1.0, 1),))
    assert RulesReasoner().answer(Question("q", "What did Nadia adopt?"), chunk).text == "ginger cat"


def test_a_turn_that_was_brought_along_takes_the_rank_of_its_fact() -> None:
    fact = Item("fact", "f", "Nadia adopted a cat.", ("D1:1",), 1.0, 3)
    turn = Item("turn", "D1:1", "[2023-05-08] Nadia: I adopted a cat.", ("D1:1",))
    sentences = read(Context((fact, turn)))
    assert {sentence.rank for sentence in sentences} == {3}
    assert all(s.speaker == "Nadia" and s.said is not None for s in sentences)
    best = rank(sentences, frozenset({"adopt"}), ("Nadia",))[0]
    assert best.overlap == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("question", "kind", "noun", "role"),
    [
        ("How long ago did it rain?", "when", None, "object"),
        ("In which month did it rain?", "when", "month", "object"),
        ("What kind of boat is it?", "which", "boat", "object"),
        ("What scares the horse?", "what", None, "subject"),
        ("What did he do after lunch?", "how", None, "object"),
        ("Which city did he see?", "where", "citi", "object"),
        ("Did it rain?", "yes/no", None, "object"),
    ],
)
def test_the_wording_tells_the_type(question: str, kind: str, noun: str | None, role: str) -> None:
    asked = read_question(question, frozenset())
    assert (asked.kind, asked.noun, asked.role) == (kind, noun, role)
