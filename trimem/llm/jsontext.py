"""From what a model wrote to JSON values: thinking, fences, prose and small damage taken off, nothing cut taken in.

Well-formed JSON is read by `json`. Damaged JSON goes to json-repair, but only after the part that was cut off has been
removed: json-repair closes a half sentence as if it were whole, and a half sentence is not a fact.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

from trimem.unicode import whole_unicode

TAG = r"(?:think|thinking|reasoning)"
LEADING = re.compile(rf"\A(?:\s*<({TAG})>.*?</\1>)+", re.DOTALL)
DANGLING = re.compile(rf"\A.*</{TAG}>(?=\s*(?:\n|[\[{{`]|\Z))", re.DOTALL)  # the template ate the opening tag
UNFINISHED = re.compile(rf"\A\s*<{TAG}>.*\Z", re.DOTALL)
DATA = re.compile(r"""\{\s*(?:["'“}]|\w+\s*:)|\[\s*["'“\[{\]]""")  # opens JSON, unlike a remark such as {if}
CLOSING = {'"': '"', "'": "'", "“": '”"'}
CUT = "the reply ends in the middle; what was complete is kept"
REPAIRED = "the reply was not valid JSON and was repaired"
SURROGATE = "a broken unicode escape became U+FFFD"


def without_thinking(text: str) -> str:
    """The text without the model's thoughts, which stand before it: whole, without their opening tag, or cut."""
    for thoughts in (LEADING, DANGLING, UNFINISHED):
        text = thoughts.sub("", text)
    return text.strip()


def values(text: str) -> Iterator[tuple[Any, tuple[str, ...]]]:
    """JSON values in `text` with what was met in reading each: well-formed ones, longest first, then a damaged one."""
    text = without_thinking(text)
    spans, damaged = _scan(text)
    for _, _, value, problems in sorted(spans, key=lambda span: span[0] - span[1]):
        yield _clean(value, problems)
    if damaged is not None:
        yield from _damaged(text[damaged:])


def _scan(text: str) -> tuple[list[tuple[int, int, Any, list[str]]], int | None]:
    """All outermost well-formed values (start, end, value, duplicate keys), and where a damaged one begins.

    The scan ends there: inside a damaged document each inner piece would look like an answer of its own.
    """
    spans: list[tuple[int, int, Any, list[str]]] = []
    position = 0
    while match := DATA.search(text, position):
        problems: list[str] = []
        try:
            value, position = _decoder(problems).raw_decode(text, match.start())
        except (ValueError, RecursionError):
            return spans, match.start()
        spans.append((match.start(), position, value, problems))
    return spans, None


def _decoder(problems: list[str]) -> json.JSONDecoder:
    return json.JSONDecoder(object_pairs_hook=lambda pairs: _merge(pairs, problems))


def _merge(pairs: list[tuple[str, Any]], problems: list[str]) -> dict[str, Any]:
    """An object in which a repeated key loses nothing: lists are joined, else the first value that is not empty."""
    merged: dict[str, Any] = {}
    for key, value in pairs:
        if key not in merged:
            merged[key] = value
            continue
        problems.append(f"the key {key!r} came twice")
        if isinstance(merged[key], list) and isinstance(value, list):
            merged[key] = merged[key] + value
        else:
            merged[key] = merged[key] or value
    return merged


def _damaged(text: str) -> Iterator[tuple[Any, tuple[str, ...]]]:
    import json_repair

    document, cut = complete_part(text)
    problems: list[str] = [CUT] if cut else []
    try:
        yield _clean(_decoder(problems).decode(document), problems)
    except (ValueError, RecursionError):
        try:
            value = json_repair.loads(document, skip_json_loads=True)
        except (ValueError, RecursionError):
            return
        if isinstance(value, dict | list) and not _hides(value, document):
            yield _clean(value, [*problems, REPAIRED])


def _hides(value: Any, document: str) -> bool:
    """Whether json-repair let an empty repeat of a key win over what stood there first."""
    empty = [key for key, content in value.items() if not content] if isinstance(value, dict) else []
    return any(len(re.findall(rf"""["'“]{re.escape(key)}["'”]\s*:""", document)) > 1 for key in empty)


def complete_part(text: str) -> tuple[str, bool]:
    """The JSON document that `text` opens with, and whether it was cut.

    Of a cut document, what is kept ends after the last complete item of the outermost open list (or, where none is
    open, the last complete pair of the outermost object), and the open brackets are closed.
    """
    stack: list[str] = []
    safe: list[int] = []  # for each open bracket: where its last complete element ends
    position = 0
    while position < len(text):
        char = text[position]
        if char in CLOSING:
            position = _string_end(text, position)
            continue
        if char in "{[":
            stack.append(char)
            safe.append(position + 1)
        elif char in "}]" and stack:
            stack.pop()
            safe.pop()
            if not stack:
                return text[: position + 1], False
            safe[-1] = position + 1
        elif char == "," and stack:
            safe[-1] = position
        position += 1
    if not stack:
        return text, False
    keep = stack.index("[") if "[" in stack else 0
    closing = "".join("}" if bracket == "{" else "]" for bracket in reversed(stack[: keep + 1]))
    return text[: safe[keep]] + closing, True


def _string_end(text: str, start: int) -> int:
    """Where the string that opens at `start` ends. A quote that nothing structural follows is part of the text."""
    for match in re.compile(rf"\\.|[{CLOSING[text[start]]}]", re.DOTALL).finditer(text, start + 1):
        if match[0][0] != "\\" and re.compile(r"\s*(?:[,:}\]]|\Z)").match(text, match.end()):
            return match.end()
    return len(text)


def _clean(value: Any, problems: list[str]) -> tuple[Any, tuple[str, ...]]:
    """The value with lone surrogates replaced: they pass `json` and break the first file they are written to."""
    cleaned = whole_unicode(value)
    return cleaned, (*problems, SURROGATE) if cleaned != value else tuple(problems)
