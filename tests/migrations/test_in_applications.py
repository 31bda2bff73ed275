"""pgrecall in an application's own migrations: Alembic, Django's connection, SQL that a tool runs, roles by others."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.pq import TransactionStatus
from sqlalchemy import NullPool, create_engine, make_url
from typer.testing import CliRunner

from pgrecall import Client, InvalidInput, PermissionDenied, PgrecallError
from pgrecall.admin.migrate import check, include_name, migrate, migration_script, roles_script
from pgrecall.cli import app as command
from pgrecall.server.binaries import binaries
from support.migrating import schema

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from sqlalchemy import URL

ENV = """
from alembic import context
from sqlalchemy import MetaData, NullPool, create_engine

from pgrecall.admin.migrate import include_name

with create_engine(context.config.get_main_option("sqlalchemy.url"), poolclass=NullPool).connect() as connection:
    context.configure(
        connection=connection, target_metadata=MetaData(), include_schemas=True, {include}
        transaction_per_migration={per_migration}
    )
    with context.begin_transaction():
        context.run_migrations()
"""
REVISION = """
import sqlalchemy as sa
from alembic import context, op

from pgrecall import Client
from pgrecall.admin.migrate import migrate

revision, down_revision = {revision!r}, {before!r}

def upgrade():
{body}
"""
FIRST = """
    op.create_table("orders", sa.Column("id", sa.Integer))
    op.execute("CREATE EXTENSION IF NOT EXISTS vector")
"""
SECOND = """
    driver = op.get_bind().connection.driver_connection
    migrate({target})
    # alembic goes on: both proxies, and the same transaction.
    assert context.config is not None and op.get_bind() is not None
    op.add_column("orders", sa.Column("note", sa.Text))
"""
THIRD = """
    Client.on(op.get_bind().connection.driver_connection).remember("from a revision")
    migrate(op.get_bind().connection.driver_connection)
    op.execute("INSERT INTO orders VALUES (1)")
"""


def url_of(dsn: str) -> URL:
    given = conninfo_to_dict(dsn)
    address = {name: str(given[name]) for name in ("host", "port")}
    return make_url("postgresql+psycopg://").set(
        username=str(given["user"]), database=str(given["dbname"]), query=address
    )


class Project:
    """An application's alembic project."""

    def __init__(self, folder: Path, dsn: str, *, per_migration: bool = False, include: bool = True) -> None:
        from alembic.config import Config

        self.folder = folder
        (folder / "versions").mkdir(parents=True)
        (folder / "script.py.mako").write_text(
            "revision, down_revision = ${repr(up_revision)}, None\n\ndef upgrade():\n    ${upgrades}\n"
        )
        named = "include_name=include_name," if include else ""
        (folder / "env.py").write_text(ENV.format(per_migration=per_migration, include=named))
        self.config = Config()
        self.config.set_main_option("script_location", str(folder))
        self.config.set_main_option("path_separator", "os")
        self.config.set_main_option("sqlalchemy.url", url_of(dsn).render_as_string(False).replace("%", "%%"))

    def add(self, *bodies: str) -> None:
        names = [None, *"abcd"]
        for place, body in enumerate(bodies):
            text = REVISION.format(revision=names[place + 1], before=names[place], body=body)
            (self.folder / "versions" / f"{names[place + 1]}.py").write_text(text)

    def upgrade(self) -> None:
        from alembic import command as alembic

        alembic.upgrade(self.config, "head")


@pytest.fixture
def empty(database: Callable[..., Any]) -> Iterator[str]:
    with database() as dsn:
        yield dsn


@pytest.mark.parametrize("per_migration", [True, False])
def test_a_revision_of_alembic(empty: str, tmp_path: Path, fresh: str, per_migration: bool) -> None:
    project = Project(tmp_path / "app", empty, per_migration=per_migration)
    project.add(FIRST, SECOND.format(target="driver"), THIRD)
    project.upgrade()
    assert check(empty).current
    with Client(empty) as client:
        assert [one.content for one in client.recall("revision", embed=False)] == ["from a revision"]
    with psycopg.connect(empty) as conn:
        assert conn.execute("SELECT id, note FROM orders").fetchall() == [(1, None)]
        conn.execute("DROP TABLE orders, alembic_version")
    assert schema(empty) == fresh


def test_a_url_of_sqlalchemy_in_a_revision(empty: str, tmp_path: Path) -> None:
    project = Project(tmp_path / "app", empty, per_migration=True)
    target = "op.get_bind().engine.url.render_as_string(hide_password=False)"
    project.add('    op.create_table("orders", sa.Column("id", sa.Integer))', SECOND.format(target=target))
    project.upgrade()
    assert check(empty).current
    for driver in ("psycopg2", "asyncpg"):
        assert check(url_of(empty).set(drivername=f"postgresql+{driver}").render_as_string(False)).current


def test_a_revision_that_fails_leaves_nothing(empty: str, tmp_path: Path) -> None:
    before = schema(empty)
    project = Project(tmp_path / "app", empty)
    project.add(FIRST, SECOND.format(target="driver"), '    op.execute("SELECT 1 / 0")')
    with pytest.raises(Exception, match="division by zero"):
        project.upgrade()
    assert schema(empty) == before


@pytest.mark.filterwarnings("ignore:Did not recognize type")
def test_autogenerate_sees_the_applications_tables_only(dsn: str, tmp_path: Path) -> None:
    from alembic import command as alembic

    with psycopg.connect(dsn) as conn:
        conn.execute("CREATE SCHEMA billing CREATE TABLE invoices (id integer)")
    for include, dropped in ((True, 1), (False, 30)):
        folder = tmp_path / str(include)
        project = Project(folder, dsn, include=include)
        alembic.stamp(project.config, "base")
        alembic.revision(project.config, autogenerate=True, rev_id="a")
        [text] = [file.read_text() for file in (folder / "versions").glob("a_*.py")]
        assert "invoices" in text
        assert (text.count("drop_table") == dropped) is include
    assert include_name("pgrecall", "table", {})
    assert include_name(None, "schema", {})
    assert not include_name("_pgrecall", "schema", {})


@pytest.mark.parametrize("is_autocommit", [True, False])
def test_an_applications_connection(empty: str, fresh: str, is_autocommit: bool) -> None:
    heard: list[str] = []
    with psycopg.connect(empty, autocommit=is_autocommit) as app:
        app.add_notice_handler(lambda diag: heard.append(str(diag.message_primary)))
        app.execute("SET search_path = pg_temp, public")
        app.execute("SET statement_timeout = '77s'")
        app.execute("SET idle_in_transaction_session_timeout = '78s'")
        app.execute("SET plpgsql.extra_errors = 'all'")
        app.execute("SET client_encoding = 'LATIN1'")
        assert migrate(app).changed
        assert not migrate(app).changed
        shown = [
            app.execute(f"SHOW {name}").fetchall()[0][0]
            for name in (
                "search_path",
                "statement_timeout",
                "idle_in_transaction_session_timeout",
                "plpgsql.extra_errors",
            )
        ]
        assert shown == ["pg_temp, public", "77s", "78s", "all"]
        assert app.info.encoding == "iso8859-1"
        within = TransactionStatus.IDLE if is_autocommit else TransactionStatus.INTRANS
        assert app.info.transaction_status == within
        app.execute("DO 'BEGIN RAISE NOTICE ''mine''; END'")
        assert heard[-1:] == ["mine"]
        assert check(empty).current is is_autocommit
    assert check(empty).current
    assert schema(empty) == fresh


@pytest.mark.slow
@pytest.mark.pg15
def test_a_savepoint_of_the_application(empty: str, fresh: str) -> None:
    with psycopg.connect(empty) as app:
        app.execute("CREATE TABLE orders (id integer)")
        with app.transaction(force_rollback=True):
            migrate(app)
        assert not check(app).current
        with app.transaction(), app.transaction():
            migrate(app)
            app.execute("DROP TABLE orders")
    assert schema(empty) == fresh


@pytest.mark.slow
@pytest.mark.pg15
def test_an_upgrade_in_a_savepoint_and_a_downgrade(empty: str, fresh: str) -> None:
    before = schema(empty)
    migrate(empty, revision="0003")
    with psycopg.connect(empty, autocommit=True) as app:
        with app.transaction(), app.transaction():
            migrate(app)
        assert schema(empty) == fresh
        with app.transaction():
            migrate(app, revision="base")
    assert schema(empty) == before


@pytest.mark.slow
@pytest.mark.pg15
def test_a_member_of_the_owner_keeps_its_role_and_lacks_the_database(
    new_database: Callable[..., str], server_dsn: str
) -> None:
    """In the application's transaction: the migration works as the owner, who may not set the database's defaults."""
    dsn = new_database()
    owner, member = (f"pgrecall_test_{kind}_{os.getpid()}" for kind in ("owning", "member"))
    database = conninfo_to_dict(dsn)["dbname"]
    with psycopg.connect(server_dsn, autocommit=True) as admin, psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("CREATE EXTENSION vector")
        conn.execute(f"CREATE ROLE {owner}; CREATE ROLE {member} LOGIN IN ROLE {owner}".encode())
        conn.execute(f'GRANT CREATE ON DATABASE "{database}" TO {owner}'.encode())
        conn.execute(roles_script(owner, "memory_api").encode())
        try:
            with psycopg.connect(make_conninfo(dsn, user=member)) as app:
                app.execute(f"SET ROLE {owner}".encode())
                report = migrate(app, schema="memory_api")
                assert any("does not own the database" in message for message in report.messages)
                app.execute("RESET ROLE")
                app.execute("UPDATE pgrecall.installation SET bundle_hash = 'another'")
                assert migrate(app).changed
                assert app.execute("SELECT current_user::text").fetchone() == (member,)
                assert app.execute("SELECT memory_api.remember('tea')").fetchone()
                app.commit()
            found = conn.execute(
                "SELECT nspowner::regrole::text FROM pg_namespace WHERE nspname = 'memory_api'"
            )
            assert found.fetchone() == (owner,)
            assert check(dsn).current
        finally:
            conn.execute(f"DROP OWNED BY {member}, {owner} CASCADE".encode())
            admin.execute(f"DROP ROLE {member}, {owner}".encode())


def test_what_is_no_connection_and_a_transaction_that_has_failed(empty: str) -> None:
    with (
        create_engine(url_of(empty), poolclass=NullPool).connect() as alchemy,
        pytest.raises(InvalidInput, match="neither"),
    ):
        migrate(alchemy)  # type: ignore[arg-type]
    with psycopg.connect(empty) as app:
        with pytest.raises(psycopg.errors.DivisionByZero):
            app.execute("SELECT 1 / 0")
        with pytest.raises(PgrecallError, match="has failed"):
            migrate(app)
        app.rollback()
        with pytest.raises(InvalidInput):
            migrate(app, dim=0)
        app.rollback()
        migrate(app)
    assert check(empty).current


def run_by_psql(*options: str) -> Callable[[str, str], None]:
    def run(dsn: str, script: str) -> None:
        done = subprocess.run(
            [str(binaries() / "psql"), "-X", "-q", "-v", "ON_ERROR_STOP=1", *options, "-f", "-", dsn],
            input=script, capture_output=True, text=True, check=False, timeout=120,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert "ERROR" not in done.stderr

    return run


def run_by_psycopg(dsn: str, script: str) -> None:
    with psycopg.connect(dsn) as conn:
        conn.execute(script.encode())


def run_by_sqlalchemy(dsn: str, script: str) -> None:
    with create_engine(url_of(dsn), poolclass=NullPool).begin() as connection:
        connection.exec_driver_sql(script, execution_options={"no_parameters": True})


RUNNERS = {
    "psql": run_by_psql(), "psql -1": run_by_psql("-1"), "psycopg": run_by_psycopg, "sqlalchemy": run_by_sqlalchemy,
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.pg15
@pytest.mark.parametrize("by", RUNNERS)
def test_a_script_for_any_tool(new_database: Callable[..., str], fresh: str, by: str) -> None:
    source, target = new_database(), new_database()
    script = migration_script(source)
    assert "\nCREATE INDEX CONCURRENTLY" not in script
    assert not any(line.startswith("\\") for line in script.splitlines())
    RUNNERS[by](target, script)  # it names no database
    assert check(target).current
    assert schema(target) == fresh


def test_an_upgrade_names_what_needs_no_transaction(new_database: Callable[..., str]) -> None:
    dsn = new_database()
    migrate(dsn, revision="0005")
    script = migration_script(dsn)
    assert "statement by statement" in script.splitlines()[1]
    assert "CREATE INDEX CONCURRENTLY" in script
    run_by_psql()(dsn, script)
    assert check(dsn).current


@pytest.fixture
def owner(server_dsn: str, empty: str) -> Iterator[str]:
    """Connection string of the owner of an empty database, who may not create roles."""
    with psycopg.connect(server_dsn, autocommit=True) as admin:
        name = f"owner_{os.getpid()}"
        admin.execute(f'DROP ROLE IF EXISTS "{name}"'.encode())
        admin.execute(f'CREATE ROLE "{name}" LOGIN'.encode())
        database = conninfo_to_dict(empty)["dbname"]
        admin.execute(f'ALTER DATABASE "{database}" OWNER TO "{name}"'.encode())
        with psycopg.connect(empty, autocommit=True) as conn:
            conn.execute("CREATE EXTENSION vector")
        yield make_conninfo(empty, user=name)
        with psycopg.connect(empty, autocommit=True) as conn:
            conn.execute(f'REASSIGN OWNED BY "{name}" TO CURRENT_USER; DROP OWNED BY "{name}"'.encode())
        admin.execute(f'ALTER DATABASE "{database}" OWNER TO CURRENT_USER'.encode())
        admin.execute(f'DROP OWNED BY "{name}"; DROP ROLE "{name}"'.encode())


def test_the_statements_for_an_administrator(empty: str, owner: str) -> None:
    name = conninfo_to_dict(owner)["user"]
    with pytest.raises(PgrecallError, match="may not") as caught:
        migrate(owner)
    assert caught.value.sqlstate == "42501"
    assert f"--roles-sql {name}" in str(caught.value.hint)
    with pytest.raises(PgrecallError, match="may not"):
        migration_script(owner, with_roles=False)
    done = CliRunner().invoke(command, ["migrate", "--roles-sql", str(name)])
    assert done.exit_code == 0
    assert done.stdout.strip() == roles_script(str(name))
    for _ in range(2):
        with psycopg.connect(empty) as admin:
            admin.execute(done.stdout.encode())
    migrate(owner)
    assert check(owner).current
    with Client(owner) as client:
        client.remember("tea")


def test_the_roles_of_the_statements_are_those_of_the_catalog(
    dsn: str, conn: psycopg.Connection[Any]
) -> None:
    made = conn.execute(
        "SELECT r.rolname, m.rolname FROM pg_roles r LEFT JOIN pg_auth_members g ON g.member = r.oid "
        "LEFT JOIN pg_roles m ON m.oid = g.roleid AND m.rolname LIKE 'pgrecall\\_%' "
        "WHERE r.rolname ~ '^pgrecall_(reader|writer|embedder|everywhere|admin|gate|engine)$' ORDER BY 1, 2"
    ).fetchall()
    text = roles_script("x")
    used = conn.execute(
        "SELECT DISTINCT r.rolname FROM pg_proc p, aclexplode(p.proacl) a JOIN pg_roles r ON r.oid IN (a.grantee) "
        "WHERE p.pronamespace IN ('pgrecall'::regnamespace, '_pgrecall'::regnamespace, 'public'::regnamespace) "
        "AND r.rolname LIKE 'pgrecall\\_%' "
        "UNION SELECT DISTINCT pg_get_userbyid(p.proowner) FROM pg_proc p WHERE p.prosecdef "
        "AND p.pronamespace IN ('pgrecall'::regnamespace, '_pgrecall'::regnamespace)"
    ).fetchall()
    assert {role for (role,) in used} <= {role for role, _ in made}
    assert len({role for role, _ in made}) == 7
    for role, member_of in made:
        assert f"'{role}', {'NULL' if member_of is None else repr(member_of)}" in text
    assert '"it""s"' in roles_script('it"s')


def test_an_installer_without_createrole_on_a_server_without_the_roles(empty: str, owner: str) -> None:
    missing = "pgrecall_reader"
    with psycopg.connect(owner) as conn:
        from pgrecall.admin import roles

        text = roles._revision_of_roles().replace(missing, "pgrecall_nowhere")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(roles, "_revision_of_roles", lambda: text)
            with pytest.raises(PermissionDenied, match="no roles pgrecall_nowhere") as caught:
                roles.refuse_missing_roles(conn)
            with psycopg.connect(empty) as admin:
                roles.refuse_missing_roles(admin)
    assert "--roles-sql" in str(caught.value.hint)
