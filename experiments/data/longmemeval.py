"""LongMemEval (Wu et al., ICLR 2025): questions to a user's chat history with an assistant, a haystack each.

A memory is built once for each distinct haystack: questions with the same one share a conversation. Golds of
`single-session-preference` are rubrics for a judge: token metrics say little there.
"""

import json
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any, Literal

from experiments.data.files import parse_json, read_bytes, read_pinned, sha256
from experiments.data.sources import SOURCES
from experiments.data.types import ABSTAIN, Dataset, Gold, GoldBook, Rule
from trimem.errors import BadInput
from trimem.types import Conversation, Question, Session, Turn

CATEGORIES = {
    1: "single-session-user",
    2: "single-session-assistant",
    3: "single-session-preference",
    4: "multi-session",
    5: "temporal-reasoning",
    6: "knowledge-update",
    7: "abstention",
}
ABSTENTION = 7
"""Questions of any type that the haystack does not answer (`_abs` in their id), apart from the headline."""
RULES: Mapping[int, Rule] = {ABSTENTION: "abstain"}

Variant = Literal["oracle", "s"]
"""oracle: only the sessions with evidence; s: about 115k tokens a question."""


def load(path: str | Path, verify: bool = True, variant: Variant = "oracle") -> tuple[Dataset, GoldBook]:
    """The 500 questions of one file. BadInput for a missing, cut, foreign or misshapen file."""
    source = SOURCES[f"longmemeval-{variant}"]
    data, digest, verified = read_pinned(path, source.files[0], verify, source.get_it)
    return _dataset(data, f"longmemeval-{variant}", digest, verified, source.licence, source.get_it)


def load_sample() -> tuple[Dataset, GoldBook]:
    """Seven invented questions in this format, which come with the package."""
    with as_file(files("experiments.data") / "sample" / "longmemeval.json") as path:
        data = read_bytes(path, "Install the package again")
    return _dataset(
        data, "longmemeval-sample", sha256(data), True, "MIT, part of this project", "Install the package again"
    )


def _dataset(
    data: bytes, name: str, digest: str, verified: bool, licence: str, get_it: str
) -> tuple[Dataset, GoldBook]:
    conversations: dict[str, Conversation] = {}
    questions: dict[str, list[Question]] = {}
    golds: dict[str, Gold] = {}
    id_of: dict[str, str] = {}
    try:
        for raw in parse_json(data, name, get_it):
            id = id_of.setdefault(_haystack_key(raw), raw["question_id"])
            if id not in conversations:
                conversations[id] = _conversation(id, raw)
            asked = questions.setdefault(id, [])
            question = Question(f"{id}:{len(asked)}", raw["question"].strip(), _time(raw["question_date"]))
            asked.append(question)
            golds[question.id] = _gold(raw)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadInput(f"{name} is not in LongMemEval's format ({type(error).__name__}: {error}). {get_it}") from error
    dataset = Dataset(
        name=name,
        sha256=digest,
        verified=verified,
        conversations=tuple(conversations.values()),
        questions={id: tuple(asked) for id, asked in questions.items()},
        categories=CATEGORIES,
        headline=tuple(category for category in CATEGORIES if category != ABSTENTION),
        licence=licence,
        rules=RULES,
    )
    return dataset, golds


def _haystack_key(raw: Mapping[str, Any]) -> str:
    """Equal for equal haystacks: what is marked as evidence (`has_answer`) is not part of it."""
    said = [[(turn["role"], turn["content"]) for turn in session] for session in raw["haystack_sessions"]]
    return sha256(json.dumps([raw["haystack_session_ids"], raw["haystack_dates"], said]).encode())


def _sessions(raw: Mapping[str, Any]) -> list[tuple[str, datetime, Sequence[Mapping[str, Any]]]]:
    """Id, time and turns of each session by time; an id that comes twice gets a number."""
    found = []
    ids: list[str] = raw["haystack_session_ids"]
    rows = zip(ids, raw["haystack_dates"], raw["haystack_sessions"], strict=True)
    for place, (id, date, turns) in enumerate(rows):
        before = ids[:place].count(id)
        found.append((f"{id}#{before + 1}" if before else id, _time(date), turns))
    return sorted(found, key=lambda session: session[1])


def _conversation(id: str, raw: Mapping[str, Any]) -> Conversation:
    sessions = []
    for name, time, turns in _sessions(raw):
        said = [Turn(f"{name}/{n}", turn["role"], turn["content"].strip(), time, name) for n, turn in enumerate(turns)]
        sessions.append(Session(name, time, tuple(said)))
    return Conversation(id, ("user", "assistant"), tuple(sessions))


def _gold(raw: Mapping[str, Any]) -> Gold:
    """Evidence is the turns marked as such: `has_answer` may stand there and be false."""
    if "_abs" in raw["question_id"]:
        return Gold(ABSTAIN, (), ABSTENTION)
    (category,) = (id for id, name in CATEGORIES.items() if name == raw["question_type"])
    evidence = [
        f"{name}/{n}" for name, _, turns in _sessions(raw) for n, turn in enumerate(turns) if turn.get("has_answer")
    ]
    return Gold(str(raw["answer"]).strip(), tuple(evidence), category)


def _time(text: str) -> datetime:
    """`2023/05/30 (Tue) 23:40`; the weekday is not needed and depends on the language."""
    return datetime.strptime(re.sub(r"\s*\([^)]*\)", "", text), "%Y/%m/%d %H:%M")
