"""How one statement of a sidecar gives its strong and weak readings, and what a reader makes of them."""

from pathlib import Path

import pytest

from trimem.errors import BadInput
from trimem.llm.reading import Reading, says
from trimem.llm.script import Asked, Need, Rules, Told, Trait, TrueFact, load_script

BOAT = TrueFact(
    statement="Ada bought a [blue] boat in Port Lys <on 4 May 2020|yesterday>.",
    time="2020-05-04",
    location="Port Lys",
    persons=("Ada",),
    keywords=("blue", "boat"),
    topic="boat",
    section="interests",
)
SAIL = TrueFact(
    statement="[Two] sailors follow Ada <in June 2020|next month>.",
    time="2020-06",
    persons=("Ada",),
    keywords=("sailors", "two"),
    topic="crew",
    section="relationships",
    fused=True,
)
TOLD = Told(
    speakers=("Ada", "Ben"),
    people=("Ada", "Ben"),
    turns={"D1:1": "Guess what I bought", "D1:2": "Two of them"},
    facts={"D1:1": (BOAT, SAIL)},
    traits=(Trait(person="Ada", section="personality", text="Ada is bold.", **{"from": ("D1:1",)}, least=1),),
    questions=(),
)
WHEN = Asked(index=0, question="When?", needs=(Need(turn="D1:1", says=("boat", "4 May 2020")),), all="4 May 2020")


def test_the_full_reading_is_absolute_and_detailed() -> None:
    assert BOAT.text() == "Ada bought a blue boat in Port Lys on 4 May 2020."


def test_unresolved_leaves_the_words_and_no_time() -> None:
    fact = BOAT.extracted("D1:1", Rules(resolve=False))
    assert (fact.statement, fact.time) == ("Ada bought a blue boat in Port Lys yesterday.", None)


def test_not_kept_drops_details_and_their_keywords() -> None:
    assert BOAT.extracted("D1:1", Rules(keep=False)).keywords == ["boat"]
    assert SAIL.text(Rules(keep=False)) == "Sailors follow Ada in June 2020."


def test_an_explicit_date_survives_a_weak_extraction() -> None:
    explicit = BOAT.model_copy(update={"statement": "Ada sails on 4 May 2020."})
    assert explicit.extracted("D1:1", Rules(False, False, False)).time == "2020-05-04"


def test_merged_facts_have_one_time_and_the_details_of_the_first() -> None:
    (merged,) = TOLD.extract(["D1:1"], Rules(split=False))
    assert merged.statement == "Ada bought a blue boat in Port Lys on 4 May 2020; Sailors follow Ada."
    assert (merged.time, merged.keywords, merged.sources) == ("2020-05-04", ["blue", "boat", "sailors"], ["D1:1"])


def test_every_reading_is_known_by_turn_and_section() -> None:
    assert TOLD.readings["Ada bought a boat in Port Lys yesterday."] == ("D1:1", "interests")
    assert TOLD.readings["Sailors follow Ada next month."] == ("D1:1", "relationships")
    assert TOLD.readings["Ada bought a boat in Port Lys yesterday; Sailors follow Ada."] == ("D1:1", "interests")


@pytest.mark.parametrize(
    ("texts", "turns", "grade"),
    [
        (["(2020-05-04) Ada bought a blue boat in Port Lys on 4 May 2020."], [], 1.0),
        (["Ada's boat arrived.", "It was 4 May 2020."], [], 0.0),
        (["Ada bought a blue boat in Port Lys yesterday."], [], 0.1),
        (["Ada bought a blue boat in Port Lys yesterday."], ["D1:1"], 0.1),
        ([], ["D1:1"], 1.0),
        ([], ["D1:2"], 0.0),
        (["[2020-05-05] Ada: Guess what I bought yesterday!"], [], 1.0),
    ],
)
def test_a_question_is_graded_by_what_is_shown(texts: list[str], turns: list[str], grade: float) -> None:
    assert Reading(TOLD, texts, turns).grade(WHEN) == grade


def test_raw_needs_only_the_turn_will_meet() -> None:
    raw = Asked(index=0, question="?", needs=(Need(turn="D1:1", says=("bought",), raw=True),), all="x")
    fact = [BOAT.text()]
    assert Reading(TOLD, fact).grade(raw) == 0.1
    assert Reading(TOLD, fact, ["D1:1"]).grade(raw) == 1.0


def test_a_trait_in_a_profile_is_enough() -> None:
    bold = WHEN.model_copy(update={"trait": "bold"})
    assert Reading(TOLD, ["Ada:\n- personality: Ada is bold."]).grade(bold) == 1.0


def test_words_are_whole_words() -> None:
    assert says("on 4 May 2020", "4 may 2020") and not says("on 14 May 2020", "4 May 2020")


def test_a_missing_or_misspelt_script_is_bad_input(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="give the path"):
        load_script(tmp_path / "none.json")
    file = tmp_path / "script.json"
    file.write_text('{"about": [], "none": "-", "conversation": {}}', encoding="utf-8")
    with pytest.raises(BadInput, match="conversations: Field required"):
        load_script(file)
