"""The context of a rival, counted as every context is."""

from collections.abc import Iterable

from trimem.tokens import count_tokens
from trimem.types import Context, Item, Plan


def context_of(items: Iterable[Item], plan: Plan | None = None) -> Context:
    """The items in their order, with their tokens by kind ("facts", "episodes", …) and in all ("total")."""
    given = tuple(items)
    tokens: dict[str, int] = {}
    for item in given:
        tokens[f"{item.kind}s"] = tokens.get(f"{item.kind}s", 0) + count_tokens(item.text)
    return Context(given, plan, {**tokens, "total": sum(tokens.values())})
