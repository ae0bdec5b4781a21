"""From a JSON value to a schema: shapes that models get wrong are put right, items that cannot be used are dropped.

Every change that loses or guesses something is named among the problems; a change of mere form is not.
"""

import json
import types
from functools import lru_cache
from typing import Any, Literal, TypeGuard, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

S = TypeVar("S", bound=BaseModel)
BLANK = {"", "null", "none", "n/a"}


def fit(value: Any, schema: type[S]) -> tuple[S | None, tuple[str, ...]]:
    """`value` as a `schema`, or None where it cannot be one, and the problems."""
    problems: list[str] = []
    shaped = _reshape(value, schema)
    if not isinstance(shaped, dict):
        return None, (f"an object was expected, not {_kind(shaped)}",)
    try:
        return schema.model_validate(_fields(shaped, schema, "", problems)), tuple(problems)
    except ValidationError as error:
        return None, (*problems, _first_error(error))


def _reshape(value: Any, schema: type[BaseModel]) -> Any:
    """Put a bare list, a single item, or an object wrapped in another, where the schema wants it."""
    names = set(_names(schema))
    main = [name for name, info in schema.model_fields.items() if _item_type(info) and info.is_required()]
    if isinstance(value, list) and main:
        inside = value[0] if len(value) == 1 else None
        return inside if isinstance(inside, dict) and names & set(inside) else {main[0]: value}
    if isinstance(value, list) and len(value) == 1:
        return value[0]
    if not isinstance(value, dict) or names & set(value):
        return value
    item = _item_type(schema.model_fields[main[0]]) if main else None
    if _is_model(item) and set(_names(item)) & set(value):
        return {main[0]: [value]}
    if len(value) == 1 and isinstance(inner := next(iter(value.values())), dict | list):
        return _reshape(inner, schema)
    return value


def _fields(value: dict[str, Any], schema: type[BaseModel], path: str, problems: list[str]) -> dict[str, Any]:
    """The object with each known field fitted to its type."""
    fitted = {}
    for name, info in schema.model_fields.items():
        for key in (info.alias, name):
            if key and key in value:
                fitted[key] = _field(value[key], info, f"{path}{name}", problems)
                break
    return fitted


def _field(value: Any, info: FieldInfo, path: str, problems: list[str]) -> Any:
    wanted, optional = _plain(info.annotation)
    if optional and (value is None or (isinstance(value, str) and value.strip().lower() in BLANK)):
        return None
    if value is None and not info.is_required():
        return info.get_default(call_default_factory=True)
    if get_origin(wanted) is list:
        return _list(value, info, path, problems)
    fitted = _single(value, wanted, path, problems)
    limit = _limit(info)
    if limit and isinstance(fitted, str) and len(fitted) > limit and not info.is_required():
        problems.append(f"{path} cut to {limit} characters")
        return fitted[:limit]
    return fitted


def _single(value: Any, wanted: Any, path: str, problems: list[str]) -> Any:
    if _is_model(wanted):
        if isinstance(value, str):
            first = next(name for name, info in wanted.model_fields.items() if _plain(info.annotation)[0] is str)
            value = {first: value}
        return _fields(value, wanted, f"{path}.", problems) if isinstance(value, dict) else value
    if wanted is str and isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    if get_origin(wanted) is Literal and isinstance(value, str):
        same = [option for option in get_args(wanted) if str(option).lower() == value.strip().lower()]
        return same[0] if same else value
    return value


def _list(value: Any, info: FieldInfo, path: str, problems: list[str]) -> list[Any]:
    """A list of what is usable in `value`, at most as many as the schema allows."""
    item = _item_type(info)
    usable = []
    for index, element in enumerate(_as_list(value, item, path, problems)):
        inner: list[str] = []
        fitted = _single(element, item, f"{path}[{index}]", inner)
        error = _error(fitted, item)
        if error:
            problems.append(f"{path}[{index}] dropped: {error}")
        else:
            problems.extend(inner)
            usable.append(fitted)
    limit = _limit(info)
    if limit and len(usable) > limit:
        problems.append(f"{path}: {len(usable) - limit} of {len(usable)} items dropped, {limit} are allowed")
    return usable[:limit]


def _as_list(value: Any, item: Any, path: str, problems: list[str]) -> list[Any]:
    if isinstance(value, list):
        return [element for element in value if element is not None and element != ""]
    if value is None:
        problems.append(f"{path} was null and is taken as empty")
        return []
    if isinstance(value, str):
        return _split(value, item)
    return [value]


def _split(text: str, item: Any) -> list[Any]:
    """A list written as a string: JSON, or short words between commas; a sentence stays one item."""
    if text.lstrip().startswith("["):
        try:
            parsed = json.loads(text)
        except ValueError:
            parsed = None
        if isinstance(parsed, list):
            return parsed
    if text.strip().lower() in BLANK:
        return []
    parts = [part.strip() for part in text.split(",") if part.strip()]
    short = item is str and all(len(part.split()) <= 3 for part in parts)
    return parts if short else [text]


def _error(value: Any, wanted: Any) -> str:
    """Why `value` is not a `wanted`, or nothing."""
    try:
        _adapter(wanted).validate_python(value)
    except ValidationError as error:
        return _first_error(error)
    return ""


@lru_cache(maxsize=256)
def _adapter(wanted: Any) -> TypeAdapter[Any]:
    return TypeAdapter(wanted)


def _first_error(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    place = ".".join(map(str, first["loc"]))
    return f"{place}: {first['msg']}" if place else first["msg"]


def _plain(annotation: Any) -> tuple[Any, bool]:
    """The annotation without None, and whether None was allowed."""
    if get_origin(annotation) in (Union, types.UnionType):
        inner = [arg for arg in get_args(annotation) if arg is not type(None)]
        optional = len(inner) < len(get_args(annotation))
        return (inner[0] if len(inner) == 1 else annotation), optional
    return annotation, False


def _item_type(info: FieldInfo) -> Any:
    """What a list field is a list of; None for another field."""
    wanted = _plain(info.annotation)[0]
    return get_args(wanted)[0] if get_origin(wanted) is list and get_args(wanted) else None


def _limit(info: FieldInfo) -> int | None:
    return next((rule.max_length for rule in info.metadata if hasattr(rule, "max_length")), None)


def _names(schema: type[BaseModel]) -> list[str]:
    return [key for name, info in schema.model_fields.items() for key in (name, info.alias) if key]


def _is_model(wanted: Any) -> TypeGuard[type[BaseModel]]:
    return isinstance(wanted, type) and issubclass(wanted, BaseModel)


def _kind(value: Any) -> str:
    return {list: "a list", str: "a string", type(None): "null", bool: "a boolean"}.get(type(value), "a number")
