"""Who is who: names compared by one key, found in a text, and nicknames only with the turn that shows them."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from trimem.types import Turn


def key(name: str) -> str:
    """What two spellings of one name share: composed accents (NFC), case folded, single spaces."""
    folded = unicodedata.normalize("NFC", name).casefold()
    return " ".join(unicodedata.normalize("NFC", folded).split())


@dataclass(frozen=True, slots=True)
class Alias:
    """A nickname, the person it stands for, and the id of the turn in which that person is addressed by it."""

    name: str
    person: str
    turn_id: str


def find_aliases(turns: Sequence[Turn], people: Iterable[str]) -> tuple[Alias, ...]:
    """Nicknames by which one speaker addresses another ("Nad, how are you?" for Nadia), first evidence of each.

    A nickname is the beginning of one other person's first name, at least two letters long, called at the start or
    the end of a sentence. What would fit two people, or is a person's own name, is none.
    """
    known = {key(person): person for person in people}
    found: dict[str, Alias] = {}
    for turn in turns:
        for match in _CALLED.finditer(turn.text):
            name = match["first"] or match["last"]
            owners = [p for k, p in known.items() if k.split()[0].startswith(key(name)) and k != key(turn.speaker)]
            if len(owners) == 1 and all(key(name) not in k.split() for k in known):
                found.setdefault(key(name), Alias(name, owners[0], turn.id))
    return tuple(found.values())


def resolve(name: str, people: Iterable[str], aliases: Iterable[Alias] = ()) -> str:
    """The known person whom `name` means, by key or alias, in the spelling of `people`; else `name` itself."""
    known = {key(person): person for person in people}
    nicknames = {key(alias.name): alias.person for alias in aliases}
    return known.get(key(name)) or nicknames.get(key(name)) or name


def mentioned(text: str, people: Iterable[str], aliases: Iterable[Alias] = ()) -> tuple[str, ...]:
    """The people whose whole name or alias stands in `text`, in the order in which they are named."""
    spellings = [(person, person) for person in people] + [(alias.name, alias.person) for alias in aliases]
    folded, places = key(text), dict[str, int]()
    for spelling, person in spellings:
        if match := re.search(rf"(?<!\w){re.escape(key(spelling))}(?!\w)", folded):
            places[person] = min(match.start(), places.get(person, match.start()))
    return tuple(sorted(places, key=lambda person: places[person]))


_CALL = r"[^\W\d_]{2,}"
_CALLED = re.compile(
    rf"(?:^|[.!?] +)(?:(?:[Hh]ey|[Hh]i|[Hh]ello|[Tt]hanks|[Ww]ow),? )?(?P<first>(?=[^a-z]){_CALL})(?=[,!?])"
    rf"|, (?P<last>(?=[^a-z]){_CALL})(?=[.!?]|$)"
)
