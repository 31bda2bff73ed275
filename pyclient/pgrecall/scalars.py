"""Numbers and times of other libraries, such as numpy's and pandas', as Python's own; none is imported."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

__all__ = ["own_scalar", "own_utc"]


def own_scalar(value: object) -> object:
    """Return a truth value or a number of numpy as Python's own, and anything else as it is."""
    if type(value).__module__ != "numpy" or getattr(value, "ndim", None) != 0:
        return value
    given: Any = value
    return given.item() if given.dtype.kind in "biuf" else value


def own_utc(value: datetime) -> datetime:
    """Return a time in UTC as a plain datetime: pandas' own is written with nanoseconds, which nobody reads.

    Raises:
        OverflowError: It is outside the years 1 to 9999 in UTC.
    """
    own = value if type(value) is datetime else datetime.combine(value.date(), value.timetz())
    return own.replace(tzinfo=UTC) if own.tzinfo is None else own.astimezone(UTC)
