"""A conversation as a page shows it: turns, windows, facts and profiles, each with its place on the page."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from experiments.run_dir import folder_name
from trimem.store import FILE, Store
from trimem.types import Conversation


class Places:
    """Numbers of turns and facts on a page. Links use them, never ids out of the data."""

    def __init__(self) -> None:
        self._turns: dict[tuple[str, str], int] = {}
        self._facts: dict[tuple[str, str], int] = {}

    def add(self, conversation: Conversation) -> None:
        for turn in conversation.turns:
            self._turns[conversation.id, turn.id] = len(self._turns)

    def of(self, conversation: str, ids: Iterable[str]) -> list[dict[str, Any]]:
        """`{n, id}` of those turns that exist."""
        known = ((id, self._turns.get((conversation, id))) for id in ids)
        return [{"n": n, "id": id} for id, n in known if n is not None]

    def fact(self, conversation: str, id: str) -> int:
        return self._facts.setdefault((conversation, id), len(self._facts))


def talk_of(n: int, conversation: Conversation, run: Path, places: Places) -> dict[str, Any]:
    """What the page shows of one conversation; facts and profiles where the memory is TriMem's."""
    memory = run / "memory" / folder_name(conversation.id)
    begins: dict[int, int] = {}
    facts: list[dict[str, Any]] = []
    profiles: list[dict[str, Any]] = []
    if (memory / FILE).exists():
        with Store(memory) as store:
            begins = {window.start: number for number, window in enumerate(store.windows(), 1)}
            profiles = [
                {
                    "name": profile.person,
                    "sections": list(profile.sections.items()),
                    "facts": [places.fact(conversation.id, id) for id in profile.fact_ids],
                }
                for profile in store.profiles()
            ]
            facts = [
                {
                    "n": places.fact(conversation.id, fact.id),
                    "text": fact.statement,
                    "turns": places.of(conversation.id, fact.sources),
                    "profiles": [p["name"] for p in profiles if places.fact(conversation.id, fact.id) in p["facts"]],
                }
                for fact in store.facts()
            ]
    citing: dict[int, list[int]] = {}
    for fact in facts:
        for turn in fact["turns"]:
            citing.setdefault(turn["n"], []).append(fact["n"])
    turns = []
    for position, turn in enumerate(conversation.turns):
        (place,) = places.of(conversation.id, [turn.id])
        time = turn.time.isoformat(sep=" ", timespec="minutes") if turn.time else ""
        known = {"time": time, "speaker": turn.speaker, "text": turn.content, "facts": citing.get(place["n"], [])}
        turns.append({**place, **known, "begins": begins.get(position)})
    return {"n": n, "id": conversation.id, "turns": turns, "facts": facts, "profiles": profiles}
