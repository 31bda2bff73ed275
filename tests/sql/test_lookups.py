"""Lookups of functions that row-level security binds go through indexes, however many rows other tenants have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg import sql
from psycopg.types.json import Jsonb

from support.extraction import claimed, complete, fact, mention

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from psycopg import Connection

ROWS = 6000
NAMESPACES = 3000
TABLES = ("concept_aliases", "concepts", "memories", "mentions", "namespaces")

# Each makes many rows whose names no call below asks for.
FILL = f"""
INSERT INTO pgrecall.namespaces (name, language) SELECT 'home ' || i, 'english' FROM generate_series(1, {NAMESPACES}) i;
SELECT remember_many(jsonb_agg(jsonb_build_object(
    'content', 'line ' || i, 'external_id', 'e' || i, 'tags', jsonb_build_array('Tag ' || i), 'namespace', 'home 1'
))) FROM generate_series(1, {ROWS}) i;
GRANT pgrecall_writer TO tenant;
SELECT pgrecall.grant_namespace('tenant', 'home 1', 'write');
"""

CALLS: list[tuple[str, Any]] = [
    ("SELECT * FROM recall('what about Tag 17 and Tag 18', namespace => 'home 1')", []),
    (
        "SELECT * FROM recall_facts('who is it', concepts => ARRAY['Tag 17', 'Tag 18'], namespace => 'home 1')",
        [],
    ),
    ("SELECT * FROM recall_facts('Tag 17 and Tag 18', namespace => 'home 1')", []),
    ("SELECT remember('another line', tags => ARRAY['Tag 17'], namespace => 'home 1')", []),
    (
        "SELECT remember_many(%s, on_conflict => 'update')",
        [Jsonb([{"content": "line 5, changed", "external_id": "e5", "namespace": "home 1"}])],
    ),
    (
        "SELECT * FROM pgrecall.preview_import_rows(%s, namespace => 'home 1')",
        [Jsonb([{"memory": {"content": "line 6", "external_id": "e6"}, "import": {"fingerprint": "x"}}])],
    ),
]


@pytest.fixture(scope="module")
def filled(new_database: Callable[..., str], template: str) -> Iterator[str]:
    """A database with many memories, concepts and namespaces, and their statistics."""
    dsn = new_database(template)
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("DO $$ BEGIN CREATE ROLE tenant; EXCEPTION WHEN duplicate_object THEN NULL; END $$")
        conn.execute(FILL.encode())
        conn.execute("VACUUM ANALYZE")
    yield dsn
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("DROP OWNED BY tenant")


def read_through(conn: Connection[Any], role: str, statement: str, values: list[Any]) -> dict[str, int]:
    """The tables that a statement reads from end to end, each with how often."""
    with conn.transaction(force_rollback=True):
        conn.execute(sql.SQL("SET LOCAL ROLE {}").format(sql.Identifier(role)))
        conn.execute(statement.encode(), values)
        conn.execute("RESET ROLE")
        return dict(
            conn.execute(
                "SELECT relname, seq_scan FROM pg_stat_xact_user_tables "
                "WHERE schemaname = 'pgrecall' AND relname = ANY (%s) AND seq_scan > 0",
                [list(TABLES)],
            ).fetchall()
        )


@pytest.mark.parametrize(("statement", "values"), CALLS, ids=[call[0][:60] for call in CALLS])
def test_a_tenant_reads_no_table_from_end_to_end(filled: str, statement: str, values: list[Any]) -> None:
    with psycopg.connect(filled, autocommit=True) as conn:
        for _ in range(2):  # the second call may have other plans
            assert read_through(conn, "tenant", statement, values) == {}


def test_an_embedder_reads_no_table_from_end_to_end(filled: str) -> None:
    with psycopg.connect(filled, autocommit=True) as conn:
        conn.execute("SET ROLE pgrecall_embedder")
        leased = claimed(conn, batch=4)
        conn.execute("RESET ROLE")
        facts = [fact("Ana", "works at", "Acme"), fact("Acme", "is in", "Goa")]
        names = [mention("Ana"), mention("Acme"), mention("Goa")]
        with conn.transaction(force_rollback=True):
            conn.execute("SET LOCAL ROLE pgrecall_embedder")
            read = [
                {"memory_id": row[0], "ticket": row[1], "mentions": names, "facts": facts} for row in leased
            ]
            assert complete(conn, read) == 4
            conn.execute("RESET ROLE")
            scans = conn.execute(
                "SELECT relname, seq_scan FROM pg_stat_xact_user_tables "
                "WHERE schemaname = 'pgrecall' AND relname IN ('concept_aliases', 'namespaces') AND seq_scan > 0"
            ).fetchall()
        assert scans == []
