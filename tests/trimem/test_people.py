from trimem import people
from trimem.types import Turn


def turn(id: str, speaker: str, text: str) -> Turn:
    return Turn(id, speaker, text)


def test_key_ignores_unicode_form_case_and_spacing() -> None:
    assert people.key("José  Núñez ") == people.key("JOSE\u0301 NU\u0301N\u0303EZ") == "josé núñez"
    assert people.key("Jose") != people.key("José")


def test_mentioned_wants_whole_names_and_keeps_their_order() -> None:
    known = ("Ann", "Omar", "Anne-Marie")
    assert people.mentioned("Did Omar's cousin meet ann?", known) == ("Omar", "Ann")
    assert people.mentioned("Annual omaration", known) == ()


def test_an_alias_needs_a_turn_in_which_it_is_called() -> None:
    turns = [turn("D1:1", "Omar", "Great idea. See you there, Nad!"), turn("D1:2", "Omar", "Nad, again?")]
    assert people.find_aliases(turns, ("Omar", "Nadia")) == (people.Alias("Nad", "Nadia", "D1:1"),)
    assert people.find_aliases([turn("D1:1", "Omar", "I bought a Nad amplifier.")], ("Omar", "Nadia")) == ()


def test_a_nickname_of_two_people_or_of_the_speaker_is_none() -> None:
    assert people.find_aliases([turn("D1:1", "Omar", "Hi Jo!")], ("Omar", "Joanna", "Jonas")) == ()
    assert people.find_aliases([turn("D1:1", "Nadia", "Nad, I told myself.")], ("Omar", "Nadia")) == ()
    assert people.find_aliases([turn("D1:1", "Omar", "Jon, come!")], ("Omar", "Jon", "Jonathan")) == ()


def test_resolve_goes_by_key_then_alias_and_leaves_strangers_alone() -> None:
    aliases = (people.Alias("Nad", "Nadia", "D1:1"),)
    assert people.resolve("NADIA", ("Nadia",)) == "Nadia"
    assert people.resolve("nad", ("Nadia",), aliases) == "Nadia"
    assert people.resolve("nad", ("Nadia",)) == "nad"
