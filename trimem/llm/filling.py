"""Filling a pydantic schema with plausible values, by field name where something fitting is on offer, else by type."""

import enum
import hashlib
import types
from collections.abc import Mapping
from itertools import cycle, islice
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

FEW = 2
"""Length of a list for which nothing is on offer."""
SENTENCE = 5
"""Words from which on a text is a sentence."""


class Filler:
    """Fills schemas. `offers` holds values by field name (a list of objects for a list field), "texts" sentences for
    whatever else is text; `digest` makes the choice among them. `length` stretches or cuts sentences."""

    def __init__(self, offers: Mapping[str, Any], digest: bytes, length: float = 1.0) -> None:
        self.offers = offers
        self.digest = digest
        self.length = length

    def fill(self, schema: type[BaseModel], values: Mapping[str, Any] | None = None, path: str = "") -> dict[str, Any]:
        """A JSON object that fits `schema`, taking `values` (default: the offers) by field name."""
        known = self.offers if values is None else values
        return {
            info.alias or name: self._field(info, known.get(name, known.get(info.alias or name)), f"{path}.{name}")
            for name, info in schema.model_fields.items()
        }

    def _field(self, info: FieldInfo, offer: Any, path: str) -> Any:
        value = self._value(info.annotation, offer, path)
        low, high = _rule(info, "min_length") or 0, _rule(info, "max_length")
        if isinstance(value, list):
            while len(value) < low:
                value.append(self._value(get_args(info.annotation)[0], None, f"{path}[{len(value)}]"))
            return value[:high]
        if isinstance(value, str):
            return stretched(value, self.length).ljust(low, ".")[:high]
        if isinstance(value, int | float) and not isinstance(value, bool):
            return _within(value, info)
        return value

    def _value(self, wanted: Any, offer: Any, path: str) -> Any:
        origin, inner = get_origin(wanted), get_args(wanted)
        if origin is Annotated:
            return self._value(inner[0], offer, path)
        if origin in (Union, types.UnionType):
            return self._optional(inner, offer, path)
        if origin in (list, tuple, set, frozenset):
            return self._several(inner[0] if inner else str, offer, path)
        if origin is Literal:
            return offer if offer in inner else inner[self._choice(path, len(inner))]
        if origin is dict or wanted is dict:
            return {}
        if isinstance(wanted, type) and issubclass(wanted, BaseModel):
            return self.fill(wanted, offer if isinstance(offer, Mapping) else {}, path)
        return self._scalar(wanted, offer, path)

    def _scalar(self, wanted: Any, offer: Any, path: str) -> Any:
        if isinstance(wanted, type) and issubclass(wanted, enum.Enum):
            return list(wanted)[self._choice(path, len(wanted))].value
        if wanted is bool:
            return offer if isinstance(offer, bool) else self._choice(path, 2) == 1
        if wanted in (int, float):
            return offer if isinstance(offer, int | float) else self._choice(path, 10)
        if isinstance(offer, str):
            return offer
        texts = self.offers.get("texts") or ["nothing"]
        return texts[self._choice(path, len(texts))]

    def _optional(self, inner: tuple[Any, ...], offer: Any, path: str) -> Any:
        if offer is None and type(None) in inner:
            return None
        return self._value(next(kind for kind in inner if kind is not type(None)), offer, path)

    def _several(self, item: Any, offer: Any, path: str) -> list[Any]:
        elements = list(offer) if isinstance(offer, list | tuple) else [None] * FEW
        return [self._value(item, element, f"{path}[{index}]") for index, element in enumerate(elements)]

    def _choice(self, path: str, options: int) -> int:
        return int.from_bytes(hashlib.sha256(self.digest + path.encode()).digest()[:4], "big") % options


def stretched(text: str, length: float) -> str:
    """A sentence of `length` times the words, its own again and again; names, dates and ids stay as they are."""
    words = text.split(" ")
    if length == 1.0 or len(words) < SENTENCE:
        return text
    return " ".join(islice(cycle(words), max(1, round(length * len(words)))))


def _rule(info: FieldInfo, name: str) -> Any:
    return next((getattr(rule, name) for rule in info.metadata if hasattr(rule, name)), None)


def _within(value: float, info: FieldInfo) -> float:
    """The number moved into the field's bounds; between two strict bounds less than 2 apart, their middle."""
    above, below = _rule(info, "gt"), _rule(info, "lt")
    low = above + 1 if above is not None else _rule(info, "ge")
    high = below - 1 if below is not None else _rule(info, "le")
    if low is not None and high is not None and low > high:
        return float(low + high) / 2
    value = value if low is None else max(value, low)
    return value if high is None else min(value, high)
