"""A retriever for LlamaIndex (`pip install 'pgrecall[llama-index]'`)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from pgrecall.concurrency import in_thread
from pgrecall.iterators import readable_again

from .retrievers import described, missing_extra, no_client, recall_options

try:
    from llama_index.core.base.base_retriever import BaseRetriever
    from llama_index.core.schema import NodeWithScore, TextNode
except ImportError as error:
    raise missing_extra("llama-index-core", "llama-index") from error

if TYPE_CHECKING:
    from collections.abc import Mapping

    from llama_index.core.callbacks.base import CallbackManager
    from llama_index.core.schema import QueryBundle

    from pgrecall._async.client import AsyncClient
    from pgrecall._sync.client import Client
    from pgrecall.models import RecalledMemory, RecallResult

__all__ = ["PgrecallRetriever"]

_FOR_A_MODEL = frozenset({"title", "speaker", "occurred_at", "created_at"})
"""What a language model is shown of the metadata beside the text, where there is any."""


class PgrecallRetriever(BaseRetriever):  # type: ignore[misc]  # mypy does not read llama-index-core
    """Memories as nodes with their scores, the best first.

    A node has the memory's id and text, and in its metadata everything else that `recall` returns: title,
    score, the legs' ranks and scores, times, tags, the memory's own `metadata`, and `notice`. Of these a
    language model is shown title, speaker and times, and an embedding model nothing. Sensitive memories are
    left out unless `search_kwargs` has `include_sensitive`. The embedding of a `QueryBundle`, if it has one,
    is taken for the query's. An example::

        with Client() as memory:
            retriever = PgrecallRetriever(memory, k=5, search_kwargs={"tags_any": ["Priya"]})
            nodes = retriever.retrieve("What does Priya like?")

    Args:
        client: What `retrieve` asks; `aretrieve` asks it in a thread where there is no `async_client`.
        async_client: What `aretrieve` asks.
        k: How many memories at most; None takes the database's setting.
        search_kwargs: Further arguments of `Client.recall`: filters, strategy, reranker and so on.
        callback_manager: LlamaIndex's own.
    """

    def __init__(
        self,
        client: Client | None = None,
        *,
        async_client: AsyncClient | None = None,
        k: int | None = None,
        search_kwargs: Mapping[str, Any] | None = None,
        callback_manager: CallbackManager | None = None,
    ) -> None:
        super().__init__(callback_manager=callback_manager)
        self._client = client
        self._async_client = async_client
        self._options = recall_options(k, readable_again(search_kwargs or {}))

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        if self._client is None:
            raise no_client("client", "retrieve")
        return _nodes(self._client.recall(query_bundle.query_str, **self._wanted(query_bundle)))

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        wanted = self._wanted(query_bundle)
        if self._async_client is not None:
            return _nodes(await self._async_client.recall(query_bundle.query_str, **wanted))
        if self._client is None:
            raise no_client("async_client", "aretrieve")
        return _nodes(await in_thread(partial(self._client.recall, **wanted), query_bundle.query_str))

    def _wanted(self, query_bundle: QueryBundle) -> dict[str, Any]:
        if query_bundle.embedding is None:
            return self._options
        return self._options | {"vector": query_bundle.embedding}


def _nodes(result: RecallResult) -> list[NodeWithScore]:
    return [NodeWithScore(node=_node(memory, result), score=memory.score) for memory in result]


def _node(memory: RecalledMemory, result: RecallResult) -> TextNode:
    metadata = described(memory, result)
    hidden = [name for name, value in metadata.items() if name not in _FOR_A_MODEL or value is None]
    return TextNode(
        id_=str(memory.id),
        text=memory.content,
        metadata=metadata,
        excluded_llm_metadata_keys=hidden,
        excluded_embed_metadata_keys=list(metadata),
    )
