"""LangGraph's store, synchronous and asynchronous."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pgrecall.concurrency import in_thread
from pgrecall.contrib.retrievers import missing_extra

try:
    from langgraph.store.base import BaseStore, TTLConfig
    from langgraph.store.base.batch import AsyncBatchedBaseStore
except ImportError as error:
    raise missing_extra("langgraph-checkpoint", "langgraph") from error

from ._async.items import AsyncItems
from ._sync.items import Items

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from langgraph.store.base import Op, Result

    from pgrecall._async.client import AsyncClient
    from pgrecall._sync.client import Client

__all__ = ["AsyncPgrecallStore", "PgrecallStore"]


class PgrecallStore(BaseStore):
    """Items as memories: `search` is `recall`, over words, vectors and concepts.

    An item's value is the memory's metadata, and its fields are the memory's text. The daemon embeds them, so
    the store takes no embedding function. A deleted item is forgotten: `restore` brings it back, and `erase`
    deletes it permanently. An expired item is never returned; the daemon forgets it within a minute. An
    example::

        with Client() as memory:
            graph = builder.compile(store=PgrecallStore(memory))

    Args:
        client: The client. `aget`, `aput`, `asearch` and the others use it in a thread.
        namespace: The pgrecall namespace of all items. It is created at the first put.
        fields: The fields whose text is searched where `put` names none, such as `["text", "notes[*].body"]`;
            None: every field.
        ttl: LangGraph's settings of the time to live: default_ttl in minutes, refresh_on_read. Expired items
            are always omitted and need no sweeper.
    """

    supports_ttl = True

    def __init__(
        self,
        client: Client,
        *,
        namespace: str = "langgraph",
        fields: Sequence[str] | None = None,
        ttl: TTLConfig | None = None,
    ) -> None:
        self.ttl_config = ttl
        self._items = Items(client, namespace, fields)

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Run operations; `get`, `put`, `search`, `delete` and `list_namespaces` call it.

        Raises:
            InvalidNamespaceError: A label is empty, has a period or is no text. Nothing is done then.
            InvalidInput: A filter has an operator that LangGraph does not have.
        """
        return self._items.run(ops)

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Run `batch` in a thread."""
        return await in_thread(self._items.run, ops)


class AsyncPgrecallStore(AsyncBatchedBaseStore):
    """`PgrecallStore` on an asynchronous client. Calls that wait at the same time run as one batch.

    Make it within the event loop. `get`, `put` and the others may be called from other threads. An example::

        async with AsyncClient() as memory:
            graph = builder.compile(store=AsyncPgrecallStore(memory))

    Args:
        client: The client.
        namespace: As `PgrecallStore` takes it.
        fields: As `PgrecallStore` takes them.
        ttl: As `PgrecallStore` takes it.
    """

    supports_ttl = True

    def __init__(
        self,
        client: AsyncClient,
        *,
        namespace: str = "langgraph",
        fields: Sequence[str] | None = None,
        ttl: TTLConfig | None = None,
    ) -> None:
        super().__init__()
        self.ttl_config = ttl
        self._items = AsyncItems(client, namespace, fields)

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Run operations; `aget`, `aput`, `asearch`, `adelete` and `alist_namespaces` lead to it.

        Raises:
            InvalidNamespaceError: A label is empty, has a period or is no text. Nothing is done then.
            InvalidInput: A filter has an operator that LangGraph does not have.
        """
        return await self._items.run(ops)
