"""Migrates a database to the schema and code of this package, and checks whether it is current.

`pgrecall.admin.environment` does the work. migrations/env.py runs it, and so does `alembic upgrade head`.
"""

from __future__ import annotations

import random
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import psycopg

from pgrecall.errors import InvalidInput, error_from

from .bundle import bundle_hash, folder
from .code import set_database_defaults
from .dimension import DEFAULT_DIMENSION, MAX_DIMENSION
from .environment import (
    Target,
    connect,
    environment,
    run_sql,
    script_directory,
    stored_revision,
)
from .migration_script import ScriptConnection
from .ours import SCHEMAS
from .owners import use_owner
from .plpython import has_plpython
from .reading import scalar
from .roles import roles_script

if TYPE_CHECKING:
    from collections.abc import Iterator

    from alembic.config import Config

__all__ = [
    "DEFAULT_DIMENSION",
    "MAX_DIMENSION",
    "MigrationReport",
    "MigrationState",
    "check",
    "database_to_downgrade",
    "environment",
    "include_name",
    "migrate",
    "migration_script",
    "roles_script",
    "run_sql",
    "set_database_defaults",
]

# Of a database, of a router of shards, and of a shard.
_SCHEMAS = (*SCHEMAS, "pgrecall_router", "pgrecall_shard")

# alembic keeps the context of a run in a module, so a process can do only one run at a time.
_ALEMBIC = threading.Lock()

ATTEMPTS = 10
"""How often a run is made that ends in a deadlock with calls of clients."""


@dataclass(frozen=True, slots=True)
class MigrationReport:
    """The result of `migrate`: the state of the database, whether it changed, and notes for the operator."""

    revision: str | None
    bundle_hash: str | None
    changed: bool
    messages: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MigrationState:
    """The state of a database relative to this package; it is `current` if there are no `problems`."""

    revision: str | None
    head: str
    bundle_hash: str | None
    expected_hash: str
    problems: tuple[str, ...]
    has_plpython: bool = False

    @property
    def current(self) -> bool:
        """True if this package can work with the database."""
        return not self.problems


def migrate(
    dsn: Target,
    *,
    dim: int | None = None,
    model: str | None = None,
    revision: str = "head",
    plpython: bool | None = None,
    schema: str | None = None,
) -> MigrationReport:
    """Migrate the database to `revision` and, at the newest one, install the SQL code of this package.

    Args:
        dsn: Connection string of a direct connection (the lock belongs to the session), or a URL of
            SQLAlchemy; or the psycopg connection of an application's own migration. In a transaction, all is
            done in that transaction, indexes included, and committed with it.
        dim: Dimension N of `embedding halfvec(N)`, 1 to 4000; fixed when the database is first migrated.
        model: Name of the embedding model to use; its dimension must be N.
        revision: Target revision; an older one, or `base`, downgrades.
        plpython: Whether to install the functions in Python; None keeps the choice. Needs a superuser.
        schema: The schema of the functions for clients, 'public' by default; fixed when the database is first
            migrated.

    Returns:
        A `MigrationReport`.

    Raises:
        InvalidInput: The dimension differs from the column's, the model's is unknown, or there is no such
            revision.
        SchemaMismatch: The database was migrated by a newer package, or has objects with the same names.
        PgrecallError: Any other error of the server.
    """
    _refuse_other_owner(dsn)
    before = check(dsn)
    messages: list[str] = []
    repairs: list[str] = []
    _run(
        dsn,
        before,
        revision,
        dim=dim,
        model=model,
        plpython=plpython,
        schema=schema,
        messages=messages,
        repairs=repairs,
    )
    after = check(dsn)
    changed = before != after or bool(repairs)
    return MigrationReport(after.revision, after.bundle_hash, changed, tuple(messages))


def migration_script(
    dsn: str,
    *,
    dim: int | None = None,
    model: str | None = None,
    revision: str = "head",
    plpython: bool | None = None,
    schema: str | None = None,
    with_roles: bool = True,
) -> str:
    """Return what `migrate` would run, as a script of plain SQL, and change nothing.

    The migration runs in a transaction that is rolled back; it takes the locks that the script will take.
    Indexes that are built concurrently are only noted.

    Args:
        dsn: As for `migrate`, like the next five.
        dim: Dimension of the embeddings.
        model: Name of the embedding model.
        revision: Target revision.
        plpython: Whether to install the functions in Python.
        schema: The schema of the functions for clients.
        with_roles: False leaves the roles out; they must be there.

    Raises:
        InvalidInput: It is a connection, which `migrate` takes and here could not be rolled back.
        PgrecallError: As for `migrate`.
    """
    if not isinstance(dsn, str):
        raise InvalidInput(
            f"migration_script takes a connection string, not a {type(dsn).__name__}",
            hint="It connects itself, because it rolls back what it runs: pass the connection string.",
        )
    _refuse_other_owner(dsn)
    config = _run(
        dsn,
        check(dsn),
        revision,
        dim=dim,
        model=model,
        plpython=plpython,
        schema=schema,
        kind=ScriptConnection,
    )
    return cast("ScriptConnection", config.attributes["connected"]).script(with_roles=with_roles)


def _refuse_other_owner(dsn: Target) -> None:
    """Refuse before anything of the schema is read: a relation there can run code of its owner."""
    try:
        with connect(dsn) as conn:
            use_owner(conn)
    except psycopg.Error as error:
        raise error_from(error) from error


def _run(dsn: Target, before: MigrationState, revision: str, **attributes: Any) -> Config:
    """Run alembic up or down to a revision, and return its configuration."""
    from alembic import command
    from alembic.util.exc import CommandError
    from sqlalchemy.exc import DBAPIError

    down = _is_downgrade(before.revision, revision)
    config = _alembic_config()
    config.attributes.update(dsn=dsn, action="downgrade" if down else "upgrade", **attributes)
    try:
        with _ALEMBIC, _beside_another_run():
            for attempt in range(1, ATTEMPTS + 1):
                try:
                    (command.downgrade if down else command.upgrade)(config, revision)
                except psycopg.errors.DeadlockDetected:
                    # The next run goes on after the last revision that is done. An application's transaction
                    # is lost, and a relative revision would be another one.
                    if attempt == ATTEMPTS or not isinstance(dsn, str) or revision.startswith(("+", "-")):
                        raise
                    time.sleep(random.random())  # noqa: S311
                else:
                    break
    except CommandError as error:
        raise InvalidInput(
            f"cannot go to revision {revision!r}: {error}",
            hint="`alembic history` lists the revisions; `head` is the newest, `base` removes everything.",
        ) from error
    except psycopg.Error as error:
        raise error_from(error) from error
    except DBAPIError as error:
        if isinstance(error.orig, psycopg.Error):
            raise error_from(error.orig) from error
        raise
    return config


@contextmanager
def _beside_another_run() -> Iterator[None]:
    """Give alembic's modules back to the application's run, in one of whose revisions this may be."""
    from alembic import context, op

    proxies = [getattr(module, "_proxy", None) for module in (context, op)]
    try:
        yield
    finally:
        for proxy in proxies:
            if proxy is not None:
                proxy._install_proxy()


def include_name(name: str | None, type_: str, parent_names: object) -> bool:  # noqa: ARG001
    """Tell alembic's autogenerate which names are the application's: `include_name` of `context.configure`.

    Args:
        name: The name.
        type_: What it names.
        parent_names: What it belongs to.
    """
    return not (type_ == "schema" and name in _SCHEMAS)


def check(dsn: Target) -> MigrationState:
    """Compare the database with this package without changing anything.

    Raises:
        ConnectionFailed: The server cannot be reached.
    """
    scripts = script_directory()
    head = scripts.get_current_head()
    assert head is not None, "the package holds no migrations"  # noqa: S101
    installed: str | None = None
    try:
        with connect(dsn) as conn:
            revision = stored_revision(conn)
            if scalar(conn, "SELECT to_regclass('pgrecall.installation') IS NOT NULL"):
                installed = scalar(conn, "SELECT bundle_hash FROM pgrecall.installation")
            plpython = has_plpython(conn)
    except psycopg.Error as error:
        raise error_from(error) from error
    problems = []
    if revision is None:
        problems.append("the database is not migrated: run `pgrecall migrate`")
    elif revision not in {script.revision for script in scripts.walk_revisions()}:
        problems.append(f"revision {revision} is newer than this package: upgrade pgrecall")
    elif revision != head:
        problems.append(f"revision {revision} is behind {head}: run `pgrecall migrate`")
    elif installed != bundle_hash():
        problems.append("the installed SQL code differs from this package's: run `pgrecall migrate`")
    return MigrationState(revision, head, installed, bundle_hash(), tuple(problems), plpython)


def _alembic_config() -> Config:
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(folder("migrations")).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return config


def database_to_downgrade(dsn: str, revision: str) -> str | None:
    """Return the name of the database, if `migrate` to a revision would take tables or columns away from it.

    Args:
        dsn: As for `migrate`.
        revision: The target.

    Raises:
        PgrecallError: As for `migrate`.
    """
    current = check(dsn).revision
    if current is None or not _is_downgrade(current, revision):
        return None
    with connect(dsn) as conn:
        return str(scalar(conn, "SELECT current_database()"))


def _is_downgrade(current: str | None, target: str) -> bool:
    if target == "base" or target.startswith("-"):
        return True
    scripts = {script.revision: script for script in script_directory().walk_revisions()}
    if current not in scripts or target not in scripts:
        return False
    order = list(scripts)  # newest first
    return order.index(target) > order.index(current)
