"""`pgrecall migrate --schema`: the functions for clients in another schema than public."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from typer.testing import CliRunner

from pgrecall import Client, InvalidInput, SchemaMismatch
from pgrecall.admin.giving import give_to
from pgrecall.admin.migrate import check, migrate, migration_script, roles_script
from pgrecall.admin.ours import function_names
from pgrecall.cli import app
from pgrecall.server.binaries import binaries
from support.migrating import run, schema

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SCHEMA = "memory_api"
OWN = "CREATE FUNCTION public.forget(id bigint) RETURNS text LANGUAGE sql RETURN 'the application''s'"


@pytest.fixture(scope="module")
def placed(new_database: Callable[..., str]) -> str:
    """A database whose functions are in a schema of their own, beside functions of the application."""
    dsn = new_database()
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute(OWN)
        conn.execute("CREATE FUNCTION public.recall(text) RETURNS text LANGUAGE sql RETURN 'no memory'")
        with pytest.raises(SchemaMismatch, match="already has") as caught:
            migrate(dsn)
        assert "--schema" in str(caught.value.hint)
    migrate(dsn, schema=SCHEMA)
    return dsn


@pytest.fixture
def app_conn(placed: str) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(placed, autocommit=True) as conn:
        yield conn


def functions(conn: psycopg.Connection[Any], where: str) -> list[str]:
    rows = conn.execute(
        "SELECT DISTINCT proname FROM pg_proc WHERE pronamespace = %s::regnamespace AND NOT EXISTS "
        "(SELECT FROM pg_depend d WHERE d.objid = pg_proc.oid AND d.deptype = 'e') ORDER BY 1",
        [where],
    ).fetchall()
    return [name for (name,) in rows]


def test_the_functions_are_where_they_were_asked_for(app_conn: psycopg.Connection[Any]) -> None:
    assert functions(app_conn, "public") == ["forget", "recall"]
    assert functions(app_conn, SCHEMA) == function_names("public", plpython=False)
    assert app_conn.execute("SELECT public.forget(1), public.recall('x')").fetchone() == (
        "the application's",
        "no memory",
    )
    assert app_conn.execute("SELECT pgrecall.function_schema()").fetchone() == (SCHEMA,)
    names = "|".join(function_names("public"))
    left = app_conn.execute(
        "SELECT oid::regprocedure::text FROM pg_proc WHERE pronamespace IN ('pgrecall'::regnamespace, "
        "'_pgrecall'::regnamespace, %s::regnamespace) AND prosrc ~ %s",
        [SCHEMA, rf"\ypublic\.({names})\y"],
    ).fetchall()
    assert left == []


def test_the_client_finds_them(placed: str) -> None:
    with Client(placed) as client:
        id = client.remember("Priya drinks green tea", external_id="one", tags=["Priya"])
        client.remember_many([{"content": "Priya likes mountains"}, {"content": "Ada plays chess"}])
        client.remember_messages([{"role": "user", "content": "I take the train"}], "chat")
        vector = [1.0] * 384
        assert client.recall("tea", embed=False)[0].id == id
        assert client.recall("tea", vector=vector, timeframe="last week", settings={"rrf_k": 20}) is not None
        client.timeline("tea", embed=False)
        client.recall_facts("tea", embed=False)
        assert "green tea" in client.briefing("tea", embed=False)
        assert client.explain("tea", embed=False)[0].id == id
        client.update(id, content="Priya drinks black tea")
        new = client.supersede(id, "Priya drinks coffee")
        assert client.forget(new)
        assert client.restore(new)
        assert client.count() == 4
        assert client.list(k=1)
        assert client.sessions()
        assert client.history(id)
        client.learning.feedback("tea", id, useful=True, embed=False)
        client.remember("to be forgotten", external_id="two")
        assert client.forget_many(external_id_prefix="two") == 1
        client.erase(new, dry_run=True)
        client.erase_namespace("default", dry_run=True)
        lines = list(client.transfer.export_memories())
        assert lines
        assert client.admin.status().memories == 5
        assert [one for one in client.admin.health() if one.status == "fail"] == []
    with psycopg.connect(placed) as conn:
        Client.on(conn).remember("in a transaction")


@pytest.mark.parametrize(
    "command",
    [
        ["status"], ["doctor"], ["recall", "tea", "--no-embed"], ["list"], ["remember", "a line"], ["facts", "tea", "--no-embed"],
        ["explain", "tea", "--no-embed"], ["briefing", "tea", "--no-embed"], ["graph", "build"], ["migrate", "--check"], ["export"],
    ],
    ids=lambda command: command[0],
)  # fmt: skip
def test_the_commands_find_them(placed: str, command: list[str]) -> None:
    done = CliRunner().invoke(app, [*command, "--dsn", placed])
    assert done.exit_code == 0, (done.output, done.exception)


def test_a_reader_and_a_writer_may_call_them(placed: str, app_conn: psycopg.Connection[Any]) -> None:
    for role in ("pgrecall_reader", "pgrecall_writer", "pgrecall_admin"):
        app_conn.execute(f"SET ROLE {role}".encode())
        app_conn.execute(f"SELECT * FROM {SCHEMA}.recall('tea')".encode())
        app_conn.execute("RESET ROLE")


def test_a_later_migration_keeps_the_schema(placed: str, app_conn: psycopg.Connection[Any]) -> None:
    assert not migrate(placed).changed
    app_conn.execute("UPDATE pgrecall.installation SET bundle_hash = NULL")
    app_conn.execute(f"DROP FUNCTION {SCHEMA}.count_memories".encode())
    assert migrate(placed, schema=SCHEMA).changed
    assert functions(app_conn, SCHEMA) == function_names("public", plpython=False)
    assert functions(app_conn, "public") == ["forget", "recall"]
    with pytest.raises(InvalidInput, match="are in schema 'memory_api', not in 'other'"):
        migrate(placed, schema="other")
    app_conn.execute(f"CREATE FUNCTION {SCHEMA}.forget(text) RETURNS text LANGUAGE sql RETURN $1".encode())
    with pytest.raises(SchemaMismatch, match="schema memory_api already has"):
        migrate(placed)
    app_conn.execute(f"DROP FUNCTION {SCHEMA}.forget(text)".encode())


@pytest.mark.parametrize(
    "name",
    [
        "Memory", "a b", "a;DROP TABLE x", 'a"b', "a.b", "1a", "", "select", "pg_mine", "pgrecall", "_pgrecall", "a" * 64,
        "information_schema", "é", "a\n", "pgrecall_shard", "%s",
    ],
)  # fmt: skip
def test_a_name_that_is_none(new_database: Callable[..., str], name: str) -> None:
    dsn = _empty(new_database)
    with pytest.raises(InvalidInput, match="cannot be the schema"):
        migrate(dsn, schema=name)
    assert check(dsn).revision is None


_made: list[str] = []


def _empty(new_database: Callable[..., str]) -> str:
    if not _made:
        _made.append(new_database())
    return _made[0]


@pytest.mark.slow
@pytest.mark.pg15
def test_down_to_nothing_a_script_and_a_dump(new_database: Callable[..., str], placed: str) -> None:
    dsn, other, restored = new_database(), new_database(), new_database()
    before = schema(dsn)
    script = migration_script(dsn, schema=SCHEMA)
    migrate(dsn, schema=SCHEMA)
    whole = schema(dsn)
    with psycopg.connect(other, autocommit=True) as conn:
        conn.execute(script.encode())
    assert schema(other) == whole
    assert not migrate(other).changed
    with Client(placed) as client:
        client.remember("Ada plays chess", external_id="chess")
    dump = subprocess.run(
        [str(binaries() / "pg_dump"), "-Fc", placed], capture_output=True, check=True, timeout=180
    ).stdout
    subprocess.run(
        [str(binaries() / "pg_restore"), "--no-owner", "-d", restored], input=dump, check=False, timeout=180
    )
    migrate(restored)
    assert check(restored).current
    with Client(restored) as client:
        assert client.recall("chess", embed=False)[0].content == "Ada plays chess"
    migrate(dsn, revision="base")
    assert schema(dsn) == before
    # What the application has put into the schema stays.
    migrate(dsn, schema=SCHEMA)
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute(f"CREATE TABLE {SCHEMA}.mine (id integer)".encode())
        migrate(dsn, revision="base")
        assert conn.execute(f"TABLE {SCHEMA}.mine".encode()).fetchall() == []
    migrate(dsn)
    with psycopg.connect(dsn) as conn:
        assert functions(conn, "public") == function_names("public", plpython=False)


def test_a_dropped_schema_is_made_again(new_database: Callable[..., str]) -> None:
    dsn = new_database()
    migrate(dsn, schema=SCHEMA)
    for then in (migrate, lambda dsn: migrate(dsn, revision="base")):
        with psycopg.connect(dsn) as conn:
            conn.execute(f"DROP SCHEMA {SCHEMA} CASCADE".encode())
        assert then(dsn).changed
    migrate(dsn, schema=SCHEMA)
    assert check(dsn).current


CLOSED = [
    ("REVOKE ALL ON SCHEMA public FROM PUBLIC", "lacked USAGE on schema public"),
    ("ALTER SCHEMA public RENAME TO earlier", "functions were missing"),
    ("CREATE SCHEMA vectors; ALTER EXTENSION vector SET SCHEMA vectors", "pgvector moved"),
]


@pytest.mark.pg15
@pytest.mark.parametrize(("closed", "found"), CLOSED)
def test_a_schema_that_an_operator_closes_or_moves_is_found_and_repaired(
    new_database: Callable[..., str], template: str, closed: str, found: str
) -> None:
    """A reader could call nothing, or every recall failed, and doctor found all well."""
    dsn = new_database(template)
    run(dsn, closed)
    told = CliRunner().invoke(app, ["doctor", "--dsn", dsn])
    assert (told.exit_code, found in told.output) == (1, True), told.output
    assert "hint: pgrecall migrate" in told.output
    assert any(found in message for message in migrate(dsn).messages if message.startswith("repaired"))
    assert CliRunner().invoke(app, ["doctor", "--dsn", dsn]).exit_code == 0
    assert not migrate(dsn).changed
    _may_be_called(dsn)


@pytest.mark.pg15
@pytest.mark.parametrize("closed", [closed for closed, _ in CLOSED[:2]] + ["DROP SCHEMA public"])
def test_a_schema_that_is_closed_before_the_first_migration(
    new_database: Callable[..., str], closed: str
) -> None:
    dsn = new_database()
    run(dsn, closed)
    migrate(dsn)
    _may_be_called(dsn)
    migrate(dsn, revision="base")


def _may_be_called(dsn: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("SELECT public.remember('Lea drinks tea')")
        conn.execute("SET ROLE pgrecall_reader")
        assert conn.execute("SELECT content FROM public.recall('tea')").fetchall() == []  # nothing granted


@pytest.mark.parametrize("made_by", ["migrate", "the application"])
def test_a_superuser_gives_the_schema_to_the_owner_if_it_was_made_for_the_functions(
    new_database: Callable[..., str], made_by: str
) -> None:
    dsn = new_database()
    owner = f"pgrecall_test_given_{os.getpid()}"
    database = conninfo_to_dict(dsn)["dbname"]
    with psycopg.connect(dsn, autocommit=True) as conn:
        if made_by == "the application":
            conn.execute(f"CREATE SCHEMA {SCHEMA}".encode())
        migrate(dsn, schema=SCHEMA)
        conn.execute(f"CREATE ROLE {owner} LOGIN".encode())
        try:
            conn.execute(f'GRANT CREATE ON DATABASE "{database}" TO {owner}'.encode())
            conn.execute(roles_script(owner, SCHEMA).encode())
            give_to(dsn, owner)
            is_given = made_by == "migrate"
            owned = conn.execute(
                "SELECT DISTINCT pg_get_userbyid(p.proowner) FROM pg_proc p "
                "WHERE p.pronamespace = %s::regnamespace AND NOT p.prosecdef",
                [SCHEMA],
            ).fetchall()
            assert owned == [(owner,)]
            assert conn.execute(
                "SELECT pg_get_userbyid(nspowner) = %s FROM pg_namespace WHERE nspname = %s", [owner, SCHEMA]
            ).fetchone() == (is_given,)
            if not is_given:
                conn.execute(f"GRANT ALL ON SCHEMA {SCHEMA} TO {owner} WITH GRANT OPTION".encode())
            conn.execute("UPDATE pgrecall.installation SET bundle_hash = 'another'")
            assert migrate(make_conninfo(dsn, user=owner)).changed
        finally:
            conn.execute(f"DROP OWNED BY {owner} CASCADE; DROP ROLE {owner}".encode())


def test_the_command_passes_the_schema(new_database: Callable[..., str]) -> None:
    dsn = new_database()
    done = CliRunner().invoke(app, ["migrate", "--schema", "agents", "--dsn", dsn])
    assert done.exit_code == 0, done.output
    with psycopg.connect(dsn) as conn:
        assert "recall" in functions(conn, "agents")
        assert functions(conn, "public") == []
    assert (
        "ON SCHEMA public"
        not in CliRunner().invoke(app, ["migrate", "--schema", "x", "--roles-sql", "y"]).stdout
    )
