"""The rows of the temporal fixture, and what the rules make of a row."""

import json
from datetime import datetime
from pathlib import Path
from typing import Any

from trimem.rules.extraction import RulesExtractor
from trimem.types import Fact, Turn

ROWS: list[dict[str, Any]] = json.loads((Path(__file__).parent / "data" / "temporal.json").read_text("utf-8"))


def rows(case: str) -> list[dict[str, Any]]:
    """The fixture's rows of one case."""
    return [row for row in ROWS if row["case"] == case]


def said(row: dict[str, Any]) -> datetime:
    """The session time of a row, as LoCoMo writes it."""
    return datetime.strptime(row["said"], "%I:%M %p on %d %B, %Y")


def fact_of(row: dict[str, Any]) -> Fact:
    """The one fact extracted from a row said by Nadia."""
    (fact,) = RulesExtractor().extract([Turn("D1:1", "Nadia", row["text"], said(row))]).facts
    return fact
