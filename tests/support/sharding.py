"""Three shards and a router, each a server of its own, for the tests of sharding."""

from __future__ import annotations

import os
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from benchmarks.operations.sharding.servers import plproxy_binaries
from pgrecall.admin.migrate import migrate
from pgrecall.contrib.sharding import init
from pgrecall.contrib.sharding.routing import signatures
from pgrecall.server import EmbeddedServer
from support.servers import FAST

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SHARDS = 3
RANGE = 2**40
# One for each shard, by the hash of the name.
NAMESPACES = {0: "mia", 1: "dora", 2: "ida"}


def bindir() -> Path:
    """Binaries of a server with PL/Proxy and pgvector; without one the tests are skipped, and say so."""
    found = plproxy_binaries()
    if found is not None:
        return found
    if os.environ.get("PGRECALL_REQUIRE_SERVER_EXTRAS"):
        pytest.fail("PGRECALL_REQUIRE_SERVER_EXTRAS is set and no server here has PL/Proxy")
    pytest.skip("no server here has PL/Proxy")


@dataclass(frozen=True, slots=True)
class Cluster:
    """The router's connection string, the servers of the shards and their connection strings."""

    router: str
    servers: list[EmbeddedServer]
    shards: list[str]

    def on(self, shard: int, query: str, *values: object) -> list[tuple[Any, ...]]:
        """Ask a shard itself."""
        return asked(self.shards[shard], query, *values)

    def at_router(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        """Ask the router."""
        return asked(self.router, query, *values)

    def holders(self, namespace: str) -> list[int]:
        """The shards that have a namespace of this name."""
        query = "SELECT count(*) FROM pgrecall.namespaces WHERE name = %s"
        return [shard for shard in range(len(self.shards)) if self.on(shard, query, namespace) == [(1,)]]


def asked(dsn: str, query: str, *values: object) -> list[tuple[Any, ...]]:
    with psycopg.connect(dsn, autocommit=True) as connection:
        cursor = connection.execute(query.encode(), values or None)
        return cursor.fetchall() if cursor.description else []


@contextmanager
def cluster_in(folder: Path) -> Iterator[Cluster]:
    """Yield a router of three shards, each migrated by itself."""
    binaries = bindir()
    settings = FAST | {
        "max_connections": "60",
        "shared_buffers": "32MB",
        "wal_level": "minimal",
        "max_wal_senders": "0",
    }
    with ExitStack() as stack:
        servers = []
        for name in ("r", *map(str, range(SHARDS))):
            server = EmbeddedServer(folder / f"shard-{name}", settings=settings, bindir=binaries)
            server.up()
            stack.callback(server.down)
            servers.append(server)
        router, *shards = servers
        for shard in shards:
            migrate(shard.dsn())
        init(router.dsn(), [shard.dsn() for shard in shards])
        yield Cluster(router.dsn(), shards, [shard.dsn() for shard in shards])


def as_role(dsn: str, role: str) -> str:
    """The connection string with another user."""
    return make_conninfo(dsn, user=role)


def routed_names(cluster: Cluster) -> list[str]:
    with psycopg.connect(cluster.shards[0]) as shard:
        return [one.full_name for one in signatures(shard) if one.schema != "pgrecall_shard"]


def make_role(cluster: Cluster, role: str, group: str) -> None:
    for dsn in (cluster.router, *cluster.shards):
        asked(dsn, f"CREATE ROLE {role} LOGIN IN ROLE {group}")
