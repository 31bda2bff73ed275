"""LangChain's vector store."""

from __future__ import annotations

import uuid
from functools import partial
from typing import TYPE_CHECKING, Any

from pgrecall.concurrency import in_thread
from pgrecall.contrib.retrievers import missing_extra, no_client, recall_options
from pgrecall.errors import InvalidInput
from pgrecall.filters import Filter

try:
    from langchain_core.documents import Document
    from langchain_core.vectorstores import VectorStore
except ImportError as error:
    raise missing_extra("langchain-core", "langchain") from error

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pgrecall._async.client import AsyncClient
    from pgrecall._sync.client import Client
    from pgrecall.models import RecalledMemory, RecallResult, StoredMemory

__all__ = ["PgrecallVectorStore"]


class PgrecallVectorStore(VectorStore):  # type: ignore[misc]  # mypy does not read langchain-core
    """Documents as memories: a similarity search is `recall`, over words, vectors and concepts.

    A document's id is the memory's external id, and its metadata is the memory's. The daemon embeds the
    documents, so the store takes no embedding function; until then words find them. A deleted document is
    forgotten. An example::

        with Client() as memory:
            store = PgrecallVectorStore(memory)
            store.add_texts(["Priya prefers trains to planes"], [{"user": "priya"}], ids=["travel"])
            found = store.similarity_search("how does Priya travel?", filter={"user": "priya"})

    Args:
        client: What the synchronous methods use; the asynchronous ones use it in a thread where there is no
            `async_client`.
        async_client: What the asynchronous methods use.
        namespace: The namespace of the documents. It is created when the first is added.

    Raises:
        InvalidInput: Neither `client` nor `async_client`.
    """

    def __init__(
        self,
        client: Client | None = None,
        async_client: AsyncClient | None = None,
        *,
        namespace: str = "langchain",
    ) -> None:
        if client is None and async_client is None:
            raise InvalidInput("the store has no client", hint="Write PgrecallVectorStore(Client()).")
        self._client = client
        self._async_client = async_client
        self._namespace = namespace

    @classmethod
    def from_texts(
        cls,
        texts: list[str],
        embedding: object = None,  # noqa: ARG003 - LangChain passes it
        metadatas: list[dict[str, Any]] | None = None,
        *,
        ids: list[str] | None = None,
        **store: Any,
    ) -> PgrecallVectorStore:
        """Make a store and add texts to it.

        Args:
            texts: The texts.
            embedding: Ignored: the daemon embeds.
            metadatas: The metadata of each text.
            ids: The id of each text.
            **store: client, async_client and namespace of the store.
        """
        made = cls(**store)
        made.add_texts(texts, metadatas, ids=ids)
        return made

    def add_texts(
        self,
        texts: Iterable[str],
        metadatas: Sequence[Mapping[str, Any]] | None = None,
        *,
        ids: Sequence[str | None] | None = None,
        **fields: Any,
    ) -> list[str]:
        """Store documents; one whose id exists is replaced.

        Args:
            texts: The texts.
            metadatas: The metadata of each text.
            ids: The id of each text; None draws one.
            **fields: Fields of all memories, such as tags or expires_at: see `Client.remember`.

        Returns:
            The ids.

        Raises:
            ValueError: There are not as many metadatas or ids as texts.
            InvalidInput: There is no `client`, or a text is blank.
        """
        memories = _memories(texts, metadatas, ids, fields)
        self._sync("add_texts").remember_many(memories, **self._target)
        return [one["external_id"] for one in memories]

    async def aadd_texts(
        self,
        texts: Iterable[str],
        metadatas: Sequence[Mapping[str, Any]] | None = None,
        *,
        ids: Sequence[str | None] | None = None,
        **fields: Any,
    ) -> list[str]:
        """As `add_texts`."""
        if self._async_client is None:
            return await in_thread(partial(self.add_texts, texts, metadatas, ids=ids, **fields))
        memories = _memories(texts, metadatas, ids, fields)
        await self._async_client.remember_many(memories, **self._target)
        return [one["external_id"] for one in memories]

    def delete(self, ids: list[str] | None = None, **_: Any) -> bool:
        """Forget documents; `Client.restore` brings them back.

        Returns:
            True, also if there were none.

        Raises:
            InvalidInput: There is no `client`, or `ids` is None.
        """
        client = self._sync("delete")
        for memory in client.get_many(external_ids=_given(ids), namespace=self._namespace):
            client.forget(memory.id)
        return True

    async def adelete(self, ids: list[str] | None = None, **_: Any) -> bool:
        """As `delete`."""
        if self._async_client is None:
            return await in_thread(self.delete, ids)
        client = self._async_client
        for memory in await client.get_many(external_ids=_given(ids), namespace=self._namespace):
            await client.forget(memory.id)
        return True

    def get_by_ids(self, ids: Sequence[str], /) -> list[Document]:
        """Return the documents that exist, in the order of the ids, at most 1,000."""
        found = self._sync("get_by_ids").get_many(external_ids=ids, namespace=self._namespace)
        return list(map(_document, found))

    async def aget_by_ids(self, ids: Sequence[str], /) -> list[Document]:
        """As `get_by_ids`."""
        if self._async_client is None:
            return await in_thread(self.get_by_ids, ids)
        return list(
            map(_document, await self._async_client.get_many(external_ids=ids, namespace=self._namespace))
        )

    def similarity_search(self, query: str, k: int = 4, **options: Any) -> list[Document]:
        """Return the documents most relevant to a query.

        Args:
            query: The question.
            k: How many at most.
            **options: Arguments of `Client.recall`; its `filter` may also be the `metadata_where` of one:
                `{"user": "priya", "year": {"$gte": 2024}}`. Sensitive memories are left out unless
                `include_sensitive` is True.
        """
        return [document for document, _ in self.similarity_search_with_score(query, k, **options)]

    async def asimilarity_search(self, query: str, k: int = 4, **options: Any) -> list[Document]:
        """As `similarity_search`."""
        return [document for document, _ in await self.asimilarity_search_with_score(query, k, **options)]

    def similarity_search_with_score(
        self, query: str, k: int = 4, **options: Any
    ) -> list[tuple[Document, float]]:
        """As `similarity_search`, with the scores; higher is better."""
        return _scored(self._recall(query, k, options))

    async def asimilarity_search_with_score(
        self, query: str, k: int = 4, **options: Any
    ) -> list[tuple[Document, float]]:
        """As `similarity_search_with_score`."""
        return _scored(await self._arecall(query, k, options))

    def max_marginal_relevance_search(
        self, query: str, k: int = 4, fetch_k: int = 20, lambda_mult: float = 0.5, **options: Any
    ) -> list[Document]:
        """As `similarity_search`, diversified.

        Args:
            query: The question.
            k: How many at most.
            fetch_k: Not used: recall diversifies all its candidates.
            lambda_mult: `mmr_lambda` of `Client.recall`.
            **options: As for `similarity_search`.
        """
        del fetch_k
        return self.similarity_search(query, k, mmr_lambda=lambda_mult, **options)

    async def amax_marginal_relevance_search(
        self, query: str, k: int = 4, fetch_k: int = 20, lambda_mult: float = 0.5, **options: Any
    ) -> list[Document]:
        """As `max_marginal_relevance_search`."""
        del fetch_k
        return await self.asimilarity_search(query, k, mmr_lambda=lambda_mult, **options)

    def _similarity_search_with_relevance_scores(
        self, query: str, k: int = 4, **options: Any
    ) -> list[tuple[Document, float]]:
        return _confident(self._recall(query, k, options))

    async def _asimilarity_search_with_relevance_scores(
        self, query: str, k: int = 4, **options: Any
    ) -> list[tuple[Document, float]]:
        return _confident(await self._arecall(query, k, options))

    def _recall(self, query: str, k: int, options: dict[str, Any]) -> RecallResult:
        return self._sync("similarity_search").recall(query, **self._options(k, options))

    async def _arecall(self, query: str, k: int, options: dict[str, Any]) -> RecallResult:
        if self._async_client is None:
            return await in_thread(self._recall, query, k, options)
        return await self._async_client.recall(query, **self._options(k, options))

    def _options(self, k: int, options: Mapping[str, Any]) -> dict[str, Any]:
        chosen = {name: value for name, value in options.items() if name not in {"filter", "score_threshold"}}
        asked = options.get("filter")
        if asked is not None:
            chosen["filter"] = asked if isinstance(asked, Filter) else Filter(metadata_where=asked)
        return recall_options(k, {"namespace": self._namespace}, chosen)

    def _sync(self, method: str) -> Client:
        if self._client is None:
            raise no_client("client", method)
        return self._client

    @property
    def _target(self) -> dict[str, Any]:
        return {"namespace": self._namespace, "create_namespace": True, "on_conflict": "update"}


def _memories(
    texts: Iterable[str],
    metadatas: Sequence[Mapping[str, Any]] | None,
    ids: Sequence[str | None] | None,
    fields: Mapping[str, Any],
) -> list[dict[str, Any]]:
    listed = list(texts)
    for name, given in (("metadatas", metadatas), ("ids", ids)):
        if given is not None and len(given) != len(listed):
            raise ValueError(f"{len(given)} {name} for {len(listed)} texts")
    return [
        {
            **fields,
            "content": text,
            "metadata": dict(metadatas[place]) if metadatas else {},
            "external_id": (ids[place] if ids else None) or str(uuid.uuid4()),
        }
        for place, text in enumerate(listed)
    ]


def _given(ids: list[str] | None) -> list[str]:
    if ids is None:
        raise InvalidInput("delete needs ids", hint="Erase all documents with Client.erase_namespace().")
    return ids


def _document(memory: StoredMemory | RecalledMemory) -> Document:
    return Document(id=memory.external_id, page_content=memory.content, metadata=dict(memory.metadata))


def _scored(result: RecallResult) -> list[tuple[Document, float]]:
    return [(_document(memory), memory.score) for memory in result]


def _confident(result: RecallResult) -> list[tuple[Document, float]]:
    """Return LangChain's relevance scores, 0 to 1: the confidence that the memory answers the query."""
    return [(_document(memory), memory.confidence or 0.0) for memory in result]
