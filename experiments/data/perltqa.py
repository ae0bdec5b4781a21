"""PerLTQA (Du et al., SIGHAN-10 2024): what is known of a person as a dialogue memory, one conversation a person.

Only what is ingested can be asked about: a question whose reference is not is left out and counted. Not covered:
the paper's memory classification and its MAP over anchors, whose offsets are those of the Chinese text.
Releases differ, so a score belongs to its variant; in `en_v2` dialogues and golds have drifted apart.
"""

import ast
import logging
import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any, Literal

from experiments.data.files import parse_json, read_bytes, read_pinned, sha256
from experiments.data.sources import SOURCES
from experiments.data.types import Dataset, Gold, GoldBook
from trimem.errors import BadInput
from trimem.types import Conversation, Question, Session, Turn

log = logging.getLogger(__name__)

CATEGORIES = {1: "profile", 2: "social relationship", 3: "events", 4: "dialogues"}
SECTIONS = {1: "profile", 2: "social_relationship", 3: "events", 4: "dialogues"}
NOT_IN_PAPER = ("dragon beautiful", "Chen Zhi")
"""In the question file, but one has no memory and the other a stub: the papers' 30 people are the rest."""

Variant = Literal["en_v2", "en"]
Ingest = Literal["dialogues", "dialogues+events", "all"]
"""What becomes turns: dialogues; events too, told by the person; profile and relationships too, as first session."""


@dataclass(frozen=True)
class Person:
    """One entry of the memory file, and the conversation made of it. `turns_of`: memory id -> its turns' ids."""

    name: str
    conversation: Conversation
    turns_of: Mapping[str, tuple[str, ...]]


def load(
    path: str | Path,
    verify: bool = True,
    variant: Variant = "en_v2",
    ingest: Ingest = "dialogues",
    people: Literal["all", "paper30"] = "all",
    per_section: int | None = None,
    sample_seed: int = 0,
) -> tuple[Dataset, GoldBook]:
    """The people who have questions, from a folder with the release's two files.

    `per_section` draws so many questions of each type for each person, the same for the same `sample_seed`.
    Raises BadInput for missing, cut, foreign or misshapen files.
    """
    source = SOURCES[f"perltqa-{variant}"]
    read = [read_pinned(Path(path) / file.name, file, verify, source.get_it) for file in source.files]
    memory, asked = (parse_json(data, path, source.get_it) for data, _, _ in read)
    left_out = NOT_IN_PAPER if people == "paper30" else ()
    conversations, questions, golds = _parse(memory, asked, ingest, left_out, (per_section, sample_seed), str(path))
    dataset = Dataset(
        name=f"perltqa-{variant}",
        sha256="+".join(digest for _, digest, _ in read),
        verified=all(verified for _, _, verified in read),
        conversations=conversations,
        questions=questions,
        categories=CATEGORIES,
        headline=tuple(CATEGORIES),
        licence=source.licence,
    )
    return dataset, golds


def load_sample(ingest: Ingest = "all") -> tuple[Dataset, GoldBook]:
    """Two invented people in this format, which come with the package."""
    with as_file(files("experiments.data") / "sample") as folder:
        data = [read_bytes(folder / name, "Install the package again") for name in ("perltmem.json", "perltqa.json")]
    memory, asked = (parse_json(content, "the bundled sample", "Install the package again") for content in data)
    conversations, questions, golds = _parse(memory, asked, ingest, (), (None, 0), "the bundled sample")
    dataset = Dataset(
        name="perltqa-sample",
        sha256="+".join(sha256(content) for content in data),
        verified=True,
        conversations=conversations,
        questions=questions,
        categories=CATEGORIES,
        headline=tuple(CATEGORIES),
        licence="MIT, part of this project",
    )
    return dataset, golds


def _parse(
    memory: Any, asked: Any, ingest: Ingest, left_out: Sequence[str], sample: tuple[int | None, int], path: str
) -> tuple[tuple[Conversation, ...], dict[str, tuple[Question, ...]], dict[str, Gold]]:
    """Conversations of the people with at least one usable question; one warning counts what is left out."""
    missing: Counter[str] = Counter()
    chosen: dict[str, list[tuple[Question, Gold]]] = {}
    try:
        people = _people(memory, ingest, missing)
        for name, sections in (pair for entry in asked for pair in entry.items() if pair[0] not in left_out):
            for person, question, gold in _questions(name, sections, people, missing):
                chosen.setdefault(person.conversation.id, []).append((question, gold))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadInput(f"{path} is not in PerLTQA's format ({type(error).__name__}: {error})") from error
    if missing:
        log.warning("%s: %s", path, "; ".join(f"{reason}: {count}" for reason, count in sorted(missing.items())))
    drawn = {id: _draw(pairs, id, *sample) for id, pairs in chosen.items()}
    golds = {question.id: gold for pairs in drawn.values() for question, gold in pairs}
    questions = {id: tuple(question for question, _ in pairs) for id, pairs in drawn.items()}
    return tuple(p.conversation for p in people if p.conversation.id in drawn), questions, golds


def _people(memory: Any, ingest: Ingest, missing: Counter[str]) -> list[Person]:
    """Everyone in the memory file, a list or a dict by name. Equal names give ids of their own."""
    entries = memory.items() if isinstance(memory, dict) else ((raw["profile"]["Protagonist"], raw) for raw in memory)
    people: list[Person] = []
    seen: Counter[str] = Counter()
    for name, raw in entries:
        base = re.sub(r"\W+", "-", name).strip("-").lower()
        seen[base] += 1
        id = base if seen[base] == 1 else f"{base}-{seen[base]}"
        people.append(_person(id, name, raw, ingest, missing))
    return people


def _person(id: str, name: str, raw: Mapping[str, Any], ingest: Ingest, missing: Counter[str]) -> Person:
    """Sessions in order of time; those without a date come first, as they stand in the file."""
    turns_of: dict[str, tuple[str, ...]] = {}
    known: list[Turn] = []
    sessions: list[Session] = []
    for section in SECTIONS.values():
        if section not in raw:
            missing[f"people without {section}"] += 1
    if ingest == "all":
        known = [Turn(key, name, text, None, "0") for key, text in _told(raw, missing)]
        turns_of |= {turn.id: (turn.id,) for turn in known}
    if ingest != "dialogues":
        for key, event in raw.get("events", {}).items():
            sessions.append(_event(key, event, name))
            turns_of[key] = (key,)
    for key, dialogue in raw.get("dialogues", {}).items():
        said = list(_dialogue(key, dialogue["contents"], name, missing))
        turns_of[key] = tuple(turn.id for session in said for turn in session.turns)
        sessions += said
    ordered = sorted(sessions, key=lambda session: session.time or datetime.min)
    first = [Session("0", None, tuple(known))] if known else []
    speakers = dict.fromkeys([name, *(turn.speaker for session in ordered for turn in session.turns)])
    return Person(name, Conversation(id, tuple(speakers), (*first, *ordered)), turns_of)


def _told(raw: Mapping[str, Any], missing: Counter[str]) -> Iterator[tuple[str, str]]:
    """Profile fields and relationships as sentences, with the ids that questions refer to."""
    for field, value in raw.get("profile", {}).items():
        yield f"profile/{field.lower()}", f"{field}: {value}"
    if raw.get("profile_description"):
        yield "profile/description", raw["profile_description"]
    relationships = raw.get("social_relationship", {})
    if isinstance(relationships, str):  # in some people of en_v2 the section is the text of a Python dict
        try:
            relationships = ast.literal_eval(relationships)
        except (SyntaxError, ValueError):
            missing["people with an unreadable social_relationship"] += 1
            return
    for key, entry in relationships.items():
        yield key, f"{entry['Supporting Characters']} ({entry['Relationship']}): {entry['Description']}"


def _event(key: str, event: Mapping[str, Any], name: str) -> Session:
    """One narrated turn. A time that is no date stays in front of the text, as it is written."""
    stated = event.get("Creation Time", "").strip()
    time = _time(stated, ("%B %d, %Y", "%Y-%m-%d"))
    text = event.get("content") or event["summary"]
    return Session(key, time, (Turn(key, name, f"{stated}: {text}" if stated and not time else text, time, key),))


def _dialogue(key: str, contents: Mapping[str, Any], name: str, missing: Counter[str]) -> Iterator[Session]:
    """A session a time stamp. A line is "Name: text"; one without a name is the person's own."""
    for stamp, lines in contents.items():
        time = _time(stamp, ("%Y-%m-%d %H:%M", "%Y-%m-%d"))
        if time is None:
            missing["dialogues without a readable time"] += 1
        session = f"{key}@{stamp}"
        said = [line.split(": ", 1) if ": " in line else [name, line] for line in _flat(lines)]
        turns = tuple(
            Turn(f"{session}/{number}", speaker.strip(), text.strip(), time, session)
            for number, (speaker, text) in enumerate(said)
        )
        yield Session(session, time, turns)


def _flat(lines: Iterable[Any]) -> Iterator[str]:
    """Lines; some releases nest them one list deeper."""
    for line in lines:
        if isinstance(line, str):
            yield line
        else:
            yield from line


def _time(text: str, formats: Sequence[str]) -> datetime | None:
    for form in formats:
        try:
            return datetime.strptime(text, form)
        except ValueError:
            continue
    return None


def _questions(
    name: str, sections: Mapping[str, Any], people: Sequence[Person], missing: Counter[str]
) -> Iterator[tuple[Person, Question, Gold]]:
    """Questions about `name` that one person's memory resolves; of people with equal names, that must be one."""
    called = [person for person in people if person.name == name]
    flat = ((category, qa) for category, section in SECTIONS.items() for qa in _entries(sections.get(section, [])))
    for index, (category, qa) in enumerate(flat):
        found = [(person, turns) for person in called if (turns := _evidence(qa["Reference Memory"], category, person))]
        if len(found) == 1:
            ((person, turns),) = found
            id = f"{person.conversation.id}:{index}"
            yield person, Question(id, qa["Question"].strip()), Gold(str(qa["Answer"]).strip(), turns, category)
        elif not called:
            missing["questions about people without memory"] += 1
        else:
            missing["questions whose reference " + ("two people share" if found else "was not ingested")] += 1


def _entries(section: Any) -> Iterator[Mapping[str, Any]]:
    """The questions of a section: plain, or grouped by memory id in a dict or in a list of one-key dicts."""
    for entry in [section] if isinstance(section, dict) else section:
        if "Question" in entry:
            yield entry
        else:
            yield from (qa for group in entry.values() for qa in group)


def _evidence(reference: Any, category: int, person: Person) -> tuple[str, ...]:
    """Ids of the turns that the reference (a profile field, an id, or the text of a list of ids) was made into."""
    keys = [reference] if isinstance(reference, str) else list(reference)
    if isinstance(reference, str) and reference.startswith("["):
        try:
            keys = list(ast.literal_eval(reference))
        except (SyntaxError, ValueError):
            return ()
    if category == 1:
        keys = [f"profile/{key.lower()}" for key in keys]
    return tuple(turn for key in keys for turn in person.turns_of.get(key, ()))


def _draw(
    pairs: Sequence[tuple[Question, Gold]], conversation: str, per_section: int | None, seed: int
) -> list[tuple[Question, Gold]]:
    """So many of each category, in the order of the file; all if `per_section` is None."""
    if per_section is None:
        return list(pairs)
    kept: list[int] = []
    for category in CATEGORIES:
        of_category = [number for number, (_, gold) in enumerate(pairs) if gold.category == category]
        draw = random.Random(f"{seed}:{conversation}:{category}")
        kept += draw.sample(of_category, min(per_section, len(of_category)))
    return [pairs[number] for number in sorted(kept)]
