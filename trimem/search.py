"""The lexical and the symbolic view over the tables of a store. Values are always bound, never pasted."""

import re
from collections.abc import Iterable
from typing import Literal

from trimem.database import LISTED, Database
from trimem.people import key
from trimem.rows import as_json, days, nfc, places

Unit = Literal["fact", "turn"]
Hits = list[tuple[str, float]]

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


def match_expression(text: str) -> str:
    """An FTS5 query for any word of `text`, each quoted; stop words only where there is nothing else; "" for none."""
    words = dict.fromkeys(re.findall(r"\w+", nfc([text])))
    telling = [word for word in words if word.casefold() not in STOP_WORDS]
    return " OR ".join(f'"{word}"' for word in telling or words)


def search_text(db: Database, kind: Unit, text: str, k: int) -> Hits:
    """BM25 over the full-text index: the best `k`, higher is better, ties by id."""
    expression = match_expression(text)
    if not expression:
        return []
    best = f"""SELECT id, score FROM {kind}s JOIN
        (SELECT rowid, -bm25({kind}_text) AS score FROM {kind}_text WHERE {kind}_text MATCH ?)
        ON rowid = row ORDER BY score DESC, id LIMIT ?"""
    return [(id_, score) for id_, score in db.rows(best, expression, k)]


def search_symbolic(
    db: Database,
    persons: Iterable[str],
    entities: Iterable[str],
    location: str | None,
    time: str | None,
    k: int,
    among: Iterable[str] | None = None,
) -> Hits:
    """Facts (only those of `among`, if given) by how many of the asked signals they meet. `persons` are keys."""
    asked = [("person", name) for name in persons]
    asked += [("entity", key(name)) for name in entities]
    asked += [(kind, name) for name in places(location) for kind in ("place", "entity")]
    first_day, last_day = days(time)
    only = "" if among is None else f"WHERE id IN {LISTED}"
    best = f"""SELECT id, count(*) AS met FROM facts JOIN (
            SELECT fact FROM json_each(?) AS asked JOIN signals
            ON signals.kind = asked.value ->> 0 AND signals.key = asked.value ->> 1
            UNION ALL SELECT row FROM facts WHERE first_day <= ? AND last_day >= ?
        ) ON fact = row {only} GROUP BY row ORDER BY met DESC, id LIMIT ?"""
    values = (as_json(sorted(set(asked))), last_day, first_day, *([] if among is None else [as_json(list(among))]), k)
    return [(id_, float(met)) for id_, met in db.rows(best, *values)]
