"""Token F1 is a family: four definitions share the name and differ by points on the same answers.

All return a fraction, 0-1, and 0 if either side has no token. Golds come as text.
"""

import re
import string
from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache

from experiments.data.types import Rule

_SET_BLANKS = str.maketrans(".,!?", "    ")
_TRIMEM_BLANKS = str.maketrans({**dict.fromkeys(".!?,;:()[]{}/\\", " "), **dict.fromkeys("\"'`‘’“”", "")})
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ABSTAINS = ("not mentioned", "no information available")


def set_tokens(text: str) -> list[str]:
    """Lower case; . , ! ? become blanks (A-Mem, SimpleMem, xMemory)."""
    return text.lower().translate(_SET_BLANKS).split()


def trimem_tokens(text: str) -> list[str]:
    """Lower case; quotes and apostrophes vanish, sentence marks, brackets and slashes become blanks (TriMem's code)."""
    return text.lower().translate(_TRIMEM_BLANKS).split()


def squad_tokens(text: str) -> list[str]:
    """Lower case, no punctuation, no articles (SQuAD 1.1)."""
    return re.sub(r"\b(a|an|the)\b", " ", text.lower().translate(_NO_PUNCTUATION)).split()


@lru_cache(maxsize=65536)
def locomo_tokens(text: str) -> tuple[str, ...]:
    """Lower case, no punctuation, no articles, no "and", Porter stems (LoCoMo's evaluation code)."""
    words = re.sub(r"\b(a|an|the|and)\b", " ", text.lower().translate(_NO_PUNCTUATION)).split()
    return tuple(_stemmer()(word) for word in words)


@lru_cache(maxsize=1)
def _stemmer() -> Callable[[str], str]:
    from nltk.stem.porter import PorterStemmer

    return lru_cache(maxsize=65536)(PorterStemmer().stem)


def f1_set(prediction: str, gold: str) -> float:
    """F1 over the sets of `set_tokens`."""
    return _overlap_f1(sorted(set(set_tokens(prediction))), sorted(set(set_tokens(gold))))


def f1_trimem(prediction: str, gold: str) -> float:
    """F1 over the sets of `trimem_tokens`."""
    return _overlap_f1(sorted(set(trimem_tokens(prediction))), sorted(set(trimem_tokens(gold))))


def f1_squad(prediction: str, gold: str) -> float:
    """F1 over the multisets of `squad_tokens`."""
    return _overlap_f1(squad_tokens(prediction), squad_tokens(gold))


def exact_match(prediction: str, gold: str) -> float:
    """1 if `squad_tokens` of both are the same and not empty (SQuAD 1.1)."""
    return float(bool(squad_tokens(gold)) and squad_tokens(prediction) == squad_tokens(gold))


def f1_locomo(prediction: str, gold: str, rule: Rule = "plain") -> float:
    """LoCoMo's official score: multisets of stems, read by the category's rule.

    `parts` (category 1): mean over the gold's comma parts of the best comma part of the prediction;
    `before_semicolon` (3): the gold's explanation is cut off; `abstain` (5): 1 if the prediction says that
    nothing is mentioned; `plain` (2, 4).
    """
    if rule == "abstain":
        return float(any(phrase in prediction.lower() for phrase in _ABSTAINS))
    if rule == "parts":
        predicted = [locomo_tokens(part) for part in prediction.split(",")]
        parts = [locomo_tokens(part) for part in gold.split(",")]
        return sum(max(_overlap_f1(tokens, part) for tokens in predicted) for part in parts) / len(parts)
    if rule == "before_semicolon":
        gold = gold.split(";")[0]
    return _overlap_f1(locomo_tokens(prediction), locomo_tokens(gold))


def _overlap_f1(predicted: Sequence[str], gold: Sequence[str]) -> float:
    """Harmonic mean of precision and recall, each token counted as often as both sides have it."""
    common = sum((Counter(predicted) & Counter(gold)).values())
    return 2 * common / (len(predicted) + len(gold)) if common else 0.0
