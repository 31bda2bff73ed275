"""LangGraph's store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pgrecall.concurrency import in_thread
from pgrecall.contrib.retrievers import missing_extra, no_client
from pgrecall.errors import InvalidInput

try:
    from langgraph.store.base import BaseStore, TTLConfig
except ImportError as error:
    raise missing_extra("langgraph-checkpoint", "langgraph") from error

from ._async.items import AsyncItems
from ._sync.items import Items

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from langgraph.store.base import Op, Result

    from pgrecall._async.client import AsyncClient
    from pgrecall._sync.client import Client

__all__ = ["PgrecallStore"]


class PgrecallStore(BaseStore):
    """Items as memories: `search` is `recall`, over words, vectors and concepts.

    An item's value is the memory's metadata, and its fields are the memory's text. The daemon embeds them, so
    the store takes no embedding function. A deleted item is forgotten: `restore` brings it back, and `erase`
    deletes it permanently. An expired item is never returned; the daemon forgets it within a minute. An
    example::

        with Client() as memory:
            graph = builder.compile(store=PgrecallStore(memory))

    Args:
        client: What `get`, `put`, `search` and the others use; `aget` and the others use it in a thread where
            there is no `async_client`.
        async_client: What `aget`, `aput`, `asearch` and the others use.
        namespace: The pgrecall namespace of all items. It is created at the first put.
        fields: The fields whose text is searched where `put` names none, such as `["text", "notes[*].body"]`;
            None: every field.
        ttl: LangGraph's settings of the time to live: default_ttl in minutes, refresh_on_read. Expired items
            are always omitted and need no sweeper.

    Raises:
        InvalidInput: Neither `client` nor `async_client`.
    """

    supports_ttl = True

    def __init__(
        self,
        client: Client | None = None,
        async_client: AsyncClient | None = None,
        *,
        namespace: str = "langgraph",
        fields: Sequence[str] | None = None,
        ttl: TTLConfig | None = None,
    ) -> None:
        if client is None and async_client is None:
            raise InvalidInput("the store has no client", hint="Write PgrecallStore(Client()).")
        self.ttl_config = ttl
        self._items = None if client is None else Items(client, namespace, fields)
        self._async_items = None if async_client is None else AsyncItems(async_client, namespace, fields)

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Run operations; `get`, `put`, `search`, `delete` and `list_namespaces` call it.

        Raises:
            InvalidNamespaceError: A label is empty, has a period or is no text. Nothing is done then.
            InvalidInput: There is no `client`, or a filter has an operator that LangGraph does not have.
        """
        if self._items is None:
            raise no_client("client", "batch")
        return self._items.run(ops)

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Run operations; `aget`, `aput`, `asearch`, `adelete` and `alist_namespaces` call it.

        Raises:
            InvalidNamespaceError: A label is empty, has a period or is no text. Nothing is done then.
            InvalidInput: A filter has an operator that LangGraph does not have.
        """
        if self._async_items is not None:
            return await self._async_items.run(ops)
        if self._items is None:
            raise no_client("async_client", "abatch")
        return await in_thread(self._items.run, ops)
