"""The scripted model as critic: it finds a fault in what it is shown and says how to mend it, as a model would.

It knows neither the sidecar nor which weakness was planted: all it goes by is the text of the messages.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from trimem.llm.base import Request

DAY = r"(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day)"
RELATIVE = re.compile(
    rf"\b(?:(?:last|next|this past) (?:\w+day|week|weekend|month|year|spring|summer|autumn|winter)|yesterday|today"
    rf"|tomorrow|(?:\w+ )?(?:days?|weeks?|months?|years?) ago|on an? {DAY})\b",
    re.IGNORECASE,
)
DATE = re.compile(r"\b(?:19|20)\d\d\b")
VAGUE = re.compile(r"\w[^;\n]*; \w")


@dataclass(frozen=True)
class Fault:
    """What is wrong, by a phrase that later calls recognise; what to do about it; the rule that does it."""

    phrase: str
    advice: str
    rule: str


FAULTS = (
    Fault(
        "several statements are melted together",
        "Several statements are melted together in one entry and lose their particulars: tell it to keep them apart.",
        "- One fact per entry: split a sentence that says two things into two entries.",
    ),
    Fault(
        "time is left as it was said",
        "Time is left as it was said, which nobody can place later: tell it to write the date.",
        "- Turn relative time into the absolute date, worked out from the date of the session.",
    ),
    Fault(
        "details are dropped",
        "Details are dropped that the answer hangs on: tell it to keep adjectives, numbers and names of things.",
        "- Keep modifiers exactly as said: adjectives, amounts, colours.",
    ),
)
TIP = "Work with care and leave nothing important out."


def reply_to(request: Request) -> str:
    """The critic's reply to any call of an evolution."""
    text = "\n".join(message.content for message in request.messages)
    last = request.messages[-1].content
    if request.schema is not None:
        return json.dumps(_patterns(last))
    if "<FEEDBACK>" in last:
        return _improved(last)
    if "<IMPROVED_VARIABLE>" in text:
        return f"<IMPROVED_VARIABLE>{_with_rule(_inside('prompt', last), TIP)}</IMPROVED_VARIABLE>"
    if "<OBJECTIVE_FUNCTION>" in last:
        return _feedback(last)
    return _loss(text, last)


def _loss(text: str, made: str) -> str:
    """TextLoss: the fault that the memory's text shows, given the right answer."""
    wanted = text.partition("The right answer:")[2].partition(made)[0]
    facts = made.partition("Answer:")[0]
    if DATE.search(wanted) and RELATIVE.search(made):
        return f"In the facts {FAULTS[1].phrase}."
    if VAGUE.search(facts):
        return f"In the facts {FAULTS[0].phrase}."
    if set(re.findall(r"\w+", wanted.lower())) - set(re.findall(r"\w+", facts.lower())):
        return f"In the facts {FAULTS[2].phrase}."
    return "The memory's text is not to blame."


def _feedback(text: str) -> str:
    """A gradient: the fault of what follows, said of what came before."""
    known = [fault for fault in FAULTS if fault.phrase in text.lower()]
    return " ".join(fault.advice for fault in known) or "It works well as it is."


def _patterns(text: str) -> Mapping[str, object]:
    lines = re.findall(r"(?m)^\[(\d+)\] (.*)$", text)
    shown = [(f, [int(n) for n, line in lines if f.phrase in line.lower()]) for f in FAULTS]
    counted = sorted(((fault, cases) for fault, cases in shown if cases), key=lambda found: -len(found[1]))
    return {"patterns": [{"advice": fault.advice, "cases": cases} for fault, cases in counted]}


def _improved(text: str) -> str:
    """The optimizer's step: a rule for each fault of the feedback. The first one alone, should the text grow long."""
    variable = re.search(r"<VARIABLE> (.*?) </VARIABLE>", text, re.DOTALL)
    feedback = " ".join(re.findall(r"<FEEDBACK>(.*?)</FEEDBACK>", text, re.DOTALL)).lower()
    better = variable[1] if variable else ""
    for fault in FAULTS:
        if fault.phrase in feedback and fault.rule not in better:
            better = _with_rule(better, fault.rule)
    return f"<IMPROVED_VARIABLE>{better}</IMPROVED_VARIABLE>"


def _with_rule(prompt: str, rule: str) -> str:
    """The rule after the last one of the list that the prompt has, or else before the data."""
    rules, mark, data = prompt.partition("\n=== data ===\n")
    lines = rules.split("\n")
    last = max((n for n, line in enumerate(lines) if line.startswith("- ")), default=len(lines) - 1)
    return "\n".join([*lines[: last + 1], rule, *lines[last + 1 :]]) + mark + data


def _inside(name: str, text: str) -> str:
    """What stands between the marks of a field."""
    found = re.search(rf"<{name} (\w+)>\n(.*?)\n</{name} \1>", text, re.DOTALL)
    return found[2] if found else ""
