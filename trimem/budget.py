"""One limit on what any method may show its reasoner, so that methods compare at equal tokens."""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from trimem.tokens import count_tokens
from trimem.types import Context, Item


def within(context: Context, most: int) -> Context:
    """`context` cut to `most` tokens of item texts. Each kind keeps its share, its best-ranked items first.

    What was not ranked stays if it lies behind an item that stays; then the latest wins.
    """
    costs = [count_tokens(item.text) for item in context.items]
    total = sum(costs)
    if total <= most:
        return context
    kept: set[int] = set()
    cited: set[str] = set()
    for kind in sorted({item.kind for item in context.items}, key=("turn", "profile").__contains__):
        places = [place for place, item in enumerate(context.items) if item.kind == kind]
        left = most * sum(costs[place] for place in places) // total
        for place in sorted(places, key=lambda place: _priority(context.items[place], place, cited)):
            if costs[place] <= left:
                left -= costs[place]
                kept.add(place)
                cited |= set(context.items[place].sources)
    items = tuple(item for place, item in enumerate(context.items) if place in kept)
    return replace(context, items=items, tokens=_tokens(context.tokens, items))


def _priority(item: Item, place: int, cited: set[str]) -> tuple[int, int]:
    """Smaller is more important: ranked, then behind something kept, then the rest, from the end."""
    if item.rank:
        return 0, item.rank
    return (1 if item.id in cited else 2), -place


def _tokens(before: Mapping[str, int], items: tuple[Item, ...]) -> Mapping[str, int]:
    """Tokens by kind under the keys that were there, and in total."""
    counts = dict.fromkeys(before, 0) | {"total": 0}
    for item in items:
        for key in (f"{item.kind}s", "total"):
            counts[key] = counts.get(key, 0) + count_tokens(item.text)
    return MappingProxyType(counts)
