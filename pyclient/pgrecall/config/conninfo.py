"""Connection strings that are read as they were meant, so that no error about one quotes its password.

libpq ends the password of a URI at the first @, and looks for none behind a slash. What is left of it becomes
a host, a port or a database then, and errors quote these.
"""

from __future__ import annotations

from typing import Any

from pgrecall.errors import ConnectionFailed

__all__ = ["dsn_parts"]


def dsn_parts(dsn: str) -> dict[str, Any]:
    """Take a connection string apart.

    Args:
        dsn: A libpq connection string or URI.

    Raises:
        ConnectionFailed: It cannot be read, or part of its password would be taken for something else.
    """
    from psycopg import ProgrammingError
    from psycopg.conninfo import conninfo_to_dict

    try:
        parts = conninfo_to_dict(dsn)
    except ProgrammingError:
        # libpq's own message quotes from the string, which may hold a password.
        raise ConnectionFailed(
            "the connection string cannot be read",
            hint="Write 'host=… dbname=… user=…' or postgresql://user@host/dbname; "
            "`pgrecall dsn` prints the embedded server's.",
        ) from None
    ports = str(parts.get("port") or "").replace(",", "")
    if _is_torn(dsn) or (ports and not (ports.isascii() and ports.isdigit())):
        raise ConnectionFailed(
            "the connection string has an @, a / or a : where none may be",
            hint="Write %40, %2F and %3A for those of user and password, or keep the password in ~/.pgpass.",
        )
    return parts


def _is_torn(dsn: str) -> bool:
    """Whether a URI has a sign in its password that ends the password for libpq."""
    scheme, _, rest = dsn.partition("://")
    if scheme not in ("postgresql", "postgres"):
        return False
    account, at, further = rest.partition("@")
    return bool(at) and ("@" in further or ("/" in account and "?" not in account))
