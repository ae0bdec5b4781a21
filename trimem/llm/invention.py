"""What the simulated model has to say at each stage: values by field name, made out of the request's fields."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from trimem.llm.base import Request
from trimem.types import SECTIONS

SENTENCE = re.compile(r"[^.!?\n]+[.!?]?")
WORDS = 3
"""A turn of fewer words gives no fact; a word of fewer letters plus one is no keyword."""


def offers(request: Request) -> dict[str, Any]:
    """What a schema of this request may be filled with."""
    fields = request.fields
    texts = _sentences(fields) or _sentences([message.content for message in request.messages])
    make = STAGES.get(request.stage, _anything)
    return {"texts": texts} | make(fields)


def plain_text(request: Request) -> str:
    """The reply to a request without a schema."""
    offer = offers(request)
    if request.stage == "profile":
        return "\n".join(f"- {section['section']}: {section['text']}" for section in offer["sections"])
    return str(offer.get("answer") or " ".join(offer["texts"][:2]) or "nothing")


def _extract(fields: Mapping[str, Any]) -> dict[str, Any]:
    """A fact a turn: its longest sentence with the speaker named."""
    return {"facts": [_fact(turn) for turn in fields.get("turns", ()) if len(str(turn["text"]).split()) >= WORDS]}


def _fact(turn: Mapping[str, Any]) -> dict[str, Any]:
    sentence = max(_sentences(turn["text"]), key=len, default=turn["text"])[:500]
    keywords = _keywords(sentence)
    speaker = turn.get("speaker", "Somebody")
    names = [name for name in _names(sentence) if name != speaker]
    return {
        "statement": f"{speaker} said: {sentence}",
        "keywords": keywords,
        "time": str(turn.get("time") or "")[:10] or None,
        "persons": [speaker, *names][:3],
        "entities": names[:3],
        "topic": keywords[0] if keywords else None,
        "sources": [turn["id"]],
    }


def _profile(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The facts dealt out over the sections in turn."""
    facts = [str(fact) for fact in fields.get("facts", ())]
    dealt = {section: " ".join(facts[index :: len(SECTIONS)])[:1000] for index, section in enumerate(SECTIONS)}
    return {"sections": [{"section": section, "text": text} for section, text in dealt.items() if text]}


def _plan(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Words of the question."""
    question = str(fields.get("question", ""))
    keywords, names = _keywords(question), _names(question)
    return {
        "requirements": f"what is known of {', '.join(keywords) or 'this'}",
        "queries": [" ".join(keywords) or question],
        "keywords": keywords,
        "persons": names[:2],
        "entities": names[:2],
        "time_expression": next(iter(re.findall(r"\b(?:19|20)\d\d\b", question)), None),
    }


def _answer(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The end of the piece of evidence that shares most words with the question."""
    words = _stems(str(fields.get("question", "")))
    evidence = [str(text) for kind in ("facts", "profiles") for text in fields.get(kind, ())]
    best = max(evidence, key=lambda text: len(words & _stems(text)), default="")
    span = " ".join(best.rstrip(".!?").split()[-5:])
    return {"answer": span or "Not mentioned in the conversation.", "reasoning": best[:300]}


def _reflect(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {"complete": bool(fields.get("facts")), "queries": _plan(fields)["queries"]}


def _judge(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Right where the prediction shares a word with the gold answer."""
    gold, prediction = (_stems(str(fields.get(name, ""))) for name in ("gold", "prediction"))
    verdict = bool(gold & prediction)
    return dict.fromkeys(("correct", "is_correct", "label", "verdict"), verdict)


def _anything(fields: Mapping[str, Any]) -> dict[str, Any]:
    """For stages we know nothing of: facts where there are turns, an answer where there is a question, and all ids."""
    offer: dict[str, Any] = {}
    if "question" in fields:
        offer |= _plan(fields) | _answer(fields)
    if isinstance(turns := fields.get("turns"), list | tuple) and turns and isinstance(turns[0], Mapping):
        ids = [turn["id"] for turn in turns if "id" in turn]
        offer |= {"sources": ids[:3], "ids": ids[:3], "keywords": _keywords(" ".join(_sentences(turns)))}
        offer |= _extract(fields)
    return offer


STAGES: dict[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
    "extract": _extract,
    "profile": _profile,
    "plan": _plan,
    "answer": _answer,
    "reflect": _reflect,
    "judge": _judge,
}


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _strings(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _strings(inner)


def _sentences(value: Any) -> list[str]:
    """All sentences in the strings of `value`, in order; a string without any counts as one."""
    found = [match.strip() for text in _strings(value) for match in SENTENCE.findall(text)]
    return [sentence for sentence in found if sentence]


def _keywords(text: str) -> list[str]:
    """The longest words, at most four, each once."""
    words = dict.fromkeys(word.lower() for word in re.findall(r"\w+", text) if len(word) > WORDS)
    return sorted(words, key=lambda word: (-len(word), word))[:4]


def _names(text: str) -> list[str]:
    """Capitalised words inside the text, each once."""
    return list(dict.fromkeys(re.findall(r"(?<=[\w,] )[A-Z][a-z]+", text)))


def _stems(text: str) -> set[str]:
    """First letters of the words, so that "move" meets "moved"."""
    return {word[:4] for word in re.findall(r"\w+", text.lower()) if len(word) >= WORDS}
