"""Bring a database to the schema and the code of this package.

Under one advisory lock: the alembic revisions (state), then sql/ in one transaction (code), then the hash of that
bundle. Installers wait for the lock by asking for it again and again outside any transaction: one that waited
inside a transaction would hold a snapshot that CREATE INDEX CONCURRENTLY waits for, and both would wait for ever.
"""

from __future__ import annotations

import re
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import sql

from pgrecall import __version__
from pgrecall.bundle import bundle_hash, folder, sql_files
from pgrecall.embedding_models import DEFAULT_MODEL, KNOWN_MODELS, ModelSpec
from pgrecall.errors import InvalidInput, PgrecallError, SchemaMismatch, error_from

if TYPE_CHECKING:
    from collections.abc import Iterator

    import sqlalchemy
    from alembic.config import Config
    from alembic.runtime.environment import EnvironmentContext
    from alembic.script import ScriptDirectory

__all__ = [
    "DEFAULT_DIMENSION",
    "MAX_DIMENSION",
    "MigrationReport",
    "MigrationState",
    "check",
    "environment",
    "migrate",
    "run_sql",
    "set_database_defaults",
]

DEFAULT_DIMENSION = 384
MAX_DIMENSION = 4000  # what an HNSW index on halfvec takes
MINIMUM_SERVER = 150000
MINIMUM_PGVECTOR = (0, 8)
LOCK_KEY = 0x7067_7265_6361_6C6C  # 'pgrecall'
LOCK_POLL_SECONDS = 0.2

# pgvector's own default of ef_search, 40, is less than the depth of a leg, and without iterative scans a filter
# starves the dense leg. Database-level, so that any ALTER ROLE, SET or SET LOCAL beats them.
DATABASE_DEFAULTS = {"hnsw.ef_search": "100", "hnsw.iterative_scan": "relaxed_order"}


@dataclass(frozen=True, slots=True)
class MigrationReport:
    """What `migrate` did: where the database is now, whether anything changed, and what to tell the operator."""

    revision: str | None
    bundle_hash: str | None
    changed: bool
    messages: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MigrationState:
    """Where a database stands against this package; `problems` is empty exactly when it is `current`."""

    revision: str | None
    head: str
    bundle_hash: str | None
    expected_hash: str
    problems: tuple[str, ...]

    @property
    def current(self) -> bool:
        """True when this package can work with the database as it is."""
        return not self.problems


@dataclass(slots=True)
class _Request:
    """What one run of alembic's environment is asked for."""

    dsn: str
    action: str
    dimension: int | None = None
    model: str | None = None
    messages: list[str] = field(default_factory=list)


def migrate(
    dsn: str, *, dim: int | None = None, model: str | None = None, revision: str = "head"
) -> MigrationReport:
    """Bring the database to `revision` and, at the newest one, install this package's SQL.

    Args:
        dsn: Connection string of a direct connection (the lock is the session's).
        dim: Dimension N of `embedding halfvec(N)`, 1 to 4000; fixed when the database is first migrated.
        model: Name of the embedding model to use; its dimension must be N.
        revision: Revision to go to; an older one, or `base`, downgrades.

    Returns:
        A `MigrationReport`.

    Raises:
        InvalidInput: The dimension is not the column's, or the model's is not known.
        SchemaMismatch: The database was migrated by a newer package, or holds objects of the same names.
        PgrecallError: Anything else that the server refused.
    """
    from alembic import command
    from alembic.util.exc import CommandError

    before = check(dsn)
    _check_dimension(dsn, before, dim, model)
    config = _alembic_config(dsn)
    down = _is_downgrade(before.revision, revision)
    config.attributes.update(action="downgrade" if down else "upgrade", dim=dim, model=model, messages=[])
    try:
        (command.downgrade if down else command.upgrade)(config, revision)
    except CommandError as error:
        raise SchemaMismatch(
            f"cannot migrate: {error}", hint="See the known revisions with `alembic history`."
        ) from error
    except psycopg.Error as error:
        raise error_from(error) from error
    except Exception as error:
        # SQLAlchemy wraps what the driver raised inside a revision.
        if isinstance(error.__cause__, psycopg.Error):
            raise error_from(error.__cause__) from error
        raise
    after = check(dsn)
    changed = (before.revision, before.bundle_hash) != (after.revision, after.bundle_hash)
    return MigrationReport(after.revision, after.bundle_hash, changed, tuple(config.attributes["messages"]))


def check(dsn: str) -> MigrationState:
    """Compare the database with this package without changing anything.

    Raises:
        ConnectionFailed: The server cannot be reached.
    """
    head = _script_directory().get_current_head()
    assert head is not None, "the package holds no migrations"  # noqa: S101
    try:
        with psycopg.connect(dsn, autocommit=True) as conn:
            revision, installed = _installed(conn)
    except psycopg.Error as error:
        raise error_from(error) from error
    problems = []
    if revision is None:
        problems.append("the database is not migrated: run `pgrecall migrate`")
    elif revision not in {script.revision for script in _script_directory().walk_revisions()}:
        problems.append(f"revision {revision} is newer than this package: upgrade pgrecall")
    elif revision != head:
        problems.append(f"revision {revision} is behind {head}: run `pgrecall migrate`")
    elif installed != bundle_hash():
        problems.append("the installed SQL is not this package's: run `pgrecall migrate`")
    return MigrationState(revision, head, installed, bundle_hash(), tuple(problems))


def environment(context: EnvironmentContext) -> None:
    """Run one alembic command under the installer's lock; called by migrations/env.py alone."""
    request = _request(context)
    with psycopg.connect(request.dsn, autocommit=True) as conn:
        if request.action not in {"upgrade", "downgrade"}:
            _run_revisions(context, request)
            return
        with _installer_lock(conn):
            _prepare(conn)
            if request.action == "downgrade":
                _remove_code(conn)
            _run_revisions(context, request)
            _finish(conn, request)


def run_sql(connection: sqlalchemy.Connection, text: str) -> None:
    """Run SQL on the driver's own connection, so that no `:name` and no `%` in it is taken for a parameter."""
    driver = connection.connection.driver_connection
    assert isinstance(driver, psycopg.Connection)  # noqa: S101
    driver.execute(text.encode())


def set_database_defaults(conn: psycopg.Connection[Any]) -> list[str]:
    """Set the database-level defaults of pgvector's parameters, where the operator has set none.

    Databases cloned from a template do not inherit them.

    Returns:
        The names that were set.

    Raises:
        psycopg.errors.InsufficientPrivilege: The role does not own the database.
    """
    conn.execute("SELECT '[1]'::vector")  # loads the library, which makes the parameters known
    done = []
    for name, value in DATABASE_DEFAULTS.items():
        if conn.execute(_DATABASE_SETTING, (f"{name}=%",)).fetchone() is None:
            database = sql.Identifier(conn.info.dbname)
            conn.execute(
                sql.SQL("ALTER DATABASE {} SET {} = {}").format(database, sql.SQL(name), sql.Literal(value))
            )
            done.append(name)
    return done


_DATABASE_SETTING = """
    SELECT FROM pg_db_role_setting s JOIN pg_database d ON d.oid = s.setdatabase
    WHERE d.datname = current_database() AND s.setrole = 0
      AND EXISTS (SELECT FROM unnest(s.setconfig) item WHERE item LIKE %s)
"""


def _alembic_config(dsn: str) -> Config:
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(folder("migrations")).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["dsn"] = dsn
    return config


def _script_directory() -> ScriptDirectory:
    from alembic.script import ScriptDirectory

    return ScriptDirectory(str(folder("migrations")))


def _is_downgrade(current: str | None, target: str) -> bool:
    if current is None or target in {"head", "heads"} or target.startswith("+"):
        return False
    if target == "base" or target.startswith("-"):
        return True
    older = {script.revision for script in _script_directory().iterate_revisions(current, "base")}
    return target in older - {current}


def _request(context: EnvironmentContext) -> _Request:
    attributes = context.config.attributes
    arguments = context.get_x_argument(as_dictionary=True)
    command = getattr(context.config.cmd_opts, "cmd", None)
    action = attributes.get("action") or (command[0].__name__ if command else "")
    dsn = attributes.get("dsn") or context.config.get_main_option("sqlalchemy.url")
    if not dsn:
        from pgrecall.server import effective_dsn

        dsn = effective_dsn()
    dimension = attributes.get("dim") or arguments.get("dim")
    return _Request(
        dsn=dsn,
        action=action,
        dimension=None if dimension is None else int(dimension),
        model=attributes.get("model") or arguments.get("model"),
        messages=attributes.setdefault("messages", []),
    )


@contextmanager
def _installer_lock(conn: psycopg.Connection[Any]) -> Iterator[None]:
    while not _scalar(conn, "SELECT pg_try_advisory_lock(%s)", LOCK_KEY):
        time.sleep(LOCK_POLL_SECONDS)
    try:
        yield
    finally:
        if not conn.closed:
            conn.execute("SELECT pg_advisory_unlock(%s)", (LOCK_KEY,))


def _prepare(conn: psycopg.Connection[Any]) -> None:
    """Refuse a server or a database that cannot hold pgrecall; make the schema."""
    if conn.info.server_version < MINIMUM_SERVER:
        raise PgrecallError(
            f"PostgreSQL {conn.info.server_version // 10000} is too old",
            sqlstate="0A000",
            hint="pgrecall runs on PostgreSQL 15 to 18.",
        )
    encoding = _scalar(conn, "SHOW server_encoding")
    if encoding != "UTF8":
        raise PgrecallError(
            f"the database's encoding is {encoding}",
            sqlstate="0A000",
            hint="Create the database with ENCODING 'UTF8' TEMPLATE template0.",
        )
    if _scalar(conn, "SELECT to_regnamespace('pgrecall') IS NOT NULL") and not _scalar(
        conn, "SELECT to_regclass('pgrecall.alembic_version') IS NOT NULL"
    ):
        raise SchemaMismatch(
            "this database has a schema 'pgrecall' that this package did not make",
            sqlstate="42P06",
            hint="Rename that schema, or use another database.",
        )
    _check_public_functions(conn)
    with conn.transaction():
        created = _ensure_pgvector(conn)
        conn.execute("CREATE SCHEMA IF NOT EXISTS pgrecall")
        conn.execute("COMMENT ON SCHEMA pgrecall IS 'pgrecall: long-term memory for agents'")
        # alembic's own table, made here so that the schema is never ours without saying so.
        conn.execute("CREATE TABLE IF NOT EXISTS pgrecall.alembic_version (version_num varchar(32) PRIMARY KEY)")
        if created:
            conn.execute("COMMENT ON EXTENSION vector IS 'created by pgrecall'")


def _ensure_pgvector(conn: psycopg.Connection[Any]) -> bool:
    """Make sure of a recent pgvector; return True if the extension was created now."""
    row = conn.execute(
        "SELECT default_version, installed_version FROM pg_available_extensions WHERE name = 'vector'"
    ).fetchone()
    if row is None:
        raise PgrecallError(
            "the server has no pgvector",
            sqlstate="0A000",
            hint="Install pgvector 0.8 or newer (Debian: postgresql-NN-pgvector) on the database server.",
        )
    version = str(row[1] or row[0])
    if tuple(int(part) for part in version.split(".")[:2]) < MINIMUM_PGVECTOR:
        raise PgrecallError(
            f"pgvector {version} is too old",
            sqlstate="0A000",
            hint="pgrecall needs 0.8 or newer: upgrade the package, then ALTER EXTENSION vector UPDATE.",
        )
    if row[1] is None:
        conn.execute("CREATE EXTENSION vector")
    return row[1] is None


def _run_revisions(context: EnvironmentContext, request: _Request) -> None:
    from sqlalchemy import create_engine
    from sqlalchemy.pool import NullPool

    engine = create_engine(
        "postgresql+psycopg://", creator=lambda: psycopg.connect(request.dsn), poolclass=NullPool
    )
    with engine.connect() as connection:
        run_sql(connection, _search_path(connection.connection.driver_connection))
        connection.commit()
        context.configure(
            connection=connection,
            version_table_schema="pgrecall",
            transaction_per_migration=True,
            pgrecall_dimension=_dimension(request),
        )
        with context.begin_transaction():
            context.run_migrations()
    engine.dispose()


def _search_path(conn: Any) -> str:
    """Return a SET that finds our objects and pgvector's, wherever that extension was installed."""
    row = conn.execute(
        "SELECT quote_ident(n.nspname) FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace "
        "WHERE e.extname = 'vector'"
    ).fetchone()
    vector_schema = "public" if row is None else row[0]
    return f"SET search_path = pgrecall, {vector_schema}, pg_temp"


def _finish(conn: psycopg.Connection[Any], request: _Request) -> None:
    """Install the code where the schema is the newest; take everything back where nothing is left of it."""
    revision, _ = _installed(conn)
    if revision is None:
        _remove_schema(conn)
    elif revision == _script_directory().get_current_head():
        _install_code(conn)
        _use_model(conn, request)
        try:
            names = set_database_defaults(conn)
            conn.execute(
                "UPDATE pgrecall.installation SET database_settings = database_settings || %s::text[]", (names,)
            )
        except psycopg.errors.InsufficientPrivilege:
            request.messages.append(
                "this role does not own the database, so the pgvector defaults are not set: ask the owner for "
                + "; ".join(f"ALTER DATABASE … SET {n} = {v}" for n, v in DATABASE_DEFAULTS.items())
            )
    else:
        request.messages.append(f"revision {revision} is not the newest: no SQL functions are installed")


def _install_code(conn: psycopg.Connection[Any]) -> None:
    """Install sql/ in one transaction and drop the functions that it no longer holds."""
    with conn.transaction():
        conn.execute(_search_path(conn).replace("SET ", "SET LOCAL ", 1).encode())
        for file in sql_files():
            try:
                conn.execute(file.text.encode())
            except psycopg.Error as error:
                error.add_note(f"while installing sql/{file.name}")
                raise
        conn.execute(_DROP_STALE_FUNCTIONS.encode())
        conn.execute(
            """
            UPDATE pgrecall.installation
            SET bundle_hash = %s, package_version = %s, installed_at = now(), public_functions = ARRAY(
                SELECT p.oid::regprocedure::text FROM pg_proc p
                WHERE p.pronamespace = 'public'::regnamespace AND p.proname = ANY (%s) ORDER BY 1)
            """,
            (bundle_hash(), __version__, sorted(_public_function_names())),
        )


# Every CREATE OR REPLACE writes a new row of pg_proc, so what this transaction did not write is left over from an
# older bundle.
_DROP_STALE_FUNCTIONS = """
DO $drop$
DECLARE
    stale text;
BEGIN
    SELECT string_agg(p.oid::regprocedure::text, ', ') INTO stale
    FROM pg_proc p
    WHERE p.xmin <> pg_current_xact_id()::xid
      AND (p.pronamespace = 'pgrecall'::regnamespace
           OR p.oid::regprocedure::text = ANY (SELECT unnest(public_functions) FROM pgrecall.installation));
    IF stale IS NOT NULL THEN
        EXECUTE 'DROP ROUTINE ' || stale;
    END IF;
END
$drop$
"""


def _public_function_names() -> set[str]:
    pattern = re.compile(r"CREATE OR REPLACE FUNCTION public\.(\w+)\s*\(")
    return {name for file in sql_files() for name in pattern.findall(file.text)}


def _check_public_functions(conn: psycopg.Connection[Any]) -> None:
    """Refuse to overwrite, or to become ambiguous with, a function in schema public that is not ours."""
    ours: list[str] = []
    if _scalar(conn, "SELECT to_regclass('pgrecall.installation') IS NOT NULL"):
        ours = _scalar(conn, "SELECT public_functions FROM pgrecall.installation") or []
    row = conn.execute(
        """
        SELECT string_agg(p.oid::regprocedure::text, ', ') FROM pg_proc p
        WHERE p.pronamespace = 'public'::regnamespace AND p.proname = ANY (%s)
          AND NOT p.oid::regprocedure::text = ANY (%s)
        """,
        (sorted(_public_function_names()), ours),
    ).fetchone()
    if row is not None and row[0] is not None:
        raise SchemaMismatch(
            f"schema public already has {row[0]}, which pgrecall did not make",
            sqlstate="42723",
            hint="Rename that function, or use another database: pgrecall installs a function of that name.",
        )


def _remove_code(conn: psycopg.Connection[Any]) -> None:
    """Drop everything that sql/ made, so that a downgrade can change the tables below it."""
    with conn.transaction():
        conn.execute(_REMOVE_CODE.encode())


_REMOVE_CODE = """
DO $remove$
DECLARE
    item record;
BEGIN
    IF to_regclass('pgrecall.installation') IS NULL THEN
        RETURN;
    END IF;
    FOR item IN
        SELECT format('DROP POLICY %I ON pgrecall.%I', p.policyname, p.tablename) AS command
        FROM pg_policies p WHERE p.schemaname = 'pgrecall'
        UNION ALL
        SELECT format('ALTER TABLE %s DISABLE ROW LEVEL SECURITY', c.oid::regclass)
        FROM pg_class c WHERE c.relnamespace = 'pgrecall'::regnamespace AND c.relrowsecurity
    LOOP
        EXECUTE item.command;
    END LOOP;
    FOR item IN
        SELECT 'DROP ROUTINE IF EXISTS ' || p.oid::regprocedure || ' CASCADE' AS command
        FROM pg_proc p
        WHERE p.pronamespace = 'pgrecall'::regnamespace
           OR p.oid::regprocedure::text = ANY (SELECT unnest(public_functions) FROM pgrecall.installation)
        UNION ALL
        SELECT format('DROP VIEW IF EXISTS pgrecall.%I CASCADE', v.viewname) FROM pg_views v WHERE v.schemaname = 'pgrecall'
    LOOP
        EXECUTE item.command;
    END LOOP;
    UPDATE pgrecall.installation SET bundle_hash = NULL, public_functions = '{}';
    -- The settings of the database outlive its tables, so they go while it is still known which are ours.
    FOR item IN
        SELECT format('ALTER DATABASE %I RESET %s', current_database(), name) AS command
        FROM pgrecall.installation, unnest(database_settings) AS name
    LOOP
        EXECUTE item.command;
    END LOOP;
    UPDATE pgrecall.installation SET database_settings = '{}';
END
$remove$
"""


def _remove_schema(conn: psycopg.Connection[Any]) -> None:
    with conn.transaction():
        conn.execute("DROP TABLE pgrecall.alembic_version")
        conn.execute("DROP SCHEMA pgrecall")
        comment = _scalar(
            conn, "SELECT obj_description(oid, 'pg_extension') FROM pg_extension WHERE extname = 'vector'"
        )
        if comment == "created by pgrecall":
            try:
                with conn.transaction():
                    conn.execute("DROP EXTENSION vector")
            except psycopg.errors.DependentObjectsStillExist:
                # Somebody else uses it by now: then it is theirs.
                conn.execute("COMMENT ON EXTENSION vector IS NULL")


def _check_dimension(dsn: str, state: MigrationState, dim: int | None, model: str | None) -> None:
    if dim is not None and not 1 <= dim <= MAX_DIMENSION:
        raise InvalidInput(
            f"the dimension must be between 1 and {MAX_DIMENSION}, not {dim}", hint="Take the model's own dimension."
        )
    known = KNOWN_MODELS.get(model) if model is not None else None
    if known is not None and dim is not None and known.dimension != dim:
        raise InvalidInput(
            f"model {model} has {known.dimension} dimensions, not {dim}",
            hint=f"Leave --dim out, or pass --dim {known.dimension}.",
        )
    column = None
    if state.revision is not None:
        with psycopg.connect(dsn, autocommit=True) as conn:
            column = _column_dimension(conn)
    wanted = dim if dim is not None else None if known is None else known.dimension
    if column is None and model is not None and wanted is None:
        raise InvalidInput(
            f"the dimension of model {model} is not known", hint="Pass it: --dim N, as the model's card gives it."
        )
    if column is not None and wanted is not None and wanted != column:
        raise InvalidInput(
            f"memories.embedding is halfvec({column}), and {wanted} dimensions were asked for",
            hint="The dimension is fixed when a database is first migrated: choose a model that fits it, "
            "or a new database.",
        )


def _dimension(request: _Request) -> int | None:
    if request.dimension is not None or request.model is None:
        return request.dimension
    known = KNOWN_MODELS.get(request.model)
    return None if known is None else known.dimension


def _use_model(conn: psycopg.Connection[Any], request: _Request) -> None:
    """Register the model that was asked for, or the bundled one in a database that fits it and has none."""
    column = _column_dimension(conn)
    active = _scalar(conn, "SELECT name FROM pgrecall.active_model()")
    name = request.model
    if name is None and active is None and column == KNOWN_MODELS[DEFAULT_MODEL].dimension:
        name = DEFAULT_MODEL
    if name is None:
        if active is None:
            request.messages.append("no embedding model chosen yet: pgrecall migrate --model NAME")
        return
    spec = KNOWN_MODELS.get(name, ModelSpec(column or DEFAULT_DIMENSION))
    conn.execute(
        "SELECT pgrecall.activate_model(%s, %s, %s, %s)",
        (name, spec.dimension, spec.query_prompt, spec.document_prompt),
    )


def _column_dimension(conn: psycopg.Connection[Any]) -> int | None:
    value = _scalar(
        conn,
        "SELECT atttypmod FROM pg_attribute "
        "WHERE attrelid = to_regclass('pgrecall.memories') AND attname = 'embedding'",
    )
    return None if value is None else int(value)


def _installed(conn: psycopg.Connection[Any]) -> tuple[str | None, str | None]:
    """Return the revision and the bundle hash of the database; None for what it does not have."""
    revision = installed = None
    if _scalar(conn, "SELECT to_regclass('pgrecall.alembic_version') IS NOT NULL"):
        revision = _scalar(conn, "SELECT version_num FROM pgrecall.alembic_version")
    if _scalar(conn, "SELECT to_regclass('pgrecall.installation') IS NOT NULL"):
        installed = _scalar(conn, "SELECT bundle_hash FROM pgrecall.installation")
    return revision, installed


def _scalar(conn: psycopg.Connection[Any], query: str, *values: object) -> Any:
    row = conn.execute(query.encode(), values).fetchone()
    return None if row is None else row[0]
