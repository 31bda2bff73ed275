"""Values as other programs write them: times, flags, lists, numbers, each read strictly or refused."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta
from typing import Any

from pgrecall.arguments import as_float
from pgrecall.errors import InvalidInput
from pgrecall.jsonl.lines import json_kind

__all__ = [
    "SENSITIVE",
    "end_of_day",
    "flag",
    "importance",
    "mapping",
    "moment",
    "name",
    "number",
    "sensitive",
    "texts",
]

SENSITIVE = ("is_sensitive", "sensitive")
"""Names of what says that a row is sensitive; where both are there, either is enough."""

_TRUE = frozenset({"1", "true", "t", "yes", "y", "on"})
_FALSE = frozenset({"0", "false", "f", "no", "n", "off"})
_MILLISECONDS_FROM = 10**11
"""Seconds of the year 5138: a number from here on counts milliseconds."""


def flag(field: str, value: object) -> bool:
    """Read a truth value; one that is not understood is refused: it may mean that a row is sensitive."""
    if isinstance(value, bool):
        return value
    word = str(value).strip().lower() if isinstance(value, str | int | float) else ""
    if word in _TRUE or word == "1.0":
        return True
    if word in _FALSE or word == "0.0":
        return False
    raise InvalidInput(f"{field} is neither true nor false")


def sensitive(record: dict[str, Any]) -> bool:
    """Take out of a record what says that it is sensitive."""
    found = [flag(key, record.pop(key)) for key in SENSITIVE if record.get(key) is not None]
    return any(found)


def moment(field: str, value: object) -> datetime:
    """Read a time: ISO 8601, or seconds or milliseconds since 1970; without a zone it is UTC."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise InvalidInput(f"{field} must be a time, not {json_kind(value)}")
    if isinstance(value, str):
        try:
            read = datetime.fromisoformat(value.strip())
        except ValueError:
            raise InvalidInput(f"{field} is not an ISO 8601 time") from None
        return read if read.tzinfo is not None else read.replace(tzinfo=UTC)
    try:
        return datetime.fromtimestamp(value / 1000 if abs(value) >= _MILLISECONDS_FROM else value, UTC)
    except (ValueError, OverflowError, OSError):
        raise InvalidInput(f"{field} is outside the years 1 to 9999") from None


def end_of_day(day: date) -> datetime:
    """Return the end of a validity whose last day this is, in UTC; of the last day of all, its beginning."""
    begin = datetime(day.year, day.month, day.day, tzinfo=UTC)
    return begin if day == date.max else begin + timedelta(days=1)


def texts(field: str, value: object) -> list[str]:
    """Read a list: an array, an array as JSON, or words between commas; blank items are left out.

    Keywords without a comma are single words between spaces; a tag may consist of several words.
    """
    if isinstance(value, str):
        if value.lstrip().startswith("["):
            try:
                value = json.loads(value)
            except (ValueError, RecursionError):
                raise InvalidInput(f"{field} is neither a JSON array nor a list between commas") from None
        else:
            between_spaces = field == "expanded_keywords" and "," not in value
            value = value.split() if between_spaces else value.split(",")
    if not isinstance(value, list):
        raise InvalidInput(f"{field} must be a list, not {json_kind(value)}")
    if any(isinstance(item, bool) or not isinstance(item, str | int | float) for item in value):
        raise InvalidInput(f"{field} must hold texts")
    items = (str(item).strip() for item in value)
    return list(dict.fromkeys(item for item in items if item))


def importance(value: object, most: float) -> float:
    """Read an importance.

    Args:
        value: A number, from 0.
        most: What the most important ones have.
    """
    read = number("importance", value)
    if not 0 <= read <= most:
        raise InvalidInput(f"importance must lie between 0 and {most:g}")
    return read / most


def highest(most: float) -> float:
    """Return the highest importance of a source, checked.

    Raises:
        InvalidInput: It is not finite and above 0.
    """
    checked = as_float("the highest importance", most)
    if checked <= 0:
        raise InvalidInput("the highest importance must be above 0")
    return checked


def number(field: str, value: object) -> float:
    """Read a number, as such or as text."""
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            raise InvalidInput(f"{field} is not a number") from None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidInput(f"{field} must be a number, not {json_kind(value)}")
    try:
        return float(value)
    except OverflowError:
        raise InvalidInput(f"{field} is too large") from None


def name(field: str, value: object) -> str:
    """Read a name, which may be a number."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise InvalidInput(f"{field} must be a text or a whole number, not {json_kind(value)}")
    return str(value)


def mapping(field: str, value: object) -> dict[str, Any]:
    """Read an object, as such or as JSON."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            raise InvalidInput(f"{field} is not JSON") from None
    if not isinstance(value, dict):
        raise InvalidInput(f"{field} must be an object, not {json_kind(value)}")
    return value
