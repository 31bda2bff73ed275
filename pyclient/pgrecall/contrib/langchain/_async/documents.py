"""LangChain's documents on the asynchronous client."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pgrecall._async.listing import get_all
from pgrecall.contrib.langchain import mapping

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from langchain_core.documents import Document

    from pgrecall._async.client import AsyncClient
    from pgrecall.models import RecallResult


class AsyncDocuments:
    """Stores, finds and deletes documents.

    Args:
        client: The client.
        namespace: The namespace of the documents; it is created when the first is added.
    """

    def __init__(self, client: AsyncClient, namespace: str) -> None:
        self._client = client
        self._namespace = namespace

    async def add(self, memories: Sequence[Mapping[str, Any]]) -> list[str]:
        """Store documents, and replace those whose id exists. Returns their ids."""
        await self._client.remember_many(
            memories, namespace=self._namespace, create_namespace=True, on_conflict="update"
        )
        return [one["external_id"] for one in memories]

    async def delete(self, ids: Sequence[str]) -> bool:
        """Forget documents. Returns True, also if there were none."""
        for memory in await get_all(self._client, external_ids=ids, namespace=self._namespace):
            await self._client.forget(memory.id)
        return True

    async def get(self, ids: Sequence[str]) -> list[Document]:
        """Return the documents that exist, in the order of the ids."""
        found = await get_all(self._client, external_ids=ids, namespace=self._namespace)
        return list(map(mapping.document, found))

    async def recall(self, query: str, k: int, options: Mapping[str, Any]) -> RecallResult:
        """Return the memories most relevant to a query."""
        return await self._client.recall(query, **mapping.options_of(self._namespace, k, options))
