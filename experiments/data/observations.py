"""LoCoMo's `observation`: short facts that its annotators noted of each session, with the turns they rest on.

An extractor that needs no model, for analyses of what facts are worth. It reads the file itself, by the conversation's
id, since a data set never hands it out: what comes of it is a proxy for extraction, not a score of a method.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pydantic import PositiveInt

from experiments.data.files import parse_json, read_bytes
from experiments.data.sources import SOURCES
from trimem import times
from trimem.errors import BadInput
from trimem.types import Extraction, Fact, Turn

GET_IT = SOURCES["locomo"].get_it


class Observations:
    """Windows of turns -> the facts noted of them. Raises BadInput for a file without them, or without `conversation`.

    A fact belongs to the window of the last turn that it rests on, one that names no turn to that of its session's
    first; windows do not overlap, so that each comes once.
    """

    overlap = 0

    def __init__(self, conversation: str, path: str | None = None, window: PositiveInt = 40) -> None:
        if path is None:
            raise BadInput("extractor=observations reads a file in LoCoMo's format: give it as extractor.path.")
        self.window = window
        self._noted = list(_noted(Path(path), conversation))

    def extract(self, window: Sequence[Turn]) -> Extraction:
        """Never fails; sessions of whose facts none lies in the window give none."""
        turns = {turn.id: turn for turn in window}
        first = {turn.session: turn.id for turn in reversed(window) if turn.id.endswith(":1")}
        facts = []
        for session, person, statement, sources in self._noted:
            place = sources[-1] if sources else first.get(session)
            if place in turns:
                found = times.find(statement, turns[place].time)
                time = found[0][1] if found else None
                facts.append(Fact(statement, time=time, persons=(person,), sources=tuple(sources)))
        return Extraction(tuple(dict.fromkeys(facts)))


def _noted(path: Path, conversation: str) -> Iterator[tuple[str, str, str, list[str]]]:
    """Session, person, statement and turn ids of every fact noted of a conversation. Raises BadInput."""
    samples = parse_json(read_bytes(path, GET_IT), path, GET_IT)
    try:
        noted = next(sample["observation"] for sample in samples if sample["sample_id"] == conversation)
        for key, people in noted.items():
            session = re.findall(r"\d+", key)[0]
            for person, pairs in people.items():
                for statement, cited in pairs:
                    yield session, person, statement.strip(), _turns(cited)
    except (StopIteration, KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise BadInput(f"{path} holds no observations of {conversation}, as locomo10.json does. {GET_IT}") from error


def _turns(cited: Any) -> list[str]:
    """`D1:3`, `D1:3, D1:5` or a list of such, in order."""
    text = " ".join(cited) if isinstance(cited, list) else cited
    found = [(int(session), int(turn)) for session, turn in re.findall(r"D:?\s*(\d+)\s*:\s*0*(\d+)", text)]
    return [f"D{session}:{turn}" for session, turn in sorted(set(found))]
