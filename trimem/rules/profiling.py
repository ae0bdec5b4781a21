"""Profiles without a model: the person's most telling sentences, sorted into the sections of a profile."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import PositiveInt

from trimem import times
from trimem.rules.sections import section_of
from trimem.types import SECTIONS, Fact, Profile

_SENTENCES = 4  # a section; with ten sections some 600 tokens at most, which the context budget may cut further
_LENGTH = 160  # characters a sentence: a longer one tells more than one thing
_BETWEEN = "; "


@dataclass
class RulesProfiler:
    """Facts about a person -> profile; people with fewer than `min_facts` facts get none. No LLM.

    A section keeps its best sentences by a score of the text alone, so updating session by session gives the same
    profile as one update with all facts.
    """

    min_facts: PositiveInt = 3

    def update(self, profile: Profile | None, person: str, facts: Sequence[Fact]) -> Profile:
        """The profile with the new facts sorted in; `fact_ids` grows by all of them."""
        old = profile or Profile(person)
        sentences = {name: text.split(_BETWEEN) for name, text in old.sections.items() if text}
        for fact in facts:
            sentences.setdefault(_section(fact), []).append(_sentence(fact))
        sections = {name: _BETWEEN.join(_best(sentences[name])) for name in SECTIONS if name in sentences}
        fact_ids = dict.fromkeys((*old.fact_ids, *(fact.id for fact in facts)))
        return Profile(person, {name: text for name, text in sections.items() if text}, tuple(fact_ids))


def _section(fact: Fact) -> str:
    """The topic if it is a section's name, else by the fact's words.

    What no word list knows is what the person did (with a date: a life event) or does (an interest).
    """
    if fact.topic in SECTIONS:
        return fact.topic
    words = [*fact.keywords, *re.findall(r"\w+", fact.statement)]
    return section_of(words) or ("life events" if fact.time else "interests")


def _sentence(fact: Fact) -> str:
    when = f" ({times.say(fact.time)})" if fact.time else ""
    return fact.statement.replace(_BETWEEN, ", ").rstrip(".! ") + when


def _best(sentences: Sequence[str]) -> list[str]:
    """The most telling, oldest first; of equals the newer are kept, since a later sentence may correct an earlier."""
    newest_first = [text for text in dict.fromkeys(reversed(sentences)) if len(text) <= _LENGTH]
    best = sorted(newest_first, key=lambda text: -_telling(text))[:_SENTENCES]
    return [text for text in reversed(newest_first) if text in best]


def _telling(sentence: str) -> int:
    """How many different words of weight a sentence has: long ones, names and numbers."""
    return len({word.lower() for word in re.findall(r"\w+", sentence) if len(word) > 4 or not word.islower()})
