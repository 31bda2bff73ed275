"""The functions in Python: chosen once, kept by later migrations, taken back, refused where they cannot be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from typer.testing import CliRunner

from pgrecall.admin.giving import give_to
from pgrecall.admin.migrate import check, migrate
from pgrecall.cli import app
from pgrecall.errors import PermissionDenied, PgrecallError
from support.migrating import HEAD, run, schema
from support.plpython import has_plpython, notices

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.server_extras

SHARED = ("recall_embed", "parse_timeframe", "graph_ppr")
IN_PYTHON = """
SELECT p.proname::text FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang WHERE l.lanname = 'plpython3u' ORDER BY 1
"""
SIGNATURES = """
SELECT p.proname::text, pg_get_function_arguments(p.oid), pg_get_function_result(p.oid), p.provolatile, p.proretset
FROM pg_proc p WHERE p.pronamespace = 'public'::regnamespace AND p.proname = ANY (ARRAY['recall_embed', 'parse_timeframe', 'graph_ppr'])
ORDER BY 1
"""


def without_language(dsn: str) -> str:
    run(dsn, "DROP EXTENSION IF EXISTS plpython3u")
    return schema(dsn)


def test_they_are_chosen_once_and_stay(python_database: Callable[..., str]) -> None:
    dsn = python_database()
    migrate(dsn)
    plain, signatures = schema(dsn), run(dsn, SIGNATURES)
    assert [row[0] for row in signatures] == sorted(SHARED)
    assert not check(dsn).has_plpython

    assert migrate(dsn, plpython=True).changed
    assert check(dsn).has_plpython
    assert run(dsn, IN_PYTHON) == [
        ("pagerank",),
        ("parse_timeframe",),
        ("python_module",),
        ("recall_embed",),
    ]
    assert run(dsn, SIGNATURES) == signatures
    both = schema(dsn)

    assert not migrate(dsn).changed
    assert not migrate(dsn, plpython=True).changed
    # A newer bundle brings them up to date, as everything else.
    run(dsn, "UPDATE pgrecall.installation SET bundle_hash = 'another'; DROP FUNCTION public.recall_embed")
    migrate(dsn)
    assert schema(dsn) == both

    assert migrate(dsn, plpython=False).changed
    assert run(dsn, IN_PYTHON) == []
    assert without_language(dsn) == plain
    assert not migrate(dsn).changed


def test_a_database_that_gets_python_later_is_as_a_fresh_one(python_database: Callable[..., str]) -> None:
    fresh, upgraded = python_database(), python_database()
    migrate(fresh, plpython=True)
    migrate(upgraded)
    migrate(upgraded, plpython=True)
    assert schema(upgraded) == schema(fresh)
    migrate(upgraded, revision="base")
    migrate(upgraded)
    assert not check(upgraded).has_plpython
    assert run(upgraded, IN_PYTHON) == []


def test_they_belong_to_the_superuser_who_installed_them(python_database: Callable[..., str]) -> None:
    dsn = python_database()
    migrate(dsn)
    for name in SHARED:
        run(dsn, f"ALTER FUNCTION public.{name} OWNER TO pgrecall_admin")
    migrate(dsn, plpython=True)
    owners = run(
        dsn,
        "SELECT DISTINCT r.rolsuper FROM pg_proc p JOIN pg_roles r ON r.oid = p.proowner "
        "JOIN pg_language l ON l.oid = p.prolang WHERE l.lanname = 'plpython3u'",
    )
    assert owners == [(True,)]
    assert run(dsn, "SELECT has_function_privilege('pgrecall_reader', 'recall_embed(text)', 'EXECUTE')") == [
        (True,)
    ]
    assert run(
        dsn,
        "SELECT count(*) FROM pg_proc p, aclexplode(p.proacl) a JOIN pg_language l ON true "
        "WHERE l.oid = p.prolang AND l.lanname = 'plpython3u' AND a.grantee = 0",
    ) == [(0,)]


def test_they_are_not_given_to_another_owner(python_database: Callable[..., str]) -> None:
    """Nobody could migrate afterwards: the functions need a superuser, the schema its owner."""
    dsn = python_database()
    migrate(dsn, plpython=True)
    run(dsn, "CREATE ROLE to_own NOLOGIN")
    try:
        with pytest.raises(PgrecallError, match="in Python") as caught:
            give_to(dsn, "to_own")
        assert caught.value.sqlstate == "22023"
        assert "--without-plpython" in str(caught.value.hint)
        migrate(dsn, plpython=False)
        assert give_to(dsn, "to_own") > 100
    finally:
        run(dsn, "REASSIGN OWNED BY to_own TO CURRENT_USER; DROP OWNED BY to_own; DROP ROLE to_own")


def test_who_is_no_superuser_is_refused_before_anything_changes(python_database: Callable[..., str]) -> None:
    dsn = python_database()
    before = schema(dsn)
    as_user = make_conninfo(dsn, options="-c role=pg_monitor")
    with pytest.raises(PermissionDenied, match="only a superuser can install") as caught:
        migrate(as_user, plpython=True)
    assert "--without-plpython" in str(caught.value.hint)
    assert schema(dsn) == before


def test_a_server_without_the_language_is_refused(new_database: Callable[..., str], server_dsn: str) -> None:
    if has_plpython(server_dsn):
        pytest.skip("this server has plpython3u")
    dsn = new_database()
    before = schema(dsn)
    with pytest.raises(PgrecallError, match="the server has no plpython3u") as caught:
        migrate(dsn, plpython=True)
    assert caught.value.sqlstate == "0A000"
    assert "postgresql-plpython3-" in str(caught.value.hint)
    assert schema(dsn) == before


def test_the_command_line(python_database: Callable[..., str]) -> None:
    dsn = python_database()
    done = CliRunner().invoke(app, ["migrate", "--with-plpython", "--dsn", dsn])
    assert done.exit_code == 0, done.output
    assert f"migrated: revision {HEAD}" in done.output
    assert check(dsn).has_plpython
    assert CliRunner().invoke(app, ["migrate", "--dsn", dsn]).output.startswith("nothing to do")
    assert CliRunner().invoke(app, ["migrate", "--check", "--with-plpython", "--dsn", dsn]).exit_code == 2


def test_without_them_a_query_has_the_embedding_that_is_kept(conn: psycopg.Connection[Any]) -> None:
    heard = notices(conn)
    ask = "SELECT recall_embed('what does Priya like?')::text"
    assert conn.execute(ask).fetchone() == (None,)
    assert heard == ["the query has no cached embedding"]
    conn.execute(
        "INSERT INTO pgrecall.query_embeddings (generation_id, role, query_hash, query, embedding, answered_at) "
        "SELECT 1, current_user::regrole, sha256('what does Priya like?'), NULL, (SELECT array_agg(n)::vector(384)::halfvec "
        "FROM generate_series(1, 384) n), now()"
    )
    row = conn.execute(ask).fetchone()
    assert row is not None
    assert row[0].startswith("[1,2,3,")
    assert conn.execute("SELECT recall_embed(NULL), recall_embed(' ')").fetchone() == (None, None)
    assert len(heard) == 1
    with pytest.raises(psycopg.errors.ProgramLimitExceeded):
        conn.execute("SELECT recall_embed(repeat('x', 16385))")


def test_without_them_graph_ppr_says_what_to_install(conn: psycopg.Connection[Any]) -> None:
    with pytest.raises(psycopg.errors.FeatureNotSupported) as caught:
        conn.execute("SELECT * FROM graph_ppr(ARRAY[1, 2])")
    assert "--with-plpython" in str(caught.value.diag.message_hint)
