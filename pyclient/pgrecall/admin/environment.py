"""One run of alembic under the installer's lock, on one connection: the revisions (state), then sql/ (code).

Installers wait for the lock by asking for it again and again outside any transaction: one that waited inside
a transaction would hold a snapshot that CREATE INDEX CONCURRENTLY waits for, and both would wait for ever.
The lock belongs to the session that does the work, so that a server process whose installer was killed keeps
it until it has stopped working.
"""

from __future__ import annotations

import logging
import re
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import sql

from pgrecall.connecting import open_connection
from pgrecall.errors import InvalidInput, PgrecallError, SchemaMismatch

from .bundle import bundle_hash, folder
from .code import (
    DATABASE_DEFAULTS,
    LOAD_PGVECTOR,
    differences,
    install_code,
    other_owners,
    refuse_foreign_functions,
    remove_code,
    set_database_defaults,
    use_search_path,
)
from .dimension import column_dimension, use_model
from .installer_lock import installer_lock
from .limits import lift_limits
from .one_transaction import lent
from .owners import use_owner
from .plpython import prepare_plpython, refuse_plpython, switch
from .reading import scalar
from .roles import refuse_missing_roles
from .schemas import (
    choose_schema,
    close_vector_schema,
    drop_schema,
    function_schema,
    hold_schemas,
    make_schema,
    qualify,
    vector_schema,
)
from .sequences import advance_sequences

if TYPE_CHECKING:
    from collections.abc import Iterator

    import sqlalchemy
    from alembic.runtime.environment import EnvironmentContext
    from alembic.script import ScriptDirectory

__all__ = [
    "connect",
    "environment",
    "run_sql",
    "script_directory",
    "stored_revision",
]

MINIMUM_SERVER = 150000
MINIMUM_PGVECTOR = (0, 8)

Target = str | psycopg.Connection[Any] | psycopg.AsyncConnection[Any]
"""A connection string, which may be a URL of SQLAlchemy, or a connection of an application."""

Kind = type[psycopg.Connection[Any]]

_SQLALCHEMY = re.compile(r"^postgres(?:ql)?\+\w+://")

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Request:
    """What one run is asked for."""

    dsn: Target
    action: str
    dimension: int | None = None
    model: str | None = None
    plpython: bool | None = None
    schema: str | None = None
    messages: list[str] = field(default_factory=list)
    repairs: list[str] = field(default_factory=list)
    kind: Kind = psycopg.Connection


def environment(context: EnvironmentContext) -> None:
    """Run one alembic command; called by migrations/env.py alone.

    Raises:
        InvalidInput: The dimension is not the column's, or the model's is not known.
        SchemaMismatch: The database was migrated by a newer package, or holds objects of the same names.
        PgrecallError: The server or the database cannot hold pgrecall.
        alembic.util.CommandError: There is no such revision.
    """
    try:
        request = _request(context)
        with connect(request.dsn, request.kind) as conn:
            context.config.attributes["connected"] = conn
            if request.action in {"upgrade", "downgrade"}:
                use_owner(conn)
                with installer_lock(conn):
                    _change(context, conn, request)
            else:
                with _alembic(context, conn):
                    context.run_migrations()
    except PgrecallError as error:
        if getattr(context.config, "cmd_opts", None) is None:
            raise
        from alembic.util import CommandError  # which alembic's command line prints without a traceback

        raise CommandError(f"{error}\n  {error.hint}" if error.hint else str(error)) from error


def connect(target: Target, kind: Kind = psycopg.Connection) -> psycopg.Connection[Any]:
    """Open an autocommit connection for the installer's own work; its statements mean PostgreSQL's operators.

    Args:
        target: The connection string, or an application's connection to work on.
        kind: The class of a connection that is opened.

    Raises:
        ConnectionFailed: The connection string cannot be read.
        psycopg.OperationalError: The server cannot be reached.
    """
    if isinstance(target, str):
        dsn = _SQLALCHEMY.sub("postgresql://", target)
        conn = open_connection(kind, dsn, fallback_application_name="pgrecall-migrate")
    else:
        conn = lent(target)
    try:
        # Otherwise a role that can create objects in public could run code as the installer.
        use_search_path(conn)
    except BaseException:
        conn.close()
        raise
    return conn


def run_sql(connection: sqlalchemy.Connection, text: str) -> None:
    """Run SQL on the driver's own connection, so that no `:name` and no `%` in it is taken for a parameter.

    Args:
        connection: The bind of a revision, `op.get_bind()`.
        text: One statement or several; `pgvector.` stands for the schema that pgvector is in.
    """
    driver = connection.connection.driver_connection
    assert isinstance(driver, psycopg.Connection)  # noqa: S101
    hold_schemas(driver)
    driver.execute(qualify(driver, text).encode())


def script_directory() -> ScriptDirectory:
    """Return alembic's view of migrations/."""
    from alembic.script import ScriptDirectory

    return ScriptDirectory(str(folder("migrations")))


def stored_revision(conn: psycopg.Connection[Any]) -> str | None:
    """Return the revision the database is at; None where pgrecall is not installed."""
    if not scalar(conn, "SELECT to_regclass('pgrecall.alembic_version') IS NOT NULL"):
        return None
    revision: str | None = scalar(conn, "SELECT version_num FROM pgrecall.alembic_version")
    return revision


def _request(context: EnvironmentContext) -> _Request:
    attributes = context.config.attributes
    arguments = context.get_x_argument(as_dictionary=True)
    command = getattr(context.config.cmd_opts, "cmd", None)
    dimension = attributes.get("dim", arguments.get("dim"))
    try:
        number = None if dimension is None else int(dimension)
    except ValueError:
        raise InvalidInput(
            f"the dimension must be a whole number, not {dimension!r}", hint="Pass -x dim=N."
        ) from None
    return _Request(
        dsn=attributes.get("dsn") or _configured_dsn(context),
        action=attributes.get("action") or (command[0].__name__ if command else ""),
        dimension=number,
        model=attributes.get("model", arguments.get("model")),
        plpython=attributes.get("plpython", switch(arguments.get("plpython"))),
        schema=attributes.get("schema", arguments.get("schema")),
        messages=attributes.setdefault("messages", []),
        repairs=attributes.setdefault("repairs", []),
        kind=attributes.get("kind", psycopg.Connection),
    )


def _configured_dsn(context: EnvironmentContext) -> str:
    from pgrecall.config.settings import load

    dsn = load().dsn
    if dsn is None:
        dsn = context.config.get_main_option("sqlalchemy.url")
    if not dsn:
        from pgrecall.server import EmbeddedServer

        return EmbeddedServer().up()
    return dsn


def _change(context: EnvironmentContext, conn: psycopg.Connection[Any], request: _Request) -> None:
    """Go to the revision that was asked for, and leave code and settings that fit it."""
    revision = stored_revision(conn)
    _refuse_newer(revision)
    # Whatever is done next puts the name into SQL.
    vector_schema(conn)
    if request.action == "upgrade":
        request.schema = choose_schema(conn, request.schema, is_new=revision is None)
        request.dimension = column_dimension(conn, request.dimension, request.model)
        _refuse_unsuitable(conn)
        refuse_plpython(conn, request.plpython)
    elif revision is None and not scalar(conn, "SELECT to_regclass('pgrecall.alembic_version') IS NOT NULL"):
        return
    schema = function_schema(conn)
    lift_limits(conn)
    use_search_path(conn)
    with _alembic(context, conn, request.dimension):
        run = context.get_context()
        # A revision that does not exist is refused before anything is touched.
        steps = list(run.opts["fn"](run.get_current_heads(), run))
        conn.rollback()
        conn.autocommit = True
        if request.action == "upgrade":
            _make_schema(conn, request.schema)
        # Everything that sql/ made: a downgrade changes the tables below it, and after a restore its triggers
        # would refuse what a revision writes.
        if steps and (
            request.action == "downgrade" or (revision is not None and other_owners(conn) is not None)
        ):
            remove_code(conn)
        conn.autocommit = False
        context.run_migrations()
    if stored_revision(conn) is None:
        drop_schema(conn, schema)
    _finish(conn, request)


@contextmanager
def _alembic(
    context: EnvironmentContext, conn: psycopg.Connection[Any], dimension: int | None = None
) -> Iterator[None]:
    """Let alembic work on `conn`, in transactions; on leaving it is in autocommit again."""
    from sqlalchemy import create_engine
    from sqlalchemy.pool import StaticPool

    try:
        conn.autocommit = False
        engine = create_engine("postgresql+psycopg://", creator=lambda: conn, poolclass=StaticPool)
        with engine.connect() as connection:
            context.configure(
                connection=connection,
                version_table_schema="pgrecall",
                transaction_per_migration=True,
                pgrecall_dimension=dimension,
            )
            with context.begin_transaction():
                yield
    finally:
        # After an error too: an application that lent its session goes on with it, and in its autocommit mode
        # nobody would end a transaction that the next statement begins. If it broke, that was the error.
        with suppress(psycopg.Error):
            conn.rollback()
            conn.autocommit = True


def _refuse_newer(revision: str | None) -> None:
    known = {script.revision for script in script_directory().walk_revisions()}
    if revision is not None and revision not in known:
        raise SchemaMismatch(
            f"the database is at revision {revision}, which this package does not know",
            hint="It was migrated by a newer pgrecall: upgrade the package.",
        )


def _refuse_unsuitable(conn: psycopg.Connection[Any]) -> None:
    """Refuse a server or a database that cannot hold pgrecall, before anything is changed."""
    if conn.info.server_version < MINIMUM_SERVER:
        raise PgrecallError(
            f"PostgreSQL {conn.info.server_version // 10000} is too old",
            sqlstate="0A000",
            hint="pgrecall runs on PostgreSQL 15 to 18.",
        )
    encoding = conn.info.parameter_status("server_encoding")
    if encoding != "UTF8":
        raise PgrecallError(
            f"the database's encoding is {encoding}",
            sqlstate="0A000",
            hint="Create the database with ENCODING 'UTF8' TEMPLATE template0.",
        )
    taken = scalar(conn, "SELECT COALESCE(to_regnamespace('pgrecall'), to_regnamespace('_pgrecall'))::text")
    if taken is not None and not scalar(conn, "SELECT to_regclass('pgrecall.alembic_version') IS NOT NULL"):
        raise SchemaMismatch(
            f"this database has a schema {taken!r} that this package did not make",
            sqlstate="42P06",
            hint="Rename that schema, or use another database.",
        )
    refuse_foreign_functions(conn)
    refuse_missing_roles(conn)
    row = conn.execute(
        "SELECT default_version, installed_version FROM pg_catalog.pg_available_extensions "
        "WHERE name = 'vector'"
    ).fetchone()
    if row is None:
        raise PgrecallError(
            "the server has no pgvector",
            sqlstate="0A000",
            hint="Install pgvector 0.8 or newer (Debian: postgresql-NN-pgvector) on the database server.",
        )
    version = str(row[0] if row[1] is None else row[1])
    if tuple(int(part) for part in version.split(".")[:2]) < MINIMUM_PGVECTOR:
        raise PgrecallError(
            f"pgvector {version} is too old",
            sqlstate="0A000",
            hint="pgrecall needs 0.8 or newer: upgrade the package, then ALTER EXTENSION vector UPDATE.",
        )


def _make_schema(conn: psycopg.Connection[Any], schema: str | None) -> None:
    with conn.transaction():
        make_schema(conn, "public" if schema is None else schema)
        conn.execute("CREATE SCHEMA IF NOT EXISTS pgrecall")
        conn.execute("CREATE SCHEMA IF NOT EXISTS _pgrecall")
        conn.execute("COMMENT ON SCHEMA pgrecall IS 'pgrecall: long-term memory for agents'")
        conn.execute("COMMENT ON SCHEMA _pgrecall IS 'Internals of pgrecall: no interface.'")
        # alembic's own table, made here so that the schema is never ours without saying so.
        conn.execute(
            "CREATE TABLE IF NOT EXISTS pgrecall.alembic_version (version_num varchar(32) PRIMARY KEY)"
        )


def _finish(conn: psycopg.Connection[Any], request: _Request) -> None:
    """Install the code where the schema is the newest; take the schema back where nothing is left in it."""
    revision = stored_revision(conn)
    if revision is None:
        with conn.transaction():
            conn.execute("DROP TABLE pgrecall.alembic_version")
            conn.execute("DROP SCHEMA _pgrecall")
            conn.execute("DROP SCHEMA pgrecall")
            close_vector_schema(conn)
    elif revision != script_directory().get_current_head():
        request.messages.append(f"revision {revision} is not the newest: no SQL functions are installed")
    elif request.action == "upgrade":
        plpython = prepare_plpython(conn, request.plpython)
        is_current = scalar(conn, "SELECT bundle_hash FROM pgrecall.installation") == bundle_hash()
        different = differences(conn, plpython=plpython)
        if different:
            install_code(conn, plpython=plpython)
        assert request.dimension is not None  # noqa: S101
        advice = use_model(conn, request.dimension, request.model)
        if advice is not None:
            request.messages.append(advice)
        tuned = _tune_database(conn, request)
        repairs = [f"{sequence} was behind its table" for sequence in advance_sequences(conn)]
        if is_current:
            repairs += different + [f"the database had no {setting}" for setting in tuned]
        request.repairs += repairs
        request.messages += [f"repaired: {what}" for what in repairs]
        creators = scalar(conn, "SELECT pgrecall.path_creators()")
        if creators is not None:
            request.messages.append(
                "these roles may create operators and functions where pgrecall's own look for theirs, "
                f"and so run code as their callers: {creators}"
            )


def _tune_database(conn: psycopg.Connection[Any], request: _Request) -> list[str]:
    """Set the database's defaults, or say who has to. Returns what was set."""
    done: list[str] = []
    try:
        with conn.transaction():
            done = set_database_defaults(conn)
            conn.execute(
                "UPDATE pgrecall.installation SET database_settings = database_settings || %s::text[]",
                (done,),
            )
    except psycopg.errors.InsufficientPrivilege:
        database = sql.Identifier(conn.info.dbname).as_string(conn)
        commands = [qualify(conn, LOAD_PGVECTOR)] + [
            f"ALTER DATABASE {database} SET {name} = {value}" for name, value in DATABASE_DEFAULTS.items()
        ]
        request.messages.append(
            "this role does not own the database, so pgvector's defaults are not set; ask its owner for: "
            + "; ".join(commands)
        )
    return done
