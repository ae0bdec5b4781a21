"""What a model is asked to reply with: one schema a prompt. Bounds keep a runaway list from eating the budget."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class ReplySchema(BaseModel):
    """Base of all replies: unknown keys are ignored, so that a chatty model loses nothing else."""

    model_config = ConfigDict(extra="ignore")


class ExtractedFact(ReplySchema):
    """One fact as the model writes it; ids and times are checked afterwards."""

    statement: str = Field(min_length=1, max_length=600)
    keywords: list[str] = Field(default=[], max_length=12)
    time: str | None = None
    location: str | None = None
    persons: list[str] = Field(default=[], max_length=12)
    entities: list[str] = Field(default=[], max_length=12)
    topic: str | None = None
    sources: list[str] = Field(default=[], max_length=40)


class ExtractedFacts(ReplySchema):
    """Reply to the extraction prompt."""

    facts: list[ExtractedFact] = Field(max_length=120)


class SectionText(ReplySchema):
    """One section of a profile."""

    section: Literal[
        "identity",
        "personality",
        "how others describe them",
        "interests",
        "career",
        "values",
        "beliefs",
        "relationships",
        "life events",
        "preferences",
    ]
    text: str = Field(max_length=1200)


class ProfileReply(ReplySchema):
    """Reply to the profile prompt: the whole profile, sections that have content."""

    sections: list[SectionText] = Field(max_length=10)


class KeyInformation(ReplySchema):
    """Reply to the key-information prompt (paper E.4)."""

    keywords: list[str] = Field(default=[], max_length=12)
    persons: list[str] = Field(default=[], max_length=8)
    time_expression: str | None = None
    location: str | None = None
    entities: list[str] = Field(default=[], max_length=8)


class TargetQueries(ReplySchema):
    """Reply to the target-query prompt (paper E.3)."""

    requirements: str = ""
    queries: list[str] = Field(max_length=4)


class QueryPlan(KeyInformation):
    """Reply to the merged planning prompt: queries and key information in one call."""

    queries: list[str] = Field(max_length=4)


class Sufficiency(ReplySchema):
    """Reply to the reflection prompt: what is still missing, and queries for it."""

    complete: bool
    queries: list[str] = Field(default=[], max_length=3)


class AnswerReply(ReplySchema):
    """Reply to the answer prompt."""

    reasoning: str = Field(default="", max_length=4000)
    answer: str = Field(max_length=1000)
