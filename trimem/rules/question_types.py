"""What kind of answer a question's wording asks for. Wording only: no category of any data set is meant."""

import re
from dataclasses import dataclass
from typing import Any, Literal

from trimem.rules.language import content, parse, stem

Kind = Literal["when", "who", "where", "how many", "how long", "yes/no", "which", "why", "how", "what"]

_WORDINGS: tuple[tuple[Kind, str], ...] = (  # the first that fits
    ("how long", r"\bhow long\b(?! ago)"),
    ("when", r"^when\b|\bwhen (?:did|does|do|is|was|will|has|are|were)\b|\bhow long ago\b"),
    ("when", r"\b(?:what|which) (?:date|day|month|year|week|time of (?:the )?year|season)\b"),
    ("how many", r"\bhow (?:many|much|often|old)\b|\bwhat (?:number|age)\b"),
    ("who", r"^(?:with |to |from |for |by )?(?:who|whom|whose)\b"),
    ("where", r"^(?:from |to )?where\b|\b(?:what|which) (?:city|cities|country|countries|state|places?|town|area)\b"),
    ("why", r"^why\b|\bfor what reason\b|\b(?:what|which) (?:reason|motivat\w+|inspir\w+)\b"),
    ("yes/no", r"^(?:do|does|did|is|are|was|were|has|have|had|can|could|would|will|should|might)\b"),
    ("which", r"\b(?:what|which) (?!(?:do|does|did|is|are|was|were|has|have|had|can|could|would|will|might)\b)\w+"),
    ("how", r"^how\b"),
)


@dataclass(frozen=True, slots=True)
class Asked:
    """A question read: its kind, its words (stems, without names), the noun that names the answer, and whether a list.

    `noun` is the X of "what X", "how many X": what the answer is one of.
    """

    kind: Kind
    stems: frozenset[str]
    noun: str | None
    plural: bool


def read_question(text: str, names: frozenset[str]) -> Asked:
    """`names` are the words of people's names, lower-cased, which say whom and not what is asked."""
    doc = parse(text)
    kind = next((kind for kind, wording in _WORDINGS if re.search(wording, text.strip(), re.IGNORECASE)), "what")
    noun = _asked_noun(doc) if kind in {"which", "how many", "where", "why"} else None
    words = frozenset(stem(t.lemma_) for t in content(doc) if t.lower_ not in names)
    return Asked(
        kind=kind,
        stems=words,
        noun=stem(noun.lemma_) if noun is not None else None,
        plural=(noun is not None and noun.tag_ == "NNS") or bool(re.match(r"(?i)what are\b|who are\b", text)),
    )


def _asked_noun(doc: Any) -> Any:
    """The head of "what kind of X", "which X", "how many X"."""
    start = next((t.i for t in doc if t.lower_ in {"what", "which", "many", "much"}), None)
    if start is None:
        return None
    for token in doc[start + 1 :]:
        if token.lower_ in {"kind", "kinds", "type", "types", "sort", "sorts", "of"}:
            continue
        if token.pos_ in {"VERB", "AUX"}:
            return None
        if token.pos_ in {"NOUN", "PROPN"} and (token.i + 1 == len(doc) or doc[token.i + 1].pos_ != "NOUN"):
            return token
    return None
