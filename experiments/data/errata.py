"""Known wrong golds of LoCoMo, from a user's copy of locomo-audit's `errors.json`; the data stay as they are.

Read are question ids and classes alone, none of the audit's text. It was made by a model with human review: strong
hints, not truth.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path

from experiments.data.files import parse_json, read_bytes
from experiments.data.locomo import SPLITS
from experiments.data.sources import SOURCES
from experiments.data.types import Dataset
from trimem.errors import BadInput

WRONG_CITATION = "WRONG_CITATION"
"""The class of a right answer with wrong evidence: it concerns retrieval only."""
CONVERSATIONS = tuple(sorted(id for ids in SPLITS.values() for id in ids))
"""The conversations of `locomo10.json` in its order, which the audit counts from 0."""


def read_errata(path: str | Path) -> dict[str, str]:
    """Question id -> class of what is wrong with it. BadInput for a file of another format."""
    get_it = SOURCES["locomo-errata"].get_it
    try:
        return {
            _question_id(entry["question_id"]): entry["error_type"]
            for entry in parse_json(read_bytes(path, get_it), path, get_it)
        }
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise BadInput(f"{path} is not in the format of locomo-audit ({type(error).__name__}: {error})") from error


def without(dataset: Dataset, questions: Collection[str]) -> Dataset:
    """The data set less these questions."""
    kept = {
        id: tuple(question for question in asked if question.id not in questions)
        for id, asked in dataset.questions.items()
    }
    return replace(dataset, questions=kept)


def wrong_answers(errata: Mapping[str, str]) -> set[str]:
    """Ids of the questions whose gold answer is wrong."""
    return {id for id, kind in errata.items() if kind != WRONG_CITATION}


def _question_id(text: str) -> str:
    """`locomo_0_qa1` -> `conv-26:1`."""
    found = re.fullmatch(r"locomo_(\d+)_qa(\d+)", text)
    if not found:
        raise ValueError(f"question id {text!r}")
    return f"{CONVERSATIONS[int(found[1])]}:{int(found[2])}"
