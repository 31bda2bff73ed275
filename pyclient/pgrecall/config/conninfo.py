"""Parses connection strings such that no error quotes a password.

In a URI, libpq ends the password at the first @ and does not look for one after a slash. The rest of the
password then becomes a host, port or database, which errors quote.
"""

from __future__ import annotations

from typing import Any

from pgrecall.errors import ConnectionFailed

__all__ = ["database_name", "dsn_parts"]


def dsn_parts(dsn: str) -> dict[str, Any]:
    """Parse a connection string.

    Args:
        dsn: A libpq connection string or URI.

    Raises:
        ConnectionFailed: It cannot be parsed, or part of its password would become another parameter.
    """
    from psycopg import ProgrammingError
    from psycopg.conninfo import conninfo_to_dict

    try:
        parts = conninfo_to_dict(dsn)
    except ProgrammingError:
        # libpq's message quotes the string, which may contain a password.
        raise ConnectionFailed(
            "the connection string cannot be parsed",
            hint="Write 'host=… dbname=… user=…' or postgresql://user@host/dbname; "
            "`pgrecall dsn` prints the embedded server's.",
        ) from None
    ports = str(parts.get("port") or "").replace(",", "")
    if _is_torn(dsn) or (ports and not (ports.isascii() and ports.isdigit())):
        raise ConnectionFailed(
            "the connection string has a misplaced @, / or :",
            hint="Write %40, %2F and %3A for those in user or password, or put the password into ~/.pgpass.",
        )
    return parts


def _is_torn(dsn: str) -> bool:
    """Tell whether a URI has a character in its password at which libpq would end the password."""
    scheme, _, rest = dsn.partition("://")
    if scheme not in ("postgresql", "postgres"):
        return False
    account, at, further = rest.partition("@")
    return bool(at) and ("@" in further or ("/" in account and "?" not in account))


def database_name(dsn: str) -> str:
    """Return how a message names a database: its name and server, without user and password."""
    parts = dsn_parts(dsn)
    host = parts.get("host") or parts.get("hostaddr")
    name = f"database {parts.get('dbname') or parts.get('user') or ''}".rstrip()
    return name if host is None else f"{name} on {host}"
