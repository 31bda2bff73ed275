"""The replaceable code of sql/ in a database: installed, taken back, told from what is somebody else's."""

from __future__ import annotations

import functools
import itertools
import logging
import random
import re
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import sql

from pgrecall import __version__
from pgrecall.errors import PgrecallError, SchemaMismatch

from .bundle import SqlFile, bundle_hash, installed_files, not_migrated, sql_files, verify

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = [
    "DATABASE_DEFAULTS",
    "LOCK_POLL_SECONDS",
    "SAY_SO_AFTER_SECONDS",
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
    "with_lock_retry",
]

# What sql/ and the revisions are created under, and their functions run under.
SEARCH_PATH = "pg_catalog, pgrecall, pg_temp"
# What clients call is in the first, and the tables; what only these functions call is in the second.
SCHEMAS = ("pgrecall", "_pgrecall")
_OWN_SCHEMAS = ", ".join(f"'{schema}'::regnamespace" for schema in SCHEMAS)
# The roles that own the functions which run with their owner's rights.
OWNERS = "pgrecall_gate, pgrecall_engine"

# pgvector's own default of ef_search, 40, is less than the depth of a leg, and without iterative scans a
# filter starves the dense leg. Database-level, so that any ALTER ROLE, SET or SET LOCAL beats them.
DATABASE_DEFAULTS = {"hnsw.ef_search": "100", "hnsw.iterative_scan": "relaxed_order"}

LOCK_POLL_SECONDS = 0.2
SAY_SO_AFTER_SECONDS = 5.0
# Well below the default of deadlock_timeout, 1 s, so that nobody else's transaction is the victim. Short ones
# hold nobody up and can be many, long ones outlast slow transactions; two of each, for the two orders below.
LOCK_TIMEOUTS = ("100ms", "100ms", "400ms", "400ms")

# Written by revisions and by changes of generations: state, which no installation makes or drops.
STATE_FUNCTIONS = ("embedding_of", "name_embedding_of")

_REVOKE = "revoke.sql"

_log = logging.getLogger(__name__)


def install_code(conn: psycopg.Connection[Any], *, plpython: bool) -> None:
    """Install sql/ in one transaction and drop what an older bundle made and this one does not.

    Args:
        conn: A connection in autocommit.
        plpython: Whether with the functions in Python; the database keeps what was chosen.

    Raises:
        psycopg.Error: With a note that names the file; DependentObjectsStillExist where something of the
            user's stands on a function that is to go.
    """
    with_lock_retry(conn, functools.partial(_install, plpython=plpython))


def _install(conn: psycopg.Connection[Any], *, plpython: bool) -> None:
    files = installed_files(plpython=plpython)
    with _owners_may_create(conn):
        _install_files(conn, files, plpython=plpython)


@contextmanager
def _owners_may_create(conn: psycopg.Connection[Any]) -> Iterator[None]:
    """Let the roles that own functions create in their schemas until they do: PostgreSQL asks it of an owner.

    A superuser may give a function to any role: nothing to do. Any other installer must be a member.

    Raises:
        PgrecallError: The installer is neither, or may not let others create in schema public (42501).
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
            f"role {user} may not give functions to {OWNERS}",
            sqlstate="42501",
            hint=f"A superuser migrates, or says once: GRANT {OWNERS} TO {user}; "
            f"GRANT CREATE ON SCHEMA public TO {user} WITH GRANT OPTION;",
        ) from error
    yield
    conn.execute(f"REVOKE CREATE ON SCHEMA pgrecall, _pgrecall, public FROM {OWNERS}".encode())


def _install_files(conn: psycopg.Connection[Any], files: tuple[SqlFile, ...], *, plpython: bool) -> None:
    # Grants are on every function there is: what is stale has to be gone by then.
    grants = [file for file in files if file.name.endswith("grants.sql")]
    use_search_path(conn, local=True)
    for file in files:
        if file.name == _REVOKE:
            # In a subtransaction, whose rows of the catalog do not pass for ones that the files have written.
            with conn.transaction():
                _run(conn, file.name, file.text)
        elif file not in grants:
            _run(conn, file.name, qualify(conn, file.text))
    _drop(conn, _commands(conn, stale=True))
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
    """Let the roles that own functions use pgvector's types and operators, where not everybody may."""
    schema = vector_schema(conn)
    for role in OWNERS.split(", "):
        if not scalar(conn, "SELECT has_schema_privilege(%s, %s::regnamespace::oid, 'USAGE')", role, schema):
            conn.execute(f"GRANT USAGE ON SCHEMA {schema} TO {role}".encode())


def close_vector_schema(conn: psycopg.Connection[Any]) -> None:
    """Take back what `install_code` let the roles that own functions use of pgvector's schema."""
    conn.execute(f"REVOKE USAGE ON SCHEMA {vector_schema(conn)} FROM {OWNERS}".encode())


def _own_python(conn: psycopg.Connection[Any]) -> None:
    """Take over the functions in Python: only a superuser is to own what the database's rules do not bind."""
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
    """Tell whether the code in the database is this package's, whole, and finds pgvector where it is now.

    Installing takes a lock that recalls wait for, so it is not done when there is nothing to do.
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
    # A restore without owners gives them to the role that restores.
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
    """Drop everything that sql/ made, and the database's settings that `set_database_defaults` made.

    Raises:
        psycopg.errors.DependentObjectsStillExist: Something of the user's stands on it; then all of it stays.
    """
    if scalar(conn, "SELECT to_regclass('pgrecall.installation') IS NOT NULL"):
        with_lock_retry(conn, _remove)


def _remove(conn: psycopg.Connection[Any]) -> None:
    _drop(conn, _commands(conn, stale=False))
    for setting in scalar(conn, "SELECT database_settings FROM pgrecall.installation"):
        name, _, value = setting.partition("=")
        # What the operator has changed since is the operator's.
        if _database_settings(conn).get(name) == value:
            database = sql.Identifier(conn.info.dbname)
            conn.execute(sql.SQL("ALTER DATABASE {} RESET {}").format(database, sql.SQL(name)))
    conn.execute(
        "UPDATE pgrecall.installation "
        "SET bundle_hash = NULL, public_functions = '{}', database_settings = '{}'"
    )


def refuse_foreign_functions(conn: psycopg.Connection[Any]) -> None:
    """Refuse to overwrite, or to become ambiguous with, a function in schema public that is not ours.

    Raises:
        SchemaMismatch: There is one (42723).
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
            f"schema public already has {foreign}, which pgrecall did not make",
            sqlstate="42723",
            hint="Rename that function, or use another database: pgrecall installs a function of that name.",
        )


def set_database_defaults(conn: psycopg.Connection[Any]) -> list[str]:
    """Set the database-level defaults of pgvector's parameters, where the operator has set none.

    Databases cloned from a template do not inherit them.

    Returns:
        What was set, as `name=value`.

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
    """Set the search_path under which everything of pgrecall is created, and which its functions keep.

    Nobody but the owner may create in `pgrecall`, and nobody at all in `pg_catalog`. So no operator, function
    or type that somebody else made can be taken for the one that was meant.

    Args:
        conn: A connection of the installer's.
        local: Until the transaction ends, not until the session does.
    """
    conn.execute(f"SET {'LOCAL ' if local else ''}search_path = {SEARCH_PATH}".encode())


def qualify(conn: psycopg.Connection[Any], text: str) -> str:
    """Put the schema that pgvector is installed in where SQL of this package says `pgvector.`."""
    return re.sub(r"\bpgvector\.(?=[a-z<])", lambda _: f"{vector_schema(conn)}.", text)


def vector_schema(conn: psycopg.Connection[Any]) -> str:
    """Return the schema that pgvector is in, quoted; public, where pgrecall installs it, while it is not."""
    name: str | None = scalar(
        conn,
        "SELECT quote_ident(n.nspname) FROM pg_catalog.pg_extension e "
        "JOIN pg_catalog.pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'vector'",
    )
    return "public" if name is None else name


def scalar(conn: psycopg.Connection[Any], query: str, *values: object) -> Any:
    """Return the first column of the first row, None without one."""
    row = conn.execute(query.encode(), values if values else None).fetchone()
    return None if row is None else row[0]


def verify_installed(conn: psycopg.Connection[Any]) -> None:
    """Compare the SQL code of a database with this package's.

    Raises:
        SchemaMismatch: They differ, or the database has none.
    """
    if not scalar(conn, "SELECT to_regprocedure('pgrecall.bundle_hash()') IS NOT NULL"):
        raise not_migrated()
    verify(scalar(conn, "SELECT pgrecall.bundle_hash()"))


# The text of a function's oid depends on the search_path and on where pgvector is; this does not.
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
# Every CREATE OR REPLACE writes its row of the catalog anew, so what this transaction did not write is left
# over from an older bundle.
_STALE = "WHERE item.xmin <> pg_current_xact_id()::xid"
# What came later may stand on what was there.
_NEWEST_FIRST = "ORDER BY item.oid DESC"


def _commands(conn: psycopg.Connection[Any], *, stale: bool) -> list[str]:
    """Return the DROPs of what sql/ made; with `stale`, of what this transaction did not make."""
    query = f"{_CODE_OBJECTS} {_STALE if stale else ''} {_NEWEST_FIRST}"
    return [row[0] for row in conn.execute(query.encode()).fetchall()]


def _drop(conn: psycopg.Connection[Any], commands: list[str]) -> None:
    """Run DROPs in whatever order their dependencies allow; never CASCADE, which would take the user's."""
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


def with_lock_retry(conn: psycopg.Connection[Any], work: Callable[[psycopg.Connection[Any]], None]) -> None:
    """Do work in a transaction that has all its locks before it begins, and gives them up rather than wait.

    A client's transaction that holds one of them and waits for another would deadlock with this one, but only
    while this one waits too: so it waits at the start alone, and for less than deadlock_timeout. Clients that
    read the settings before the memories let it through if it starts with the views, the others if it starts
    with the memories: so the attempts take turns.
    """
    started = time.monotonic()
    said = False
    for attempt, timeout in enumerate(itertools.cycle(LOCK_TIMEOUTS)):
        try:
            with conn.transaction():
                conn.execute(f"SET LOCAL lock_timeout = '{timeout}'".encode())
                views = conn.execute(
                    "SELECT format('%I.%I', schemaname, viewname) FROM pg_catalog.pg_views "
                    "WHERE schemaname = 'pgrecall' ORDER BY 1"
                ).fetchall()
                relations = [*(row[0] for row in views), "pgrecall.memories"]
                if attempt % 2:
                    relations.reverse()
                conn.execute(f"LOCK TABLE {', '.join(relations)} IN ACCESS EXCLUSIVE MODE".encode())
                work(conn)
        except (psycopg.errors.LockNotAvailable, psycopg.errors.DeadlockDetected):
            if not said and time.monotonic() - started > SAY_SO_AFTER_SECONDS:
                _log.warning("waiting for transactions that use pgrecall to end")
                said = True
            time.sleep(LOCK_POLL_SECONDS * random.random())  # noqa: S311
        else:
            return


def _run(conn: psycopg.Connection[Any], name: str, text: str) -> None:
    try:
        conn.execute(text.encode())
    except psycopg.Error as error:
        error.add_note(f"while installing sql/{name}")
        raise


def _function_names(schema: str, *, plpython: bool | None = None) -> list[str]:
    """Return the names of what the files make: of one installation's, or of all."""
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
