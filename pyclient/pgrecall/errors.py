# ruff: noqa: N818 - an Error suffix on every name would only repeat the base class.
"""Exception classes, one per family of SQLSTATEs.

Every error that pgrecall raises deliberately is a `PgrecallError`. Server errors are mapped by SQLSTATE,
never by text (the server translates it), and carry the server's message and hint. Messages name fields and
limits; they never quote the content of a memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from .server_hints import client_hint

if TYPE_CHECKING:
    import psycopg

__all__ = [
    "Conflict",
    "ConnectionFailed",
    "CopyUnusable",
    "EmbeddingUnavailable",
    "InvalidInput",
    "InvalidVector",
    "NeedsServer",
    "NotFound",
    "PermissionDenied",
    "PgrecallError",
    "ReadOnlyServer",
    "SchemaMismatch",
    "TimedOut",
    "TooLarge",
    "UnknownLanguage",
    "UnknownNamespace",
    "error_from",
    "is_refusal",
]


class PgrecallError(Exception):
    """The operation failed.

    Attributes:
        message: What went wrong, in one sentence.
        sqlstate: The five-character SQLSTATE; None if no database was involved.
        hint: How to fix it; None if there is no advice.
        stored: Ids that earlier batches of the same `remember_many` had already committed.
    """

    default_sqlstate: ClassVar[str | None] = None
    default_hint: ClassVar[str | None] = None

    def __init__(
        self, message: str | None = None, *, sqlstate: str | None = None, hint: str | None = None
    ) -> None:
        self.message = self.default_message() if message is None else message
        self.sqlstate = self.default_sqlstate if sqlstate is None else sqlstate
        self.hint = self.default_hint if hint is None else hint
        self.stored: tuple[int, ...] = ()
        super().__init__(self.message)
        if self.hint is not None:
            # A traceback prints notes below the message.
            self.add_note(f"hint: {self.hint}")

    @classmethod
    def default_message(cls) -> str:
        """The first line of the docstring, which is the default message."""
        doc = cls.__doc__
        return "" if doc is None else doc.strip().splitlines()[0]


class InvalidInput(PgrecallError):
    """An argument is invalid (class 22)."""

    default_sqlstate = "22023"
    default_hint = "Correct the value and try again."


class InvalidVector(InvalidInput):
    """The query vector is empty, or holds NaN or infinity (22023)."""

    default_hint = "Pass a non-empty vector of finite numbers with the dimension of the database's model."


class TooLarge(PgrecallError):
    """A limit of pgrecall or of the server is exceeded (class 54)."""

    default_sqlstate = "54000"
    default_hint = "Split the input, or shorten it."


class UnknownNamespace(PgrecallError):
    """The namespace does not exist (42704)."""

    default_sqlstate = "42704"
    default_hint = "Check the name, or create the namespace with create_namespace=True."


class UnknownLanguage(PgrecallError):
    """The language is not the name of a text-search configuration (42704)."""

    default_sqlstate = "42704"
    default_hint = "Use the name of a text-search configuration, such as 'english', 'german' or 'simple'."


class NotFound(PgrecallError):
    """No memory has this id (P0002)."""

    default_sqlstate = "P0002"
    default_hint = "Check the id. A forgotten memory counts as missing."


class Conflict(PgrecallError):
    """The namespace already has another memory with this external id (23505)."""

    default_sqlstate = "23505"
    default_hint = "Pass on_conflict='keep' to leave the stored memory, 'update' to change it."


class SchemaMismatch(PgrecallError):
    """The database does not have the schema that this version of pgrecall needs (55000)."""

    default_sqlstate = "55000"
    default_hint = "Run `pgrecall migrate`."


class ConnectionFailed(PgrecallError):
    """The database cannot be reached, or the connection was lost (class 08)."""

    default_sqlstate = "08006"
    default_hint = (
        "Check that the server runs and that PGRECALL_DSN is right; `pgrecall up` starts the embedded one."
    )


class PermissionDenied(PgrecallError):
    """The role may not do this (42501)."""

    default_sqlstate = "42501"
    default_hint = (
        "Ask the owner of the database for the privilege, or connect as another role. Who recalls needs "
        "pgrecall_reader, who stores pgrecall_writer, and a namespace from pgrecall.grant_namespace()."
    )


class ReadOnlyServer(PgrecallError):
    """The server is read-only (25006)."""

    default_sqlstate = "25006"
    default_hint = (
        "A standby supports recall only: connect to the primary to write. On a primary, the transaction is "
        "read-only: see default_transaction_read_only."
    )


class TimedOut(PgrecallError):
    """The server cancelled the statement (57014)."""

    default_sqlstate = "57014"
    default_hint = "Raise statement_timeout, or ask for less in one call."


class EmbeddingUnavailable(PgrecallError):
    """The query cannot be embedded here."""

    default_hint = "Pass vector=, or leave embed unset to recall by words and concepts."


class NeedsServer(PgrecallError):
    """An offline copy does not support this (0A000)."""

    default_sqlstate = "0A000"
    default_hint = "Omit it, or use a client of the server."


class CopyUnusable(PgrecallError):
    """The offline copy cannot be used."""

    default_hint = "`pgrecall offline pull` creates a new copy. First move the existing file away."


_WRONG_PASSWORD = (
    "The server runs: check the user and the password in the connection string, and whether its connections "  # noqa: S105
    "are limited."
)
_NO_PASSWORD = "The server runs and asks for a password: put it into the connection string or ~/.pgpass."  # noqa: S105
_REFUSED = (
    "The server runs: check the name of the database and of the user in the connection string, and whether "
    "their connections are limited."
)
_NO_DATABASE = (
    "The server runs: check the name of the database in the connection string, and whether its connections "
    "are limited."
)
_NO_CONNECTION = (
    "The server runs and refuses, for the reason it gives. It may have no connection left (see "
    "max_connections, and max_client_conn of a pooler), or no room on its disk."
)
_POOLER_WAITED = (
    "A pooler is between: all its connections to the server were busy, or it has none. Its log says more."
)
_DISK_FULL = (
    "Make room on the server's disk: for the data folder, WAL, temporary files, and tablespaces. What failed "
    "stored nothing; what was stored before is there."
)
_OTHER_VERSION = (
    "Run `pgrecall migrate` if the database is older than this package, otherwise upgrade the package; "
    "`pgrecall migrate --check` tells which."
)
_POOLER = "A pooler without support for prepared statements is between: set PGRECALL_PREPARE=off."
_ROW_SECURITY = (
    "row_security is off, so PostgreSQL refuses what policies would filter: "
    "`ALTER DATABASE … RESET row_security`, or ALTER ROLE, wherever it is set."
)
_BY_STATE: dict[str, type[PgrecallError]] = {
    "25006": ReadOnlyServer,
    "23505": Conflict,
    "3D000": ConnectionFailed,
    "3F000": SchemaMismatch,
    "42501": PermissionDenied,
    "42703": SchemaMismatch,
    "42704": UnknownNamespace,
    "42883": SchemaMismatch,
    "42P01": SchemaMismatch,
    "53300": ConnectionFailed,
    "55000": SchemaMismatch,
    "57014": TimedOut,
    "57P01": ConnectionFailed,
    "57P02": ConnectionFailed,
    "57P03": ConnectionFailed,
    "57P05": ConnectionFailed,
    "P0002": NotFound,
}
_BY_CLASS: dict[str, type[PgrecallError]] = {
    "08": ConnectionFailed,
    "22": InvalidInput,
    "23": InvalidInput,
    "28": ConnectionFailed,
    "54": TooLarge,
}


_HINTS = {
    "28000": _REFUSED, "28P01": _REFUSED, "3D000": _NO_DATABASE, "26000": _POOLER, "42P05": _POOLER,
    "53100": _DISK_FULL,
    # As poolers give it.
    "08P01": _POOLER_WAITED,
}  # fmt: skip
# PostgreSQL raises these, none of our functions does. Its hint takes the caller for who wrote the statement.
_MISSING = frozenset({"3F000", "42703", "42883", "42P01"})


def error_class(sqlstate: str | None) -> type[PgrecallError]:
    """Return the class for a SQLSTATE; `PgrecallError` if no class is mapped to it."""
    if sqlstate is None:
        return PgrecallError
    exact = _BY_STATE.get(sqlstate)
    return exact if exact is not None else _BY_CLASS.get(sqlstate[:2], PgrecallError)


def error_from(error: psycopg.Error) -> PgrecallError:
    """Translate an error of psycopg (or of its pool).

    The server's detail and context are dropped, because they may quote values. The caller chains the original
    error as the cause.

    Args:
        error: The error that psycopg raised.

    Returns:
        The error to raise in its place.
    """
    from psycopg import DataError, InterfaceError, InternalError, OperationalError

    state = error.sqlstate
    primary = error.diag.message_primary
    if state is not None and primary is not None:
        cls = error_class(state)
        if cls is UnknownNamespace and error.diag.column_name == "language":
            cls = UnknownLanguage
        hint = _OTHER_VERSION if state in _MISSING else client_hint(error.diag.message_hint)
        # The same SQLSTATE as for a missing privilege. The text is translated, this is not.
        if error.diag.source_function == "check_enable_rls":
            hint = _ROW_SECURITY
        return cls(primary, sqlstate=state, hint=_HINTS.get(state) if hint is None else hint)
    # Without a result from the server there is only psycopg's text: libpq's on a failed connection, the
    # pool's on a time-out, the adapters' on a value they cannot send.
    text = str(error).strip()
    # InternalError: answers that do not fit, as where a pooler adds its own about a server that is gone.
    if isinstance(error, OperationalError | InterfaceError | InternalError):
        return ConnectionFailed(text if text else None, hint=_hint_of_refusal(error))
    if isinstance(error, DataError):
        return InvalidInput("a value cannot be sent to the server")
    return PgrecallError(text if text else None)


def is_refusal(error: PgrecallError) -> bool:
    """Whether a connection failed although the server runs: it takes no more of them, or not this role."""
    return isinstance(error, ConnectionFailed) and error.hint in {
        _REFUSED, _NO_DATABASE, _NO_PASSWORD, _WRONG_PASSWORD, _NO_CONNECTION
    }  # fmt: skip


def _hint_of_refusal(error: psycopg.Error) -> str | None:
    """Return what to check if the server runs and refuses the connection; None if it does not answer.

    libpq gives no SQLSTATE for that, and the server translates its text, so libpq's state and a ping tell.
    """
    from psycopg import pq
    from psycopg.conninfo import make_conninfo
    from psycopg.errors import ConnectionTimeout

    tried = error.pgconn
    if tried is None or isinstance(error, ConnectionTimeout) or tried.server_version:
        return None
    if tried.needs_password:
        return _NO_PASSWORD
    # In whatever language the server answers, it quotes what it refuses.
    names = [(tried.db or b"").decode(errors="replace"), (tried.user or b"").decode(errors="replace")]
    _, _, said = str(error).rpartition("FATAL") if "FATAL" in str(error) else ("", "", str(error))
    if names[0] != names[1] and names[0] in said and names[1] not in said:
        return _NO_DATABASE
    if tried.used_password:
        return _WRONG_PASSWORD
    place = {
        name: value.decode()
        for name, value in (("host", tried.host), ("hostaddr", tried.hostaddr), ("port", tried.port))
        if value
    }
    answer = pq.PGconn.ping(make_conninfo("", **place, connect_timeout=3).encode())
    if answer != pq.Ping.OK:
        return None
    return _REFUSED if any(name in said for name in names) else _NO_CONNECTION
