"""Who is named by which facts, kept in memory and in step with the store: a session costs what it adds."""

import json
from collections.abc import Collection, Iterable, Mapping

from trimem.database import Database
from trimem.types import Fact


class Named:
    """The spellings of people that facts use, each with the ids of these facts. Read once, and when another writes."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._ids: dict[str, set[str]] = {}
        self._version = -1

    def current(self) -> Mapping[str, set[str]]:
        """Spelling -> ids of facts; not to be changed."""
        version = self._db.version[0]
        if version != self._version:
            self._ids, self._version = {}, version
            for id_, persons in self._db.rows("SELECT id, persons FROM facts"):
                self._add(id_, json.loads(persons))
        return self._ids

    def applied(self, added: Iterable[Fact], removed: Collection[str]) -> None:
        """Follow what a transaction has written, if anything was read."""
        if self._version == -1:
            return
        for fact in added:
            self._add(fact.id, fact.persons)
        for ids in self._ids.values() if removed else ():
            ids.difference_update(removed)

    def _add(self, id_: str, persons: Iterable[str]) -> None:
        for name in persons:
            self._ids.setdefault(name, set()).add(id_)
