"""LangGraph's operations on the asynchronous client."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from langgraph.store.base import GetOp, ListNamespacesOp, PutOp, SearchOp, validate_op_namespace

from pgrecall._async.listing import get_all, list_newest
from pgrecall.contrib.langgraph import mapping
from pgrecall.errors import NotFound, TooLarge

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from langgraph.store.base import Op, Result, SearchItem

    from pgrecall._async.client import AsyncClient
    from pgrecall.models import RecalledMemory, StoredMemory

_PAGE = 1000
_MOST_NAMESPACES = 10_000


class AsyncItems:
    """Runs the operations of a store.

    Args:
        client: The client.
        namespace: The pgrecall namespace of all items; it is created at the first put.
        fields: The paths that are indexed where `put` gives none; None indexes every field.
    """

    def __init__(self, client: AsyncClient, namespace: str, fields: Sequence[str] | None) -> None:
        self._client = client
        self._namespace = namespace
        self._fields = fields

    async def run(self, ops: Iterable[Op]) -> list[Result]:
        """Run a batch: first what reads, then what writes. The last put of a key counts."""
        listed = list(ops)
        for op in listed:
            validate_op_namespace(op)
        results: list[Result] = [None] * len(listed)
        await self._get([(place, op) for place, op in enumerate(listed) if isinstance(op, GetOp)], results)
        for place, op in enumerate(listed):
            if isinstance(op, SearchOp):
                results[place] = await self._search(op)
            elif isinstance(op, ListNamespacesOp):
                results[place] = await self._namespaces(op)
        puts = {mapping.external_id(op.namespace, op.key): op for op in listed if isinstance(op, PutOp)}
        await self._put(puts)
        return results

    async def _get(self, ops: Sequence[tuple[int, GetOp]], results: list[Result]) -> None:
        ids = [mapping.external_id(op.namespace, op.key) for _, op in ops]
        found = {one.external_id: one for one in await self._stored(ids)}
        read: list[StoredMemory] = []
        for (place, op), id in zip(ops, ids, strict=True):
            if (memory := found.get(id)) is not None:
                results[place] = mapping.item(memory)
                if op.refresh_ttl:
                    read.append(memory)
        await self._refresh(read)

    async def _search(self, op: SearchOp) -> list[SearchItem]:
        found: Sequence[StoredMemory | RecalledMemory]
        last = op.offset + op.limit
        if op.query and op.query.strip():
            recalled = await self._client.recall(
                op.query,
                k=max(1, min(last, _PAGE)),
                namespace=self._namespace,
                filter=mapping.search_filter(op, [mapping.INDEXED]),
            )
            found = recalled.memories
        else:
            wanted = mapping.search_filter(op, [mapping.INDEXED, mapping.NOT_INDEXED])
            found = await list_newest(self._client, last, namespace=self._namespace, filter=wanted)
        page = found[op.offset : last]
        if op.refresh_ttl:
            await self._refresh(page)
        return list(map(mapping.search_item, page))

    async def _refresh(self, memories: Sequence[StoredMemory | RecalledMemory]) -> None:
        now = mapping.now()
        for memory in await get_all(
            self._client, [one.id for one in memories if mapping.TTL in one.metadata]
        ):
            if (expires_at := mapping.refreshed(memory, now)) is not None:
                with suppress(NotFound):  # Another client has just deleted it.
                    await self._client.update(memory.id, expires_at=expires_at)

    async def _namespaces(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        sessions = await self._client.sessions(namespace=self._namespace, k=_MOST_NAMESPACES)
        if len(sessions) == _MOST_NAMESPACES:
            raise TooLarge(
                f"the store has {_MOST_NAMESPACES} namespaces or more, which is too many to list",
                hint="Search below a prefix, or give each tenant a store with a namespace of its own.",
            )
        return mapping.namespaces((one.session for one in sessions), op)

    async def _put(self, puts: dict[str, PutOp]) -> None:
        now = mapping.now()
        items = [mapping.memory(op, self._fields, now) for op in puts.values() if op.value is not None]
        if items:
            await self._client.remember_many(
                items, namespace=self._namespace, create_namespace=True, on_conflict="update"
            )
        for memory in await self._stored([id for id, op in puts.items() if op.value is None]):
            await self._client.forget(memory.id)

    async def _stored(self, ids: Sequence[str]) -> list[StoredMemory]:
        return await get_all(self._client, external_ids=ids, namespace=self._namespace)
