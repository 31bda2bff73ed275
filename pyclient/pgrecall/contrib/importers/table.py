"""The PostgreSQL table of the older memory service, where it stands."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from psycopg import sql

from pgrecall.errors import InvalidInput

from .fields import highest
from .older import found_columns, memory_row
from .postgres import connected, find_table, row_count, table_rows
from .rows import Row, Source

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["table_source"]

_DERIVED_TYPES = frozenset({"tsvector", "vector", "halfvec", "sparsevec", "bytea"})


@contextmanager
def table_source(dsn: str, name: str, *, most: float = 1.0) -> Iterator[Source]:
    """Open a table as it is now. It is only read, and may be in the database that its rows come into.

    Args:
        dsn: Its database.
        name: The table or view, such as public.memories.
        most: The importance of the most important ones.

    Raises:
        InvalidInput: There is no such table, or it lacks what makes a memory.
    """
    most = highest(most)
    with connected(dsn) as connection:
        table = find_table(connection, name)
        if table is None:
            raise InvalidInput(
                f"there is no table {name!r}", hint="Write it with its schema: public.memories."
            )
        columns = [column for column, kind in table.columns.items() if kind not in _DERIVED_TYPES]
        left_out = [column for column, kind in table.columns.items() if kind in _DERIVED_TYPES]
        query = sql.SQL(
            "SELECT to_json(r) AS record, NULL::text AS vector FROM (SELECT {} FROM {} ORDER BY id) r"
        ).format(sql.SQL(", ").join(map(sql.Identifier, columns)), table.name)

        def read(place: str, record: dict[str, Any], _: str | None) -> Row:
            return memory_row(place, record, most)

        yield Source(
            "table",
            found_columns(columns, left_out),
            row_count(connection, query, ()),
            lambda: table_rows(connection, query, (), read, "pgrecall_import"),
        )
