"""LangChain's retriever."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from pgrecall._async.client import AsyncClient  # noqa: TC001 - pydantic reads the annotations
from pgrecall._sync.client import Client  # noqa: TC001
from pgrecall.concurrency import in_thread
from pgrecall.contrib.retrievers import described, missing_extra, no_client, recall_options
from pgrecall.iterators import readable_again

try:
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever
    from pydantic import AfterValidator, Field
except ImportError as error:
    raise missing_extra("langchain-core", "langchain") from error

if TYPE_CHECKING:
    from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun

    from pgrecall.models import RecallResult

__all__ = ["PgrecallRetriever"]


class PgrecallRetriever(BaseRetriever):  # type: ignore[misc]  # mypy does not read langchain-core
    """Memories as documents, the best first.

    A document has the memory's id and text, and in its metadata everything else that `recall` returns: title,
    score, the legs' ranks and scores, times, tags, the memory's own `metadata`, and `notice`. Sensitive
    memories are left out unless `search_kwargs` has `include_sensitive`. An example::

        with Client() as memory:
            retriever = PgrecallRetriever(client=memory, k=5, search_kwargs={"tags_any": ["Priya"]})
            documents = retriever.invoke("What does Priya like?")

    Attributes:
        client: What `invoke` asks; `ainvoke` asks it in a thread where there is no `async_client`.
        async_client: What `ainvoke` asks.
        k: How many memories at most; None takes the database's setting.
        search_kwargs: Further arguments of `Client.recall`: filters, strategy, reranker and so on. Keyword
            arguments of `invoke` and `ainvoke` are added to them, for that call.
    """

    client: Client | None = Field(default=None, repr=False, exclude=True)
    async_client: AsyncClient | None = Field(default=None, repr=False, exclude=True)
    k: int | None = None
    search_kwargs: Annotated[dict[str, Any], AfterValidator(readable_again)] = Field(default_factory=dict)

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,  # noqa: ARG002 - LangChain passes it
        **options: Any,
    ) -> list[Document]:
        if self.client is None:
            raise no_client("client", "invoke")
        return _documents(self.client.recall(query, **recall_options(self.k, self.search_kwargs, options)))

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,  # noqa: ARG002
        **options: Any,
    ) -> list[Document]:
        wanted = recall_options(self.k, self.search_kwargs, options)
        if self.async_client is not None:
            return _documents(await self.async_client.recall(query, **wanted))
        if self.client is None:
            raise no_client("async_client", "ainvoke")
        return _documents(await in_thread(partial(self.client.recall, **wanted), query))


def _documents(result: RecallResult) -> list[Document]:
    return [
        Document(id=str(memory.id), page_content=memory.content, metadata=described(memory, result))
        for memory in result
    ]
