"""Collections of langchain-postgres: the two tables of PGVector, or the one of PGVectorStore."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from psycopg import sql

from pgrecall.errors import InvalidInput
from pgrecall.models import NewMemory

from .fields import mapping, name, sensitive
from .postgres import Table, check_dimension, connected, find_table, row_count, table_rows, usable
from .rows import Row, Source

if TYPE_CHECKING:
    from collections.abc import Iterator

    import psycopg

__all__ = ["langchain_source"]

_NONE: Any = None
"""The content of a record that has none: what checks it says so."""

_ONE_TABLE = {"langchain_id", "content", "embedding"}


@dataclass(frozen=True, slots=True)
class _Form:
    """How a collection is stored: its table, a row of it as JSON, and what else the query says."""

    table: Table
    record: sql.Composable
    rest: sql.Composable
    parameters: tuple[Any, ...]
    description: str


@contextmanager
def langchain_source(dsn: str, collection: str, *, dimension: int | None = None) -> Iterator[Source]:
    """Open a collection as it is now.

    Args:
        dsn: Its database.
        collection: Its name in langchain_pg_collection or, for the newer form, the table.
        dimension: That of the active model, if its embeddings are to be taken over.

    Raises:
        InvalidInput: There is no such collection, or there are two.
    """
    with connected(dsn) as connection:
        both = [
            found
            for found in (_of_two_tables(connection, collection), _of_one_table(connection, collection))
            if found is not None
        ]
        if len(both) != 1:
            raise InvalidInput(
                f"there is no collection {collection!r} of langchain"
                if not both
                else f"{collection!r} names both a collection and a table",
                hint="Name a collection of langchain_pg_collection, or a table with its schema.",
            )
        form = both[0]
        if dimension is not None:
            check_dimension(connection, form.table, "embedding", dimension)
        query = sql.SQL("SELECT {} AS record, {} AS vector FROM {} t {}").format(
            form.record,
            sql.SQL("t.embedding::text" if dimension is not None else "NULL::text"),
            form.table.name,
            form.rest,
        )

        def read(place: str, record: dict[str, Any], vector: str | None) -> Row:
            return _row(place, record, usable(vector, dimension))

        yield Source(
            "langchain",
            (form.description, "metadata goes to the metadata"),
            row_count(connection, query, form.parameters),
            lambda: table_rows(connection, query, form.parameters, read, "pgrecall_import"),
        )


def _of_two_tables(connection: psycopg.Connection[tuple[Any, ...]], collection: str) -> _Form | None:
    table = find_table(connection, "langchain_pg_embedding")
    collections = find_table(connection, "langchain_pg_collection")
    if table is None or collections is None:
        return None
    named = connection.execute(
        sql.SQL("SELECT c.uuid FROM {} c WHERE c.name::text = %s::text").format(collections.name),
        (collection,),
    ).fetchone()
    if named is None:
        return None
    # Until langchain-postgres the key was uuid, and custom_id what the caller had given.
    key = "id" if "id" in table.columns else "uuid"
    record = sql.SQL("json_build_object('id', t.{}, 'content', t.document, 'metadata', t.cmetadata)").format(
        sql.Identifier(key)
    )
    return _Form(
        table,
        record,
        sql.SQL("WHERE t.collection_id = %s ORDER BY t.{}").format(sql.Identifier(key)),
        named,
        "a collection of langchain_pg_embedding",
    )


def _of_one_table(connection: psycopg.Connection[tuple[Any, ...]], collection: str) -> _Form | None:
    table: Table | None = find_table(connection, collection)
    if table is None or not table.columns.keys() >= _ONE_TABLE:
        return None
    # Columns of their own for metadata are optional; what is made from the others stays behind.
    others = [
        column
        for column, kind in table.columns.items()
        if column not in {*_ONE_TABLE, "langchain_metadata"} and kind not in {"tsvector", "vector"}
    ]
    pairs = sql.SQL(", ").join(
        [sql.SQL("{}, t.{}").format(sql.Literal(column), sql.Identifier(column)) for column in others]
    )
    record = sql.SQL(
        "json_build_object('id', t.langchain_id, 'content', t.content, 'columns', json_build_object({}), "
        "'metadata', {})"
    ).format(
        pairs, sql.SQL("t.langchain_metadata" if "langchain_metadata" in table.columns else "NULL::json")
    )
    description = "a table of PGVectorStore" + (f", with columns {', '.join(others)}" if others else "")
    return _Form(table, record, sql.SQL("ORDER BY t.langchain_id"), (), description)


def _row(place: str, record: dict[str, Any], vector: str | None) -> Row:
    columns = {key: value for key, value in record.get("columns", {}).items() if value is not None}
    metadata = mapping("metadata", record.get("metadata", {}))
    flags = [sensitive(columns), sensitive(metadata)]
    return Row(
        place=place,
        id=name("id", record["id"]),
        memory=NewMemory(
            is_sensitive=any(flags),
            content=record.get("content", _NONE),
            metadata=columns | metadata,
        ),
        embedding=vector,
    )
