"""How turns and contexts become text for a model; one way for every method, so that comparisons are fair."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import groupby

from trimem.types import Context, Item, Turn, ViewRanks

HEADINGS = {"profile": "Profiles", "fact": "Facts", "turn": "Excerpts of the dialogue"}


def say_time(time: datetime | None) -> str:
    """`Monday 8 May 2023, 13:56`, or "unknown" for None."""
    return f"{time:%A} {time.day} {time:%B %Y, %H:%M}" if time else "unknown"


def one_line(text: str) -> str:
    """The text without line breaks, so that a turn cannot pass for several."""
    return " ".join(text.split())


def render_turns(turns: Sequence[Turn]) -> str:
    """A dialogue with its date once a session: `[D1:3] Nadia: text [image: caption]` under `Session of …`."""
    lines: list[str] = []
    for _, group in groupby(turns, key=lambda turn: (turn.session, turn.time)):
        session = list(group)
        lines.append(f"Session of {say_time(session[0].time)}")
        lines += [f"[{one_line(turn.id)}] {one_line(turn.speaker)}: {one_line(turn.content)}" for turn in session]
    return "\n".join(lines)


def turn_item(turn: Turn, score: float = 0.0, rank: int = 0, views: ViewRanks = ()) -> Item:
    """A turn as the reasoner reads it, with the day on which it was said: `[2023-05-08] Nadia: text`."""
    day = f"[{turn.time:%Y-%m-%d}] " if turn.time else ""
    text = f"{day}{one_line(turn.speaker)}: {one_line(turn.content)}"
    return Item("turn", turn.id, text, (turn.id,), score, rank, views)


def render_context(context: Context) -> str:
    """What the reasoner reads: profiles, facts in order of rank, excerpts in order of time; other kinds by name."""
    kinds = sorted({item.kind for item in context.items}, key=lambda kind: (kind != "profile", kind != "fact", kind))
    return "\n\n".join(f"{_heading(kind)}:\n{_lines(context.of(kind))}" for kind in kinds) or "(the memory is empty)"


def _heading(kind: str) -> str:
    return HEADINGS.get(kind, f"{kind.capitalize()}s")


def _lines(items: Iterable[Item]) -> str:
    return "\n".join(item.text if item.kind in ("profile", "turn") else f"- {item.text}" for item in items)
