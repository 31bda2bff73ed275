"""Parses lines of JSON from other programs, and checks them as far as possible without the server."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, BinaryIO, NoReturn

from pgrecall.errors import InvalidInput, TooLarge
from pgrecall.languages import AUTO, LANGUAGES

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "MAX_LINE_BYTES",
    "bounded_lines",
    "check_limits",
    "json_kind",
    "json_object",
    "text_search_configuration",
]

MAX_TITLE_BYTES = 4096
MAX_LABEL_BYTES = 1024
MAX_LIST_BYTES = 12288
MAX_ITEMS = 256
MAX_NAMESPACE = 200
"""The server's limits besides the content: bytes, items of a list, characters of a name."""

MAX_LINE_BYTES = 32 * 2**20
"""The longest line that is read: one of an export has embeddings, and the old and new values of a change."""

MAX_DEPTH = 100
"""Levels of objects and arrays in a line."""

_ENDLESS = 2**30

_CONFIGURATIONS = frozenset(LANGUAGES.values()) | {"simple", AUTO}


def bounded_lines(file: BinaryIO, most: int = MAX_LINE_BYTES) -> Iterator[bytes]:
    """Yield lines; of one that is too long only the first `most` + 1 bytes, and the rest is passed over.

    Raises:
        TooLarge: A line has no end.
    """
    number = 0
    while raw := file.readline(most + 1):
        number += 1
        yield raw
        end, size = raw, len(raw)
        while len(end) > most and not end.endswith(b"\n"):
            end = file.readline(most + 1)
            size += len(end)
            if size > _ENDLESS:
                raise TooLarge(
                    f"line {number} has more than {_ENDLESS} bytes", hint="Is it a file of JSON Lines?"
                )


def json_object(raw: bytes) -> dict[str, Any]:
    """Parse a JSON object, and drop keys whose value is null.

    Raises:
        InvalidInput: It is not a JSON object; the message gives the reason without quoting it.
    """
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        raise InvalidInput(f"not UTF-8 at byte {error.start + 1}") from None
    try:
        record = json.loads(text, parse_constant=_no_constant, object_pairs_hook=_object)
    except json.JSONDecodeError as error:
        raise InvalidInput(f"not JSON: {error.msg} at column {error.colno}") from None
    except RecursionError:
        raise InvalidInput("nested too deeply") from None
    except ValueError:
        raise InvalidInput("holds a number that is too large") from None
    if not isinstance(record, dict):
        raise InvalidInput("not a JSON object")
    if _is_deeper(record, MAX_DEPTH):
        raise InvalidInput("nested too deeply")
    return {key: value for key, value in record.items() if value is not None}


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make an object; of two values for one key neither may be dropped silently."""
    record = dict(pairs)
    if len(record) < len(pairs):
        raise InvalidInput("a key stands twice in one object")
    return record


def _is_deeper(value: object, most: int) -> bool:
    level = [value]
    for _ in range(most):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer)  # type: ignore[attr-defined]
            if isinstance(inner, dict | list)
        ]
        if not level:
            return False
    return True


def _no_constant(name: str) -> NoReturn:
    raise InvalidInput(f"not JSON: {name} is not a number of JSON")


def check_limits(memory: dict[str, Any]) -> None:
    """Refuse what the server would refuse, so that it need not be found by bisecting a batch.

    Args:
        memory: The fields of a memory, as `new_memory` returns them.

    Raises:
        TooLarge: A text or a list is too long.
        InvalidInput: The name of the namespace is too long, or valid_to is before valid_from.
    """
    for key, value in memory.items():
        if isinstance(value, list):
            if len(value) > MAX_ITEMS:
                raise TooLarge(f"{key} has {len(value)} items; {MAX_ITEMS} is the limit")
            if len(json.dumps(value, ensure_ascii=False).encode()) > MAX_LIST_BYTES or any(
                len(item.encode()) > MAX_LABEL_BYTES for item in value
            ):
                raise TooLarge(f"{key} is too long")
        elif isinstance(value, str) and key != "content":
            limit = MAX_TITLE_BYTES if key == "title" else MAX_LABEL_BYTES
            if len(value) * 4 > limit and len(value.encode()) > limit:
                raise TooLarge(f"{key} is too long")
    if len(memory.get("namespace", "")) > MAX_NAMESPACE:
        raise InvalidInput(f"its namespace has a name of more than {MAX_NAMESPACE} characters")
    start, end = memory.get("valid_from"), memory.get("valid_to")
    if start is not None and end is not None and end < start:
        raise InvalidInput("valid_to is before valid_from")


def text_search_configuration(value: object) -> str | None:
    """Return the text-search configuration of a language, by its code or its name; 'simple' if there is none.

    Raises:
        InvalidInput: It is not a text.
    """
    if value is None:
        return None
    if not isinstance(value, str):
        raise InvalidInput(f"lang must be a string, not {json_kind(value)}")
    name = value.strip().lower()
    if name in _CONFIGURATIONS:
        return name
    return LANGUAGES.get(name.replace("_", "-").split("-")[0], "simple")


def json_kind(value: object) -> str:
    """Return the type of a JSON value, with its article."""
    names = {bool: "a boolean", int: "a number", float: "a number", str: "a string", list: "a list"}
    return names.get(type(value), "an object")
