"""Installs and removes the replaceable SQL code of sql/, and detects foreign functions in its way."""

from __future__ import annotations

import functools
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import sql

from pgrecall import __version__
from pgrecall.errors import PgrecallError, SchemaMismatch

from .bundle import SqlFile, bundle_hash, installed_files, not_migrated, sql_files, verify
from .lock_retry import with_lock_retry

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "DATABASE_DEFAULTS",
    "close_vector_schema",
    "install_code",
    "is_installed",
    "qualify",
    "refuse_foreign_functions",
    "remove_code",
    "scalar",
    "set_database_defaults",
    "use_search_path",
    "vector_schema",
    "verify_installed",
]

# The search_path at installation time, and that of the functions at run time.
SEARCH_PATH = "pg_catalog, pgrecall, pg_temp"
# The first has the tables and the functions for clients, the second the internal functions.
SCHEMAS = ("pgrecall", "_pgrecall")
_OWN_SCHEMAS = ", ".join(f"'{schema}'::regnamespace" for schema in SCHEMAS)
# The roles that own the SECURITY DEFINER functions.
OWNERS = "pgrecall_gate, pgrecall_engine"

# pgvector's own default of ef_search, 40, is less than the depth of a leg, and without iterative scans a
# filter starves the dense leg. Database-level, so that any ALTER ROLE, SET or SET LOCAL beats them.
DATABASE_DEFAULTS = {"hnsw.ef_search": "100", "hnsw.iterative_scan": "relaxed_order"}

# Built by _BUILD from the generations and the definitions of settings.
BUILT_FUNCTIONS = (
    *("nearest_embeddings", "nearest_shared_embeddings", "scan_embeddings"),
    *("default_settings", "session_setting_names"),
)
_BUILD = b"SELECT _pgrecall.rebuild_embedding_accessors(), _pgrecall.rebuild_default_settings()"

# Functions in no file: all but those built are state, which tables and indexes need.
STATE_FUNCTIONS = (
    *("embedding_of", "name_embedding_of", "filter_keys", "namespace_keys", "metadata_leaves"),
    *BUILT_FUNCTIONS,
)

_REVOKE = "revoke.sql"


def install_code(conn: psycopg.Connection[Any], *, plpython: bool) -> None:
    """Install sql/ in one transaction, and drop objects of an older version that this one does not have.

    Args:
        conn: A connection in autocommit.
        plpython: Whether to install the functions in Python; the database stores the choice.

    Raises:
        psycopg.Error: With a note that names the file; DependentObjectsStillExist if an object of the user
            depends on a function to be dropped.
    """
    with_lock_retry(conn, functools.partial(_install, plpython=plpython))


def _install(conn: psycopg.Connection[Any], *, plpython: bool) -> None:
    files = installed_files(plpython=plpython)
    with _owners_may_create(conn):
        _install_files(conn, files, plpython=plpython)


@contextmanager
def _owners_may_create(conn: psycopg.Connection[Any]) -> Iterator[None]:
    """Grant the owning roles CREATE on their schemas for the block, which ALTER … OWNER requires.

    A superuser may transfer a function to any role. Any other installer must be a member of the role.

    Raises:
        PgrecallError: The installer is neither, or may not grant CREATE on schema public (42501).
    """
    if scalar(conn, "SELECT current_setting('is_superuser') = 'on'"):
        yield
        return
    try:
        for role in OWNERS.split(", "):
            if not scalar(conn, "SELECT pg_has_role(%s, 'USAGE')", role):
                conn.execute(f"GRANT {role} TO CURRENT_USER".encode())
        conn.execute(f"GRANT CREATE ON SCHEMA pgrecall, _pgrecall, public TO {OWNERS}".encode())
    except psycopg.errors.InsufficientPrivilege as error:
        user = sql.Identifier(conn.info.user).as_string(conn)
        raise PgrecallError(
            f"role {user} may not transfer functions to {OWNERS}",
            sqlstate="42501",
            hint=f"Migrate as a superuser, or have one run once: GRANT {OWNERS} TO {user}; "
            f"GRANT CREATE ON SCHEMA public TO {user} WITH GRANT OPTION;",
        ) from error
    yield
    conn.execute(f"REVOKE CREATE ON SCHEMA pgrecall, _pgrecall, public FROM {OWNERS}".encode())


def _install_files(conn: psycopg.Connection[Any], files: tuple[SqlFile, ...], *, plpython: bool) -> None:
    # Grants apply to every function, so stale ones are dropped first.
    grants = [file for file in files if file.name.endswith("grants.sql")]
    use_search_path(conn, local=True)
    for file in files:
        if file.name == _REVOKE:
            # A subtransaction has its own xid, so its catalog rows do not count as written by the files.
            with conn.transaction():
                _run(conn, file.name, file.text)
        elif file not in grants:
            _run(conn, file.name, qualify(conn, file.text))
    _drop(conn, _commands(conn, stale=True))
    conn.execute(_BUILD)
    if plpython:
        _own_python(conn)
    for file in grants:
        _run(conn, file.name, qualify(conn, file.text))
    _open_vector_schema(conn)
    conn.execute(
        f"""
        UPDATE pgrecall.installation
        SET bundle_hash = %s, package_version = %s, installed_at = now(), has_plpython = %s,
            vector_schema = %s, public_functions = ARRAY(
            SELECT {_SIGNATURE} FROM pg_catalog.pg_proc p
            WHERE p.pronamespace = 'public'::regnamespace AND p.proname = ANY (%s) ORDER BY 1)
        """.encode(),
        (bundle_hash(), __version__, plpython, vector_schema(conn), _function_names("public")),
    )


def _open_vector_schema(conn: psycopg.Connection[Any]) -> None:
    """Grant the owning roles USAGE on pgvector's schema if they lack it."""
    schema = vector_schema(conn)
    for role in OWNERS.split(", "):
        if not scalar(conn, "SELECT has_schema_privilege(%s, %s::regnamespace::oid, 'USAGE')", role, schema):
            conn.execute(f"GRANT USAGE ON SCHEMA {schema} TO {role}".encode())


def close_vector_schema(conn: psycopg.Connection[Any]) -> None:
    """Revoke the USAGE on pgvector's schema that `install_code` granted to the owning roles."""
    conn.execute(f"REVOKE USAGE ON SCHEMA {vector_schema(conn)} FROM {OWNERS}".encode())


def _own_python(conn: psycopg.Connection[Any]) -> None:
    """Transfer the functions in Python to the installer, since only a superuser should own untrusted code."""
    rows = conn.execute(
        f"""
        SELECT format('ALTER FUNCTION %s OWNER TO CURRENT_USER', p.oid::regprocedure)
        FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_language l ON l.oid = p.prolang
        WHERE l.lanname = 'plpython3u'
          AND p.pronamespace IN ({_OWN_SCHEMAS}, 'public'::regnamespace)
          AND p.xmin = pg_current_xact_id()::xid AND p.proowner <> current_user::regrole
        """.encode()
    ).fetchall()
    for (command,) in rows:
        conn.execute(command.encode())


def is_installed(conn: psycopg.Connection[Any], *, plpython: bool) -> bool:
    """Tell whether the database has the complete code of this package, for the current schema of pgvector.

    Installing takes a lock that blocks recall, so it is skipped when there is nothing to do.
    """
    stored = conn.execute(
        "SELECT bundle_hash, has_plpython, vector_schema FROM pgrecall.installation"
    ).fetchone()
    if stored != (bundle_hash(), plpython, vector_schema(conn)):
        return False
    present = conn.execute(
        f"""
        SELECT p.proname FROM pg_catalog.pg_proc p
        WHERE (p.pronamespace IN ({_OWN_SCHEMAS}) AND NOT p.proname IN {STATE_FUNCTIONS})
           OR (p.pronamespace = 'public'::regnamespace
               AND {_SIGNATURE} IN (SELECT unnest(i.public_functions) FROM pgrecall.installation i))
        """.encode()
    ).fetchall()
    # A restore with --no-owner makes the restoring role the owner.
    misowned = scalar(
        conn,
        f"""
        SELECT count(*) FROM pg_catalog.pg_proc p
        WHERE p.prosecdef AND pg_get_userbyid(p.proowner) NOT IN ('pgrecall_gate', 'pgrecall_engine')
          AND (p.pronamespace IN ({_OWN_SCHEMAS})
               OR (p.pronamespace = 'public'::regnamespace
                   AND {_SIGNATURE} IN (SELECT unnest(i.public_functions) FROM pgrecall.installation i)))
        """,
    )
    names = sorted(
        name for schema in (*SCHEMAS, "public") for name in _function_names(schema, plpython=plpython)
    )
    return sorted(row[0] for row in present) == names and misowned == 0


def remove_code(conn: psycopg.Connection[Any]) -> None:
    """Drop everything that sql/ created, and reset the settings of `set_database_defaults`.

    Raises:
        psycopg.errors.DependentObjectsStillExist: An object of the user depends on it; nothing is dropped.
    """
    if scalar(conn, "SELECT to_regclass('pgrecall.installation') IS NOT NULL"):
        with_lock_retry(conn, _remove)


def _remove(conn: psycopg.Connection[Any]) -> None:
    _drop(conn, _commands(conn, stale=False))
    for name in BUILT_FUNCTIONS:
        conn.execute(f"DROP FUNCTION IF EXISTS _pgrecall.{name}".encode())
    for setting in scalar(conn, "SELECT database_settings FROM pgrecall.installation"):
        name, _, value = setting.partition("=")
        # Keep a value that the operator has changed since.
        if _database_settings(conn).get(name) == value:
            database = sql.Identifier(conn.info.dbname)
            conn.execute(sql.SQL("ALTER DATABASE {} RESET {}").format(database, sql.SQL(name)))
    conn.execute(
        "UPDATE pgrecall.installation "
        "SET bundle_hash = NULL, public_functions = '{}', database_settings = '{}'"
    )


def refuse_foreign_functions(conn: psycopg.Connection[Any]) -> None:
    """Refuse to replace or overload a foreign function in schema public.

    Raises:
        SchemaMismatch: There is such a function (42723).
    """
    ours: list[str] = []
    if scalar(conn, "SELECT to_regclass('pgrecall.installation') IS NOT NULL"):
        ours = scalar(conn, "SELECT public_functions FROM pgrecall.installation")
    foreign = scalar(
        conn,
        f"""
        SELECT string_agg(p.oid::regprocedure::text, ', ') FROM pg_catalog.pg_proc p
        WHERE p.pronamespace = 'public'::regnamespace AND p.proname = ANY (%s) AND NOT {_SIGNATURE} = ANY (%s)
        """,
        _function_names("public"),
        ours,
    )
    if foreign is not None:
        raise SchemaMismatch(
            f"schema public already has {foreign}, which pgrecall did not create",
            sqlstate="42723",
            hint="Rename that function, or use another database: pgrecall installs a function of that name.",
        )


def set_database_defaults(conn: psycopg.Connection[Any]) -> list[str]:
    """Set the database-level defaults of pgvector's parameters, unless the operator has set them.

    Databases cloned from a template do not inherit them.

    Returns:
        The settings made, as `name=value`.

    Raises:
        psycopg.errors.InsufficientPrivilege: The role does not own the database.
    """
    # Loads the library, which makes the parameters known.
    conn.execute(qualify(conn, "SELECT '[1]'::pgvector.vector").encode())
    present = _database_settings(conn)
    done = []
    for name, value in DATABASE_DEFAULTS.items():
        if name not in present:
            database = sql.Identifier(conn.info.dbname)
            conn.execute(
                sql.SQL("ALTER DATABASE {} SET {} = {}").format(database, sql.SQL(name), sql.Literal(value))
            )
            done.append(f"{name}={value}")
    return done


def use_search_path(conn: psycopg.Connection[Any], *, local: bool = False) -> None:
    """Set the search_path for creating pgrecall's objects, which its functions keep.

    Only the owner may create in `pgrecall`, and nobody in `pg_catalog`. So a name can never resolve to a
    foreign operator, function or type.

    Args:
        conn: A connection of the installer.
        local: True limits it to the transaction instead of the session.
    """
    conn.execute(f"SET {'LOCAL ' if local else ''}search_path = {SEARCH_PATH}".encode())


def qualify(conn: psycopg.Connection[Any], text: str) -> str:
    """Replace the placeholder `pgvector.` in SQL by the schema of pgvector."""
    return re.sub(r"\bpgvector\.(?=[a-z<-])", lambda _: f"{vector_schema(conn)}.", text)


def vector_schema(conn: psycopg.Connection[Any]) -> str:
    """Return the quoted schema of pgvector; public, where pgrecall installs it, if it is not installed."""
    name: str | None = scalar(
        conn,
        "SELECT quote_ident(n.nspname) FROM pg_catalog.pg_extension e "
        "JOIN pg_catalog.pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'vector'",
    )
    return "public" if name is None else name


def scalar(conn: psycopg.Connection[Any], query: str, *values: object) -> Any:
    """Return the first column of the first row, None without rows."""
    row = conn.execute(query.encode(), values if values else None).fetchone()
    return None if row is None else row[0]


def verify_installed(conn: psycopg.Connection[Any]) -> None:
    """Compare the SQL code of a database with this package's.

    Raises:
        SchemaMismatch: They differ, or the database has no pgrecall.
    """
    if not scalar(conn, "SELECT to_regprocedure('pgrecall.bundle_hash()') IS NOT NULL"):
        raise not_migrated()
    verify(scalar(conn, "SELECT pgrecall.bundle_hash()"))


# Unlike regprocedure, this text does not depend on search_path and the schema of pgvector.
_SIGNATURE = """(p.proname || '(' || array_to_string(ARRAY(
    SELECT t.typname FROM unnest(p.proargtypes) WITH ORDINALITY a (type, place)
    JOIN pg_catalog.pg_type t ON t.oid = a.type ORDER BY a.place), ',') || ')')"""

_CODE_OBJECTS = f"""
    SELECT item.command
    FROM (
        SELECT format('DROP TRIGGER %I ON %s', t.tgname, t.tgrelid::regclass) AS command, t.oid, t.xmin
        FROM pg_catalog.pg_trigger t JOIN pg_catalog.pg_class c ON c.oid = t.tgrelid
        WHERE c.relnamespace = 'pgrecall'::regnamespace AND NOT t.tgisinternal
        UNION ALL
        SELECT format('DROP POLICY %I ON %s', p.polname, p.polrelid::regclass), p.oid, p.xmin
        FROM pg_catalog.pg_policy p JOIN pg_catalog.pg_class c ON c.oid = p.polrelid
        WHERE c.relnamespace = 'pgrecall'::regnamespace
        UNION ALL
        SELECT format('DROP VIEW %s', c.oid::regclass), c.oid, r.xmin
        FROM pg_catalog.pg_class c JOIN pg_catalog.pg_rewrite r ON r.ev_class = c.oid
        WHERE c.relnamespace = 'pgrecall'::regnamespace AND c.relkind = 'v'
        UNION ALL
        SELECT format('DROP ROUTINE %s', p.oid::regprocedure), p.oid, p.xmin
        FROM pg_catalog.pg_proc p
        WHERE (p.pronamespace IN ({_OWN_SCHEMAS}) AND NOT p.proname IN {STATE_FUNCTIONS})
           OR (p.pronamespace = 'public'::regnamespace
               AND {_SIGNATURE} IN (SELECT unnest(i.public_functions) FROM pgrecall.installation i))
    ) item
"""
# Every CREATE OR REPLACE writes a new catalog row, so a row of another transaction is left over from an older
# version.
_STALE = "WHERE item.xmin <> pg_current_xact_id()::xid"
# Later objects may depend on earlier ones.
_NEWEST_FIRST = "ORDER BY item.oid DESC"


def _commands(conn: psycopg.Connection[Any], *, stale: bool) -> list[str]:
    """Return DROP commands for the objects of sql/; with `stale`, only those of other transactions."""
    query = f"{_CODE_OBJECTS} {_STALE if stale else ''} {_NEWEST_FIRST}"
    return [row[0] for row in conn.execute(query.encode()).fetchall()]


def _drop(conn: psycopg.Connection[Any], commands: list[str]) -> None:
    """Run DROPs in dependency order, without CASCADE, which would drop objects of the user."""
    while commands:
        blocked = []
        for command in commands:
            try:
                with conn.transaction():
                    conn.execute(command.encode())
            except psycopg.errors.DependentObjectsStillExist as error:
                blocked.append((command, error))
        if len(blocked) == len(commands):
            raise blocked[0][1]
        commands = [command for command, _ in blocked]


def _run(conn: psycopg.Connection[Any], name: str, text: str) -> None:
    try:
        conn.execute(text.encode())
    except psycopg.Error as error:
        error.add_note(f"while installing sql/{name}")
        raise


def _function_names(schema: str, *, plpython: bool | None = None) -> list[str]:
    """Return the names of the functions in the files of one installation, or in all files."""
    files = sql_files() if plpython is None else installed_files(plpython=plpython)
    pattern = re.compile(rf"CREATE OR REPLACE (?:FUNCTION|PROCEDURE) {re.escape(schema)}\.(\w+)\s*\(")
    return sorted({name for file in files for name in pattern.findall(file.text)})


def _database_settings(conn: psycopg.Connection[Any]) -> dict[str, str]:
    rows = conn.execute(
        "SELECT unnest(s.setconfig) FROM pg_catalog.pg_db_role_setting s "
        "JOIN pg_catalog.pg_database d ON d.oid = s.setdatabase "
        "WHERE d.datname = current_database() AND s.setrole = 0"
    ).fetchall()
    return dict(row[0].split("=", 1) for row in rows)
