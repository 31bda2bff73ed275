"""The migration as a script for psql: a run that is rolled back, and whose statements are noted."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self

import psycopg

from pgrecall import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

    from psycopg import IsolationLevel

__all__ = ["ScriptConnection"]

_CONCURRENTLY = re.compile(r"\s*(CREATE|DROP) INDEX CONCURRENTLY\b")
# What only reads. The functions of these names change something.
_READS = re.compile(r"\s*(SELECT|SHOW|WITH)\b")
_CHANGES = re.compile(r"\b(set_config|rebuild_\w+|activate_model)\(")
# The lock belongs to the session of the dry run, and its settings to the installer.
_OWN = re.compile(r"\s*(SAVEPOINT|RELEASE|ROLLBACK|BEGIN|COMMIT)\b")


class _Noting(psycopg.ClientCursor[Any]):
    """Notes the statements that change something, with their parameters in place."""

    def execute(self, query: Any, params: Any = None, **options: Any) -> Self:
        """Note a statement, and run it."""
        text = self.mogrify(query, params)
        connection = self.connection
        assert isinstance(connection, ScriptConnection)  # noqa: S101
        if not (_OWN.match(text) or (_READS.match(text) and not _CHANGES.search(text))):
            connection.statements.append(text.strip())
        if _CONCURRENTLY.match(text):
            return self  # not possible in a transaction, and nothing later depends on it
        return super().execute(query, params, **options)


class ScriptConnection(psycopg.Connection[Any]):
    """A connection whose changes are noted and never committed.

    Attributes:
        statements: What would have been run, in order.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.statements: list[str] = []
        self.cursor_factory = _Noting
        self._is_in_block = False

    @classmethod
    def connect(cls, conninfo: str = "", **options: Any) -> Self:
        """Connect; whatever `autocommit` says, the first statement begins the only transaction."""
        return super().connect(conninfo, **options | {"autocommit": False})

    @contextmanager
    def transaction(self, *arguments: Any, **options: Any) -> Iterator[Any]:
        """Make a savepoint within another block only: the catalog tells which transaction wrote a row."""
        if self._is_in_block:
            noted = len(self.statements)
            try:
                with super().transaction(*arguments, **options) as savepoint:
                    yield savepoint
            except psycopg.Error:
                del self.statements[noted:]
                raise
            return
        self._is_in_block = True
        try:
            yield None
        finally:
            self._is_in_block = False

    def set_autocommit(self, value: bool) -> None:
        """Do nothing: everything is one transaction."""

    def set_isolation_level(self, value: IsolationLevel | None) -> None:
        """Do nothing: see `set_autocommit`."""

    def commit(self) -> None:
        """Do nothing: see `set_autocommit`."""

    def rollback(self) -> None:
        """Do nothing: the transaction is rolled back when the connection is closed."""

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        self.close()

    def script(self, *, with_roles: bool) -> str:
        """Return the statements as a script for psql.

        Args:
            with_roles: False leaves out the creation of roles, which somebody else then makes.
        """
        kept = [text for text in self.statements if with_roles or "CREATE ROLE" not in text]
        return "\n".join(_lines(kept))


def _lines(statements: list[str]) -> Iterator[str]:
    yield f"-- pgrecall {__version__}. Run it with psql, as the role that is to own the schema."
    yield "\\set ON_ERROR_STOP on"
    is_open = False
    for text in statements:
        is_concurrent = _CONCURRENTLY.match(text) is not None
        if is_concurrent == is_open:
            yield "COMMIT;" if is_open else "BEGIN;"
            is_open = not is_open
        yield text if text.endswith(";") else f"{text};"
    if is_open:
        yield "COMMIT;"
