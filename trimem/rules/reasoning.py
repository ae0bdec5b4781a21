"""The shortest answer that the best-ranked sentences hold, by the question's type."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from trimem import people
from trimem.rules import spans
from trimem.rules.evidence import Scored, rank, read
from trimem.rules.question_types import Asked, Kind, read_question
from trimem.types import Answer, Context, Question

NOT_MENTIONED = "Not mentioned in the conversation"
_READ = 12
_LISTED = 4


def answer_text(question, context):
    sentences = read(context)
    speakers = tuple(dict.fromkeys(s.speaker for s in sentences if s.speaker))
    persons = people.mentioned(question.text, speakers)
    names = frozenset(w for p in speakers for w in people.key(p).split())
    asked = read_question(question.text, names)
    ranked = rank(sentences, asked.stems, persons)
    if not ranked:
        return NOT_MENTIONED
    if asked.kind == "when":
        return spans.when(ranked) or NOT_MENTIONED
    if asked.kind == "yes/no":
        return "Yes"
    cands = list(candidates(asked, ranked[:_READ], names)) or [
        c for i in ranked[:3] for c in spans.of_predicates(i, names)
    ]
    if not cands:
        return NOT_MENTIONED
    cands.sort(key=lambda c: -c.score)
    if asked.plural and asked.kind != "how many":
        best = cands[0].score
        out = list(dict.fromkeys(c.text for c in cands if c.score > best - LIST_GAP))[:_LISTED]
        return ", ".join(out)
    return cands[0].text


LIST_GAP = 0.5


def candidates(asked, ranked, names):
    for item in ranked:
        k = asked.kind
        if k == "who":
            yield from spans.of_people(item, names)
        elif k == "where":
            yield from spans.of_places(item, names)
        elif k == "how many":
            yield from spans.of_numbers(item, asked.noun)
        elif k == "how long":
            yield from spans.of_durations(item)
        elif k == "why":
            yield from spans.of_reasons(item, names)
        elif k == "how":
            yield from spans.of_predicates(item, names)
        else:
            yield from spans.of_things(item, asked.stems, asked.noun, names)
