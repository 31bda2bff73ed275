"""The database that is attacked: tenants with canaries, a role of each kind, and what must not change."""

from __future__ import annotations

import os
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import sql

from fuzz.arguments import Ids
from support.attack import CANARY, VICTIM, Tenants, filled
from support.declarations import shared_tables
from support.memories import call, remember

if TYPE_CHECKING:
    from collections.abc import Iterator

    from psycopg import Connection

ROLES = ("reader", "writer", "embedder", "admin")
KNOWN_CANARY, SECRET = "numbat", "zorilla"
"""Words of memories whose keys the attackers know, and of those that are sensitive: no statement has them."""


@dataclass(frozen=True, slots=True)
class Ground:
    """A filled database and its attackers."""

    tenants: Tenants
    logins: dict[str, str]
    ids: Ids

    def canaries(self, role: str) -> tuple[str, ...]:
        """Words that no answer to a role may have."""
        every = {"reader": (CANARY, KNOWN_CANARY, SECRET), "embedder": (SECRET,)}
        return every.get("reader" if role == "writer" else role, ())

    @contextmanager
    def login(self, role: str, timeout: float) -> Iterator[Connection[Any]]:
        """A session of a role's own, as if it had logged in."""
        with psycopg.connect(self.tenants.dsn, autocommit=True) as connection:
            connection.execute(f"SET SESSION AUTHORIZATION {self.logins[role]}".encode())
            connection.execute(f"SET statement_timeout = {int(timeout * 1000)}".encode())
            yield connection

    def others_rows(self, owner: Connection[Any], role: str) -> dict[str, Counter[str]]:
        """Rows that a role must leave as they are: a tenant those of others, an embedder what is sensitive."""
        if role == "admin":
            return {}
        condition: dict[str, sql.Composable] = {"memories": sql.SQL("is_sensitive")}
        if role != "embedder":
            condition = self._others(owner)
        return {
            table: Counter(
                text
                for (text,) in owner.execute(
                    sql.SQL("SELECT t::text FROM {} t WHERE {}").format(
                        sql.Identifier("pgrecall", table), which
                    )
                )
            )
            for table, which in condition.items()
        }

    def _others(self, owner: Connection[Any]) -> dict[str, sql.Composable]:
        query = """
            SELECT c.relname, array_agg(a.attname::text) FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
            WHERE c.relnamespace = 'pgrecall'::regnamespace AND c.relkind = 'r' AND a.attnum > 0 GROUP BY 1
        """
        home = sql.Literal(self.tenants.home)
        shared = shared_tables(owner)
        which: dict[str, sql.Composable] = {}
        for table, columns in owner.execute(query):
            if table in shared:
                which[table] = sql.SQL("true")
            elif "namespace_id" in columns:
                which[table] = sql.SQL("namespace_id = {}").format(home)
            elif table == "namespaces":
                which[table] = sql.SQL("id = {}").format(home)
            elif "memory_id" in columns:
                which[table] = sql.SQL(
                    "memory_id IN (SELECT m.id FROM pgrecall.memories m WHERE m.namespace_id = {})"
                ).format(home)
        return which


@contextmanager
def ground(dsn: str) -> Iterator[Ground]:
    """Fill a migrated database, and drop its roles at the end."""
    logins = {role: f"fuzz_{role}_{os.getpid()}_{abs(hash(dsn)) % 10**6}" for role in ROLES}
    with psycopg.connect(dsn, autocommit=True) as owner:
        for role, login in logins.items():
            owner.execute(f"CREATE ROLE {login} IN ROLE pgrecall_{role}".encode())
        try:
            yield _filled(owner, dsn, logins)
        finally:
            for login in logins.values():
                owner.execute(f"DROP OWNED BY {login}".encode())
                owner.execute(f"DROP ROLE {login}".encode())


def _filled(owner: Connection[Any], dsn: str, logins: dict[str, str]) -> Ground:
    tenants = filled(owner, dsn, logins["reader"], logins["writer"])
    for number in range(30):
        remember(
            owner,
            f"Own plan {number} of the book by Anna in May",
            tags=["plan", f"topic {number % 3}"],
            namespace="evil",
        )
    remember(
        owner, "The numbat plan of Anna", title="numbat title", tags=["numbat tag"], source="numbat source",
        external_id="known-key", session="shared session", position=1, metadata={"numbat": "numbat"}, namespace=VICTIM,
    )  # fmt: skip
    secret = remember(
        owner, "The zorilla plan", title="zorilla title", tags=["zorilla tag"], external_id="known-key-2",
        session="shared session", position=2, metadata={"zorilla": "zorilla"}, is_sensitive=True, namespace=VICTIM,
    )  # fmt: skip
    call(owner, "pgrecall.judge", "zorilla query", "zorilla query", None, [secret], namespace=VICTIM)
    owner.execute("ANALYZE")
    query = "SELECT id, namespace_id = %s FROM pgrecall.memories UNION SELECT id, namespace_id = %s FROM pgrecall.concepts"
    numbers = owner.execute(query, (tenants.home, tenants.home)).fetchall()
    own = sorted({number for number, foreign in numbers if not foreign})
    theirs = sorted({number for number, foreign in numbers if foreign})
    return Ground(tenants, logins, Ids(tuple(own), tuple(theirs), tenants.own_home, tenants.home))
