"""The lexical and the symbolic view: what SQLite has indexed, scored in numpy.

A store of 100k facts of two people has names that half of them contain. Reading such a posting list takes tens of
milliseconds, scoring it less than one; so lists are read once and kept until something is written.
"""

import math
import re
from collections.abc import Iterable
from datetime import date
from functools import cached_property, lru_cache
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
            found, weights = self.word(word)
            scores[found] += weights
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
        """Facts (only those of `among`, if given) by how many of the asked signals they meet. `persons` are keys."""
        scores = np.zeros(len(self._ids))
        for kind, name in {("person", name) for name in persons} | {("entity", key(name)) for name in entities}:
            scores[self.signal((kind,), name)] += 1
        scores += self._there(location) + self._then(time)
        if among is None:
            return self._best(scores, k)
        asked = [place for id_ in among if (place := self._places.get(id_)) is not None]
        kept = np.zeros(len(scores))
        kept[asked] = scores[asked]
        return self._best(kept, k)

    def _there(self, location: str | None) -> Mask:
        met = np.zeros(len(self._ids), dtype=bool)
        for name in places(location):
            met[self.signal(("place", "entity"), name)] = True
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
        found = np.flatnonzero(scores)
        if len(found) > k > 0:
            least = np.partition(scores[found], len(found) - k)[len(found) - k]
            above, equal = found[scores[found] > least], found[scores[found] == least]
            found = np.concatenate([above, equal[: k - len(above)]])  # of thousands of equals the first ones by id
        ranked = found[np.argsort(-scores[found], kind="stable")][: max(k, 0)]
        return [(self._ids[place], float(scores[place])) for place in ranked]

    def _read_word(self, word: str) -> tuple[Places, Scores]:
        """Where a word stands, and what it is worth there.

        FTS5 floors the weight of a word that more than half of the texts contain to 0 (exactly: 1e-6), so that in a
        small store, or for the name of a speaker, nothing counts. Its weight is divided out and put back as Lucene's,
        log(1 + (N - n + .5) / (n + .5)), which is always positive.
        """
        table = f"{self._unit}_text"
        rows = self._db.rows(f"SELECT rowid, -bm25({table}) FROM {table} WHERE {table} MATCH ?", f'"{word}"')
        odds = (len(self._ids) - len(rows) + 0.5) / (len(rows) + 0.5)
        floored = math.log(odds) if odds > 1 else 1e-6
        found = np.fromiter((row[0] for row in rows), dtype=np.int64, count=len(rows))
        weights = np.fromiter((row[1] for row in rows), dtype=np.float64, count=len(rows))
        return self._place[found], weights * (math.log1p(odds) / floored)

    def _read_signal(self, kinds: tuple[str, ...], name: str) -> Places:
        marks = ", ".join("?" * len(kinds))
        rows = self._db.rows(f"SELECT DISTINCT fact FROM signals WHERE kind IN ({marks}) AND key = ?", *kinds, name)
        return self._place[np.fromiter((row[0] for row in rows), dtype=np.int64, count=len(rows))]

    @cached_property
    def _days(self) -> tuple[Places, Places]:
        """First and last day of each fact, as ordinals; a span that meets none for a fact without a time."""
        begins = np.full(len(self._ids), date.max.toordinal() + 1)
        ends = np.zeros(len(self._ids), dtype=np.int64)
        for row, first, last in self._db.rows("SELECT row, first_day, last_day FROM facts WHERE first_day IS NOT NULL"):
            begins[self._place[row]] = date.fromisoformat(first).toordinal()
            ends[self._place[row]] = date.fromisoformat(last).toordinal()
        return begins, ends


def query_words(text: str) -> list[str]:
    """The words of `text` that tell something; where none does, all."""
    words = list(dict.fromkeys(re.findall(r"\w+", nfc([text]).lower())))
    return [word for word in words if word not in STOP_WORDS] or words
