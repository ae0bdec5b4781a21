"""A model that knows the bundled sample data set by heart: real replies, real scores, no key and no cost.

It goes by a request's stage, schema and fields, never by how a prompt is worded. The one exception is extraction: there
it obeys what the instructions ask for (`rules_in`), so that a better extraction prompt gives better memories.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, PositiveInt

from trimem.errors import BadInput
from trimem.llm import critic
from trimem.llm.base import Provider, Reply, Request, Usage
from trimem.llm.reading import Reading, says
from trimem.llm.script import Asked, Rules, Told, load_script
from trimem.replies import (
    AnswerReply,
    ExtractedFacts,
    KeyInformation,
    ProfileReply,
    QueryPlan,
    Sufficiency,
    TargetQueries,
)
from trimem.tokens import count_tokens
from trimem.types import SECTIONS

SECTION_LENGTH = 1200  # as `SectionText` allows
MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
WHEN = re.compile(rf"(?:(?:\d{{1,2}} )?(?:{MONTHS}) )?\b20\d\d\b|(?:\d{{1,2}} )?\b(?:{MONTHS})\b")
ONE = r"\b(?:one|an?|single|separate|individual|each|every)\b"
UNIT = r"(?:facts?|statements?|claims?|events?|entry|entries|items?|objects?)\b"
SPLIT = re.compile(
    rf"{ONE} (?:\w+ )?{UNIT}(?: \w+)? (?:per|for each|in each) (?:\w+ )?{UNIT}"
    rf"|\beach (?:\w+ )?{UNIT} (?:\w+ )?(?:exactly |only |just )?(?:one|a single)\b"
    rf"|\b(?:split|break up|separate|divide|unpack)\b[^.]{{0,60}}\b(?:sentences?|two|several|{UNIT})"
    r"|\b(?:never|not|avoid|without)\b[^.]{0,30}\b(?:merg|combin|fus|join|bundl|melt)(?:e|es|ing|ed|ning)?\b"
)
RESOLVE = re.compile(
    r"\b(?:resolve|turn|convert|rewrite|replace|translate|change|compute|work out)\b[^.]{0,80}"
    r"\b(?:relative|yesterday|last \w+|absolute|calendar)\b"
    r"|\b(?:absolute|calendar)\b[^.]{0,30}\b(?:dates?|times?|days?)\b"
)
KEEP = re.compile(
    r"\b(?:keep|preserve|retain|copy|include|carry over|(?:never|not) (?:drop|omit|lose|leave out))\b[^.]{0,100}"
    r"\b(?:modifiers?|numbers?|quantit\w+|amounts?|adjectives?|qualifiers?|colou?rs?|exact\w*|details?|figures?)\b"
    r"|\bexact (?:names?|numbers?|wording|words|quantit\w+|details?|figures?|amounts?)\b"
)


def rules_in(instructions: str) -> Rules:
    """Which of the three rules an extraction prompt states, in whatever words."""
    text = " ".join(instructions.lower().split())
    return Rules(*(bool(rule.search(text)) for rule in (SPLIT, RESOLVE, KEEP)))


class Scripted(Provider):
    """A fake model. `script` is a sidecar such as `experiments/data/sample/sample_facts.json` (`trimem.llm.script`).

    Raises BadInput for conversations and questions that the script does not hold, and for stages without a script.
    Stage "evolve" is `trimem.llm.critic`'s, which sees the messages alone.
    """

    def __init__(self, script: str | Path, concurrency: PositiveInt = 8) -> None:
        self.model, self.concurrency = "scripted", concurrency
        self.script, self.fingerprint = load_script(script)

    @property
    def identity(self) -> Mapping[str, Any]:
        return {"provider": "scripted", "model": self.model, "script": self.fingerprint}

    def complete(self, request: Request) -> Reply:
        text = self._text(request)
        prompt_tokens = sum(count_tokens(message.content) for message in request.messages)
        usage = Usage(prompt_tokens, count_tokens(text))
        return Reply(text, model=self.model, fingerprint=self.fingerprint, usage=usage)

    def _text(self, request: Request) -> str:
        if request.stage == "evolve":
            return critic.reply_to(request)
        scripts: dict[type[BaseModel], Callable[[Request], Mapping[str, Any]]] = {
            ExtractedFacts: self._extract,
            ProfileReply: self._profile,
            QueryPlan: self._plan,
            TargetQueries: self._plan,
            KeyInformation: self._plan,
            Sufficiency: self._reflect,
            AnswerReply: self._answer,
        }
        schema = request.schema
        if schema in scripts:
            return schema.model_validate(scripts[schema](request)).model_dump_json()
        if schema and {"prediction", "gold"} <= request.fields.keys():
            return schema.model_validate(_verdict(schema, request.fields)).model_dump_json()
        raise BadInput(
            f"the scripted model has no script for stage {request.stage!r}; use backbone=simulated or a real model."
        )

    def _extract(self, request: Request) -> Mapping[str, Any]:
        turns = request.fields["turns"]
        system = "\n".join(message.content for message in request.messages if message.role == "system")
        told = self._conversation(turns, request.fields["speakers"])
        return {"facts": told.extract([turn["id"] for turn in turns], rules_in(system))}

    def _conversation(self, turns: Sequence[Mapping[str, Any]], speakers: Sequence[str]) -> Told:
        for told in self.script.conversations.values():
            if set(speakers) <= set(told.speakers) and all(
                turn["text"].startswith(told.turns.get(turn["id"], "\n")) for turn in turns
            ):
                return told
        raise _unknown(f"a conversation of {' and '.join(speakers)}")

    def _asked(self, request: Request) -> list[tuple[Told, Asked]]:
        """Every place of the script where the question is asked: it may be asked twice, and of two people."""
        question = " ".join(request.fields["question"].split())
        places = [(t, a) for t in self.script.conversations.values() for a in t.questions if a.question == question]
        if not places:
            raise _unknown(f"the question {question!r}")
        return places

    def _profile(self, request: Request) -> Mapping[str, Any]:
        person, known = request.fields["person"], request.fields["profile"] or ""
        sections = {name: text for name, text in re.findall(r"(?m)^- ([a-z ]+): (.*)$", known) if name in SECTIONS}
        readings = {s: place for told in self.script.conversations.values() for s, place in told.readings.items()}
        for statement in request.fields["facts"]:
            section = readings[statement][1] if statement in readings else "life events"
            if statement not in sections.get(section, ""):
                sections[section] = f"{sections.get(section, '')} {statement}".strip()
        for told in self.script.conversations.values():
            seen = Reading(told, [*sections.values(), *request.fields["facts"]]).turns_told
            for trait in told.traits:
                if trait.person == person and len(seen & set(trait.turns)) >= trait.least:
                    rest = sections.get(trait.section, "").replace(trait.text, "").strip()
                    sections[trait.section] = f"{rest} {trait.text}".strip()
        return {"sections": [{"section": s, "text": _newest(sections[s])} for s in SECTIONS if sections.get(s)]}

    def _plan(self, request: Request) -> Mapping[str, Any]:
        told, asked = self._asked(request)[0]
        question = asked.question
        when = WHEN.search(question)
        facts = [fact for facts in told.facts.values() for fact in facts]
        names = sorted({entity for fact in facts for entity in fact.entities if says(question, entity)})
        places = sorted({fact.location for fact in facts if fact.location and says(question, fact.location)})
        words = re.findall(r"[a-z]{4,}", re.sub(r"\b[A-Z]\w*", "", question))
        return {
            "requirements": f"what the dialogue tells about: {question}",
            "queries": [question, *([asked.query] if asked.query else [])],
            "keywords": list(dict.fromkeys(words))[:12],
            "persons": [name for name in told.people if says(question, name)][:8],
            "time_expression": when[0] if when else None,
            "location": places[0] if places else None,
            "entities": names[:8],
        }

    def _reflect(self, request: Request) -> Mapping[str, Any]:
        grades = [(Reading(told, request.fields["facts"]).grade(asked), asked) for told, asked in self._asked(request)]
        grade, asked = max(grades, key=lambda graded: graded[0])
        complete = grade == 1 or not asked.needs
        return {"complete": complete, "queries": [] if complete or not asked.query else [asked.query]}

    def _answer(self, request: Request) -> Mapping[str, Any]:
        fields = request.fields
        shown = [turn["id"] for turn in fields["turns"]]
        best, text = -1.0, self.script.none
        for told, asked in self._asked(request):
            grade = Reading(told, [*fields["facts"], *fields["profiles"]], shown).grade(asked)
            if grade > best:
                best, text = grade, (asked.all if grade == 1 else asked.part if grade > 0 else None) or self.script.none
        reasons = {1.0: "everything needed was found", 0.0: "nothing on it was found"}
        return {"reasoning": reasons.get(best, "a part of what is needed was found"), "answer": text}


def _verdict(schema: type[BaseModel], fields: Mapping[str, Any]) -> dict[str, Any]:
    """A judge's reply: right where the prediction holds the gold's words, or most words of both agree."""
    gold, said = (set(re.findall(r"\w+", str(fields[name]).lower())) for name in ("gold", "prediction"))
    right = bool(gold) and (gold <= said or 2 * len(gold & said) >= 0.6 * (len(gold) + len(said)))
    return {name: right if info.annotation is bool else "" for name, info in schema.model_fields.items()}


def _newest(text: str) -> str:
    """The last sentences of a section that fit a reply; the trait stands last and so stays."""
    while len(text) > SECTION_LENGTH:
        text = text.partition(". ")[2] or text[-SECTION_LENGTH:]
    return text


def _unknown(what: str) -> BadInput:
    return BadInput(f"the scripted model only knows the sample data set, not {what}; choose another backbone.")
