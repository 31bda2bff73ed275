"""LangChain's vector store."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from pgrecall.concurrency import in_thread
from pgrecall.contrib.langchain import mapping
from pgrecall.contrib.retrievers import missing_extra, no_client
from pgrecall.errors import InvalidInput
from pgrecall.iterators import readable_again

try:
    from langchain_core.vectorstores import VectorStore
except ImportError as error:
    raise missing_extra("langchain-core", "langchain") from error

from ._async.documents import AsyncDocuments
from ._sync.documents import Documents

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from langchain_core.documents import Document
    from langchain_core.vectorstores import VectorStoreRetriever

    from pgrecall._async.client import AsyncClient
    from pgrecall._sync.client import Client
    from pgrecall.models import RecallResult

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
        self._documents = None if client is None else Documents(client, namespace)
        self._async_documents = None if async_client is None else AsyncDocuments(async_client, namespace)

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

    @classmethod
    async def afrom_texts(
        cls,
        texts: list[str],
        embedding: object = None,  # noqa: ARG003 - LangChain passes it
        metadatas: list[dict[str, Any]] | None = None,
        *,
        ids: list[str] | None = None,
        **store: Any,
    ) -> PgrecallVectorStore:
        """As `from_texts`."""
        made = cls(**store)
        await made.aadd_texts(texts, metadatas, ids=ids)
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
        return self._sync("add_texts").add(mapping.memories(texts, metadatas, ids, fields))

    async def aadd_texts(
        self,
        texts: Iterable[str],
        metadatas: Sequence[Mapping[str, Any]] | None = None,
        *,
        ids: Sequence[str | None] | None = None,
        **fields: Any,
    ) -> list[str]:
        """As `add_texts`."""
        if self._async_documents is None:
            return await in_thread(partial(self.add_texts, texts, metadatas, ids=ids, **fields))
        return await self._async_documents.add(mapping.memories(texts, metadatas, ids, fields))

    def as_retriever(self, **options: Any) -> VectorStoreRetriever:
        """Return a retriever of these documents, with the options of LangChain's own."""
        # What it searches by is for each of its calls.
        kept = readable_again(options.pop("search_kwargs", None) or {})
        return super().as_retriever(**options, search_kwargs=kept)

    def delete(self, ids: list[str] | None = None, **_: Any) -> bool:
        """Forget documents; `Client.restore` brings them back.

        Returns:
            True, also if there were none.

        Raises:
            InvalidInput: There is no `client`, or `ids` is None.
        """
        return self._sync("delete").delete(mapping.given(ids))

    async def adelete(self, ids: list[str] | None = None, **_: Any) -> bool:
        """As `delete`."""
        if self._async_documents is None:
            return await in_thread(self.delete, ids)
        return await self._async_documents.delete(mapping.given(ids))

    def get_by_ids(self, ids: Sequence[str], /) -> list[Document]:
        """Return the documents that exist, in the order of the ids, at most 1,000."""
        return self._sync("get_by_ids").get(ids)

    async def aget_by_ids(self, ids: Sequence[str], /) -> list[Document]:
        """As `get_by_ids`."""
        if self._async_documents is None:
            return await in_thread(self.get_by_ids, ids)
        return await self._async_documents.get(ids)

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
        return mapping.scored(self._recall(query, k, options))

    async def asimilarity_search_with_score(
        self, query: str, k: int = 4, **options: Any
    ) -> list[tuple[Document, float]]:
        """As `similarity_search_with_score`."""
        return mapping.scored(await self._arecall(query, k, options))

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
        return mapping.confident(self._recall(query, k, options))

    async def _asimilarity_search_with_relevance_scores(
        self, query: str, k: int = 4, **options: Any
    ) -> list[tuple[Document, float]]:
        return mapping.confident(await self._arecall(query, k, options))

    def _recall(self, query: str, k: int, options: dict[str, Any]) -> RecallResult:
        return self._sync("similarity_search").recall(query, k, options)

    async def _arecall(self, query: str, k: int, options: dict[str, Any]) -> RecallResult:
        if self._async_documents is None:
            return await in_thread(self._recall, query, k, options)
        return await self._async_documents.recall(query, k, options)

    def _sync(self, method: str) -> Documents:
        if self._documents is None:
            raise no_client("client", method)
        return self._documents
