"""Servers and databases: what pytest-postgresql leaves to us."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from pytest_postgresql.janitor import DatabaseJanitor

from pgrecall.admin.migrate import migrate

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from psycopg import Connection, Cursor
    from psycopg.abc import Params, Query

# The tests crash servers by kill -9 only, never the machine, so nothing waits for a disk. Making and
# dropping a database walks the shared buffers, and thousands are made: few buffers do.
FAST = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "wal_compression": "off",
    "shared_buffers": "128MB",
    "max_connections": "200",
}


@dataclass(frozen=True, slots=True)
class Address:
    """Where the server under test is, as `postgresql_noproc` reads it from the fixture it depends on."""

    host: str
    port: int
    user: str
    password: str | None
    options: str
    maintenance_dbname: str
    template_dbname: str | None = None

    @classmethod
    def of(cls, dsn: str) -> Address:
        """Take a connection string apart."""
        given: dict[str, Any] = conninfo_to_dict(dsn)
        return cls(
            str(given["host"]),
            int(given.get("port", 5432)),
            str(given.get("user", "postgres")),
            given.get("password"),
            str(given.get("options", "")),
            str(given.get("dbname", "postgres")),
        )


def migrated(*, host: str, port: int, user: str, dbname: str, password: str | None, autocommit: bool) -> None:
    """Migrate a database: how `postgresql_noproc` fills its template."""
    migrate(make_conninfo("", host=host, port=port, user=user, dbname=dbname, password=password))


class Clone(DatabaseJanitor):
    """A database that shares the connection of all others that make and drop one, and has settings of its own.

    A clone does not inherit the settings of its template.
    """

    def __init__(self, admin: Connection[Any], name: str, template: str, settings: Mapping[str, str]) -> None:
        super().__init__(user="", host="", port="", dbname=name, template_dbname=template)
        self._admin = admin
        self._settings = settings

    @contextmanager
    def cursor(self, dbname: str | None = None) -> Iterator[Cursor[Any]]:  # noqa: ARG002
        """Give a cursor of the shared connection."""
        with self._admin.cursor() as cursor:
            yield cursor

    def init(self) -> None:
        """Make the database."""
        super().init()
        for setting, value in self._settings.items():
            change = sql.SQL("ALTER DATABASE {} SET {} = {}")
            self._admin.execute(
                change.format(sql.Identifier(self.dbname), sql.SQL(setting), sql.Literal(value))
            )


class RolledBack(psycopg.Connection[Any]):
    """A connection in one transaction, whose statements fail one by one as if each had one of its own."""

    def execute(self, query: Query, params: Params | None = None, **options: Any) -> Cursor[Any]:
        """Execute a statement; a savepoint takes back what a failed one did."""
        with self.transaction():
            return super().execute(query, params, **options)  # type: ignore[arg-type]  # an overload each
