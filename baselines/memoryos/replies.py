"""What the prompts of MemoryOS are replied with."""

from pydantic import Field

from trimem.replies import ReplySchema


class Continuity(ReplySchema):
    """Reply to `memoryos_continuity`."""

    continuous: bool


class ChainSummary(ReplySchema):
    """Reply to `memoryos_meta`."""

    summary: str = Field(min_length=1, max_length=1000)


class Topic(ReplySchema):
    """One topic of a page."""

    content: str = Field(min_length=1, max_length=1500)
    theme: str = Field(default="", max_length=200)
    keywords: list[str] = Field(default=[], max_length=20)


class Topics(ReplySchema):
    """Reply to `memoryos_topics`: at most two topics."""

    topics: list[Topic] = Field(max_length=2)


class Persona(ReplySchema):
    """Reply to `memoryos_profile`: the whole profile of the user, written anew."""

    profile: str = Field(min_length=1, max_length=12000)


class KnownLine(ReplySchema):
    """One line of knowledge and the ids of the turns it rests on."""

    text: str = Field(min_length=1, max_length=600)
    sources: list[str] = Field(default=[], max_length=40)


class Knowledge(ReplySchema):
    """Reply to `memoryos_knowledge`: about the user, and about the one who answers."""

    user: list[KnownLine] = Field(default=[], max_length=40)
    agent: list[KnownLine] = Field(default=[], max_length=40)


class QueryWords(ReplySchema):
    """Reply to `memoryos_query`."""

    keywords: list[str] = Field(max_length=20)
