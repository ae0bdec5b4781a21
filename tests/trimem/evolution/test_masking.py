"""No name reaches a backward model, and what the fault shows in does."""

from hypothesis import given
from hypothesis import strategies as st

from trimem.evolution.masking import Mask

MASK = Mask(persons=["Ida Berg", "Per"], places=["Mill Row"], titles=["The Red Kite"])


def test_known_names_get_labels_in_any_case_and_in_parts() -> None:
    assert MASK("Ida gave per the red kite in Mill Row; Berg's too.") == (
        "PERSON_1 gave PERSON_2 TITLE_1 in PLACE_1; PERSON_1's too."
    )


def test_a_name_that_no_fact_knew_gets_one_too() -> None:
    mask = Mask(["Ida"])
    assert mask("She met Otto Lind, and Otto Lind waved at Ida.") == "She met NAME_1, and NAME_1 waved at PERSON_1."
    assert mask('It says "keep off the grass" there.') == 'It says "TITLE_1" there.'


def test_dates_numbers_and_sentence_starts_stay() -> None:
    text = "Bought on Friday 3 May 2024. Later it cost 45 crowns: Too much."
    assert Mask(["Ida"])(text) == text


def test_a_name_inside_a_word_is_no_name() -> None:
    assert Mask(["Per"])("the paper was perfect") == "the paper was perfect"


@given(st.lists(st.from_regex(r"[A-Z][a-z]{3,8}", fullmatch=True), min_size=1, max_size=4), st.text(max_size=60))
def test_no_known_name_survives_and_masking_again_changes_nothing(names: list[str], text: str) -> None:
    mask = Mask(names)
    masked = mask(f"{text} with {' and '.join(names)}.")
    assert not any(f" {name} " in masked for name in names)
    assert mask(masked) == masked
