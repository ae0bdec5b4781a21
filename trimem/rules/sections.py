"""Which section of a profile a statement belongs to, by general word lists."""

from collections.abc import Iterable, Mapping

_WORDS: Mapping[str, str] = {
    # what holds of a person for years and could stand in a passport or an introduction
    "identity": "name born birthday age hometown nationality native citizen immigrant gender transgender gay lesbian "
    "woman man origin root heritage live",
    # adjectives of character and the nouns made from them
    "personality": "shy patient curious brave creative calm honest stubborn optimistic confident determined generous "
    "thoughtful nervous anxious kind caring passionate persistence perseverance resilient organized introvert",
    # what is done for its own sake
    "interests": "hobby paint painting draw art hike hiking camp camping read book novel music song concert guitar "
    "piano violin game gaming play movie film series sport run swim dance dancing cook bake recipe garden gardening "
    "photography photo pottery yoga travel museum craft collect",
    # work, study and money earned
    "career": "job work career study school college university degree class business studio shop store boss client "
    "customer company colleague office promotion intern internship project hire fire interview salary startup "
    "profession teacher script publish tournament",
    # what matters to a person, and what is done for others
    "values": "important matter value meaningful equality justice honesty respect acceptance inclusive volunteer "
    "charity donate community support purpose rights kindness responsibility",
    # faith and convictions
    "beliefs": "believe belief faith god church pray spiritual religion religious opinion convinced karma fate destiny "
    "political politics superstition",
    # kin, friends and animals
    "relationships": "mother mom mum father dad parent sister brother sibling family friend husband wife kid child son "
    "daughter partner boyfriend girlfriend fiance grandma grandmother grandpa grandfather aunt uncle cousin niece "
    "nephew neighbor roommate mentor pet dog cat puppy kitten turtle",
    # what happens once
    "life events": "move marry marriage wedding divorce graduate graduation adopt adoption birth die death funeral win "
    "accident injury hospital trip visit lose start open buy join finish attend award break begin launch",
    # likes and dislikes in so many words
    "preferences": "favorite favourite prefer love like enjoy hate dislike fan allergic allergy taste adore crave",
}
_SECTION_OF = {word: section for section, words in _WORDS.items() for word in words.split()}
_MARKED = ("beliefs", "personality", "identity", "preferences", "values", "career", "relationships", "life events")
"""On equal counts the section with the rarer words wins; interests, whose words are commonest, come last."""


def section_of(lemmas: Iterable[str]) -> str | None:
    """The section whose words occur most among the lemmas; None where none does."""
    counts: dict[str, int] = {}
    for lemma in lemmas:
        if section := _SECTION_OF.get(lemma.lower()):
            counts[section] = counts.get(section, 0) + 1
    order = (*_MARKED, "interests")
    return min(counts, key=lambda section: (-counts[section], order.index(section)), default=None)
