"""Who installs may upgrade, repair, reembed and take back: a superuser, CREATEROLE, and the owner of the database alone."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from pgrecall.admin.giving import give_to
from pgrecall.admin.migrate import check, migrate, migration_script, roles_script
from pgrecall.admin.reembed import cancel, drop_old
from pgrecall.errors import PgrecallError
from support.migrating import HEAD, forget_bundle, later_bundle, run, vector

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

__all__ = ["later_bundle"]

KINDS = {"superuser": "SUPERUSER", "createrole": "CREATEROLE", "owner": "NOCREATEROLE"}

FOREIGN = """
SELECT format('%s %s', c.relkind, c.relname), c.relowner::regrole::text FROM pg_class c
WHERE c.relnamespace = 'pgrecall'::regnamespace AND c.relkind IN ('r', 'v', 'S', 'c')
UNION ALL
SELECT p.oid::regprocedure::text, p.proowner::regrole::text FROM pg_proc p
WHERE p.pronamespace IN ('pgrecall'::regnamespace, '_pgrecall'::regnamespace, 'public'::regnamespace)
  AND NOT p.prosecdef AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e')
UNION ALL
SELECT n.nspname::text, n.nspowner::regrole::text FROM pg_namespace n WHERE n.nspname IN ('pgrecall', '_pgrecall')
"""


@contextmanager
def installer_of(dsn: str, kind: str) -> Iterator[str]:
    """A role of a kind that owns the database; the memberships are a superuser's gift."""
    name, database = f"pgrecall_test_{kind}_{os.getpid()}", conninfo_to_dict(dsn)["dbname"]
    run(dsn, f"CREATE ROLE {name} LOGIN {KINDS[kind]}")
    run(dsn, f'ALTER DATABASE "{database}" OWNER TO {name}')
    if kind != "superuser":
        run(dsn, "CREATE EXTENSION IF NOT EXISTS vector")
        run(dsn, f"GRANT pgrecall_gate, pgrecall_engine TO {name}")
    try:
        yield make_conninfo(dsn, user=name)
    finally:
        run(dsn, f'ALTER DATABASE "{database}" OWNER TO CURRENT_USER')
        run(dsn, f"REASSIGN OWNED BY {name} TO CURRENT_USER")
        run(dsn, f"DROP OWNED BY {name}")
        run(dsn, f"DROP ROLE {name}")


@pytest.fixture(params=KINDS)
def installer(
    request: pytest.FixtureRequest, new_database: Callable[..., str], template: str
) -> Iterator[str]:
    """Connection string of each kind of installer to an empty database; the roles of pgrecall are there."""
    assert template
    with installer_of(new_database(), request.param) as dsn:
        yield dsn


def owners(dsn: str) -> set[str]:
    return {owner for _, owner in run(dsn, FOREIGN)}


def works(dsn: str) -> bool:
    run(dsn, "SELECT remember('Priya drinks tea')")
    return ("Priya drinks tea",) in run(dsn, "SELECT content FROM recall('tea')")


@pytest.mark.slow
@pytest.mark.pg15
def test_who_installed_upgrades(installer: str, later_bundle: Path) -> None:
    """The later bundle drops a function, and has a new one that a role of ours owns and a trigger calls."""
    undone = {path: path.read_text("utf-8") for path in later_bundle.rglob("*.sql")}
    for path, text in undone.items():
        path.write_text(text.removeprefix("-- Later.\n"), encoding="utf-8")
    migrate(installer)
    assert works(installer)
    for path, text in undone.items():
        path.write_text(text, encoding="utf-8")
    (later_bundle / "core" / "write" / "later.sql").write_text(
        """
        CREATE OR REPLACE FUNCTION _pgrecall.later() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
        SET search_path FROM CURRENT AS $$ BEGIN RETURN NULL; END $$;
        ALTER FUNCTION _pgrecall.later OWNER TO pgrecall_engine;
        CREATE OR REPLACE TRIGGER later AFTER INSERT ON pgrecall.mentions EXECUTE FUNCTION _pgrecall.later();
        """,
        encoding="utf-8",
    )
    manifest = later_bundle / "manifest.txt"
    lines = manifest.read_text("utf-8").replace("core/status/last_memory_id.sql", "core/write/later.sql")
    manifest.write_text(lines, encoding="utf-8")
    forget_bundle()
    assert "CREATE OR REPLACE FUNCTION _pgrecall.later" in migration_script(installer)
    assert migrate(installer).changed
    assert check(installer).current
    assert not migrate(installer).changed
    assert run(installer, "SELECT to_regprocedure('pgrecall.last_memory_id()') IS NULL") == [(True,)]
    assert works(installer)


@pytest.mark.slow
@pytest.mark.pg15
def test_who_installed_repairs(installer: str) -> None:
    migrate(installer)
    for broken in (
        "DROP FUNCTION public.forget",
        "DROP TRIGGER refuse_sensitive_insert ON pgrecall.mentions; DROP FUNCTION public.forget",
        "REVOKE ALL ON ALL ROUTINES IN SCHEMA _pgrecall FROM pgrecall_engine, pgrecall_gate; DROP FUNCTION public.forget",
        "UPDATE pgrecall.installation SET bundle_hash = 'another'",
    ):
        run(installer, broken)
        migrate(installer)
        assert check(installer).current
        assert not migrate(installer).changed
        assert run(installer, "SELECT public.forget(999)") == [(False,)]
        assert works(installer)


@pytest.mark.slow
@pytest.mark.pg15
def test_who_installed_changes_the_model_and_takes_everything_back(installer: str) -> None:
    migrate(installer, dim=4, model="a")
    run(installer, "SELECT remember('Priya drinks tea')")
    for number in (2, 3):
        run(installer, f"SELECT pgrecall.add_generation('model-{number}', 8)")
        for stage in ("fill", "search"):
            for (statement,) in run(
                installer, f"SELECT * FROM pgrecall.generation_statements({number}, '{stage}')"
            ):
                run(installer, statement)
        run(installer, f"SELECT pgrecall.switch_generation({number}, force => true)")
        run(installer, f"SELECT pgrecall.drop_generation({number - 1})")
        assert not migrate(installer).changed
    run(installer, f"UPDATE pgrecall.memories SET embedding_3 = '{vector(8, 1.0)}'")
    assert run(installer, f"SELECT dense_rank FROM recall('', '{vector(8, 0.5)}')") == [(1,)]
    run(installer, "UPDATE pgrecall.installation SET bundle_hash = 'another'")
    migrate(installer)
    migrate(installer, revision="base")
    assert run(installer, "SELECT to_regnamespace('pgrecall') IS NULL") == [(True,)]
    migrate(installer)
    assert works(installer)


@pytest.mark.slow
@pytest.mark.pg15
def test_who_installed_goes_down_a_revision_and_up(installer: str) -> None:
    migrate(installer)
    run(installer, "SELECT remember('Priya drinks tea')")
    migrate(installer, revision="0005")
    migrate(installer)
    assert check(installer).revision == HEAD
    assert run(installer, "SELECT content FROM recall('tea')") == [("Priya drinks tea",)]


def test_who_installed_can_do_what_doctor_advises(installer: str) -> None:
    migrate(installer)
    name = conninfo_to_dict(installer)["dbname"]
    with psycopg.connect(installer, autocommit=True) as conn:
        conn.execute("SELECT '[1]'::public.vector")
        conn.execute(f'ALTER DATABASE "{name}" SET hnsw.ef_search = 10'.encode())
        conn.execute(f'ALTER DATABASE "{name}" SET hnsw.iterative_scan = off'.encode())
        conn.execute("DROP INDEX pgrecall.memories_embedding_idx")
        conn.execute(
            "INSERT INTO pgrecall.grants (namespace_id, role, access) VALUES (1, 99999::oid::regrole, 'read')"
        )
    advised = run(
        installer, "SELECT check_name, remedy FROM pgrecall.health() WHERE status IN ('warn', 'fail', 'info')"
    )
    remedies = dict(advised)
    assert {"hnsw.ef_search", "hnsw.iterative_scan", "indexes", "grants without a role"} <= remedies.keys()
    for check_name in ("hnsw.ef_search", "hnsw.iterative_scan", "indexes", "grants without a role"):
        with psycopg.connect(installer, autocommit=True) as conn:
            for statement in remedies[check_name].split("; "):
                conn.execute(statement.encode())
    run(installer, "SELECT pgrecall.analyze()")
    run(installer, "VACUUM (ANALYZE) pgrecall.memories")
    left = run(installer, "SELECT check_name FROM pgrecall.health() WHERE status IN ('warn', 'fail', 'info')")
    assert {name for (name,) in left} <= {"server log", "functions' search_path"}


@pytest.mark.parametrize("kind", ["createrole", "owner"])
def test_a_superuser_does_not_run_what_another_owner_may_have_written(
    new_database: Callable[..., str], template: str, kind: str
) -> None:
    """The relations that a migration reads and writes first would run code of their owner."""
    assert template
    superuser = new_database()
    with installer_of(superuser, kind) as installer:
        name = conninfo_to_dict(installer)["user"]
        migrate(installer)
        for planted in (
            f"CREATE FUNCTION _pgrecall.trap() RETURNS text LANGUAGE plpgsql AS $$ BEGIN ALTER ROLE {name} SUPERUSER; "
            "RETURN 'x'; END $$",
            "ALTER TABLE pgrecall.installation RENAME TO hidden",
            "CREATE VIEW pgrecall.installation WITH (security_invoker) AS "
            "SELECT h.singleton, _pgrecall.trap() AS bundle_hash, h.has_plpython FROM pgrecall.hidden h",
        ):
            run(installer, planted)
        for attempt in (migrate, migration_script, cancel, drop_old):
            with pytest.raises(PgrecallError, match="would run as a superuser") as caught:
                attempt(superuser)
            assert caught.value.sqlstate == "42501"
            assert f"-c role={name}" in str(caught.value.hint)
        with pytest.raises(PgrecallError, match="no pgrecall schema"):
            give_to(superuser, str(name))
        assert run(superuser, f"SELECT rolsuper FROM pg_roles WHERE rolname = '{name}'") == [(False,)]


@pytest.mark.slow
@pytest.mark.pg15
@pytest.mark.parametrize("kind", ["createrole", "owner"])
def test_a_superuser_migrates_as_the_owner(
    new_database: Callable[..., str], template: str, kind: str
) -> None:
    assert template
    superuser = new_database()
    with installer_of(superuser, kind) as installer:
        name = conninfo_to_dict(installer)["user"]
        migrate(installer, revision="0003")
        migrate(make_conninfo(superuser, options=f"-c role={name}"))
        assert owners(superuser) == {name}
        run(installer, "UPDATE pgrecall.installation SET bundle_hash = 'another'")
        migrate(installer)
        assert works(installer)


@pytest.mark.slow
@pytest.mark.pg15
def test_members_of_the_owner_migrate_as_the_owner(new_database: Callable[..., str], template: str) -> None:
    assert template
    superuser = new_database()
    with installer_of(superuser, "owner") as installer:
        owner = conninfo_to_dict(installer)["user"]
        migrate(installer, revision="0003")
        members = [f"pgrecall_test_member_{place}_{os.getpid()}" for place in range(2)]
        try:
            for member in members:
                run(superuser, f"CREATE ROLE {member} LOGIN IN ROLE {owner}")
                dsn = make_conninfo(superuser, user=member)
                run(superuser, "UPDATE pgrecall.installation SET bundle_hash = 'another'")
                assert migrate(dsn).changed
                assert owners(superuser) == {owner}
                assert works(dsn)
        finally:
            for member in members:
                run(superuser, f"DROP ROLE IF EXISTS {member}")


@pytest.mark.slow
@pytest.mark.pg15
def test_another_owner_needs_what_any_installer_needs(
    new_database: Callable[..., str], template: str
) -> None:
    assert template
    superuser = new_database()
    database, heir = conninfo_to_dict(superuser)["dbname"], f"pgrecall_test_heir_{os.getpid()}"
    with installer_of(superuser, "owner") as installer:
        migrate(installer)
        run(superuser, f"CREATE ROLE {heir} LOGIN")
        try:
            run(superuser, f'ALTER DATABASE "{database}" OWNER TO {heir}')
            run(superuser, f"REASSIGN OWNED BY {conninfo_to_dict(installer)['user']} TO {heir}")
            run(superuser, roles_script(heir))
            dsn = make_conninfo(superuser, user=heir)
            assert not migrate(dsn).changed
            assert owners(dsn) == {heir}
            assert works(dsn)
        finally:
            run(superuser, f"REASSIGN OWNED BY {heir} TO CURRENT_USER")
            run(superuser, f"DROP OWNED BY {heir}")
            run(superuser, f"DROP ROLE {heir}")


@pytest.mark.slow
@pytest.mark.pg15
@pytest.mark.parametrize("kind", ["createrole", "owner"])
def test_a_superuser_gives_everything_to_the_owner(migrated_database: Callable[[], str], kind: str) -> None:
    """As after a restore without owners: everything is the superuser's."""
    superuser = migrated_database()
    run(superuser, "UPDATE pgrecall.installation SET bundle_hash = 'another'")
    run(superuser, "CREATE FUNCTION public.mine() RETURNS integer LANGUAGE sql RETURN 1")
    with installer_of(superuser, kind) as installer:
        name = str(conninfo_to_dict(installer)["user"])
        with pytest.raises(PgrecallError, match="belongs to role") as caught:
            migrate(installer)
        assert caught.value.sqlstate == "42501"
        assert f"pgrecall migrate --owner {name}" in str(caught.value.hint).replace('"', "")
        for wrong, sqlstate in (("nobody", "22023"), (conninfo_to_dict(superuser)["user"], "22023")):
            with pytest.raises(PgrecallError) as caught:
                give_to(superuser, str(wrong))
            assert caught.value.sqlstate == sqlstate
        with pytest.raises(PgrecallError) as caught:
            give_to(installer, name)
        assert caught.value.sqlstate == "42501"
        assert give_to(superuser, name) > 100
        assert give_to(superuser, name) == 0
        assert run(superuser, "SELECT proowner::regrole::text FROM pg_proc WHERE proname = 'mine'") != [
            (name,)
        ]
        run(superuser, "DROP FUNCTION public.mine()")
        assert owners(superuser) == {name}
        assert run(
            superuser,
            "SELECT DISTINCT typowner::regrole::text FROM pg_type "
            "WHERE typnamespace = 'pgrecall'::regnamespace AND typtype IN ('c', 'd', 'e')",
        ) == [(name,)]
        migrate(installer)
        assert not migrate(installer).changed
        assert works(installer)
