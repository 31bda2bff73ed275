"""What tells of roles, schemas and indexes bears that one of them is dropped while it reads.

A statement sees the catalog as of its snapshot; PostgreSQL looks names up in the catalog as it is now. A repeatable
read transaction whose snapshot is older than the drop makes that moment last.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg

if TYPE_CHECKING:
    from psycopg import Connection

READING = """
    SELECT p.oid::regproc::text FROM pg_proc p
    WHERE p.pronamespace = 'pgrecall'::regnamespace AND p.prokind = 'f' AND p.provolatile IN ('s', 'i')
      AND p.pronargs = p.pronargdefaults AND p.prorettype <> 'trigger'::regtype
    ORDER BY 1
"""


def test_a_role_a_schema_and_an_index_dropped_meanwhile(dsn: str, conn: Connection[Any]) -> None:
    name = f"dropped_{conn.info.backend_pid}"
    functions = [row[0] for row in conn.execute(READING)]
    assert {"pgrecall.health", "pgrecall.role_statements"} <= set(functions)
    statements = (
        f"CREATE ROLE {name} LOGIN",
        f"CREATE SCHEMA {name}",
        f"CREATE INDEX {name} ON pgrecall.memories (id)",
        f"GRANT CREATE ON SCHEMA pgrecall, {name} TO {name}",
        f"GRANT pgrecall_writer, pgrecall_embedder TO {name}",
        f"ALTER ROLE {name} SET hnsw.ef_search = 50",
        f"SELECT pgrecall.grant_namespace('{name}', 'default', 'write')",
    )
    for statement in statements:
        conn.execute(statement.encode())
    with psycopg.connect(dsn, autocommit=True) as reading:
        reading.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        seen = "SELECT count(*) FROM pg_roles r, pg_namespace n WHERE r.rolname = %s AND n.nspname = %s"
        assert reading.execute(seen, (name, name)).fetchone() == (1,)
        for statement in (
            f"DROP INDEX pgrecall.{name}",
            f"DROP SCHEMA {name}",
            f"DROP OWNED BY {name}",
            f"DROP ROLE {name}",
        ):
            conn.execute(statement.encode())
        assert reading.execute(seen, (name, name)).fetchone() == (1,)
        for function in functions:
            reading.execute(f"SELECT * FROM {function}()".encode()).fetchall()
