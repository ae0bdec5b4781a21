"""What a memory remembers: one SQLite file with turns, windows, facts, aliases, profiles, texts and vectors.

Text and vector of a fact are written in one transaction, so no crash can pair a text with another's vector; the FAISS
index is only a copy in memory. All methods are safe to call from several threads.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from operator import itemgetter
from pathlib import Path
from sqlite3 import Row
from typing import Any, Self, TypeVar

from trimem.database import LISTED, Database
from trimem.errors import BadInput
from trimem.named import Named
from trimem.people import Alias, key
from trimem.protocols import Vectors
from trimem.rows import (
    as_json,
    fact_of,
    fact_row,
    fact_text,
    profile_of,
    profile_row,
    signals,
    turn_of,
    turn_row,
    turn_text,
)
from trimem.search import Hits, Postings, Unit
from trimem.types import Extraction, Fact, Profile, Turn
from trimem.vectors import StoredVectors, by_id, check_gpu

FILE = "memory.sqlite"
KEPT = 50_000
"""Facts, and turns, that stay in memory once they were read."""

N = TypeVar("N")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Window:
    """A window that was extracted: positions in the stream of turns, and what is missing of it."""

    start: int
    stop: int
    failures: tuple[str, ...] = ()
    failed: bool = False


class Store:
    """The memory in `directory`, opened where it was left. Raises BadInput for another schema, embedder or owner.

    `fingerprint` is that of the embedder ("" = none is used now), `conversation` the id of whose memory it is;
    `gpu` searches vectors on the first GPU, and raises BadInput where there is none.
    """

    def __init__(self, directory: Path, fingerprint: str = "", conversation: str = "", gpu: bool = False) -> None:
        if gpu:
            check_gpu()  # now, not when a memory that took hours is searched for the first time
        self._db = Database(Path(directory) / FILE, fingerprint, conversation)
        units: tuple[Unit, ...] = ("fact", "turn")
        self._vectors = {unit: StoredVectors(self._db, unit, gpu) for unit in units}
        self._named = Named(self._db)
        self._speakers: tuple[tuple[str, ...], int, int] = (), 0, -1
        self._reads: dict[str, Any] = {}
        self._reads_version = (-1, -1)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._db.close()

    # Turns

    def add_turns(self, turns: Sequence[Turn]) -> int:
        """Append the turns that are new; returns how many. Raises BadInput for a known id with other content."""
        with self._db.transaction():
            known = {turn.id: turn for turn in self.turns_by_id(turn.id for turn in turns)}
            new: dict[str, Turn] = {}
            for turn in turns:
                if turn != (known.get(turn.id) or new.setdefault(turn.id, turn)):
                    raise BadInput(f"turn {turn.id!r} is already stored with other content: ids must be unique.")
            rows = list(enumerate(new.values(), self.turn_count()))
            self._db.insert("turns", [turn_row(row, turn) for row, turn in rows])
            if rows:
                self._index_turns(rows[0][0])
        return len(new)

    def _index_turns(self, first: int) -> None:
        """Index the turns from position `first` on, and the one before, which has a new neighbour."""
        for table in ("turn_text WHERE rowid", "turn_vectors WHERE row"):
            self._db.execute(f"DELETE FROM {table} >= ?", first - 1)
        turns = self.turns(max(first - 2, 0))
        at = {row: _near(turns, row - max(first - 2, 0)) for row in range(max(first - 1, 0), self.turn_count())}
        self._db.insert("turn_text(rowid, text)", [(row, turn_text(near)) for row, near in at.items()])

    def turns(self, start: int = 0, stop: int | None = None) -> tuple[Turn, ...]:
        """The turns at the positions `start:stop` of the stream (all by default), in order."""
        last = self.turn_count() if stop is None else stop
        rows = self._db.rows("SELECT * FROM turns WHERE row >= ? AND row < ? ORDER BY row", start, last)
        return tuple(map(turn_of, rows))

    def turn_count(self) -> int:
        return self._db.number("SELECT coalesce(max(row), -1) + 1 FROM turns")

    def last_time(self) -> datetime | None:
        """When the last turn was said: the conversation's own "now"."""
        newest = "SELECT * FROM turns WHERE time IS NOT NULL ORDER BY row DESC LIMIT 1"
        return next((turn_of(row).time for row in self._db.rows(newest)), None)

    def turns_by_id(self, ids: Iterable[str]) -> tuple[Turn, ...]:
        """The known ones among `ids`, in the order of the conversation."""
        return self._by_id("turns", turn_of, "row", ids)

    def neighbours(self, ids: Iterable[str], n: int) -> tuple[Turn, ...]:
        """The turns of `ids` and `n` on either side of each within its session, in the order of the conversation."""
        near = f"""SELECT DISTINCT near.* FROM turns AS named JOIN turns AS near
            ON near.row BETWEEN named.row - ? AND named.row + ? AND near.session = named.session
            WHERE named.id IN {LISTED} ORDER BY near.row"""
        return tuple(map(turn_of, self._db.rows(near, n, n, as_json(list(ids)))))

    def speakers(self) -> tuple[str, ...]:
        """Who speaks, by first turn."""
        named = "SELECT speaker FROM turns WHERE row >= ? GROUP BY speaker ORDER BY min(row)"
        with self._db.lock:
            known, read, other = self._speakers
            if other != self._db.version[0]:  # another process has written
                known, read = (), 0
            turns = self.turn_count()
            if turns > read:
                known = tuple(dict.fromkeys([*known, *(row[0] for row in self._db.rows(named, read))]))
            self._speakers = known, turns, self._db.version[0]
            return known

    # Windows and their facts

    def put_window(
        self, start: int, stop: int, extraction: Extraction, vectors: Vectors | None = None, failed: bool = False
    ) -> None:
        """Store what the turns `start:stop` gave, in place of what the window at `start` gave before.

        Row i of `vectors` is that of `extraction.facts[i]`. A fact goes when no window gives it any more.
        """
        found = by_id([fact.id for fact in extraction.facts], vectors)
        with self._db.lock:
            with self._db.transaction():
                before = [row[0] for row in self._db.rows("SELECT fact FROM given WHERE start = ?", start)]
                self._db.execute("DELETE FROM windows WHERE start = ?", start)
                self._db.insert("windows", [(start, stop, failed, as_json(extraction.failures))])
                new = self._add_facts(start, extraction.facts)
                added = {id_: found[id_] for id_ in new if id_ in found}
                self._vectors["fact"].write(added)
                removed = self._remove_orphans(before)
            self._vectors["fact"].applied(added, removed)
            self._named.applied([fact for fact in extraction.facts if fact.id in set(new)], removed)

    def windows(self) -> tuple[Window, ...]:
        rows = self._db.rows("SELECT start, stop, failures, failed FROM windows ORDER BY start")
        return tuple(Window(row[0], row[1], tuple(json.loads(row[2])), bool(row[3])) for row in rows)

    def facts(self) -> tuple[Fact, ...]:
        """All facts by the position of their first source, then by id."""
        return tuple(map(fact_of, self._db.rows("SELECT * FROM facts ORDER BY position, id")))

    def facts_by_id(self, ids: Iterable[str]) -> tuple[Fact, ...]:
        """The known ones among `ids`, in the order of `facts()`."""
        return self._by_id("facts", fact_of, "position", ids)

    def facts_of(self, person: str) -> tuple[Fact, ...]:
        """Facts that name `person`, in any spelling or by an alias, in the order of `facts()`."""
        return self.facts_by_id(self.fact_ids_of(person))

    def fact_ids_of(self, person: str) -> set[str]:
        """The ids of `facts_of(person)`: of a long life's thousands of facts few are ever read again."""
        with self._db.lock:
            keys = set(self._keys([person]))
            return set().union(*(ids for name, ids in self._named.current().items() if key(name) in keys))

    def persons(self) -> dict[str, int]:
        """Each person whom facts name, in the commonest spelling, and how many facts do; most first."""
        people = {key(alias.name): alias.person for alias in self.aliases()}
        spellings, facts = dict[str, Counter[str]](), dict[str, set[str]]()
        with self._db.lock:
            for spelling, ids in self._named.current().items():
                name = people.get(key(spelling), spelling)
                spellings.setdefault(key(name), Counter())[name] += len(ids)
                facts[key(name)] = facts.get(key(name), set()) | ids
        counts = {who: len(ids) for who, ids in facts.items() if ids}
        shown = {who: min(names, key=lambda name: (-names[name], name)) for who, names in spellings.items()}
        return {shown[who]: count for who, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))}

    # People

    def put_aliases(self, aliases: Iterable[Alias]) -> None:
        """Add nicknames, each with the turn that shows it."""
        with self._db.transaction():
            rows = [(key(alias.name), alias.name, alias.person, alias.turn_id) for alias in aliases]
            self._db.insert("aliases", rows, "INSERT OR IGNORE")

    def aliases(self) -> tuple[Alias, ...]:
        known = "SELECT name, person, turn FROM aliases ORDER BY key, name"
        return self._once("aliases", lambda: tuple(Alias(*row) for row in self._db.rows(known)))

    def put_profiles(self, profiles: Iterable[Profile]) -> None:
        """Store profiles, each in place of what was known of its person."""
        with self._db.transaction():
            self._db.insert("profiles", list(map(profile_row, profiles)), "INSERT OR REPLACE")

    def profiles(self) -> tuple[Profile, ...]:
        known = "SELECT * FROM profiles ORDER BY key"
        return self._once("profiles", lambda: tuple(map(profile_of, self._db.rows(known))))

    def profile(self, person: str) -> Profile | None:
        """The profile of `person`, in any spelling or by an alias."""
        names = set(self._keys([person]))
        return next((profile for profile in self.profiles() if key(profile.person) in names), None)

    # Vectors and search

    def put_turn_vectors(self, ids: Sequence[str], vectors: Vectors) -> None:
        """Row i of `vectors` is that of the turn `ids[i]`."""
        found = by_id(ids, vectors)
        with self._db.lock:
            with self._db.transaction():
                self._vectors["turn"].write(found)
            self._vectors["turn"].applied(found, ids)

    def missing_turn_vectors(self) -> dict[str, str]:
        """The turns that have no vector yet, in the order of the conversation: id -> the text to encode."""
        missing = """SELECT id, turn_text.text FROM turns JOIN turn_text ON turn_text.rowid = row
            WHERE row NOT IN (SELECT row FROM turn_vectors) ORDER BY row"""
        return {row[0]: row[1] for row in self._db.rows(missing)}

    def search_dense(self, kind: Unit, vectors: Vectors, k: int) -> list[Hits]:
        """For each query row the best `k` by inner product, best first, ties by id."""
        return self._vectors[kind].search(vectors, k)

    def search_text(self, kind: Unit, text: str, k: int) -> Hits:
        """The best `k` by BM25, positive, best first, ties by id."""
        with self._db.lock:
            return self._postings(kind).search_text(text, k)

    def search_symbolic(
        self,
        persons: Iterable[str],
        entities: Iterable[str],
        location: str | None,
        time: str | None,
        k: int,
        among: Iterable[str] | None = None,
    ) -> Hits:
        """The `k` facts that meet most of the asked signals, any will do; ties by id, with `among` in its order."""
        with self._db.lock:
            postings, keys = self._postings("fact"), self._keys(persons)
            return postings.search_symbolic(keys, entities, location, time, k, among)

    # The whole

    def counts(self) -> dict[str, int]:
        """Numbers for `BuildReport`, by its field names."""
        return {
            "turns": self.turn_count(),
            "windows": self._db.number("SELECT count(*) FROM windows"),
            "failed_windows": self._db.number("SELECT count(*) FROM windows WHERE failed"),
            "facts": self._db.number("SELECT count(*) FROM facts"),
            "facts_without_source": self._db.number("SELECT count(*) FROM facts WHERE sources = '[]'"),
            "profiles": self._db.number("SELECT count(*) FROM profiles"),
        }

    def export(self, path: Path) -> None:
        """Write everything but the vectors as JSON lines, sorted by type and key: equal memories, equal bytes."""
        lines = "".join(as_json(record) + "\n" for record in self._records())
        partial = path.with_name(path.name + ".partial")
        partial.write_text(lines, encoding="utf-8")
        partial.replace(path)

    def _add_facts(self, start: int, facts: Sequence[Fact]) -> list[str]:
        """Insert what is new and note that the window gives all; returns the ids of the new."""
        known = {row[0] for row in self._db.rows(f"SELECT id FROM facts WHERE id IN {LISTED}", _ids(facts))}
        new = {fact.id: fact for fact in facts if fact.id not in known}
        rows = list(enumerate(new.values(), self._db.number("SELECT coalesce(max(row), 0) + 1 FROM facts")))
        positions = self._positions(new.values())
        firsts = [min((positions[id_] for id_ in fact.sources), default=start) for _, fact in rows]
        self._db.insert("facts", [fact_row(row, first, fact) for (row, fact), first in zip(rows, firsts, strict=True)])
        self._db.insert("signals", sorted(signal for row, fact in rows for signal in signals(row, fact)))
        self._db.insert("fact_text(rowid, text)", [(row, fact_text(fact)) for row, fact in rows])
        self._db.execute(f"INSERT INTO given SELECT ?, row FROM facts WHERE id IN {LISTED}", start, _ids(facts))
        return list(new)

    def _positions(self, facts: Iterable[Fact]) -> dict[str, int]:
        """Turn id -> position, of all sources. Raises BadInput for a source that is no stored turn."""
        cited = {id_ for fact in facts for id_ in fact.sources}
        rows = self._db.rows(f"SELECT id, row FROM turns WHERE id IN {LISTED}", as_json(sorted(cited)))
        positions = {row[0]: row[1] for row in rows}
        if unknown := sorted(cited - positions.keys()):
            raise BadInput(f"facts cite turns that are not stored ({', '.join(unknown[:5])}): add the turns first.")
        return positions

    def _remove_orphans(self, rows: Sequence[int]) -> list[str]:
        """Delete those of the facts in `rows` that no window gives any more; returns their ids."""
        orphaned = f"SELECT row, id FROM facts WHERE row IN {LISTED} AND row NOT IN (SELECT fact FROM given)"
        gone = [(row[0], row[1]) for row in self._db.rows(orphaned, as_json(rows))]
        for table, column in (("fact_text", "rowid"), ("facts", "row")):
            self._db.execute(f"DELETE FROM {table} WHERE {column} IN {LISTED}", as_json([row for row, _ in gone]))
        return [id_ for _, id_ in gone]

    def _postings(self, unit: Unit) -> Postings:
        return self._once(f"{unit} postings", lambda: Postings(self._db, unit))

    def _once(self, what: str, read: Callable[[], T]) -> T:
        """What `read` gives, kept until somebody writes, this process or another."""
        with self._db.lock:
            version = self._db.version
            if version != self._reads_version:
                self._reads, self._reads_version = {}, version
            if what not in self._reads:
                self._reads[what] = read()
            kept: T = self._reads[what]
            return kept

    def _by_id(self, table: str, make: Callable[[Row], N], order: str, ids: Iterable[str]) -> tuple[N, ...]:
        """The nouns of these ids by `order`, then id; questions ask for the same ones again and again."""
        asked = dict.fromkeys(ids)
        with self._db.lock:
            kept: dict[str, tuple[tuple[int, str], N]] = self._once(table, dict)
            if len(kept) > KEPT:
                kept.clear()
            if missing := [id_ for id_ in asked if id_ not in kept]:
                for row in self._db.rows(f"SELECT * FROM {table} WHERE id IN {LISTED}", as_json(missing)):
                    kept[row["id"]] = (row[order], row["id"]), make(row)
            found = [kept[id_] for id_ in asked if id_ in kept]
        return tuple(noun for _, noun in sorted(found, key=itemgetter(0)))

    def _keys(self, persons: Iterable[str]) -> list[str]:
        """All keys under which facts may name these people: their own, and those of their aliases."""
        aliases = self.aliases()
        people = {key(alias.name): key(alias.person) for alias in aliases}
        asked = {people.get(key(person), key(person)) for person in persons}
        return sorted(asked | {name for name, person in people.items() if person in asked})

    def _records(self) -> Iterator[dict[str, Any]]:
        """The lines of an export."""
        names = ("conversation", "embedder", "schema")
        yield from ({"type": "alias", **asdict(alias)} for alias in self.aliases())
        yield from ({"type": "fact", **asdict(fact)} for fact in sorted(self.facts(), key=lambda fact: fact.id))
        yield {"type": "memory", **{name: self._db.meta(name) for name in names}}
        for profile in self.profiles():
            yield {"type": "profile", **asdict(profile), "sections": dict(sorted(profile.sections.items()))}
        for turn in self.turns():
            yield {"type": "turn", **asdict(turn), "time": turn.time.isoformat() if turn.time else None}
        given = "SELECT id FROM given JOIN facts ON fact = row WHERE start = ? ORDER BY id"
        for window in self.windows():
            facts = [row[0] for row in self._db.rows(given, window.start)]
            yield {"type": "window", **asdict(window), "facts": facts}


def _near(turns: Sequence[Turn], at: int) -> list[Turn]:
    """The turn at `at` with those before and after it in its session."""
    return [turn for turn in turns[max(at - 1, 0) : at + 2] if turn.session == turns[at].session]


def _ids(nouns: Iterable[Fact | Turn]) -> str:
    return as_json([noun.id for noun in nouns])
