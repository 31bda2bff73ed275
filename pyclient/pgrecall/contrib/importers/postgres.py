"""Tables of other programs in PostgreSQL, read as they are at one moment, without touching them."""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import sql
from psycopg.rows import tuple_row

from pgrecall.connecting import open_connection
from pgrecall.errors import InvalidInput, PgrecallError, error_from
from pgrecall.jsonl.lines import json_object

from .rows import MAX_ROW_BYTES, Rejected, Row

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

__all__ = ["Table", "check_dimension", "connected", "find_table", "row_count", "table_rows", "usable"]

_ROWS_AT_ONCE = 50

_NOT_ZERO = re.compile(r"[1-9]")

_COLUMNS = """
    SELECT a.attname::text, t.typname::text
    FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
    WHERE a.attrelid = %s AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum
"""


# A view, a foreign table and a cast to json run code of their owner with the rights of the reader. What the
# reader or a superuser has made is trusted.
_RELATION = """
    SELECT c.oid, n.nspname::text, c.relname::text,
           (c.relkind IN ('v', 'f') OR EXISTS (SELECT FROM pg_inherits i JOIN pg_class p ON p.oid = i.inhrelid
                                                WHERE i.inhparent = c.oid AND p.relkind = 'f')
            ) AND NOT (o.rolname = current_user OR o.rolsuper)
           OR EXISTS (
               SELECT FROM pg_attribute a
               JOIN pg_cast t
                   ON t.castsource = a.atttypid AND t.casttarget IN ('json'::regtype, 'text'::regtype)
               JOIN pg_proc f ON f.oid = t.castfunc
               JOIN pg_roles w ON w.oid = f.proowner
               WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT w.rolsuper AND w.rolname <> current_user
           ),
           o.rolname::text
    FROM pg_class c
    JOIN pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_roles o ON o.oid = c.relowner
    CROSS JOIN (SELECT string_to_array(current_setting('pgrecall_import.schemas'), '/') AS names) s
    WHERE c.relname = %(name)s::name AND c.relkind = ANY ('{r,p,v,m,f}'::"char"[])
      AND (n.nspname = %(schema)s::name OR %(schema)s::name IS NULL AND n.nspname = ANY (s.names::name[]))
    ORDER BY array_position(s.names, n.nspname::text)
    LIMIT 1
"""


@dataclass(frozen=True, slots=True)
class Table:
    """A table: its name as SQL, and its columns with the names of their types."""

    name: sql.Composable
    columns: Mapping[str, str]


@contextmanager
def connected(dsn: str) -> Iterator[psycopg.Connection[tuple[Any, ...]]]:
    """Connect for reading only; everything that is read is as it was at the first query.

    Raises:
        PgrecallError: What psycopg raises in the block, translated.
    """
    try:
        with open_connection(psycopg.Connection, dsn, autocommit=False, row_factory=tuple_row) as connection:
            connection.read_only = True
            connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
            # The search_path names schemas where others may have made operators and functions: tables are
            # looked for there, and nothing else.
            connection.execute(
                "SELECT pg_catalog.set_config('pgrecall_import.schemas', "
                "pg_catalog.array_to_string(pg_catalog.current_schemas(false), '/'), false), "
                "pg_catalog.set_config('search_path', 'pg_catalog', false)"
            )
            yield connection
    except psycopg.Error as error:
        raise error_from(error) from error


def find_table(connection: psycopg.Connection[tuple[Any, ...]], name: str) -> Table | None:
    """Find a table or a view by its name, which may say its schema; None if there is none.

    Args:
        connection: To its database.
        name: As SQL writes it, or as it is.
    """
    for schema, plain in ((None, name), *_split(name)):
        found = connection.execute(_RELATION, {"name": plain, "schema": schema}).fetchone()
        if found is None:
            continue
        oid, schema, plain, is_run, owner = found
        if is_run:
            raise InvalidInput(
                f"{name!r} is a view or a foreign table of {owner}, or has a type with a cast of its own: "
                "reading it runs what its owner wrote",
                hint="Copy it into a table as somebody with few rights: CREATE TABLE copied AS SELECT … .",
            )
        columns = {str(column): str(kind) for column, kind in connection.execute(_COLUMNS, (oid,))}
        return Table(sql.Identifier(schema, plain), columns)
    return None


def _split(name: str) -> list[tuple[str, str]]:
    schema, dot, plain = name.partition(".")
    return [(schema, plain)] if dot else []


def table_rows(
    connection: psycopg.Connection[tuple[Any, ...]],
    query: sql.Composable,
    parameters: Sequence[Any],
    read: Callable[[str, dict[str, Any], str | None], Row],
    cursor: str,
) -> Iterator[Row | Rejected]:
    """Read rows as objects of JSON.

    Args:
        connection: As `connected` gives it.
        query: Gives two columns, named record and vector: the row as json, and an embedding as text or NULL.
        parameters: The query's.
        read: Told the place, the record without what is NULL, and the embedding; makes the row.
        cursor: A name for the cursor.
    """
    # The server turns a row into JSON: a date that Python cannot hold, or infinity, costs that row and no
    # other. One that is too long does not leave the server.
    bounded = sql.SQL(
        "SELECT CASE WHEN octet_length(q.record::text) <= {most} THEN q.record::text END, q.vector "
        "FROM ({query}) q"
    ).format(most=sql.Literal(MAX_ROW_BYTES), query=query)
    with connection.cursor(cursor) as rows:
        rows.itersize = _ROWS_AT_ONCE
        # Without parameters a percent sign in a name is one.
        rows.execute(bounded, parameters if parameters else None)
        for number, (record, vector) in enumerate(rows, 1):
            place = f"row {number}"
            try:
                if record is None:
                    raise InvalidInput(f"it has more than {MAX_ROW_BYTES} bytes")
                there = json_object(record.encode())
                if isinstance(there.get("id"), int | str):
                    place = f"id {str(there['id'])[:80]}"
                yield read(place, there, vector)
            except PgrecallError as error:
                yield Rejected(place, error.message)


def check_dimension(
    connection: psycopg.Connection[tuple[Any, ...]], table: Table, column: str, dimension: int
) -> None:
    """Refuse embeddings that cannot be of the database's model; a single one tells.

    Raises:
        InvalidInput: They have another dimension.
    """
    found = connection.execute(
        sql.SQL("SELECT array_length(t.{0}::real[], 1) FROM {1} t WHERE t.{0} IS NOT NULL LIMIT 1").format(
            sql.Identifier(column), table.name
        )
    ).fetchone()
    if found is not None and found[0] != dimension:
        raise InvalidInput(
            f"the embeddings there have {found[0]} dimensions, those of the active model {dimension}",
            hint="Leave --same-model out: an embedder computes them again.",
        )


def usable(vector: str | None, dimension: int | None) -> str | None:
    """Return an embedding that can be stored; None for one of another dimension, or without a direction."""
    if vector is None or dimension is None or vector.count(",") + 1 != dimension:
        return None
    return vector if _NOT_ZERO.search(vector) else None


def row_count(
    connection: psycopg.Connection[tuple[Any, ...]], query: sql.Composable, parameters: Sequence[Any]
) -> int:
    """Count the rows of a query."""
    counted = connection.execute(
        sql.SQL("SELECT count(*) FROM ({}) q").format(query), parameters if parameters else None
    ).fetchone()
    return 0 if counted is None else int(counted[0])
