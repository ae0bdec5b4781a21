"""The sidecar of a data set: what each turn really says, and what a good or a weak reading of it gives.

One statement is written once, with marks that a weaker extraction loses:
`Bram bought an accordion [for 45 crowns] <on 27 January 2024|last Saturday>.`
"""

import hashlib
import re
from collections.abc import Iterable, Mapping
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from trimem.errors import BadInput
from trimem.replies import ExtractedFact

TIME = re.compile(r"\s*<([^|<>]+)\|([^<>]+)>")
DETAIL = re.compile(r"\s*\[([^\]]+)\]")


class Rules(NamedTuple):
    """What an extraction prompt asks for: one fact an entry, absolute times, details kept."""

    split: bool = True
    resolve: bool = True
    keep: bool = True


FULL = Rules()


class Strict(BaseModel):
    """Base of what a sidecar holds: a misspelt key is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class TrueFact(Strict):
    """One fact of a turn. `fused`: an extractor that does not split melts it into the fact before."""

    statement: str
    time: str | None = None
    location: str | None = None
    persons: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    topic: str
    section: str
    fused: bool = False

    def text(self, rules: Rules = FULL, timed: bool = True) -> str:
        """The statement as an extraction under `rules` writes it; `timed=False` leaves its time out."""
        spoken = r" \1" if rules.resolve else r" \2"
        text = TIME.sub(spoken if timed else "", self.statement)
        text = re.sub(r"[\[\]]", "", text) if rules.keep else DETAIL.sub("", text).strip()
        return text[0].upper() + text[1:]

    def extracted(self, turn: str, rules: Rules) -> ExtractedFact:
        """The fact as a model replies with it, cited to its turn."""
        text = self.text(rules)
        relative = TIME.search(self.statement) and not rules.resolve
        return ExtractedFact(
            statement=text,
            keywords=[word for word in self.keywords if word in text.lower()],
            time=None if relative else self.time,
            location=self.location,
            persons=list(self.persons),
            entities=[entity for entity in self.entities if entity in text],
            topic=self.topic,
            sources=[turn],
        )

    def melted_into(self, before: ExtractedFact, rules: Rules) -> ExtractedFact:
        """`before` with this fact appended: the time and the details of an entry are those of its first fact."""
        own = self.extracted(before.sources[0], rules._replace(keep=False))
        text = self.text(Rules(keep=False), timed=False)
        return before.model_copy(
            update={
                "statement": f"{before.statement.rstrip('.')}; {text}",
                "keywords": _union(before.keywords, own.keywords),
                "location": before.location or own.location,
                "persons": _union(before.persons, own.persons),
                "entities": _union(before.entities, own.entities),
            }
        )


class Trait(Strict):
    """What a profile concludes about `person` once it has facts of at least `least` of the turns."""

    person: str
    section: str
    text: str
    turns: tuple[str, ...] = Field(alias="from")
    least: int


class Need(Strict):
    """What a reader must have seen: a text that `says` all of it, or the raw turn (`raw`: only the turn will do)."""

    turn: str
    says: tuple[str, ...]
    raw: bool = False


class Asked(Strict):
    """A question, what answering it takes (`least` of `needs`, or the trait), and the answers with all or part of it.

    Without needs nothing in the dialogue answers it.
    """

    index: int
    question: str
    query: str | None = None
    needs: tuple[Need, ...] = ()
    least: int | None = None
    trait: str | None = None
    all: str | None = None
    part: str | None = None


class Told(Strict):
    """All that is true in one conversation. `turns` holds the first words of every turn, `facts` the facts, by id."""

    speakers: tuple[str, str]
    people: tuple[str, ...]
    turns: Mapping[str, str]
    facts: Mapping[str, tuple[TrueFact, ...]]
    traits: tuple[Trait, ...]
    questions: tuple[Asked, ...]

    def extract(self, turns: Iterable[str], rules: Rules) -> list[ExtractedFact]:
        """The facts of these turns as an extraction under `rules` writes them, in the order of the turns."""
        found: list[ExtractedFact] = []
        for turn in turns:
            for fact in self.facts.get(turn, ()):
                if fact.fused and not rules.split:
                    found[-1] = fact.melted_into(found[-1], rules)
                else:
                    found.append(fact.extracted(turn, rules))
        return found

    @cached_property
    def readings(self) -> Mapping[str, tuple[str, str]]:
        """Every statement that any set of rules gives -> its turn and the profile section it belongs in."""
        return {
            entry.statement: (turn, section)
            for turn, facts in self.facts.items()
            for rules in map(Rules._make, product((True, False), repeat=3))
            for entry, section in zip(
                self.extract([turn], rules),
                [fact.section for fact in facts if rules.split or not fact.fused],
                strict=True,
            )
        }


class Script(Strict):
    """A sidecar file. `none` is the answer where nothing needed was seen."""

    about: tuple[str, ...]
    none: str
    conversations: Mapping[str, Told]


def load_script(path: str | Path) -> tuple[Script, str]:
    """A sidecar and the hash of its bytes. Raises BadInput where the file is missing or not of this format."""
    try:
        content = Path(path).read_bytes()
        return Script.model_validate_json(content), hashlib.sha256(content).hexdigest()[:12]
    except OSError as error:
        raise BadInput(
            f"script {path}: {error.strerror}; give the path of a sidecar such as sample_facts.json."
        ) from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "the file"
        raise BadInput(f"script {path}: {place}: {first['msg']}; see trimem/llm/script.py for the format.") from error


def _union(one: list[str], other: list[str]) -> list[str]:
    return list(dict.fromkeys(one + other))[:12]
