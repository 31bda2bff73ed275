"""Installs and removes the replaceable SQL code of sql/, and detects foreign functions in its way."""

from __future__ import annotations

import functools
from collections import Counter
from typing import TYPE_CHECKING, Any, TypeAlias

import psycopg
from psycopg import sql

from pgrecall import __version__
from pgrecall.errors import SchemaMismatch

from .bundle import SqlFile, bundle_hash, installed_files, not_migrated, verify_bundle
from .dropping import drop, drop_unused
from .guard import guarded
from .lock_retry import with_lock_retry
from .ours import OURS_IN_PUBLIC, OWN_SCHEMAS, OWNERS, SCHEMAS, SIGNATURE, function_names
from .owners import own_python, owners_may_create
from .reading import scalar
from .schemas import (
    function_schema,
    hold_schemas,
    open_schemas,
    qualifier,
    qualify,
    roles_shut_out,
    vector_schema,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "DATABASE_DEFAULTS",
    "LOAD_PGVECTOR",
    "differences",
    "install_code",
    "other_owners",
    "refuse_foreign_functions",
    "remove_code",
    "set_database_defaults",
    "use_search_path",
    "verify_installed",
]

# The search_path at installation time, and that of the functions at run time.
SEARCH_PATH = "pg_catalog, pgrecall, pg_temp"
# A server may be set to another meaning of backslashes, to quoting names that need none, and to refusing
# functions that hold what only may be a mistake.
_READ_AS_WRITTEN = (
    *("standard_conforming_strings = on", "backslash_quote = safe_encoding"),
    *("quote_all_identifiers = off", "plpgsql.extra_errors = none"),
)
# pgvector's own default of ef_search, 40, is less than the depth of a leg, and without iterative scans a
# filter starves the dense leg. Database-level, so that any ALTER ROLE, SET or SET LOCAL beats them.
DATABASE_DEFAULTS = {"hnsw.ef_search": "100", "hnsw.iterative_scan": "relaxed_order"}

LOAD_PGVECTOR = "SELECT '[1]'::pgvector.vector"

# Built by _BUILD from the generations, the definitions of settings and the declarations of tables.
BUILT_FUNCTIONS = (
    *("nearest_embeddings", "nearest_shared_embeddings", "scan_embeddings"),
    *("default_settings", "session_setting_names", "erasure_counts"),
)
_BUILD = b"""
    SELECT _pgrecall.rebuild_embedding_accessors(), _pgrecall.rebuild_default_settings(),
           _pgrecall.rebuild_erasure_counts()
"""

# Functions in no file: all but those built are state, which tables and indexes need.
STATE_FUNCTIONS = (
    *("embedding_of", "name_embedding_of", "filter_keys", "namespace_keys", "metadata_leaves"),
    *BUILT_FUNCTIONS,
)

_REVOKE = "revoke.sql"

# Raised where CREATE OR REPLACE cannot replace: a function's result, an overload, the columns of a view.
_NOT_IN_PLACE = (
    psycopg.errors.InvalidFunctionDefinition,
    psycopg.errors.AmbiguousFunction,
    psycopg.errors.InvalidTableDefinition,
)


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
    hold_schemas(conn)
    with owners_may_create(conn):
        _install_files(conn, installed_files(plpython=plpython), plpython=plpython)


def _install_files(conn: psycopg.Connection[Any], files: tuple[SqlFile, ...], *, plpython: bool) -> None:
    # Grants apply to every function, so stale ones are dropped first.
    grants = [file for file in files if file.name == "grants.sql"]
    use_search_path(conn, local=True)
    before = _code_objects(conn)
    in_schemas = qualifier(conn)
    texts = {}
    for file in files:
        if file.name == _REVOKE:
            _run(conn, file.name, file.text)
            before = _code_objects(conn)
        elif file not in grants:
            texts[file.name] = guarded(in_schemas(file.text))
    _replace(conn, texts, before)
    drop(conn, _left_over(conn, before))
    conn.execute(_BUILD)
    if plpython:
        own_python(conn)
    for file in grants:
        _run(conn, file.name, in_schemas(file.text))
    open_schemas(conn)
    update = qualify(
        conn,
        f"""
        UPDATE pgrecall.installation
        SET bundle_hash = %s, package_version = %s, installed_at = now(), has_plpython = %s,
            vector_schema = %s, public_functions = ARRAY(
            SELECT {SIGNATURE} FROM pg_catalog.pg_proc p
            WHERE p.pronamespace = 'public'::regnamespace AND p.proname = ANY (%s) ORDER BY 1)
        """,
    )
    conn.execute(
        update.encode(),
        (bundle_hash(), __version__, plpython, vector_schema(conn), function_names("public")),
    )


def differences(conn: psycopg.Connection[Any], *, plpython: bool) -> list[str]:
    """Tell in what the database's code differs from this package's, for the current schema of pgvector.

    Installing takes a lock that blocks recall, so it is skipped when there is nothing to do.
    """
    stored = conn.execute(
        "SELECT bundle_hash, has_plpython, vector_schema FROM pgrecall.installation"
    ).fetchone()
    expected = (bundle_hash(), plpython, vector_schema(conn))
    if stored is None or stored[:2] != expected[:2]:
        return ["the code was another"]
    found = []
    if stored[2] != expected[2]:
        found.append(f"pgvector moved from schema {stored[2]} to {expected[2]}")
    where = function_schema(conn)
    if scalar(conn, "SELECT to_regnamespace(%s) IS NULL", where):
        return [*found, f"functions were missing with their schema {where}"]
    present = conn.execute(
        qualify(
            conn,
            f"""
        SELECT p.proname FROM pg_catalog.pg_proc p
        WHERE (p.pronamespace IN ({OWN_SCHEMAS}) AND NOT p.proname IN {STATE_FUNCTIONS}) OR {OURS_IN_PUBLIC}
        """,
        ).encode()
    ).fetchall()
    names = Counter(
        name for schema in (*SCHEMAS, "public") for name in function_names(schema, plpython=plpython)
    )
    there = Counter(row[0] for row in present)
    if missing := sorted((names - there).elements()):
        found.append(f"functions were missing: {', '.join(missing)}")
    if surplus := sorted((there - names).elements()):
        found.append(f"functions were left over: {', '.join(surplus)}")
    if shut_out := roles_shut_out(conn):
        found.append(f"{' and '.join(shut_out)} lacked USAGE on schema {where}")
    others = other_owners(conn)
    if others is not None:
        found.append(f"functions of {' and '.join(OWNERS)} belonged to {others}")
    return found


def other_owners(conn: psycopg.Connection[Any]) -> str | None:
    """Return the roles that own SECURITY DEFINER functions of ours instead of the two roles that should.

    A restore with --no-owner makes the restoring role the owner.
    """
    names: str | None = scalar(
        conn,
        qualify(
            conn,
            f"""
        SELECT string_agg(DISTINCT pg_get_userbyid(p.proowner), ', ') FROM pg_catalog.pg_proc p
        WHERE p.prosecdef AND pg_get_userbyid(p.proowner) NOT IN {OWNERS}
          AND (p.pronamespace IN ({OWN_SCHEMAS}) OR {OURS_IN_PUBLIC})
        """,
        ),
    )
    return names


def remove_code(conn: psycopg.Connection[Any]) -> None:
    """Drop everything that sql/ created, and reset the settings of `set_database_defaults`.

    Raises:
        psycopg.errors.DependentObjectsStillExist: An object of the user depends on it; nothing is dropped.
    """
    if scalar(conn, "SELECT to_regclass('pgrecall.installation') IS NOT NULL"):
        with_lock_retry(conn, _remove)


def _remove(conn: psycopg.Connection[Any]) -> None:
    drop(conn, list(_code_objects(conn).values()))
    for name in BUILT_FUNCTIONS:
        conn.execute(f"DROP FUNCTION IF EXISTS _pgrecall.{name}".encode())
    _load_pgvector(conn)
    for setting in scalar(conn, "SELECT database_settings FROM pgrecall.installation"):
        name, _, value = setting.partition("=")
        # Keep a value that the operator has changed since.
        if name in DATABASE_DEFAULTS and _database_settings(conn).get(name) == value:
            database = sql.Identifier(conn.info.dbname)
            conn.execute(sql.SQL("ALTER DATABASE {} RESET {}").format(database, sql.SQL(name)))
    conn.execute(
        "UPDATE pgrecall.installation "
        "SET bundle_hash = NULL, public_functions = '{}', database_settings = '{}'"
    )


def refuse_foreign_functions(conn: psycopg.Connection[Any]) -> None:
    """Refuse to replace or overload a foreign function in the schema of the functions for clients.

    Raises:
        SchemaMismatch: There is such a function (42723).
    """
    is_there = scalar(conn, "SELECT to_regclass('pgrecall.installation') IS NOT NULL")
    foreign = scalar(
        conn,
        qualify(
            conn,
            f"""
        SELECT string_agg(p.oid::regprocedure::text, ', ') FROM pg_catalog.pg_proc p
        WHERE p.pronamespace = to_regnamespace('public') AND p.proname = ANY (%s)
          {f"AND NOT {OURS_IN_PUBLIC}" if is_there else ""}
        """,
        ),
        function_names("public"),
    )
    if foreign is not None:
        raise SchemaMismatch(
            f"schema {function_schema(conn)} already has {foreign}, which pgrecall did not create",
            sqlstate="42723",
            hint="Rename that function, or choose a schema for pgrecall's in the first migration: "
            "`pgrecall migrate --schema memory_api`.",
        )


def set_database_defaults(conn: psycopg.Connection[Any]) -> list[str]:
    """Set the database-level defaults of pgvector's parameters, unless the operator has set them.

    Databases cloned from a template do not inherit them.

    Returns:
        The settings made, as `name=value`.

    Raises:
        psycopg.errors.InsufficientPrivilege: The role does not own the database.
    """
    _load_pgvector(conn)
    present = _database_settings(conn)
    done = []
    for name, value in DATABASE_DEFAULTS.items():
        if name not in present:
            # Names no database, so that a script of it suits any.
            conn.execute(
                "DO $do$ BEGIN EXECUTE "
                f"format('ALTER DATABASE %I SET {name} = {value}', current_database()); END $do$".encode()
            )
            done.append(f"{name}={value}")
    return done


def _load_pgvector(conn: psycopg.Connection[Any]) -> None:
    """Load its library: only a superuser may set a parameter that is not known."""
    hold_schemas(conn)
    conn.execute(qualify(conn, LOAD_PGVECTOR).encode())


def use_search_path(conn: psycopg.Connection[Any], *, local: bool = False) -> None:
    """Set the search_path to create pgrecall's objects, which its functions keep (`local`: its transaction).

    Only the owner may create in `pgrecall`, and nobody in `pg_catalog`. So no name can resolve to a
    foreign operator, function or type. Literals and names then mean what they do by default.
    """
    for setting in (f"search_path = {SEARCH_PATH}", *_READ_AS_WRITTEN):
        conn.execute(f"SET {'LOCAL ' if local else ''}{setting}".encode())


def verify_installed(conn: psycopg.Connection[Any]) -> None:
    """Compare the SQL code of a database with this package's.

    Raises:
        SchemaMismatch: They differ, or the database has no pgrecall.
    """
    if not scalar(conn, "SELECT to_regprocedure('pgrecall.bundle_hash()') IS NOT NULL"):
        raise not_migrated()
    verify_bundle(scalar(conn, "SELECT pgrecall.bundle_hash()"))


_CODE_OBJECTS = f"""
    SELECT item.oid, item.xmin::text, item.command
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
        WHERE (p.pronamespace IN ({OWN_SCHEMAS}) AND NOT p.proname IN {STATE_FUNCTIONS})
           OR {OURS_IN_PUBLIC}
    ) item
    ORDER BY item.oid DESC -- later objects may depend on earlier ones
"""
_Objects: TypeAlias = dict[tuple[int, str], str]


def _code_objects(conn: psycopg.Connection[Any]) -> _Objects:
    """Return the DROP commands for the objects of sql/, by oid and version of the catalog's row."""
    rows = conn.execute(qualify(conn, _CODE_OBJECTS).encode()).fetchall()
    return {(oid, version): command for oid, version, command in rows}


def _left_over(conn: psycopg.Connection[Any], before: _Objects) -> list[str]:
    """Return the DROP commands for objects that no file has replaced: CREATE OR REPLACE writes a new row."""
    return [command for key, command in _code_objects(conn).items() if key in before]


def _replace(conn: psycopg.Connection[Any], texts: Mapping[str, str], before: _Objects) -> None:
    """Run the files; where an object cannot be replaced in place, drop it first, in the same transaction.

    Everything that may depend on it is left over from before, and later files make it again. Most often all
    are replaced in place: only if one is not, each file gets a savepoint of its own.
    """
    try:
        with conn.transaction():
            for name, text in texts.items():
                _run(conn, name, text)
    except _NOT_IN_PLACE:
        for name, text in texts.items():
            _replace_one(conn, name, text, before)


def _replace_one(conn: psycopg.Connection[Any], name: str, text: str, before: _Objects) -> None:
    try:
        with conn.transaction():
            _run(conn, name, text)
    except _NOT_IN_PLACE:
        blocked = drop_unused(conn, _left_over(conn, before))
        try:
            with conn.transaction():
                _run(conn, name, text)
        except _NOT_IN_PLACE as error:
            raise error if blocked is None else blocked from error


def _run(conn: psycopg.Connection[Any], name: str, text: str) -> None:
    try:
        conn.execute(text.encode())
    except psycopg.Error as error:
        error.add_note(f"while installing sql/{name}")
        raise


def _database_settings(conn: psycopg.Connection[Any]) -> dict[str, str]:
    rows = conn.execute(
        "SELECT unnest(s.setconfig) FROM pg_catalog.pg_db_role_setting s "
        "JOIN pg_catalog.pg_database d ON d.oid = s.setdatabase "
        "WHERE d.datname = current_database() AND s.setrole = 0"
    ).fetchall()
    return dict(row[0].split("=", 1) for row in rows)
