"""The migration as a script of plain SQL: a run that is rolled back, and whose statements are noted."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self

import psycopg

from pgrecall import __version__

from .one_transaction import CONCURRENTLY, OneTransaction

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["ScriptConnection"]

# What only reads. The functions of these names change something.
_READS = re.compile(r"\s*(SELECT|SHOW|WITH)\b")
_CHANGES = re.compile(r"\b(set_config|rebuild_\w+|activate_model)\(")
# The lock belongs to the session of the dry run, and its settings to the installer.
_OWN = re.compile(r"\s*(SAVEPOINT|RELEASE|ROLLBACK|BEGIN|COMMIT)\b")
_MEMORIES = "CREATE TABLE pgrecall.memories "


class _Noting(psycopg.ClientCursor[Any]):
    """Notes the statements that change something, with their parameters in place."""

    def execute(self, query: Any, params: Any = None, **options: Any) -> Self:
        """Note a statement, and run it."""
        text = self.mogrify(query, params)
        connection = self.connection
        assert isinstance(connection, ScriptConnection)  # noqa: S101
        if connection.is_new:  # nobody uses the tables yet, so that one transaction is enough
            text = CONCURRENTLY.sub(r"\1", text)
        connection.is_new = connection.is_new or _MEMORIES in text
        if not (_OWN.match(text) or (_READS.match(text) and not _CHANGES.search(text))):
            connection.statements.append(text.strip())
        if CONCURRENTLY.match(text):  # not possible in a transaction
            if not text.lstrip().startswith("CREATE UNIQUE"):
                return self  # nothing later depends on it
            text = CONCURRENTLY.sub(r"\1", text)  # a constraint may take it over
        return super().execute(text, **options)


class ScriptConnection(OneTransaction):
    """A connection whose changes are noted and never committed.

    Attributes:
        statements: What would have been run, in order.
        is_new: Whether the run has made the tables.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.statements: list[str] = []
        self.is_new = False
        self.cursor_factory = _Noting

    @classmethod
    def connect(cls, conninfo: str = "", **options: Any) -> Self:
        """Connect; whatever `autocommit` says, the first statement begins the only transaction."""
        return super().connect(conninfo, **options | {"autocommit": False})

    @contextmanager
    def transaction(self, *arguments: Any, **options: Any) -> Iterator[Any]:
        """Make a savepoint; what was rolled back to it is not part of the script."""
        noted = len(self.statements)
        try:
            with super().transaction(*arguments, **options) as savepoint:
                yield savepoint
        except psycopg.Error:
            del self.statements[noted:]
            raise

    def script(self, *, with_roles: bool) -> str:
        """Return the statements as a script of plain SQL.

        Args:
            with_roles: False leaves out the creation of roles, which somebody else then makes.
        """
        kept = [text for text in self.statements if with_roles or "CREATE ROLE" not in text]
        return "\n".join(_lines(kept))


def _lines(statements: list[str]) -> Iterator[str]:
    yield f"-- pgrecall {__version__}. Run it as the role that is to own the schema."
    if any(CONCURRENTLY.match(text) for text in statements):
        yield "-- Run it statement by statement, as psql -f does, because of CREATE INDEX CONCURRENTLY."
    is_open = False
    for text in statements:
        is_concurrent = CONCURRENTLY.match(text) is not None
        if is_concurrent == is_open:
            yield "COMMIT;" if is_open else "BEGIN;"
            is_open = not is_open
        yield text if text.endswith(";") else f"{text};"
    if is_open:
        yield "COMMIT;"
