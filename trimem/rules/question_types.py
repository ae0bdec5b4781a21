"""What kind of answer a question's wording asks for. Wording only: no category of any data set is meant."""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from trimem.rules.language import content, parse, stem

Kind = Literal["when", "who", "where", "how many", "how long", "yes/no", "which", "why", "how", "what"]
Role = Literal["subject", "object"]

_AUXILIARY = "do|does|did|is|are|was|were|has|have|had|can|could|would|will|should|might|may"
_WORDINGS: tuple[tuple[Kind, str], ...] = (  # the first that fits
    ("how long", r"\bhow long\b(?! ago)"),
    ("when", rf"^when\b|\bwhen (?:{_AUXILIARY})\b|\bhow long ago\b"),
    ("when", r"\b(?:what|which) (?:date|day|month|year|week|time of (?:the )?year|season)\b"),
    ("how many", r"\bhow (?:many|much|often|old)\b|\bwhat (?:number|age)\b"),
    ("who", r"^(?:with |to |from |for |by )?(?:who|whom|whose)\b"),
    ("where", r"^(?:from |to )?where\b|\b(?:what|which) (?:city|cities|country|countries|state|places?|town|area)\b"),
    ("why", r"^why\b|\bfor what reason\b|\b(?:what|which) (?:reason|motivat\w+|inspir\w+)\b"),
    ("yes/no", rf"^(?:{_AUXILIARY})\b"),
    ("which", rf"\b(?:what|which) (?!(?:{_AUXILIARY})\b)\w+"),
    ("how", r"^how\b"),
    ("how", r"^what (?:do|does|did|would|will|is|was) .*\bdo(?:ing)?\b"),  # asks for an action, not a thing
)
_KIND_OF = {"kind", "type", "sort"}


@dataclass(frozen=True, slots=True)
class Asked:
    """A question read.

    `stems`: its words without names. `noun`: the X of "which X", "how many X", which the answer is one of. `verb`: the
    verb whose `role` the answer takes ("what helps": its subject). `preposition`: what the question ends with ("what
    for"). `plural`: several answers are expected. `unsure`: it asks for a likelihood ("would", "might").
    """

    kind: Kind
    stems: frozenset[str]
    noun: str | None = None
    plural: bool = False
    verb: str | None = None
    role: Role = "object"
    preposition: str | None = None
    unsure: bool = False


@lru_cache(maxsize=4096)
def read_question(text: str, names: frozenset[str]) -> Asked:
    """`names` are the words of people's names, lower-cased, which say whom and not what is asked."""
    doc = parse(text)
    wh = next((token for token in doc if token.lower_ in {"what", "which", "who", "whom", "many", "much"}), None)
    noun = _noun_after(wh) if wh is not None else None
    asked = noun if noun is not None else wh
    kind: Kind = next((kind for kind, wording in _WORDINGS if re.search(wording, text.strip(), re.IGNORECASE)), "what")
    last = [token for token in doc if not token.is_punct][-1:]
    return Asked(
        kind="what" if kind == "which" and noun is None else kind,
        stems=frozenset(stem(token.lemma_) for token in content(doc) if token.lower_ not in names),
        noun=stem(noun.lemma_) if noun is not None else None,
        plural=(noun is not None and noun.tag_ == "NNS") or bool(re.match(r"(?i)(?:what|who) are\b", text)),
        verb=stem(asked.head.lemma_) if asked is not None and asked.head.pos_ in {"VERB", "AUX"} else None,
        role="subject" if asked is not None and asked.dep_ == "nsubj" else "object",
        preposition=last[0].lower_ if last and last[0].pos_ == "ADP" else None,
        unsure=bool(re.search(r"(?i)\b(?:would|might|likely|could)\b", text)),
    )


def _noun_after(wh: Any) -> Any:
    """The head of "what kind of X", "which X", "how many X"; None where a verb comes first."""
    for token in wh.doc[wh.i + 1 :]:
        if token.lemma_ in _KIND_OF or token.lower_ == "of":
            continue
        if token.pos_ in {"VERB", "AUX", "PUNCT"}:
            return None
        if token.pos_ in {"NOUN", "PROPN"} and (token.i + 1 == len(wh.doc) or wh.doc[token.i + 1].pos_ != "NOUN"):
            return token
    return None
