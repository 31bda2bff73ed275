"""The first session of a new database: what it plans while the tables are empty serves the thousands that it adds."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from psycopg import Connection

MEMORIES = 300
# A statement that reads whole tables reads each memory a few times; one that does so for each memory, 150 times on average.
READ = """
    SELECT c.relname, pg_stat_get_xact_tuples_returned(c.oid) AS tuples FROM pg_class c
    WHERE c.relnamespace = 'pgrecall'::regnamespace AND c.relkind IN ('r', 'i')
      AND pg_stat_get_xact_tuples_returned(c.oid) > 20 * %s
"""


def test_a_migration_analyzes_no_empty_table(conn: Connection[Any]) -> None:
    """The planner expects ten pages of a table that it knows nothing of, and one of a table that was seen empty."""
    query = """
        SELECT c.relname FROM pg_class c
        WHERE c.relnamespace IN ('pgrecall'::regnamespace, '_pgrecall'::regnamespace) AND c.relkind = 'r' AND c.reltuples = 0
    """
    assert conn.execute(query).fetchall() == []


def test_many_memories_with_names_do_not_read_each_other(conn: Connection[Any]) -> None:
    memories = [
        {"content": f"note {place}", "external_id": f"key {place}", "tags": [f"tag {place}", "common"]}
        for place in range(MEMORIES)
    ]
    with conn.transaction():
        conn.execute("SELECT count(*) FROM remember_many(%s::jsonb)", [json.dumps(memories)])
        assert conn.execute(READ, [MEMORIES]).fetchall() == []


def test_single_memories_with_names_do_not_read_each_other(conn: Connection[Any]) -> None:
    with conn.transaction():
        for place in range(MEMORIES):
            conn.execute(
                "SELECT remember(%s, tags => %s)", [f"note {place}", [f"tag {place}", f"name {place}"]]
            )
        assert conn.execute(READ, [MEMORIES]).fetchall() == []
