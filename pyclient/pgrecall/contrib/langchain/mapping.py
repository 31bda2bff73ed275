"""Documents of LangChain as memories."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

from pgrecall.contrib.retrievers import missing_extra, recall_options
from pgrecall.errors import InvalidInput
from pgrecall.iterators import readable_again

try:
    from langchain_core.documents import Document
except ImportError as error:
    raise missing_extra("langchain-core", "langchain") from error

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pgrecall.models import RecalledMemory, RecallResult, StoredMemory


def memories(
    texts: Iterable[str],
    metadatas: Sequence[Mapping[str, Any]] | None,
    ids: Sequence[str | None] | None,
    fields: Mapping[str, Any],
) -> list[dict[str, Any]]:
    """Return new memories; a document without an id gets one.

    Raises:
        ValueError: There are not as many metadatas or ids as texts.
    """
    listed = list(texts)
    # LangChain's indexing API passes batch_size to every store; a call stores all it is given at once.
    fields = readable_again({name: one for name, one in fields.items() if name != "batch_size"})
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


def given(ids: list[str] | None) -> list[str]:
    """Return the ids to delete; None, which would mean all, is refused."""
    if ids is None:
        raise InvalidInput("delete needs ids", hint="Erase all documents with Client.erase_namespace().")
    return ids


def document(memory: StoredMemory | RecalledMemory) -> Document:
    """Return a memory as a document."""
    return Document(id=memory.external_id, page_content=memory.content, metadata=dict(memory.metadata))


def scored(result: RecallResult) -> list[tuple[Document, float]]:
    """Return documents with their scores; higher is better."""
    return [(document(memory), memory.score) for memory in result]


def confident(result: RecallResult) -> list[tuple[Document, float]]:
    """Return LangChain's relevance scores, 0 to 1: the confidence that the memory answers the query."""
    return [(document(memory), memory.confidence or 0.0) for memory in result]


def options_of(namespace: str, k: int, given_options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of `Client.recall`."""
    chosen = {name: value for name, value in given_options.items() if name != "score_threshold"}
    return recall_options(k, {"namespace": namespace}, chosen)
