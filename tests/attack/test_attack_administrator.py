"""What pgrecall_admin cannot forge, and what a restore without owners does not open."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg import sql

from pgrecall.admin.migrate import migrate
from support.declarations import declarations
from support.memories import stored
from support.roles import role

if TYPE_CHECKING:
    from psycopg import Connection

pytestmark = pytest.mark.rollback

DECIDES_OR_PROVES = {
    *(
        "alembic_version",
        "embedding_models",
        "entity_rules",
        "generations",
        "granted",
        "grants",
        "installation",
    ),
    *("erasures", "memory_changes", "retention", "settings", "graph_changes", "embedding_backgrounds"),
    *("pending_postings", "posting_states", "postings", "term_stats"),
}
"""What no declaration may open: names stand here so that a wrong one does not go through."""
WRITES = ["SELECT", "INSERT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER"][1:]
FORGERIES = [
    "UPDATE pgrecall.installation SET public_functions = '{mine(int4)}'",
    "UPDATE pgrecall.installation SET vector_schema = 'x'",
    "UPDATE pgrecall.alembic_version SET version_num = '0001'",
    "DELETE FROM pgrecall.alembic_version",
    "INSERT INTO pgrecall.erasures SELECT (jsonb_populate_record(NULL::pgrecall.erasures, '{}')).*",
    "DELETE FROM pgrecall.memory_changes",
    "UPDATE pgrecall.memory_changes SET changed_at = now()",
    "INSERT INTO pgrecall.generations (id, dimension, state) VALUES (7, 4, 'building')",
    "UPDATE pgrecall.generations SET id = 7",
    "DELETE FROM pgrecall.generations",
    "INSERT INTO pgrecall.grants (namespace_id, role, access) VALUES (1, 'pgrecall_reader', 'write')",
    "DELETE FROM pgrecall.granted",
    "INSERT INTO pgrecall.settings (name, value) VALUES ('profile:x', '{}')",
    "UPDATE pgrecall.embedding_models SET name = 'x'",
    "UPDATE pgrecall.namespaces SET name = 'x'",
    "DELETE FROM pgrecall.note_evidence",
    "DELETE FROM pgrecall.retention",
    "TRUNCATE pgrecall.postings",
    "UPDATE pgrecall.term_stats SET term = 'x'",
]


def test_no_role_but_the_owner_writes_what_decides_or_proves_something(conn: Connection[Any]) -> None:
    """Nobody but the roles of the functions has a privilege to write, except administrators on contents."""
    found = conn.execute(
        """
        SELECT g.rolname, c.relname, p.privilege
        FROM pg_class c CROSS JOIN unnest(%s::text[]) p (privilege) CROSS JOIN pg_roles g
        WHERE c.relnamespace = 'pgrecall'::regnamespace AND c.relkind IN ('r', 'v') AND g.rolname ^@ 'pgrecall_'
          AND NOT g.rolsuper AND g.rolname NOT IN ('pgrecall_gate', 'pgrecall_engine')
          AND (has_table_privilege(g.oid, c.oid, p.privilege)
               OR p.privilege IN ('INSERT', 'UPDATE') AND has_any_column_privilege(g.oid, c.oid, p.privilege))
        """,
        (WRITES,),
    ).fetchall()
    assert {name for name, _, _ in found} == {"pgrecall_admin"}
    # What docs/tenants.md says administrators change directly: what tenants and embedders change by functions.
    assert {table for _, table, _ in found} == {
        one.name for one in declarations(conn).values() if "UPDATE" in (one.written or "")
    }
    assert {privilege for _, _, privilege in found} == {"INSERT", "UPDATE", "DELETE"}
    assert not {table for _, table, _ in found} & DECIDES_OR_PROVES


def test_functions_for_tenants_write_nothing_that_decides_and_add_what_proves(conn: Connection[Any]) -> None:
    found = conn.execute(
        """
        SELECT c.relname, p.privilege FROM pg_class c CROSS JOIN unnest(%s::text[]) p (privilege)
        WHERE c.relnamespace = 'pgrecall'::regnamespace AND c.relname = ANY (%s)
          AND (has_table_privilege('pgrecall_gate', c.oid, p.privilege)
               OR p.privilege IN ('INSERT', 'UPDATE') AND has_any_column_privilege('pgrecall_gate', c.oid, p.privilege))
        """,
        (WRITES, sorted(DECIDES_OR_PROVES)),
    ).fetchall()
    assert set(found) == {("memory_changes", "INSERT"), ("memory_changes", "DELETE"), ("retention", "INSERT")}


@pytest.mark.parametrize("statement", FORGERIES)
def test_an_administrator_forges_nothing(conn: Connection[Any], statement: str) -> None:
    with role(conn, "pgrecall_admin"), pytest.raises(psycopg.errors.InsufficientPrivilege):
        conn.execute(statement.encode())


@pytest.mark.usefixtures("dsn")
def test_an_administrator_administers(conn: Connection[Any]) -> None:
    with role(conn, "pgrecall_admin"):
        for statement in (
            "SELECT pgrecall.create_namespace('acme')",
            "SELECT pgrecall.grant_namespace('pgrecall_reader', 'acme', 'read')",
            "SELECT pgrecall.revoke_namespace('pgrecall_reader', 'acme')",
            "SELECT pgrecall.revoke_lost_grants()",
            "SELECT pgrecall.rename_namespace('acme', 'emca')",
            "SELECT pgrecall.set_retention('emca', '1 year')",
            "SELECT pgrecall.set_secrets('emca', 'allow')",
            "SELECT pgrecall.set_entity_rules('PROJECT', '{apollo}')",
            "SELECT pgrecall.set_setting('rrf_k', '30')",
            "SELECT pgrecall.set_profile('mine', '{\"k\": 3}')",
            "SELECT pgrecall.activate_model('another', 384)",
            "SELECT remember('Priya drinks tea')",
            "CALL pgrecall.rebuild_all_postings()",
        ):
            conn.execute(statement.encode())
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            conn.execute("SELECT pgrecall.add_generation('x', 4)")


@pytest.mark.parametrize("tenant", ["pgrecall_reader", "pgrecall_writer", "pgrecall_embedder"])
def test_only_an_administrator_calls_its_functions(conn: Connection[Any], tenant: str) -> None:
    for call in (
        "pgrecall.revoke_lost_grants()",
        "pgrecall.set_setting('rrf_k', '1')",
        "pgrecall.grant_namespace('pgrecall_reader', 'default')",
        "pgrecall.switch_generation(1)",
        "pgrecall.set_retention('default', '1 day')",
        "_pgrecall.rebuild_postings(1)",
    ):
        with role(conn, tenant), pytest.raises(psycopg.errors.InsufficientPrivilege):
            conn.execute(f"SELECT {call}".encode())


def test_functions_of_another_owner_refuse_everybody(dsn: str, conn: Connection[Any]) -> None:
    """What `pg_restore --no-owner` by a superuser leaves: every function as it was, but another owner."""
    conn.execute("SELECT pgrecall.create_namespace('victim')")
    number = conn.execute("SELECT remember('the secret of the victim', namespace => 'victim')").fetchone()
    conn.execute("CREATE TABLE mine AS SELECT 1")
    functions = conn.execute(
        """
        SELECT p.oid::regprocedure::text, format('%I.%I', n.nspname, p.proname), p.prorettype = 'trigger'::regtype,
               ARRAY(SELECT format('NULL::%s', format_type(a.type, NULL)) FROM unnest(p.proargtypes) a (type))
        FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
        WHERE p.prosecdef AND n.nspname IN ('pgrecall', '_pgrecall', 'public')
        """
    ).fetchall()
    assert len(functions) > 100
    for signature, _, _, _ in functions:
        conn.execute(sql.SQL("ALTER FUNCTION {} OWNER TO CURRENT_USER").format(sql.SQL(signature)))
    conn.execute("GRANT pgrecall_reader TO pgrecall_embedder")
    try:
        answered = []
        for signature, name, is_trigger, arguments in functions:
            if is_trigger:
                continue
            for caller in (None, "pgrecall_embedder", "pgrecall_writer", "pgrecall_reader"):
                conn.execute(f"SET ROLE {caller or 'NONE'}".encode())
                try:
                    conn.execute(f"SELECT * FROM {name}({', '.join(arguments)})".encode())
                except psycopg.Error as error:
                    refused = {"55000"} if caller is None else {"55000", "42501"}
                    if error.sqlstate not in refused or (
                        error.sqlstate == "55000" and "migrate" not in str(error.diag.message_hint)
                    ):
                        answered.append((signature, caller, error.sqlstate, str(error)))
                else:
                    answered.append((signature, caller, None, ""))
                conn.execute("RESET ROLE")
        assert answered == []
        for statement in (
            "INSERT INTO pgrecall.mentions SELECT * FROM pgrecall.mentions",
            "UPDATE pgrecall.memories SET content = 'x'",
            "SELECT remember('x')",
            "SELECT * FROM recall('secret', namespace => 'victim')",
        ):
            with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState) as caught:
                conn.execute(statement.encode())
            assert "pgrecall migrate" in str(caught.value.diag.message_hint)
    finally:
        conn.execute("REVOKE pgrecall_reader FROM pgrecall_embedder")
    report = migrate(dsn)
    assert report.changed
    assert any("belonged to" in message for message in report.messages)
    assert stored(conn, (number or (0,))[0])["content"] == "the secret of the victim"
    assert conn.execute("SELECT count(*) FROM recall('secret', namespace => 'victim')").fetchone() == (1,)
    assert not migrate(dsn).changed
