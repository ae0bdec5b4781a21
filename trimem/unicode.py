"""Text that can be written: half a surrogate pair passes `json` and breaks the first file or database it comes to."""

from typing import Any


def whole_unicode(value: Any) -> Any:
    """`value` (anything that JSON holds) with halves of surrogate pairs replaced by U+FFFD."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [whole_unicode(item) for item in value]
    if isinstance(value, dict):
        return {whole_unicode(key): whole_unicode(item) for key, item in value.items()}
    return value
