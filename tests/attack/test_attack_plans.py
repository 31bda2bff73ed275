"""Attacks by way of the planner and the executor: what it estimates, what it shows, what it keeps.

A tenant plans nothing over a table with rows of others, so that no estimate, no counted row and no error is about one. What
the functions run as pgrecall_gate must not see a row before the policy has let it through either.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from support.attack import CANARY, LIBRARY, OWN, VICTIM, inside, outcome, tenants
from support.memories import remember, scalar

if TYPE_CHECKING:
    from collections.abc import Iterator

    from psycopg import Connection

    from support.attack import Tenants

__all__ = ["tenants"]

# Tables whose rows hold what tenants write, by a namespace of their own.
KEPT_APART = """
    SELECT c.relname, a.attname, format_type(a.atttypid, NULL) FROM pg_class c
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    WHERE c.relnamespace = 'pgrecall'::regnamespace AND c.relkind = 'r' AND a.atttypid IN ('text'::regtype, 'bytea'::regtype)
      AND EXISTS (SELECT FROM pg_attribute n WHERE n.attrelid = c.oid AND n.attname = 'namespace_id')
      AND c.relname NOT IN ('grants', 'entity_rules')
    ORDER BY 1, 2
"""
# Says which way of reading something was done, never what.
KINDS = {
    ("extractions", "enricher"), ("grants", "access"), ("jobs", "kind"), ("learned_settings", "end_reason"), ("mentions", "source"),
    ("temporal_refs", "granularity"), ("temporal_refs", "source"),
}  # fmt: skip


@pytest.fixture
def attacker(tenants: Tenants) -> Iterator[Connection[Any]]:
    with tenants.attacker() as connection:
        yield connection


@pytest.fixture(scope="module")
def crowded(tenants: Tenants) -> Tenants:
    """The victim's values are the most common ones, and the statistics are fresh."""
    with tenants.owner() as owner:
        for number in range(300):
            remember(
                owner, f"One more quokka {number % 5}", title="quokka title", category="quokka category", source="quokka source",
                session="quokka session", speaker="quokka speaker", tags=["quokka tag"], namespace=VICTIM,
                external_id=f"quokka-crowd-{number}",
            )  # fmt: skip
        scalar(owner, "SELECT pgrecall.flush_pending_postings()")
        owner.execute("ANALYZE")
    return tenants


def plan(conn: Connection[Any], query: str, options: str = "") -> dict[str, Any]:
    (found,) = conn.execute(f"EXPLAIN (FORMAT JSON{options}) {query}".encode()).fetchone() or (None,)
    return dict((found if isinstance(found, list) else json.loads(str(found)))[0]["Plan"])


# --- What is estimated ---


def test_no_statistics_are_kept_of_what_tenants_write(crowded: Tenants) -> None:
    query = """
        SELECT c.relname, a.attname FROM pg_statistic s
        JOIN pg_class c ON c.oid = s.starelid AND c.relnamespace = 'pgrecall'::regnamespace
        JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = s.staattnum
        JOIN pg_class t ON t.oid = c.oid
        WHERE a.atttypid IN ('text'::regtype, 'bytea'::regtype)
          AND (EXISTS (SELECT FROM pg_attribute n WHERE n.attrelid = c.oid AND n.attname IN ('namespace_id', 'memory_id'))
               OR c.relname IN ('namespaces', 'query_embeddings'))
    """
    with crowded.owner() as owner:
        assert {(table, column) for table, column in owner.execute(query)} <= KINDS


def test_nothing_is_planned_over_rows_of_others(crowded: Tenants, attacker: Connection[Any]) -> None:
    """Neither estimates nor what EXPLAIN ANALYZE counts can tell of them."""
    with crowded.owner() as owner:
        tables = owner.execute(KEPT_APART).fetchall()
    assert len(tables) > 30
    for table, column, kind in tables:
        literal = "'\\x00'::bytea" if kind == "bytea" else "'m'"
        for options in ("", "(ANALYZE, BUFFERS OFF)", "(GENERIC_PLAN)"):
            explained = f'EXPLAIN {options} SELECT FROM pgrecall.{table} WHERE "{column}" < {literal}'
            assert outcome(attacker, explained).startswith(("42501", "42601")), explained


def test_statistics_are_hidden(crowded: Tenants, attacker: Connection[Any]) -> None:
    for view in ("pg_stats", "pg_stats_ext", "pg_stats_ext_exprs"):
        assert (
            attacker.execute(f"SELECT * FROM {view} WHERE schemaname = 'pgrecall'".encode()).fetchall() == []
        )
    for table in ("pg_statistic", "pg_statistic_ext_data"):
        with pytest.raises(psycopg.errors.InsufficientPrivilege), attacker.transaction():
            attacker.execute(f"SELECT * FROM {table}".encode())


# --- What is shown ---


def test_plans_of_recall_show_nothing_of_others(crowded: Tenants, attacker: Connection[Any]) -> None:
    for query in (
        "SELECT * FROM public.recall('a plan', namespace => 'evil')",
        "SELECT * FROM public.recall('a plan', namespace => 'acme')",
        "SELECT * FROM pgrecall.export_memories('evil')",
        "SELECT * FROM pgrecall.list_concepts('evil')",
    ):
        told = outcome(attacker, f"EXPLAIN (ANALYZE, VERBOSE, SETTINGS, BUFFERS, FORMAT JSON) {query}")
        assert CANARY not in told.lower(), query
    told = outcome(attacker, f"SELECT * FROM pgrecall.recall_plan('kept plan', namespace => '{VICTIM}')")
    assert told.startswith("42501")


# Values of variables stand in a plan as bytes.
_CONSTANT = re.compile(r":constvalue \d+ \[ ([-\d ]+) \]")


def printed(conn: Connection[Any], statement: str) -> bytes:
    """The constants in all that the server sends of a statement, when the session has everything printed."""
    told: list[str] = []

    def note(diagnostic: psycopg.errors.Diagnostic) -> None:
        told.append(f"{diagnostic.message_primary} {diagnostic.message_detail}")

    conn.add_notice_handler(note)
    conn.execute(
        "SELECT set_config(s.name, 'on', true) FROM pg_settings s WHERE s.name LIKE 'debug!_print!_%' ESCAPE '!'"
    )
    conn.execute("SET LOCAL client_min_messages = log")
    conn.execute(statement.encode())
    conn.execute("RESET client_min_messages")
    conn.remove_notice_handler(note)
    found = _CONSTANT.findall(re.sub(r"\s+", " ", " ".join(told)))
    return b"|".join(bytes(int(byte) & 255 for byte in re.findall(r"-?\d+", constant)) for constant in found)


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * FROM pgrecall.expire_memories()",
        "SELECT pgrecall.flush_pending_postings(1)",
        "SELECT pgrecall.compact_postings()",
        "SELECT pgrecall.refresh_pages()",
    ],
)
def test_the_plans_that_a_session_has_printed_hold_nothing_that_it_may_not_read(
    crowded: Tenants, statement: str
) -> None:
    """An embedder reads no sensitive memory, but calls what works on all of them."""
    with crowded.attacker("pgrecall_embedder") as embedder:
        embedder.execute("RESET ROLE")
        for expires_at in ("2020-01-01", "2999-01-01"):
            remember(
                embedder,
                "A wombat",
                title="wombat title",
                is_sensitive=True,
                expires_at=expires_at,
                namespace=VICTIM,
            )
        embedder.execute("SET LOCAL ROLE pgrecall_embedder")
        assert b"wombat" in printed(embedder, "SELECT count(*) FROM pg_class WHERE relname = 'wombat'")
        assert b"wombat" not in printed(embedder, statement)


def test_what_sees_every_row_prints_no_plan(crowded: Tenants) -> None:
    query = """
        SELECT array_agg(p.oid::regprocedure::text) FILTER (WHERE NOT 'debug_print_plan=off' = ANY (COALESCE(p.proconfig, '{}'))),
               count(*) > 30
        FROM pg_proc p WHERE p.proowner = 'pgrecall_engine'::regrole
    """
    with crowded.owner() as owner:
        assert owner.execute(query).fetchall() == [(None, True)]


# --- Functions and operators of the attacker's own ---


@pytest.fixture
def armed(crowded: Tenants) -> Iterator[Connection[Any]]:
    """The attacker with a schema of its own, first in its path, and functions that tell."""
    schema = f"weapons_{crowded.writer}"
    with crowded.owner() as owner:
        owner.execute(f"CREATE SCHEMA {schema} AUTHORIZATION {crowded.writer}".encode())
        owner.execute(f"GRANT USAGE ON SCHEMA {schema} TO PUBLIC".encode())
        database = owner.info.dbname
        owner.execute(f"GRANT TEMPORARY ON DATABASE {database} TO {crowded.writer}".encode())
        try:
            with psycopg.connect(crowded.dsn, autocommit=True) as connection:
                connection.execute(f"SET ROLE {crowded.writer}".encode())
                connection.execute(f"SET search_path = {schema}, pg_catalog, public, pg_temp".encode())
                connection.execute(
                    """
                    CREATE FUNCTION tells(text) RETURNS boolean LANGUAGE plpgsql COST 0.0000001
                    AS $$ BEGIN RAISE NOTICE 'told: %', $1; RETURN true; END $$;
                    CREATE FUNCTION same(text, text) RETURNS boolean LANGUAGE plpgsql COST 0.0000001
                    AS $$ BEGIN RAISE NOTICE 'told: % %', $1, $2; RETURN $1 OPERATOR(pg_catalog.=) $2; END $$;
                    CREATE OPERATOR = (FUNCTION = same, LEFTARG = text, RIGHTARG = text);
                    CREATE OPERATOR ~ (FUNCTION = same, LEFTARG = text, RIGHTARG = text);
                    CREATE OPERATOR @@ (FUNCTION = same, LEFTARG = text, RIGHTARG = text);
                    """
                )
                yield connection
        finally:
            owner.execute(f"DROP SCHEMA {schema} CASCADE".encode())
            owner.execute(f"REVOKE TEMPORARY ON DATABASE {database} FROM {crowded.writer}".encode())


LEAKS = (
    "SELECT id FROM pgrecall.memories WHERE tells(content)",
    "SELECT id FROM pgrecall.memories WHERE tells(title) OR tells(external_id)",
    "SELECT id FROM pgrecall.memories WHERE content OPERATOR(pg_catalog.=) 'x' OR tells(content) ORDER BY tells(content)",
    "SELECT id FROM pgrecall.memories WHERE content = 'x'",
    "SELECT m.id FROM pgrecall.memories m JOIN pgrecall.namespaces n ON tells(n.name) AND tells(m.content)",
    "SELECT 1 FROM pgrecall.memories WHERE content::integer OPERATOR(pg_catalog.=) 1",
    "SELECT 1 FROM pgrecall.memories WHERE 1 / (length(content) - length(content)) > 0 AND id = {memory}",
    "SELECT 1 FROM pgrecall.namespaces WHERE tells(name)",
    "SELECT 1 FROM pgrecall.relationship_evidence WHERE tells(statement)",
    "SELECT 1 FROM pgrecall.llm_answers WHERE tells(answer::text)",
    "SELECT 1 FROM pgrecall.postings WHERE tells(term)",
    "SELECT 1 FROM pgrecall.concept_overview o WHERE tells(o::text)",
    "UPDATE pgrecall.memories SET title = 'x' WHERE tells(content) RETURNING content",
    "DELETE FROM pgrecall.concepts WHERE tells(name) RETURNING name",
    "SELECT tells(content) FROM pgrecall.memories FOR UPDATE",
    "MERGE INTO pgrecall.memories m USING (SELECT 1) s ON tells(m.content) WHEN MATCHED THEN UPDATE SET title = 'x'",
)


@pytest.mark.parametrize("query", LEAKS)
def test_a_function_that_tells_is_not_given_a_row_of_others(
    crowded: Tenants, armed: Connection[Any], query: str
) -> None:
    query = query.format(memory=crowded.memory)
    assert outcome(armed, query).startswith("42501")
    told = inside(armed, query.replace("tells(", f"weapons_{crowded.writer}.tells("))
    assert CANARY not in told.lower()
    assert VICTIM not in told


def test_functions_of_pgrecall_use_no_operator_of_the_callers(armed: Connection[Any]) -> None:
    own = "SELECT id FROM public.recall('own plan', namespace => 'evil')"
    assert outcome(armed, own).startswith("(")
    for query in (
        own,
        "SELECT public.remember('x', tags => '{ann}', namespace => 'evil')",
        "SELECT * FROM pgrecall.health()",
    ):
        assert "told" not in outcome(armed, query), query


SHADOWS = (
    "CREATE TEMP TABLE memories AS SELECT 1 AS id",
    "CREATE TEMP TABLE grants (namespace_id integer, role oid, access text)",
    "CREATE TEMP TABLE namespaces (id integer, name text)",
    "CREATE TEMP TABLE pg_class (oid oid, relname text)",
    "CREATE TEMP TABLE pg_auth_members (roleid oid, member oid)",
    "CREATE TEMP TABLE pg_roles (oid oid, rolname text)",
    "CREATE DOMAIN pg_temp.regrole AS text",
    "CREATE FUNCTION pg_temp.pg_has_role(oid, text) RETURNS boolean LANGUAGE sql AS 'SELECT true'",
    "CREATE FUNCTION pg_temp.row_security_active(regclass) RETURNS boolean LANGUAGE sql AS 'SELECT false'",
    "CREATE FUNCTION pg_temp.granted_namespaces() RETURNS boolean[] LANGUAGE sql AS 'SELECT array_fill(true, ARRAY[1000])'",
    "CREATE FUNCTION pg_temp.held_roles() RETURNS oid[] LANGUAGE sql AS 'SELECT array_agg(oid) FROM pg_catalog.pg_authid'",
)


def test_objects_of_the_session_shadow_nothing(crowded: Tenants, armed: Connection[Any]) -> None:
    before = outcome(armed, "SELECT id FROM public.recall('own plan', namespace => 'evil')")
    for shadow in SHADOWS:
        armed.execute(shadow.encode())
    armed.execute("INSERT INTO pg_temp.grants SELECT n, 0, 'write' FROM pg_catalog.generate_series(1, 100) n")
    for path in ("pg_temp, pg_catalog", "pg_temp", f"weapons_{crowded.writer}, pg_temp"):
        armed.execute(f"SET search_path = {path}".encode())
        assert outcome(armed, "SELECT id FROM public.recall('own plan', namespace => 'evil')") == before
        assert inside(armed, "SELECT pg_catalog.count(*) FROM pgrecall.memories") == "(2)"
        assert "acme" not in outcome(armed, "SELECT name FROM pgrecall.list_namespaces()")
        assert outcome(armed, "SELECT public.remember('x', namespace => 'acme')").startswith("42704")


# --- What is kept ---


def test_a_plan_that_is_kept_serves_each_role_its_own_rows(crowded: Tenants) -> None:
    with crowded.owner() as session:
        session.execute("SET plan_cache_mode = force_generic_plan")
        session.execute("PREPARE listed AS SELECT array_agg(name) FROM pgrecall.list_namespaces()")
        session.execute(
            "PREPARE recalled (text) AS SELECT count(*) FROM public.recall('quokka', namespace => $1)"
        )
        assert VICTIM in scalar(session, "EXECUTE listed")
        assert scalar(session, "EXECUTE recalled ('acme')") > 0
        session.execute(f"SET ROLE {crowded.writer}".encode())
        assert scalar(session, "EXECUTE listed") == [OWN, LIBRARY]
        assert scalar(session, "EXECUTE recalled ('acme')") == 0
        session.execute("RESET ROLE")
        assert VICTIM in scalar(session, "EXECUTE listed")
        assert scalar(session, "EXECUTE recalled ('acme')") > 0


def test_notifications_carry_no_text(crowded: Tenants) -> None:
    with psycopg.connect(crowded.dsn, autocommit=True) as listener, crowded.owner() as owner:
        listener.execute(f"SET ROLE {crowded.writer}".encode())
        sources = scalar(
            owner,
            "SELECT string_agg(p.prosrc, '') FROM pg_proc p WHERE p.pronamespace IN ('pgrecall'::regnamespace, '_pgrecall'::regnamespace)",
        )
        channels = set(re.findall(r"(?:NOTIFY\s+|notif\w+\(')(pgrecall_\w+)", sources))
        assert channels
        for channel in channels:
            listener.execute(f"LISTEN {channel}".encode())
        remember(owner, "A quokka in a story", tags=["quokka tag"], namespace=VICTIM)
        told = list(listener.notifies(timeout=60, stop_after=1))
        assert told
        assert all(re.fullmatch(r"[\d{},:\" ]*", note.payload) for note in told)


def test_the_server_is_out_of_reach(attacker: Connection[Any]) -> None:
    for attempt in (
        "COPY pgrecall.memories TO PROGRAM 'cat'",
        "COPY (SELECT 1) TO '/tmp/pgrecall_attack'",
        "COPY pgrecall.memories FROM '/etc/passwd'",
        "SELECT lo_import('/etc/passwd')",
        "SELECT pg_read_file('/etc/passwd')",
        "SELECT pg_ls_dir('.')",
        "ALTER TABLE pgrecall.memories DISABLE ROW LEVEL SECURITY",
        "CREATE POLICY mine ON pgrecall.memories USING (true)",
        "CREATE TRIGGER mine BEFORE INSERT ON pgrecall.memories FOR EACH ROW EXECUTE FUNCTION _pgrecall.derive_memory_columns()",
        "CREATE RULE mine AS ON SELECT TO pgrecall.memories DO INSTEAD SELECT 1",
        "CREATE FUNCTION pgrecall.mine() RETURNS integer LANGUAGE sql AS 'SELECT 1'",
        "ALTER FUNCTION _pgrecall.granted_namespaces() OWNER TO CURRENT_USER",
        "CREATE INDEX ON pgrecall.memories (content)",
        "CREATE STATISTICS mine ON content, title FROM pgrecall.memories",
    ):
        told = outcome(attacker, attempt)
        assert told.startswith(("42501", "42809", "0A000")), attempt


def test_own_rows_are_there(crowded: Tenants, attacker: Connection[Any]) -> None:
    assert scalar(attacker, "SELECT count(*) FROM pgrecall.export_memories(%s)", OWN) == 1
