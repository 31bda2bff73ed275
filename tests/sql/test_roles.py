"""Who may do what: reader, writer, embedder, admin, and everybody else."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest

from support.embedding_queue import jobs
from support.memories import call, contents, remember, rows, share, stored
from support.roles import denied

if TYPE_CHECKING:
    from collections.abc import Iterator

    from psycopg import Connection

pytestmark = pytest.mark.rollback

WORKER = UUID(int=1)
ROLES = ("pgrecall_reader", "pgrecall_writer", "pgrecall_embedder", "pgrecall_admin")


@contextmanager
def role(conn: Connection[Any], name: str) -> Iterator[None]:
    conn.execute(f"SET ROLE {name}")
    try:
        yield
    finally:
        conn.execute("RESET ROLE")


@pytest.fixture
def nobody(conn: Connection[Any]) -> Iterator[str]:
    """A role that is a member of nothing."""
    name = f"pgrecall_test_nobody_{conn.info.backend_pid}"
    conn.execute(f"CREATE ROLE {name}")
    yield name
    conn.execute(f"DROP OWNED BY {name}")
    conn.execute(f"DROP ROLE {name}")


def test_public_may_do_nothing(conn: Connection[Any], nobody: str) -> None:
    remember(conn)
    functions = conn.execute(
        """
        SELECT p.oid::regprocedure::text FROM pg_proc p
        WHERE p.pronamespace IN ('pgrecall'::regnamespace, '_pgrecall'::regnamespace) OR p.oid IN (
            SELECT unnest(i.public_functions)::regprocedure FROM pgrecall.installation i)
        """
    ).fetchall()
    tables = conn.execute("SELECT oid::regclass::text FROM pg_class WHERE relnamespace = 'pgrecall'::regnamespace AND relkind IN ('r', 'v')").fetchall()  # fmt: skip
    assert len(functions) > 50
    assert len(tables) > 12
    for (function,) in functions:
        query = "SELECT has_function_privilege(%s, %s, 'EXECUTE')"
        assert conn.execute(query, (nobody, function)).fetchone() == (False,), function
    for (table,) in tables:
        query = (
            "SELECT has_table_privilege(%s, %s, 'SELECT,INSERT,UPDATE,DELETE,TRUNCATE,REFERENCES,TRIGGER')"
        )
        assert conn.execute(query, (nobody, table)).fetchone() == (False,), table
    with role(conn, nobody):
        denied(
            conn,
            "SELECT * FROM recall('x')",
            "SELECT * FROM recall_status()",
            "SELECT remember('x')",
            "SELECT remember_many('[]')",
            "SELECT update_memory(1, content => 'x')",
            "SELECT supersede(1, 'x')",
            "SELECT forget(1)",
            "SELECT count(*) FROM pgrecall.memories",
            "SELECT pgrecall.set_setting('rrf_k', '1')",
            "SELECT * FROM pgrecall.settings_in_force",
        )


def test_reader_recalls_and_writes_nothing(conn: Connection[Any]) -> None:
    number = remember(conn, "a yellow submarine", tags=["boat"])
    share(conn)
    before = contents(conn)
    with role(conn, "pgrecall_reader"):
        vector = str([1.0] * 384)
        conn.execute("SET default_transaction_read_only = on")
        assert [row[0] for row in rows(conn, "recall", "yellow submarine", vector)] == [number]
        assert len(rows(conn, "recall_status")) == 1
        assert len(rows(conn, "pgrecall.health")) > 5
        assert len(rows(conn, "pgrecall.active_model")) == 1
        assert len(conn.execute("SELECT * FROM pgrecall.settings_in_force").fetchall()) > 10
        conn.execute("RESET default_transaction_read_only")
        denied(
            conn,
            "SELECT * FROM pgrecall.recall_plan('yellow submarine')",
            "SELECT * FROM pgrecall.memories",
            "SELECT remember('x')",
            "SELECT remember_many('[]')",
            f"SELECT update_memory({number}, content => 'x')",
            f"SELECT supersede({number}, 'x')",
            f"SELECT forget({number})",
            "SELECT pgrecall.create_namespace('x')",
            "SELECT pgrecall.set_setting('rrf_k', '1')",
            "SELECT pgrecall.activate_model('x', 384)",
            "SELECT * FROM pgrecall.claim(gen_random_uuid())",
            "UPDATE pgrecall.memories SET content = 'x'",
            "DELETE FROM pgrecall.memories",
            "INSERT INTO pgrecall.settings VALUES ('rrf_k', '1')",
        )
    assert contents(conn) == before


def test_writer_does_everything_public(conn: Connection[Any], nobody: str) -> None:
    conn.execute(f"GRANT pgrecall_writer, pgrecall_everywhere TO {nobody}")
    with role(conn, nobody):
        one = remember(
            conn,
            "one",
            tags=["ann", "bob"],
            expanded_keywords=["cem"],
            namespace="new",
            create_namespace=True,
        )
        two = remember(conn, "two", tags=["ann"], external_id="e")
        assert remember(conn, "three", tags=["dan"], external_id="e", on_conflict="update") == two
        assert call(conn, "update_memory", one, tags=["dan"], content="changed", language="german")
        assert call(conn, "update_memory", one, is_sensitive=True)
        new = call(conn, "supersede", two, "four")
        assert call(conn, "supersede", new, successor=remember(conn, "five")) > new
        assert call(conn, "forget", one)
        assert len(rows(conn, "recall", "five", None, 10, "default")) == 1
        denied(
            conn,
            "SELECT pgrecall.set_setting('rrf_k', '1')",
            "SELECT pgrecall.activate_model('x', 384)",
            "SELECT * FROM pgrecall.claim(gen_random_uuid())",
            "DELETE FROM pgrecall.memories",
            "TRUNCATE pgrecall.memories CASCADE",
            "INSERT INTO pgrecall.settings VALUES ('rrf_k', '1')",
            "UPDATE pgrecall.embedding_models SET name = 'x'",
            "ALTER TABLE pgrecall.memories DISABLE TRIGGER ALL",
        )


def test_writer_clears_the_queue_of_what_became_secret(conn: Connection[Any]) -> None:
    number = remember(conn)
    rows(conn, "pgrecall.claim", WORKER)
    share(conn)
    with role(conn, "pgrecall_writer"):
        call(conn, "update_memory", number, is_sensitive=True)
    assert jobs(conn) == []


def test_embedder_runs_the_whole_cycle(conn: Connection[Any]) -> None:
    good, bad = remember(conn, "good", title="title", tags=["ann"]), remember(conn, "bad")
    remember(conn, "secret", is_sensitive=True)
    with role(conn, "pgrecall_embedder"):
        assert call(conn, "pgrecall.bundle_hash") == call(conn, "pgrecall.bundle_hash")
        assert call(conn, "pgrecall.embedding_dimension") == 384
        assert len(rows(conn, "pgrecall.active_model")) == 1
        conn.execute("SELECT pgrecall.heartbeat(%s, 'host', 1, 'bundle', 'model', 0)", (WORKER,))
        assert call(conn, "pgrecall.release", WORKER) == 0
        (one, other) = rows(conn, "pgrecall.claim", WORKER)
        assert (one[0], other[0], other[2:4]) == (bad, good, ("title\ngood", False))
        conn.execute("SELECT pgrecall.fail(%s, %s, 'bad')", (WORKER, bad))
        vectors = [str([1.0] * 384)]
        assert call(conn, "pgrecall.complete_claimed", WORKER, [good], [other[4]], [other[1]], vectors) == 1
        conn.execute("SELECT pgrecall.heartbeat(%s, 'host', 1, 'bundle', 'model', 1)", (WORKER,))
        conn.execute("SELECT pgrecall.retire(%s)", (WORKER,))
        conn.execute("LISTEN pgrecall_embed")
        conn.execute("UNLISTEN pgrecall_embed")
    assert stored(conn, good)["embedding"] is not None
    assert contents(conn)["workers"] == []


def test_embedder_sees_no_sensitive_memory(conn: Connection[Any]) -> None:
    open_, secret = remember(conn, "open"), remember(conn, "canary", is_sensitive=True)
    with role(conn, "pgrecall_embedder"):
        denied(conn, "SELECT id FROM pgrecall.memories", "UPDATE pgrecall.memories SET embedding = NULL")
        (claimed,) = rows(conn, "pgrecall.claim", WORKER)
        assert claimed[0] == open_
        proofs = ([claimed[4]] * 2, [claimed[1], b""], [str([1.0] * 384)] * 2)
        assert call(conn, "pgrecall.complete_claimed", WORKER, [open_, secret], *proofs) == 1
    # A memory in the queue that becomes secret is gone for the embedder at once.
    late = remember(conn, "late")
    with role(conn, "pgrecall_embedder"):
        assert [row[0] for row in rows(conn, "pgrecall.claim", WORKER)] == [late]
    call(conn, "update_memory", late, is_sensitive=True)
    with role(conn, "pgrecall_embedder"):
        assert rows(conn, "pgrecall.claim", WORKER) == []
    assert jobs(conn) == []


def test_embedder_reads_and_changes_only_by_its_functions(conn: Connection[Any]) -> None:
    remember(conn, "open", tags=["tag"], metadata={"a": 1})
    tables = [
        name
        for (name,) in conn.execute(
            "SELECT relname FROM pg_class WHERE relnamespace = 'pgrecall'::regnamespace AND relkind = 'r'"
        ).fetchall()
    ]
    setup = {"alembic_version", "embedding_models", "generations", "installation", "settings"}
    with role(conn, "pgrecall_embedder"):
        for table in tables:
            if table not in setup:
                denied(conn, f"SELECT FROM pgrecall.{table}")
            denied(conn, f"DELETE FROM pgrecall.{table}", f"INSERT INTO pgrecall.{table} DEFAULT VALUES")
        denied(
            conn,
            "SELECT remember('x')",
            "SELECT * FROM recall('x')",
            "SELECT forget(1)",
            "SELECT pgrecall.set_setting('rrf_k', '1')",
            "SELECT pgrecall.activate_model('x', 384)",
            "SELECT nextval('pgrecall.memories_id_seq')",
        )


def test_only_admin_and_owner_change_settings(conn: Connection[Any]) -> None:
    for name in ROLES[:3]:
        with role(conn, name):
            denied(conn, "SELECT pgrecall.set_setting('rrf_k', '1')", "DELETE FROM pgrecall.settings")
    with role(conn, "pgrecall_admin"):
        conn.execute("SELECT pgrecall.set_setting('rrf_k', '30')")
        conn.execute("SELECT pgrecall.set_setting('embed_keywords', 'on')")
        call(conn, "pgrecall.activate_model", "another", 384)
        number = remember(conn, "x", tags=["ann"])
        rows(conn, "pgrecall.claim", WORKER)
        assert (
            call(
                conn,
                "pgrecall.complete",
                WORKER,
                [number],
                [stored(conn, number)["content_hash"]],
                [str([1.0] * 384)],
            )
            == 1
        )
        assert call(conn, "forget", number)
        denied(
            conn, "DROP TABLE pgrecall.memories", "ALTER TABLE pgrecall.memories DISABLE ROW LEVEL SECURITY"
        )


def test_a_member_works_through_its_roles(conn: Connection[Any], nobody: str) -> None:
    conn.execute(f"GRANT pgrecall_writer TO {nobody}")
    share(conn)
    with role(conn, nobody):
        remember(conn, "x", tags=["ann"], is_sensitive=True)
        assert len(rows(conn, "recall", "x")) == 1


@pytest.mark.parametrize("name", ["pgrecall_reader", "pgrecall_writer", "pgrecall_embedder"])
def test_what_runs_as_its_caller_calls_nothing_that_its_caller_may_not(
    conn: Connection[Any], name: str
) -> None:
    """A body of text is resolved when it runs, and then needs the schema as well."""
    query = """
        WITH granted AS (
            SELECT p.oid::regprocedure::text AS name, p.prosrc, 'pg_proc'::regclass AS kind, p.oid
            FROM pg_proc p
            WHERE NOT p.prosecdef AND has_function_privilege(%(role)s, p.oid, 'EXECUTE')
              AND (p.pronamespace = 'pgrecall'::regnamespace OR p.oid IN (
                  SELECT unnest(i.public_functions)::regprocedure FROM pgrecall.installation i))
            UNION ALL
            SELECT c.oid::regclass::text, '', 'pg_rewrite'::regclass, r.oid
            FROM pg_class c JOIN pg_rewrite r ON r.ev_class = c.oid
            WHERE c.relnamespace = 'pgrecall'::regnamespace AND has_table_privilege(%(role)s, c.oid, 'SELECT')
        )
        SELECT (SELECT count(*) FROM granted), ARRAY(
            SELECT g.name || ': ' || d.refobjid::regprocedure
            FROM granted g
            JOIN pg_depend d ON d.classid = g.kind AND d.objid = g.oid AND d.refclassid = 'pg_proc'::regclass
            WHERE NOT has_function_privilege(%(role)s, d.refobjid, 'EXECUTE')
            UNION ALL
            SELECT g.name || ': ' || (regexp_match(g.prosrc, '_pgrecall\\.\\w+'))[1] FROM granted g
            WHERE g.prosrc ~ '_pgrecall\\.'
        )
    """
    [(checked, refused)] = conn.execute(query, {"role": name}).fetchall()
    assert checked > 10
    assert refused == []
