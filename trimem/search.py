"""The lexical and the symbolic view: what SQLite has indexed, scored in numpy.

A store of 100k facts of two people has names that half of them contain. Reading such a posting list takes tens of
milliseconds, scoring it less than one; so lists are read once and kept until something is written.
"""

import math
import re
from collections.abc import Iterable, Sequence
from datetime import date
from functools import cached_property, lru_cache
from operator import itemgetter
from typing import Literal

import numpy as np
import numpy.typing as npt

from trimem.database import Database
from trimem.people import key
from trimem.rows import days, nfc, places

Unit = Literal["fact", "turn"]
Hits = list[tuple[str, float]]
Places = npt.NDArray[np.int64]
Scores = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

Posting = tuple[Places | slice, Scores]
"""Places and a number at each; of what stands nearly everywhere all places (a slice), which add up much faster."""

ALL = slice(None)
COMMON = 0.25
"""The share of items from which on a posting covers all places."""
LISTS_KEPT = 2048
"""Posting lists that stay in memory: the words of some 400 questions."""

STOP_WORDS = frozenset(
    re.findall(
        r"\w+",
        "a about after all also am an and any are as at be because been before being but by can could d did do does "
        "doing done for from had has have having he her hers him his how i if in into is it its just ll m me might "
        "more most my no not now of on once or other our ours out over own re s shall she should so some such t than "
        "that the their theirs them then there these they this those through to too up us ve very was we were what "
        "when where which while who whom whose why will with would you your yours",
    )
)
"""Left out of queries: their posting lists are the longest and say the least."""


class Postings:
    """The facts or turns of a store at one moment. An item's place is that of its id in alphabetical order."""

    def __init__(self, db: Database, unit: Unit) -> None:
        self._db, self._unit = db, unit
        rows = db.rows(f"SELECT row, id FROM {unit}s ORDER BY id")
        self._ids = [row[1] for row in rows]
        self._place = np.zeros(max((row[0] for row in rows), default=0) + 1, dtype=np.int64)
        self._place[[row[0] for row in rows]] = np.arange(len(rows))
        self.word = lru_cache(maxsize=LISTS_KEPT)(self._read_word)
        self.signal = lru_cache(maxsize=LISTS_KEPT)(self._read_signal)

    def search_text(self, text: str, k: int) -> Hits:
        """BM25 (k1 1.2, b .75), the best `k`, higher is better, ties by id."""
        scores = np.zeros(len(self._ids))
        for word in query_words(text):
            at, weights = self.word(word)
            scores[at] += weights
        return self._best(scores, k)

    def search_symbolic(
        self,
        persons: Iterable[str],
        entities: Iterable[str],
        location: str | None,
        time: str | None,
        k: int,
        among: Iterable[str] | None = None,
    ) -> Hits:
        """Facts by how many of the asked signals they meet, ties by id; `persons` are keys.

        With `among` only those, ties in their order.
        """
        scores = np.zeros(len(self._ids))
        for kind, name in {("person", name) for name in persons} | {("entity", key(name)) for name in entities}:
            at, ones = self.signal((kind,), name)
            scores[at] += ones
        scores += self._there(location) + self._then(time)
        if among is None:
            return self._best(scores, k)
        asked = [(id_, place) for id_ in among if (place := self._places.get(id_)) is not None]
        met = scores[[place for _, place in asked]].tolist()
        hits = [(id_, score) for (id_, _), score in zip(asked, met, strict=True) if score]
        return sorted(hits, key=itemgetter(1), reverse=True)[: max(k, 0)]

    def _there(self, location: str | None) -> Mask:
        met = np.zeros(len(self._ids), dtype=bool)
        for name in places(location):
            at, ones = self.signal(("place", "entity"), name)
            met[at] |= ones > 0
        return met

    def _then(self, time: str | None) -> Mask:
        first, last = days(time)
        if not first or not last:
            return np.zeros(len(self._ids), dtype=bool)
        begins, ends = self._days
        return (begins <= date.fromisoformat(last).toordinal()) & (ends >= date.fromisoformat(first).toordinal())

    @cached_property
    def _places(self) -> dict[str, int]:
        return {id_: place for place, id_ in enumerate(self._ids)}

    def _best(self, scores: Scores, k: int) -> Hits:
        found = _top(scores, max(k, 0))
        found = found[np.argsort(-scores[found], kind="stable")]
        return [(self._ids[place], score) for place, score in zip(found.tolist(), scores[found].tolist(), strict=True)]

    def _read_word(self, word: str) -> Posting:
        """Where a word stands, and what it is worth there.

        FTS5 floors the weight of a word that more than half of the texts contain to 0 (exactly: 1e-6), so that in a
        small store, or for the name of a speaker, nothing counts. Its weight is divided out and put back as Lucene's,
        log(1 + (N - n + .5) / (n + .5)), which is always positive.
        """
        table = f"{self._unit}_text"
        rows = self._db.rows(f"SELECT rowid, -bm25({table}) FROM {table} WHERE {table} MATCH ?", f'"{word}"')
        odds = (len(self._ids) - len(rows) + 0.5) / (len(rows) + 0.5)
        floored = math.log(odds) if odds > 1 else 1e-6
        weights = np.array([row[1] for row in rows]) * (math.log1p(odds) / floored)
        return self._posting([row[0] for row in rows], weights)

    def _read_signal(self, kinds: tuple[str, ...], name: str) -> Posting:
        marks = ", ".join("?" * len(kinds))
        rows = self._db.rows(f"SELECT DISTINCT fact FROM signals WHERE kind IN ({marks}) AND key = ?", *kinds, name)
        return self._posting([row[0] for row in rows], np.ones(len(rows)))

    def _posting(self, rows: Sequence[int], weights: Scores) -> Posting:
        at = self._place[np.array(rows, dtype=np.int64)]
        if len(rows) < COMMON * len(self._ids):
            return at, weights
        everywhere = np.zeros(len(self._ids))
        everywhere[at] = weights
        return ALL, everywhere

    @cached_property
    def _days(self) -> tuple[Places, Places]:
        """First and last day of each fact, as ordinals; a span that meets none for a fact without a time."""
        begins = np.full(len(self._ids), date.max.toordinal() + 1)
        ends = np.zeros(len(self._ids), dtype=np.int64)
        for row, first, last in self._db.rows("SELECT row, first_day, last_day FROM facts WHERE first_day IS NOT NULL"):
            begins[self._place[row]] = date.fromisoformat(first).toordinal()
            ends[self._place[row]] = date.fromisoformat(last).toordinal()
        return begins, ends


def _top(scores: Scores, k: int) -> Places:
    """Where the `k` highest positive scores are, of equals the first.

    A full selection among 50,000 candidates takes milliseconds, more so with many equals. The k-th best of a sample
    is a lower bound that leaves few of them, so each round selects in a sample of what the last one left.
    """
    found = np.flatnonzero(scores > 0)
    while len(found) > k > 0:
        values = scores[found]
        sample = values[:: math.isqrt(len(found) // k)]
        least = np.partition(sample, len(sample) - k)[len(sample) - k]
        above = found[values > least]
        if len(above) < k:
            return np.concatenate([above, found[values == least][: k - len(above)]])
        found = above
    return found[:k]


def query_words(text: str) -> list[str]:
    """The words of `text` that tell something; where none does, all."""
    words = list(dict.fromkeys(re.findall(r"\w+", nfc([text]).lower())))
    return [word for word in words if word not in STOP_WORDS] or words
