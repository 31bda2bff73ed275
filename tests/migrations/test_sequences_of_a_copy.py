"""What logical replication needs of the tables, and what it does not copy: the sequences, which a migration advances."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg
import pytest

from pgrecall.admin.migrate import migrate
from support.backup import fill
from support.memories import scalar
from support.migrating import run
from support.operations import health

if TYPE_CHECKING:
    from collections.abc import Callable

SEQUENCES = (
    "SELECT relname FROM pg_class WHERE relnamespace = 'pgrecall'::regnamespace AND relkind = 'S' ORDER BY 1"
)


@pytest.mark.pg15
def test_each_table_has_what_a_publication_knows_its_rows_by(new_database: Callable[..., str]) -> None:
    """Else a publication for all tables, of whatever application, refuses updates and deletes."""
    dsn = new_database()
    fill(dsn)
    run(dsn, "CREATE PUBLICATION theirs FOR ALL TABLES")
    assert (
        run(
            dsn,
            """
            SELECT c.relname
            FROM pg_class c JOIN pg_publication_tables p ON p.tablename = c.relname AND p.schemaname = 'pgrecall'
            WHERE c.relnamespace = 'pgrecall'::regnamespace AND c.relreplident <> 'f' AND NOT EXISTS (
                SELECT FROM pg_index i
                WHERE i.indrelid = c.oid AND CASE c.relreplident WHEN 'd' THEN i.indisprimary ELSE i.indisreplident END
            )
            """,
        )
        == []
    )
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("SELECT pgrecall.flush_pending_postings(1)")
        conn.execute("SET pgrecall.namespace = 'lea'")
        for keep in ("3 days", "9 days"):
            conn.execute("SELECT pgrecall.set_retention('lea', %s)", (keep,))
            conn.execute("SELECT pgrecall.set_entity_rules('BOAT', ARRAY[%s], namespace => 'lea')", (keep,))
        changed = scalar(conn, "SELECT min(id) FROM list_memories()")
        conn.execute("SELECT update_memory(%s, content => 'Lea trinkt Kaffee')", (changed,))
        conn.execute("SELECT FROM erase(%s)", (changed + 1,))
        conn.execute("SELECT pgrecall.flush_pending_postings(1)")
        conn.execute("CALL pgrecall.rebuild_all_postings()")


@pytest.mark.pg15
def test_a_migration_advances_sequences_that_are_behind(new_database: Callable[..., str]) -> None:
    dsn = new_database()
    fill(dsn)
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("SET pgrecall.namespace = 'lea'")
        highest = scalar(conn, "SELECT remember('Lea paddelt nach Süden')")
        conn.execute("SELECT FROM erase(%s)", (highest,))
        conn.execute("SELECT pgrecall.flush_pending_postings(1)")
        sequences = [row[0] for row in conn.execute(SEQUENCES)]
        before = {
            name: scalar(conn, f"SELECT pg_sequence_last_value('pgrecall.{name}')") for name in sequences
        }
        assert not migrate(dsn).changed
        for name in sequences:
            conn.execute(f"ALTER SEQUENCE pgrecall.{name} RESTART".encode())
        assert health(conn)["ids"] == ("fail", "pgrecall migrate")
        done = migrate(dsn)
        assert health(conn)["ids"] == ("ok", None)
        assert done.changed
        assert "repaired: memories_id_seq was behind its table" in done.messages
        assert "repaired: generation_numbers was behind its table" in done.messages
        assert "repaired: postings_block_seq was behind its table" in done.messages
        after = {
            name: scalar(conn, f"SELECT pg_sequence_last_value('pgrecall.{name}')") for name in sequences
        }
        assert {name for name in sequences if after[name] is None and before[name] is not None} <= {
            "query_embeddings_id_seq"  # of an unlogged table
        }
        assert after["memories_id_seq"] == highest
        assert (
            scalar(conn, "SELECT remember('Lea segelt', create_namespace => true, namespace => 'new')")
            == highest + 1
        )
        assert not migrate(dsn).changed


@pytest.mark.pg15
def test_ids_from_other_ranges_move_no_sequence(new_database: Callable[..., str]) -> None:
    """A shard numbers in a range of its own, whatever has moved to it."""
    dsn = new_database()
    fill(dsn)
    run(dsn, "ALTER SEQUENCE pgrecall.memories_id_seq MAXVALUE 1000")
    run(
        dsn,
        "SET session_replication_role = replica; UPDATE pgrecall.memories SET id = 5000 WHERE id = (SELECT max(id) FROM pgrecall.memories)",
    )
    before = run(dsn, "SELECT last_value FROM pgrecall.memories_id_seq")
    assert not migrate(dsn).changed
    assert run(dsn, "SELECT last_value FROM pgrecall.memories_id_seq") == before
