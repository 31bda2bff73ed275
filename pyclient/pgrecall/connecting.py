"""Where the client connects to, and whether what it finds there fits this package.

Both clients share this; nothing here opens a connection.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from .errors import ConnectionFailed, SchemaMismatch

if TYPE_CHECKING:
    from collections.abc import Callable

    from .given_settings import GivenSetting

_P = ParamSpec("_P")
_T = TypeVar("_T")

CONNECTION_OPTIONS: dict[str, Any] = {
    "autocommit": True,
    # The functions keep their plans themselves, and poolers before PgBouncer 1.21 lose prepared statements.
    "prepare_threshold": None,
    "client_encoding": "UTF8",
    "fallback_application_name": "pgrecall",
}


@dataclass(frozen=True, slots=True)
class Target:
    """What a client works on.

    Attributes:
        dsn: The connection string.
        namespace: The namespace of calls that name none; None leaves it to the database.
        model: The model to embed queries with; None takes the one the database names.
        given: What environment and settings file ask for that may be settings of the database.
    """

    dsn: str = field(repr=False)
    namespace: str | None
    model: str | None
    given: tuple[GivenSetting, ...] = field(default=(), repr=False)


def resolve(dsn: str | None, namespace: str | None, model: str | None) -> Target:
    """Fill what the caller left open from environment and settings file.

    The embedded server is started if it is wanted.

    Raises:
        ConnectionFailed: The connection string cannot be read, or the embedded server cannot be started.
        InvalidInput: The settings file is not as it should be.
    """
    from . import settings_file
    from .config import load
    from .given_settings import given_settings
    from .server import ServerError, effective_dsn

    settings = load()
    try:
        dsn = effective_dsn() if dsn is None else dsn
    except ServerError as error:
        raise ConnectionFailed(str(error), hint=error.hint) from error
    _check_readable(dsn)
    return Target(
        dsn,
        settings.namespace if namespace is None else namespace,
        settings.model if model is None else model,
        given_settings(settings_file.read()),
    )


def _check_readable(dsn: str) -> None:
    from psycopg import ProgrammingError
    from psycopg.conninfo import conninfo_to_dict

    try:
        conninfo_to_dict(dsn)
    except ProgrammingError:
        # libpq's own message quotes from the string, which may hold a password.
        raise ConnectionFailed(
            "the connection string cannot be read",
            hint="Write 'host=… dbname=… user=…' or postgresql://user@host/dbname; "
            "`pgrecall dsn` prints the embedded server's.",
        ) from None


def verify(installed: str | None) -> None:
    """Compare the hash of the database's SQL code with this package's.

    Args:
        installed: What `pgrecall.bundle_hash()` returned.

    Raises:
        SchemaMismatch: They differ.
    """
    from .bundle import bundle_hash

    if installed is None:
        raise not_migrated()
    if installed != bundle_hash():
        raise SchemaMismatch(
            "the database holds the functions of another version of pgrecall",
            hint="Run `pgrecall migrate` if this package is the newer one, else upgrade the package; "
            "`pgrecall migrate --check` tells which.",
        )


def not_migrated() -> SchemaMismatch:
    """Return the error for a database without pgrecall."""
    return SchemaMismatch(
        "the database holds no pgrecall schema", hint="Run `pgrecall migrate` against it first."
    )


async def in_thread(function: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
    """Run something slow beside the event loop."""
    return await asyncio.to_thread(function, *args, **kwargs)


def in_place(function: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
    """Run it here: what `in_thread` becomes in the synchronous client."""
    return function(*args, **kwargs)
