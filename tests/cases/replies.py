"""What the cases about replies share: their raw texts, a schema in their words, and a provider at a scripted server."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field

from tests.fake_openai import FakeOpenAI
from tests.trimem.llm.fakes import user
from trimem.llm.base import Request
from trimem.llm.openai_compatible import OpenAICompatible
from trimem.llm.structured import read

DATA = Path(__file__).parent / "data"


class CaseFact(BaseModel):
    """A fact as the case files write it."""

    fact: str = Field(min_length=1)
    keywords: list[str] = []
    persons: list[str] = []
    timestamp: str | None = None


class CaseFacts(BaseModel):
    """A reply as the case files write it."""

    facts: list[CaseFact]


def case(name: str) -> dict[str, Any]:
    """One entry of replies.json."""
    entries: list[dict[str, Any]] = json.loads((DATA / "replies.json").read_text(encoding="utf-8"))
    return next(entry for entry in entries if entry["case"] == name)


def facts_of(raw: str) -> list[str] | None:
    """Texts of the facts read from a raw reply; None where nothing was usable."""
    value, _ = read(raw, CaseFacts)
    return None if value is None else [fact.fact for fact in value.facts]


@contextmanager
def scenario(name: str, **settings: Any) -> Iterator[tuple[OpenAICompatible, FakeOpenAI]]:
    """A provider whose endpoint plays one of the scripted scenarios."""
    with FakeOpenAI.from_file(DATA / "http" / f"{name}.json") as server:
        chosen: dict[str, Any] = {"model": "fake", "endpoint": server.url, "max_retries": 1, "timeout": 10} | settings
        yield OpenAICompatible(**chosen), server


def request(text: str = "What does Nadia own?", **changes: Any) -> Request:
    """A request of the extraction stage."""
    return user(text, **({"stage": "extract"} | changes))
