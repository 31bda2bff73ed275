"""Parses lines of JSON from other programs, and checks them as far as possible without the server."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, BinaryIO, NoReturn

from pgrecall.errors import InvalidInput, PgrecallError, TooLarge
from pgrecall.languages import AUTO, LANGUAGES

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["check_limits", "json_kind", "json_object", "open_lines", "text_search_configuration"]

MAX_TITLE_BYTES = 4096
MAX_LABEL_BYTES = 1024
MAX_LIST_BYTES = 12288
MAX_ITEMS = 256
MAX_NAMESPACE = 200
"""The server's limits besides the content: bytes, items of a list, characters of a name."""

_CONFIGURATIONS = frozenset(LANGUAGES.values()) | {"simple", AUTO}


def open_lines(file: Path) -> BinaryIO:
    """Open a file of lines.

    Raises:
        PgrecallError: It cannot be read.
    """
    try:
        return file.open("rb")
    except OSError as error:
        raise PgrecallError(
            f"cannot read {file}: {error.strerror}", hint="Check the path and its permissions."
        ) from error


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
        record = json.loads(text, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise InvalidInput(f"not JSON: {error.msg} at column {error.colno}") from None
    except RecursionError:
        raise InvalidInput("nested too deeply") from None
    except ValueError:
        raise InvalidInput("holds a number that is too large") from None
    if not isinstance(record, dict):
        raise InvalidInput("not a JSON object")
    return {key: value for key, value in record.items() if value is not None}


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
