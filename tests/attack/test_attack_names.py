"""Hostile names: of pgvector's schema, the database, roles, models, generations, namespaces and stale objects."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from pgrecall.admin.giving import give_to
from pgrecall.admin.migrate import migrate, migration_script
from pgrecall.errors import PgrecallError
from support.migrating import run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# Each ends the quote it is in, if nobody looks.
HOSTILE = [
    "x$function$;ALTER ROLE eve SUPERUSER;CREATE TABLE y AS SELECT$function$",
    "x'; ALTER ROLE eve SUPERUSER; --",
    'x"; ALTER ROLE eve SUPERUSER; --',
    "x); ALTER ROLE eve SUPERUSER; --",
    "x/*",
    "x y",
    "Extensions",
    "select",
    "naïve",
    "1x",
    "x$y",
    "%s",
    "x\n--",
]
IN_SQL = HOSTILE[:3]


@pytest.fixture
def eve(server_dsn: str) -> Iterator[str]:
    """A role that would like to be a superuser."""
    name = f"pgrecall_test_eve_{os.getpid()}"
    run(server_dsn, f"DROP ROLE IF EXISTS {name}")
    run(server_dsn, f"CREATE ROLE {name} LOGIN")
    yield name
    assert run(server_dsn, f"SELECT rolsuper FROM pg_roles WHERE rolname = '{name}'") == [(False,)]
    run(server_dsn, f"DROP ROLE {name}")


def named(hostile: str, eve: str) -> str:
    """A hostile name as short as PostgreSQL takes it."""
    return hostile.replace("eve", eve)[:63] if len(hostile.replace("eve", eve)) <= 63 else hostile


def rename(dsn: str, kind: str, name: str, new_name: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as conn:
        statement = sql.SQL("ALTER {} {} RENAME TO {}")
        conn.execute(statement.format(sql.SQL(kind), sql.Identifier(name), sql.Identifier(new_name)))


def test_no_schema_of_pgvector_has_a_name_that_needs_quotes(
    new_database: Callable[..., str], eve: str
) -> None:
    dsn = new_database()
    run(dsn, "CREATE SCHEMA old; CREATE EXTENSION vector SCHEMA old")
    for hostile in HOSTILE:
        name = named(hostile, eve)
        rename(dsn, "SCHEMA", "old", name)
        for attempt in (migrate, migration_script):
            with pytest.raises(PgrecallError, match="not a plain identifier") as caught:
                attempt(dsn)
            assert caught.value.sqlstate == "42602"
            assert caught.value.hint
        rename(dsn, "SCHEMA", name, "old")
    assert run(dsn, "SELECT to_regnamespace('pgrecall') IS NULL") == [(True,)]


def test_a_schema_that_is_renamed_after_the_installation(dsn: str, eve: str) -> None:
    """Nothing is changed, neither up nor down, and nothing runs."""
    for name in IN_SQL[:1]:
        rename(dsn, "SCHEMA", "public", named(name, eve))
        run(dsn, "CREATE SCHEMA public")
        for revision in ("head", "0005", "base"):
            with pytest.raises(PgrecallError, match="not a plain identifier"):
                migrate(dsn, revision=revision)
        run(dsn, "DROP SCHEMA public")
        rename(dsn, "SCHEMA", named(name, eve), "public")
    assert not migrate(dsn).changed


@pytest.mark.parametrize("name", ["_x9"])
def test_a_plain_name_is_taken(new_database: Callable[..., str], name: str) -> None:
    dsn = new_database()
    run(dsn, f"CREATE SCHEMA {name}")
    run(dsn, f"CREATE EXTENSION vector SCHEMA {name}")
    migrate(dsn)
    assert not migrate(dsn).changed
    migrate(dsn, revision="base")


def test_nobody_renames_the_schemas_while_they_are_used(new_database: Callable[..., str]) -> None:
    """Between reading a name and running what contains it, another schema could take the name."""
    from pgrecall.admin.schemas import hold_schemas

    dsn = new_database()
    migrate(dsn, schema="memory_api")
    with psycopg.connect(dsn) as installer, psycopg.connect(dsn, autocommit=True) as other:
        hold_schemas(installer)
        other.execute("SET lock_timeout = '100ms'; CREATE SCHEMA elsewhere")
        for statement in (
            "ALTER SCHEMA public RENAME TO x",
            "ALTER SCHEMA memory_api RENAME TO x",
            "ALTER EXTENSION vector SET SCHEMA elsewhere",
        ):
            with pytest.raises(psycopg.errors.LockNotAvailable):
                other.execute(statement.encode())


@pytest.mark.parametrize("name", [*IN_SQL, "%I"])
def test_names_of_database_and_owner(new_database: Callable[..., str], template: str, name: str) -> None:
    """The installer has the hostile name, too, and one role that is granted a namespace."""
    assert template
    dsn = new_database()
    database = str(conninfo_to_dict(dsn)["dbname"])
    admin = make_conninfo(dsn, dbname="postgres")
    hostile = f"{name[:40]}{os.getpid()}"
    role = sql.Identifier(hostile)
    with psycopg.connect(admin, autocommit=True) as conn:
        conn.execute(sql.SQL("CREATE ROLE {} LOGIN").format(role))
        conn.execute(sql.SQL("GRANT pgrecall_gate, pgrecall_engine TO {}").format(role))
    run(dsn, "CREATE EXTENSION vector")
    rename(admin, "DATABASE", database, hostile)
    with psycopg.connect(admin, autocommit=True) as conn:
        conn.execute(sql.SQL("ALTER DATABASE {} OWNER TO {}").format(role, role))
    try:
        owned = make_conninfo(dsn, dbname=hostile, user=hostile)
        migrate(owned)
        assert not migrate(owned).changed
        with psycopg.connect(owned, autocommit=True) as conn:
            assert conn.execute("SELECT current_setting('hnsw.ef_search')").fetchone() == ("100",)
            conn.execute("SELECT pgrecall.create_namespace(%s)", (name,))
            conn.execute("SELECT pgrecall.grant_namespace(%s, %s)", (hostile, name))
            conn.execute("SELECT remember('Priya drinks tea', namespace => %s)", (name,))
            found = conn.execute("SELECT content FROM recall('tea', namespace => %s)", (name,)).fetchall()
            assert found == [("Priya drinks tea",)]
            conn.execute("UPDATE pgrecall.installation SET bundle_hash = 'another'")
        migrate(owned)
        migrate(owned, revision="base")
        migrate(make_conninfo(dsn, dbname=hostile))
    finally:
        rename(admin, "DATABASE", hostile, database)
        with psycopg.connect(dsn, autocommit=True) as conn:
            conn.execute(sql.SQL("ALTER DATABASE {} OWNER TO CURRENT_USER").format(sql.Identifier(database)))
            conn.execute(sql.SQL("DROP OWNED BY {}").format(role))
            conn.execute(sql.SQL("DROP ROLE {}").format(role))


@pytest.mark.parametrize("name", IN_SQL)
def test_names_of_models_and_of_generations(dsn: str, eve: str, name: str) -> None:
    name = named(name, eve)
    migrate(dsn, model=name)
    with psycopg.connect(dsn, autocommit=True) as conn:
        assert conn.execute("SELECT name FROM pgrecall.active_model()").fetchone() == (name,)
        made = conn.execute(
            "SELECT pgrecall.add_generation(%s, 8, %s, %s, %s)", (f"{name}2", name, name, name)
        )
        [generation] = made.fetchone() or ()
        for stage in ("fill", "search"):
            statements = conn.execute(
                "SELECT * FROM pgrecall.generation_statements(%s, %s)", (generation, stage)
            ).fetchall()
            for (statement,) in statements:
                conn.execute(statement)
        conn.execute("SELECT pgrecall.switch_generation(%s, true)", (generation,))
        conn.execute("SELECT * FROM pgrecall.health()")
        conn.execute("SELECT pgrecall.drop_generation(1)")
    run(dsn, "UPDATE pgrecall.installation SET bundle_hash = 'another'")
    migrate(dsn)
    migrate(dsn, revision="base")


@pytest.mark.parametrize("name", IN_SQL)
def test_names_of_what_an_older_version_left_behind(dsn: str, eve: str, name: str) -> None:
    quoted = sql.Identifier(named(name, eve))
    with psycopg.connect(dsn, autocommit=True) as conn:
        for statement in (
            "CREATE TYPE public.{} AS (a integer)",
            "CREATE FUNCTION pgrecall.{}(value public.{}) RETURNS integer LANGUAGE sql RETURN 1",
            "CREATE FUNCTION _pgrecall.{}() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'",
            "CREATE TRIGGER {} AFTER INSERT ON pgrecall.memories EXECUTE FUNCTION _pgrecall.{}()",
            "CREATE POLICY {} ON pgrecall.memories USING (true)",
            "CREATE VIEW pgrecall.{} AS SELECT 1 AS one",
        ):
            conn.execute(sql.SQL(statement).format(*[quoted] * statement.count("{}")))
    migrate(dsn)
    assert not migrate(dsn).changed
    assert run(
        dsn, "SELECT count(*) FROM pg_policies WHERE schemaname = 'pgrecall' AND policyname LIKE 'x%'"
    ) == [(0,)]


@pytest.mark.parametrize("name", IN_SQL)
def test_rows_of_the_installation_are_no_statements(dsn: str, eve: str, name: str) -> None:
    """Only the owner writes them; still nothing in them is run, and no function of others is dropped."""
    database = str(conninfo_to_dict(dsn)["dbname"])
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute(b"CREATE FUNCTION public.mine(integer) RETURNS integer LANGUAGE sql RETURN 1")
        conn.execute(f"ALTER FUNCTION public.mine OWNER TO {eve}".encode())
        conn.execute(f"ALTER DATABASE \"{database}\" SET work_mem = '8MB'".encode())
        conn.execute(
            "UPDATE pgrecall.installation SET bundle_hash = 'another', vector_schema = %s, "
            "public_functions = public_functions || ARRAY['mine(int4)', %s], "
            "database_settings = database_settings || ARRAY['work_mem=8MB', %s]",
            (named(name, eve), named(name, eve), f"{named(name, eve)}=1"),
        )
    migrate(dsn)
    assert run(dsn, "SELECT public.mine(1)") == [(1,)]
    run(dsn, "UPDATE pgrecall.installation SET public_functions = public_functions || '{mine(int4)}'::text[]")
    migrate(dsn, revision="base")
    assert run(dsn, "SELECT public.mine(1)") == [(1,)]
    assert run(dsn, "SHOW work_mem") == [("8MB",)]
    run(dsn, f"DROP OWNED BY {eve}")


@pytest.mark.slow
@pytest.mark.pg15
def test_no_stored_schema_of_the_functions_is_a_statement(dsn: str, eve: str) -> None:
    """Only the owner writes it; still it is read as a name, and only where a migration may have chosen it."""
    for hostile in (*HOSTILE, "pg_catalog", "pgrecall", "_pgrecall", "information_schema"):
        name = named(hostile, eve)
        with psycopg.connect(dsn, autocommit=True) as conn:
            conn.execute(
                "UPDATE pgrecall.installation SET bundle_hash = 'another', function_schema = %s", (name,)
            )
        for attempt in (migrate, migration_script, down, lambda dsn: give_to(dsn, eve)):
            with pytest.raises(PgrecallError, match="no migration chose") as caught:
                attempt(dsn)
            assert caught.value.sqlstate == "42602"
            assert caught.value.hint
    run(dsn, "UPDATE pgrecall.installation SET function_schema = 'public'")
    migrate(dsn)


def down(dsn: str) -> object:
    return migrate(dsn, revision="base")
