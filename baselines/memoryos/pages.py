"""Pages: what one speaker said and what was answered; the unit that moves through MemoryOS."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from baselines.base import iso
from baselines.journal import Journal
from trimem.protocols import Vectors
from trimem.rendering import turn_item
from trimem.types import Turn


@dataclass(frozen=True)
class Page:
    """One exchange. `sources` are its turn ids, `meta` the summary of the chain of pages that it belongs to,
    `previous` the page before it in that chain; `analysed` once it has gone into the profile. `time` is ISO 8601."""

    id: str
    text: str
    time: str | None
    sources: tuple[str, ...]
    meta: str = ""
    previous: str | None = None
    analysed: bool = False


def pair(turns: Sequence[Turn], user: str) -> list[list[Turn]]:
    """Turns into exchanges: in each session, all that `user` says and then all that is answered.

    Nothing is dropped: an exchange may lack either side. (The authors' evaluation loses 93 of LoCoMo's 2,957 pages and
    61 turns here.)
    """
    exchanges: list[list[Turn]] = []
    last: Turn | None = None
    for turn in turns:
        answered = last is not None and last.speaker != user
        if last is None or turn.session != last.session or (turn.speaker == user and answered):
            exchanges.append([])
        exchanges[-1].append(turn)
        last = turn
    return exchanges


def new_page(id: str, exchange: Sequence[Turn]) -> Page:
    """The page of an exchange, each of its lines with the day and the speaker."""
    text = "\n".join(turn_item(turn).text for turn in exchange)
    return Page(id, text, iso(exchange[0].time), tuple(turn.id for turn in exchange))


class Pages:
    """The pages in the journal."""

    def __init__(self, journal: Journal) -> None:
        self.journal = journal

    def all(self) -> dict[str, Page]:
        return {id: _page(value) for id, value in self.journal.records("page").items()}

    def put(self, page: Page, vector: Vectors | None = None) -> None:
        self.journal.put("page", page.id, asdict(page), vector)

    def chain(self, page: Page, previous: Page | None, meta: str) -> Page:
        """Put `page` behind `previous` (None: begin a chain) and give the summary `meta` to all pages of the chain."""
        page = replace(page, meta=meta, previous=previous.id if previous else None)
        self.put(page)
        known = self.all()
        before = previous
        while before:
            self.put(replace(before, meta=meta))
            before = known.get(before.previous or "")
        return page


def _page(value: dict[str, Any]) -> Page:
    return Page(**value | {"sources": tuple(value["sources"])})
