"""Light1, first half: messages lose their least telling words before anything else looks at them."""

import math
from collections import Counter
from collections.abc import Sequence
from typing import Literal, Protocol

from baselines.lightmem.lingua import Lingua
from trimem.errors import BadInput
from trimem.search import STOP_WORDS

Compression = Literal["llmlingua2", "idf", "none"]


class Compressor(Protocol):
    """Texts -> shorter texts. `before` are the texts of the conversation that came earlier."""

    def compress(self, texts: Sequence[str], before: Sequence[str] = ()) -> list[str]: ...


class NoCompressor:
    """Leaves texts as they are."""

    def compress(self, texts: Sequence[str], before: Sequence[str] = ()) -> list[str]:  # noqa: ARG002 - the protocol
        return list(texts)


class IdfCompressor:
    """Keeps the fraction `retention` of a text's words that is rarest in the conversation so far; stop words go first.

    Looks only backwards, so that it does not matter in how many calls the conversation comes. Names and numbers count
    as the rarest: a memory cannot do without them.
    """

    def __init__(self, retention: float) -> None:
        self.retention = retention

    def compress(self, texts: Sequence[str], before: Sequence[str] = ()) -> list[str]:
        seen, documents = Counter[str](), 0
        for text in before:
            seen.update(set(map(_bare, text.split())))
            documents += 1
        shorter = []
        for text in texts:
            words = text.split()
            seen.update(set(map(_bare, words)))
            documents += 1
            worth = [_worth(word, seen, documents) for word in words]
            shorter.append(" ".join(words[i] for i in most_telling(worth, self.retention)))
        return shorter


class LinguaCompressor:
    """LLMLingua-2: keeps the fraction `retention` of the words that its classifier would rather keep.

    Applied again until a text has fewer than `longest` tokens of the classifier (its window).
    """

    def __init__(self, lingua: Lingua, retention: float, longest: int = 512) -> None:
        self.lingua = lingua
        self.retention = retention
        self.longest = longest

    def compress(self, texts: Sequence[str], before: Sequence[str] = ()) -> list[str]:  # noqa: ARG002 - the protocol
        return [self._one(text) for text in texts]

    def _one(self, text: str) -> str:
        while True:
            words = text.split()
            kept = most_telling(self.lingua.keep_probabilities(words), self.retention)
            shorter = " ".join(words[i] for i in kept)
            if self.lingua.length(shorter) < self.longest or len(kept) == len(words):
                return shorter
            text = shorter


def make_compressor(name: Compression, retention: float, lingua: Lingua | None) -> Compressor:
    """The compressor of that name. Raises BadInput for another name or a fraction outside (0, 1]."""
    if not 0 < retention <= 1:
        raise BadInput(f"lightmem: retention is {retention}; it is the fraction of words kept, above 0 and at most 1.")
    if name == "none":
        return NoCompressor()
    if name == "idf":
        return IdfCompressor(retention)
    if name == "llmlingua2" and lingua:
        return LinguaCompressor(lingua, retention)
    raise BadInput(
        f"lightmem: compressor={name}: choose idf or none, or llmlingua2 together with lingua=<folder of its weights>."
    )


def most_telling(worth: Sequence[float], retention: float) -> list[int]:
    """Positions of the `retention` share (rounded up) of highest worth, in order; among equals the earlier ones."""
    kept = sorted(range(len(worth)), key=lambda i: (-worth[i], i))[: math.ceil(retention * len(worth))]
    return sorted(kept)


def _bare(word: str) -> str:
    return word.strip(".,!?;:\"'()[]…").casefold()


def _worth(word: str, seen: Counter[str], documents: int) -> float:
    bare = _bare(word)
    if bare in STOP_WORDS or not bare:
        return -1.0
    rarest = math.log(documents + 1)
    return rarest if word[:1].isupper() or any(map(str.isdigit, bare)) else math.log((documents + 1) / seen[bare])
