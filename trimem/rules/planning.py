"""What to search for, read off the question's own words."""

import re
from dataclasses import dataclass
from typing import Any

from pydantic import PositiveInt

from trimem import times
from trimem.rules.language import content, parse
from trimem.types import Plan, Question

_PLACES = {"GPE", "LOC", "FAC"}
_NO_THINGS = {"PERSON", "DATE", "TIME", "CARDINAL", "ORDINAL", "QUANTITY", "PERCENT", "MONEY"}
_QUOTED = re.compile(r"[\"“]([^\"“”]{2,60})[\"”]")


@dataclass
class RulesPlanner:
    """Question -> the question as first query, at most `max_queries`, and its key information. No LLM.

    The second query, where asked for, is the question's keywords alone.
    """

    max_queries: PositiveInt = 1

    def plan(self, question: Question) -> Plan:
        """Relative time is resolved against `asked_at`; without it only absolute times are taken."""
        doc = parse(question.text)
        persons = _persons(doc)
        words = {word for person in persons for word in person.split()}
        keywords = tuple(dict.fromkeys(t.lemma_.lower() for t in content(doc) if t.text not in words))
        found = times.find(question.text, question.asked_at)
        entities = [ent.text for ent in doc.ents if ent.label_ not in _NO_THINGS and ent.text not in persons]
        queries = dict.fromkeys((question.text, " ".join((*persons, *keywords))))
        return Plan(
            queries=tuple(query for query in queries if query)[: self.max_queries],
            keywords=keywords,
            persons=persons,
            time=found[0][1] if found else None,
            location=next((e.text for e in doc.ents if e.label_ in _PLACES and e.text not in persons), None),
            entities=tuple(dict.fromkeys([*entities, *_QUOTED.findall(question.text)])),
        )


def _persons(doc: Any) -> tuple[str, ...]:
    """Names that spaCy knows, and single proper nouns that own or do something, which here are mostly people."""
    names = []
    for token in doc:
        entity = next((ent for ent in doc.ents if ent.start <= token.i < ent.end), None)
        alone = entity is None or len(entity.text.removesuffix("'s").split()) == 1
        acts = token.dep_ in {"nsubj", "nsubjpass", "poss"} or (token.i and token.nbor(-1).pos_ == "AUX")
        if entity is not None and entity.label_ == "PERSON":
            names.append(entity.text.removesuffix("'s").removesuffix("’s"))
        elif token.pos_ == "PROPN" and alone and acts:
            names.append(token.text)
    return tuple(dict.fromkeys(names))
