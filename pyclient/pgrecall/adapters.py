"""How the clients send vectors, and read values that Python has no room for.

The database refuses such values, but a row may be older than the constraint, or its owner may have dropped
it. One row must not keep a client from all others: a time is read as the nearest one that Python has, and
JSON that is nested too deeply as its text.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from psycopg import DataError, adapters
from psycopg.adapt import AdaptersMap, Dumper, Loader
from psycopg.pq import Format
from psycopg.types.datetime import IntervalLoader, TimestamptzLoader
from psycopg.types.json import set_json_loads

from .arguments import HalfVector

if TYPE_CHECKING:
    from psycopg.abc import AdaptContext, Buffer

__all__ = ["READABLE"]

FIRST: Final = datetime(1, 1, 2, tzinfo=UTC)
LAST: Final = datetime(9999, 12, 31, tzinfo=UTC)
"""The first and the last time that every time zone has."""


class _Timestamptz(TimestamptzLoader):
    def load(self, data: Buffer) -> datetime:
        try:
            return super().load(data)
        except (DataError, OverflowError):
            text = bytes(data)
            return FIRST if text.startswith(b"-") or text.endswith(b"BC") else LAST


class _Interval(IntervalLoader):
    def __init__(self, oid: int, context: AdaptContext | None = None) -> None:
        super().__init__(oid, context)
        # A call sets IntervalStyle, but PgBouncer before 1.20 goes on to report what it was.
        self._load_method = self._load_postgres

    def load(self, data: Buffer) -> timedelta:
        try:
            return super().load(data)
        except (DataError, OverflowError):
            return timedelta.min if bytes(data).startswith(b"-") else timedelta.max


class _HalfVectorDumper(Dumper):
    # Without an oid, the server takes the type of the argument. So pgvector may be in any schema, and nothing
    # is looked up per connection, which a pooler would change between two statements.
    format = Format.BINARY

    def dump(self, obj: HalfVector) -> HalfVector:
        return obj


def _whole(digits: str) -> int | float:
    try:
        return int(digits)
    except ValueError:  # more digits than Python converts
        return float(digits)


def _loads(data: str | bytes) -> Any:
    try:
        return json.loads(data, parse_int=_whole)
    except RecursionError:
        return {"unreadable": data if isinstance(data, str) else data.decode()}


def _readable() -> AdaptersMap:
    adapted = AdaptersMap(adapters)
    loaders: dict[str, type[Loader]] = {"timestamptz": _Timestamptz, "interval": _Interval}
    for name, loader in loaders.items():
        adapted.register_loader(name, loader)
    set_json_loads(_loads, adapted)
    adapted.register_dumper(HalfVector, _HalfVectorDumper)
    return adapted


READABLE: Final = _readable()
"""What psycopg takes as the `context` of a connection."""
