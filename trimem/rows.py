"""Nouns as rows of the store and back, and the texts by which they are searched."""

import json
import unicodedata
from collections.abc import Iterable, Sequence
from datetime import datetime
from sqlite3 import Row
from typing import Any

from trimem.people import key
from trimem.times import MONTHS, span
from trimem.types import Fact, Profile, Turn


def turn_row(row: int, turn: Turn) -> tuple[Any, ...]:
    """The row of table `turns` that holds `turn`."""
    time = turn.time.isoformat() if turn.time else None
    return row, turn.id, turn.speaker, turn.text, time, turn.session, turn.caption


def turn_of(row: Row) -> Turn:
    """The turn of a row."""
    time = datetime.fromisoformat(row["time"]) if row["time"] else None
    return Turn(row["id"], row["speaker"], row["text"], time, row["session"], row["caption"])


def fact_row(row: int, position: int, fact: Fact) -> tuple[Any, ...]:
    """The row of table `facts` that holds `fact`; `position` is that of its first source."""
    first_day, last_day = days(fact.time)
    lists = [as_json(names) for names in (fact.keywords, fact.persons, fact.entities, fact.sources)]
    return row, fact.id, position, fact.statement, fact.time, fact.location, fact.topic, *lists, first_day, last_day


def fact_of(row: Row) -> Fact:
    """The fact of a row."""
    lists = {name: tuple(json.loads(row[name])) for name in ("keywords", "persons", "entities", "sources")}
    return Fact(row["statement"], time=row["time"], location=row["location"], topic=row["topic"], id=row["id"], **lists)


def profile_row(profile: Profile) -> tuple[Any, ...]:
    """The row of table `profiles` that holds `profile`."""
    return key(profile.person), profile.person, as_json(dict(profile.sections)), as_json(profile.fact_ids)


def profile_of(row: Row) -> Profile:
    """The profile of a row."""
    return Profile(row["person"], json.loads(row["sections"]), tuple(json.loads(row["facts"])))


def as_json(values: Any) -> str:
    """Compact JSON with its letters kept."""
    return json.dumps(values, ensure_ascii=False, separators=(",", ":"))


def days(time: str | None) -> tuple[str | None, str | None]:
    """First and last day of a normalised time as ISO dates, which compare as text; None for what is none."""
    try:
        first, last = span(time or "")
    except ValueError:
        return None, None
    return first.isoformat(), last.isoformat()


def signals(row: int, fact: Fact) -> set[tuple[str, str, int]]:
    """What a fact can be asked for by: its people, entities and place ("Bergen, Norway" also by either part)."""
    found = {("person", key(name), row) for name in fact.persons}
    found |= {("entity", key(name), row) for name in fact.entities}
    return found | {("place", name, row) for name in places(fact.location)}


def places(location: str | None) -> set[str]:
    """Keys of a place: the whole of it, and the parts between commas."""
    return {key(part) for part in [location, *location.split(",")] if key(part)} if location else set()


def fact_text(fact: Fact) -> str:
    """What the full-text index sees of a fact: its statement, and keywords that add words to it."""
    said = key(fact.statement)
    return nfc([fact.statement, *(word for word in fact.keywords if key(word) not in said)])


def turn_text(turns: Sequence[Turn]) -> str:
    """What both indexes see of a turn, which often means little without the next one: it between its neighbours in the
    session (`turns`, in order), speakers named, and the date in words."""
    time = turns[0].time
    date = [f"({time.day} {MONTHS[time.month - 1].capitalize()} {time.year})"] if time else []
    return nfc([*(f"{turn.speaker}: {turn.content}" for turn in turns), *date])


def nfc(parts: Iterable[str]) -> str:
    """`parts` joined, accents composed."""
    return unicodedata.normalize("NFC", " ".join(parts))
