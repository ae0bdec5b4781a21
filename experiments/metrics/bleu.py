"""BLEU-1 is a family too: the tokeniser moves it. All: NLTK sentence BLEU, weights (1, 0, 0, 0), smoothing method 1,
brevity penalty on; fractions, 0-1; 0 if either side has no token.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from experiments.metrics.f1 import set_tokens


def bleu1(prediction: str, gold: str) -> float:
    """On NLTK word tokens of punkt sentences, lower case: the papers' number (a comma is a token)."""
    return _bleu1(_punkt_words(prediction.lower()), _punkt_words(gold.lower()))


def bleu1_offline(prediction: str, gold: str) -> float:
    """On NLTK word tokens of the whole line, lower case: a full stop inside it stays with its word."""
    return _bleu1(_words()(prediction.lower()), _words()(gold.lower()))


def bleu1_set(prediction: str, gold: str) -> float:
    """On the tokens of `f1_set`."""
    return _bleu1(set_tokens(prediction), set_tokens(gold))


def _punkt_words(text: str) -> list[str]:
    return [word for sentence in _sentences()(text) for word in _words()(sentence)]


@lru_cache(maxsize=1)
def _sentences() -> Callable[[str], list[str]]:
    import punkt

    split: Callable[[str], list[str]] = punkt.tokenizer_for("english").tokenize
    return split


@lru_cache(maxsize=1)
def _words() -> Callable[[str], list[str]]:
    from nltk.tokenize.destructive import NLTKWordTokenizer

    tokenize: Callable[[str], list[str]] = NLTKWordTokenizer().tokenize
    return tokenize


@lru_cache(maxsize=1)
def _smoothing() -> Any:
    from nltk.translate.bleu_score import SmoothingFunction

    return SmoothingFunction().method1


def _bleu1(predicted: Sequence[str], gold: Sequence[str]) -> float:
    from nltk.translate.bleu_score import sentence_bleu

    if not predicted or not gold:
        return 0.0
    return float(sentence_bleu([gold], predicted, weights=(1, 0, 0, 0), smoothing_function=_smoothing()))
