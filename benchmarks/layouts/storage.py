"""The databases of a run: a template, a clone of it for each layout and round; and how large things are."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from psycopg import sql
from psycopg.conninfo import make_conninfo
from psycopg.errors import InsufficientPrivilege

from benchmarks.layouts.prototypes import statement
from benchmarks.speed.storage import connect, create_database, drop_database
from pgrecall.install import migrate

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from psycopg import Connection

    from benchmarks.layouts.prototypes import Layout

__all__ = ["clone", "settle", "sizes", "table_sizes", "template", "write_out"]

_TEMPLATE = "bench_layouts"
_TABLES = """
SELECT c.oid::regclass::text FROM pg_class c
WHERE c.relkind = 'r' AND c.relnamespace::regnamespace::text IN ('pgrecall', 'layouts')
"""
_TRIGGERS = """
SELECT t.tgname FROM pg_trigger t
WHERE t.tgrelid = 'pgrecall.memories'::regclass AND t.tgfoid = 'pgrecall.memories_post'::regproc
"""


@contextmanager
def template(server: str, namespaces: Iterable[str], dimension: int) -> Iterator[tuple[str, str]]:
    """Make the database that the others are clones of; it is dropped at the end.

    It has no HNSW index, which would take nearly all of the time of an embedding's writing back.

    Args:
        server: Connection string of a role that may create databases.
        namespaces: Names of the namespaces it has.
        dimension: Of the embeddings.

    Yields:
        Its name and its connection string; nobody may be connected when a clone is made.
    """
    dsn = create_database(server, _TEMPLATE)
    try:
        migrate(dsn, dim=dimension)
        with connect(dsn) as connection:
            connection.execute("DROP INDEX pgrecall.memories_embedding_idx")
            for name in sorted(namespaces):
                connection.execute("SELECT pgrecall.create_namespace(%s)", (name,))
        yield _TEMPLATE, dsn
    finally:
        drop_database(server, _TEMPLATE)


@contextmanager
def clone(server: str, source: str, layout: Layout) -> Iterator[Connection[Any]]:
    """Make an empty database with a layout; it is dropped at the end.

    Autovacuum keeps away: it would come to one layout and not to the other.

    Args:
        server: Connection string of a role that may create databases.
        source: The template.
        layout: What is made in it.

    Yields:
        An autocommit connection to it.
    """
    name = f"{source}_{layout.name}"
    drop_database(server, name)
    with connect(server) as connection:
        connection.execute(
            sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(sql.Identifier(name), sql.Identifier(source))
        )
    try:
        with connect(make_conninfo(server, dbname=name)) as connection:
            if not layout.own:
                for (trigger,) in connection.execute(_TRIGGERS).fetchall():
                    connection.execute(
                        sql.SQL("ALTER TABLE pgrecall.memories DISABLE TRIGGER {}").format(
                            sql.Identifier(trigger)
                        )
                    )
            for file in layout.files:
                connection.execute(statement(file))
            for name_and_value in layout.settings or ():
                connection.execute("SELECT pgrecall.set_setting(%s, %s)", name_and_value)
            for (table,) in connection.execute(_TABLES).fetchall():
                connection.execute(f"ALTER TABLE {table} SET (autovacuum_enabled = false)".encode())
            yield connection
    finally:
        drop_database(server, name)


def write_out(connection: Connection[Any]) -> None:
    """Write out what earlier work left to write, so that the next one does not pay for it."""
    with suppress(InsufficientPrivilege):
        connection.execute("CHECKPOINT")


def settle(connection: Connection[Any], layout: Layout) -> None:
    """Do what would run in the background, until nothing is left to be done."""
    while layout.settle is not None:
        cursor = connection.execute(layout.settle.encode())
        row = cursor.fetchone() if cursor.description else None
        if row is None or not row[0]:
            break


def table_sizes(connection: Connection[Any], memories: int) -> dict[str, float]:
    """Return bytes a memory of the table (`heap`), its GIN index of words, its other indexes.

    `embedded_heap` is the table of the same memories with their embeddings, whose index is left out.
    """
    connection.execute(statement("embedded"))
    row = connection.execute(
        "SELECT pg_table_size('pgrecall.memories'), pg_relation_size('pgrecall.memories_search_vector_idx'), "
        "pg_indexes_size('pgrecall.memories') - pg_relation_size('pgrecall.memories_search_vector_idx'), "
        "pg_table_size('bench_embedded')"
    ).fetchone()
    connection.execute("DROP TABLE bench_embedded")
    assert row is not None  # noqa: S101
    names = ("heap", "gin", "other_indexes", "embedded_heap")
    return {name: round(size / memories, 1) for name, size in zip(names, row, strict=True)}


def sizes(
    connection: Connection[Any], layout: Layout, memories: int, table: Mapping[str, float]
) -> dict[str, Any]:
    """Return how large a layout is.

    Args:
        connection: To its database.
        layout: The layout.
        memories: How many memories there are.
        table: What `table_sizes` found.

    Returns:
        Bytes a memory: of each table and index (`parts`), `total`; how much larger it makes table and GIN
        index together, without embeddings (`growth`) and with them (`embedded_growth`).
    """
    rows = connection.execute(
        "SELECT t::regclass::text, pg_table_size(t::regclass) FROM unnest(%(tables)s::text[]) t "
        "UNION ALL "
        "SELECT i.indexrelid::regclass::text, pg_relation_size(i.indexrelid) "
        "FROM unnest(%(tables)s::text[]) t JOIN pg_index i ON i.indrelid = t::regclass ORDER BY 2 DESC, 1",
        {"tables": list(layout.tables)},
    ).fetchall()
    total = sum(size for _, size in rows) / memories
    return {
        "parts": {name: round(size / memories, 1) for name, size in rows},
        "total": round(total, 1),
        "growth": round(1 + total / (table["heap"] + table["gin"]), 3),
        "embedded_growth": round(1 + total / (table["embedded_heap"] + table["gin"]), 3),
    }
