"""A pytest plugin: runs the store tests that LangGraph's authors publish on pgrecall's store.

It stands in for `langgraph.store.postgres`, and for the tests' own conftest, which wants a server on a fixed port.
"""

from __future__ import annotations

import asyncio
import os
import sys
from contextlib import asynccontextmanager, contextmanager
from importlib import import_module
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from pgrecall import AsyncClient, Client
from pgrecall.admin.code import DATABASE_DEFAULTS
from pgrecall.contrib.langgraph import AsyncPgrecallStore, PgrecallStore
from support.servers import Clone

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

VECTORS = "tests the vectors of an embedding function; pgrecall's daemon embeds"
INTERNAL = "tests functions or columns of LangGraph's own store"
NEVER_RETURNED = "expects an expired item to be returned until it is swept; pgrecall never returns one"
PIPE_OR_POOL = "the kind of connection is the client's; 'default' runs"
REASONS = {
    "test_batch_put_with_index": VECTORS,
    "test_embed_with_path": VECTORS,
    "test_embed_with_path_sync": VECTORS,
    "test_embed_with_path_operation_config": VECTORS,
    "test_non_ascii": VECTORS,
    "test_scores": VECTORS,
    "test_search_sorting": VECTORS,
    "test_vector_store_initialization": VECTORS,
    "test_vector_search_edge_cases": VECTORS,
    "test_vector_search_with_filters": VECTORS,
    "test_vector_update_with_embedding": VECTORS,
    "test_escape_like_literal": INTERNAL,
    "test_namespace_match_pattern": INTERNAL,
    "test_nonnull_migrations": INTERNAL,
    "test_omit_expired_filters_read_paths": INTERNAL,
    "test_omit_expired_refresh_ttl_only_refreshes_live_rows": INTERNAL,
    "test_omit_expired_search_pagination": INTERNAL,
    "test_omit_expired_disabled_preserves_expired_rows": NEVER_RETURNED,
}


PREPARED: set[str] = set()
"""Names of the databases that are."""


def prepare(dsn: str) -> None:
    """Put a clone of a migrated database in the place of a test's empty one, which it would take seconds to migrate."""
    name = str(conninfo_to_dict(dsn)["dbname"])
    if name in PREPARED:
        return
    PREPARED.add(name)
    with psycopg.connect(make_conninfo(dsn, dbname="postgres"), autocommit=True) as admin:
        admin.execute(f"DROP DATABASE {name}".encode())
        Clone(admin, name, os.environ["PUBLISHED_TEMPLATE"], DATABASE_DEFAULTS).init()


class PublishedStore(PgrecallStore):
    """pgrecall's store with what the tests call besides `BaseStore`."""

    MIGRATIONS: tuple[str, ...] = ()

    @classmethod
    @contextmanager
    def from_conn_string(cls, dsn: str, *, ttl: Any = None, **_: Any) -> Iterator[PublishedStore]:
        prepare(dsn)
        with Client(dsn) as client:
            yield cls(client, ttl=ttl)

    def setup(self) -> None:
        """Nothing: its database is prepared."""

    @contextmanager
    def _cursor(self) -> Iterator[Any]:
        yield SimpleNamespace(execute=lambda *_: None)

    def start_ttl_sweeper(self) -> None:
        """Nothing: the daemon sweeps."""

    def stop_ttl_sweeper(self) -> None:
        """Nothing."""


class AsyncPublishedStore(AsyncPgrecallStore):
    """The same with asynchronous methods."""

    MIGRATIONS: tuple[str, ...] = ()

    @classmethod
    @asynccontextmanager
    async def from_conn_string(
        cls, dsn: str, *, ttl: Any = None, **_: Any
    ) -> AsyncIterator[AsyncPublishedStore]:
        await asyncio.to_thread(prepare, dsn)
        async with AsyncClient(dsn) as client:
            yield cls(client, ttl=ttl)

    async def setup(self) -> None:
        """Nothing: its database is prepared."""

    @asynccontextmanager
    async def _cursor(self) -> AsyncIterator[Any]:
        async def execute(*_: Any) -> None:
            """Nothing."""

        yield SimpleNamespace(execute=execute)

    async def start_ttl_sweeper(self) -> None:
        """Nothing: the daemon sweeps."""

    async def stop_ttl_sweeper(self) -> None:
        """Nothing."""


def pytest_configure() -> None:
    """Stand in for LangGraph's store and the conftest."""
    postgres = ModuleType("langgraph.store.postgres")
    postgres.PostgresStore = PublishedStore  # type: ignore[attr-defined]
    postgres.AsyncPostgresStore = AsyncPublishedStore  # type: ignore[attr-defined]
    base = ModuleType("langgraph.store.postgres.base")
    base._escape_like_literal = base._namespace_match_pattern = None  # type: ignore[attr-defined]
    checkpoint = ModuleType("langgraph.checkpoint.postgres")
    checkpoint._ainternal = ModuleType("_ainternal")  # type: ignore[attr-defined]
    for module in (postgres, base, checkpoint):
        sys.modules[module.__name__] = module


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what cannot be meant, with the reason."""
    for item in items:
        name = item.name.partition("[")[0]
        if name in REASONS:
            item.add_marker(pytest.mark.skip(reason=REASONS[name]))
        elif "pipe" in item.name or "pool" in item.name:
            item.add_marker(pytest.mark.skip(reason=PIPE_OR_POOL))


@pytest.fixture
def fake_embeddings() -> Any:
    return import_module("tests.embed_test_utils").CharacterEmbeddings(dims=500)
