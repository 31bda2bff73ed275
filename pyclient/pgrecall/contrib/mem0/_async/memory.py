"""mem0's interface on the asynchronous client."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from pgrecall._async.client import AsyncClient
from pgrecall.contrib.mem0 import mapping
from pgrecall.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import TracebackType

    from pgrecall.models import StoredMemory

_PAGE = 1000
_UNSET: Any = object()


class AsyncMemory:
    """The methods of mem0's memory, with its arguments and results.

    What is added is stored as it is: pgrecall's daemon embeds it and reads names, times and facts from it. No
    language model rewrites it, so `infer` changes nothing, and `prompt` is refused.

    Args:
        dsn: The database; None takes the configured one.
        namespace: The namespace of all memories. It is created at the first `add`.
        client: A client to use instead, which is not closed here.
    """

    def __init__(
        self, dsn: str | None = None, *, namespace: str = "mem0", client: AsyncClient | None = None
    ) -> None:
        self._namespace = namespace
        self._is_own = client is None
        self._client = AsyncClient(dsn) if client is None else client

    @classmethod
    def from_config(cls, config_dict: Mapping[str, Any]) -> Self:
        """Make a memory from `{"dsn": …, "namespace": …}`. mem0's own sections are ignored."""
        return cls(config_dict.get("dsn"), namespace=config_dict.get("namespace", "mem0"))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the client, unless it was passed."""
        if self._is_own:
            await self._client.close()

    async def add(
        self,
        messages: str | Mapping[str, Any] | Sequence[Mapping[str, Any]],
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        timestamp: Any = None,
        expiration_date: Any = None,
        infer: bool = True,  # noqa: ARG002 - mem0's argument
        memory_type: str | None = None,  # noqa: ARG002 - mem0's argument
        prompt: str | None = None,
    ) -> dict[str, Any]:
        """Store a text or the messages of a conversation; a message that is stored already is left out.

        Returns:
            `{"results": [{"id": …, "memory": …, "event": "ADD"}, …]}` of what is new.

        Raises:
            ValueError: No id, or a `prompt`.
        """
        if prompt is not None:
            raise ValueError("prompt has no equivalent: memories are stored as they are")
        ids = mapping.owners(user_id=user_id, agent_id=agent_id, run_id=run_id)
        fields = {**(metadata or {}), **ids}
        ends = mapping.end_of(expiration_date)
        if isinstance(messages, str):
            id = await self._client.remember(
                messages,
                namespace=self._namespace,
                create_namespace=True,
                metadata=fields,
                occurred_at=timestamp,
                valid_to=ends,
            )
            return {"results": [{"id": str(id), "memory": messages, "event": "ADD"}]}
        listed = [messages] if not isinstance(messages, list | tuple) else list(messages)
        stored = await self._client.remember_messages(
            listed,  # type: ignore[arg-type]
            mapping.session_of(ids, listed),  # type: ignore[arg-type]
            namespace=self._namespace,
            create_namespace=True,
            metadata=fields,
        )
        new = [one.id for one in stored if one.is_new]
        for id in new:
            if ends is not None or timestamp is not None:
                await self._client.update(id, valid_to=ends, occurred_at=timestamp)
        added = await self._client.get_many(new)
        return {"results": [{"id": str(one.id), "memory": one.content, "event": "ADD"} for one in added]}

    async def get(self, memory_id: str) -> dict[str, Any] | None:
        """Return a memory; None if there is none of this id."""
        found = await self._stored(memory_id)
        return None if found is None else mapping.item(found)

    async def get_all(
        self,
        *,
        filters: Mapping[str, Any] | None = None,
        top_k: int = 20,
        show_expired: bool = False,
        **ids: Any,
    ) -> dict[str, Any]:
        """Return the newest memories that fit the filters, which name a user, an agent or a run.

        Raises:
            ValueError: Filters without an id, or with an operator that has no equivalent.
        """
        found = await self._client.list(
            k=min(top_k, _PAGE),
            namespace=self._namespace,
            metadata_where=mapping.scope(filters, ids),
            include_superseded=show_expired,
        )
        return {"results": list(map(mapping.item, found))}

    async def search(
        self,
        query: str,
        *,
        top_k: int = 20,
        filters: Mapping[str, Any] | None = None,
        threshold: float | None = None,
        rerank: bool = False,  # noqa: ARG002 - mem0's argument
        show_expired: bool = False,
        **ids: Any,
    ) -> dict[str, Any]:
        """Return the memories most relevant to a query that fit the filters.

        Args:
            query: The question.
            top_k: Number of memories.
            filters: As for `get_all`.
            threshold: Minimum score; pgrecall's, which is not mem0's.
            rerank: Ignored: pgrecall fuses words, vectors and concepts.
            show_expired: True returns memories after their expiration date too.
            **ids: user_id, agent_id or run_id, instead of filters.

        Raises:
            ValueError: Filters without an id, or with an operator that has no equivalent.
        """
        found = await self._client.recall(
            query,
            k=top_k,
            namespace=self._namespace,
            metadata_where=mapping.scope(filters, ids),
            min_score=threshold,
            include_superseded=show_expired,
        )
        return {"results": list(map(mapping.item, found))}

    async def update(
        self,
        memory_id: str,
        text: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        expiration_date: Any = _UNSET,
        data: str | None = None,
    ) -> dict[str, str]:
        """Change a memory's text, metadata (merged; its ids stay) or expiration date.

        Raises:
            ValueError: There is no memory of this id.
        """
        found = await self._stored(memory_id)
        if found is None:
            raise ValueError(f"Memory with id {memory_id} not found")
        fields: dict[str, Any] = {}
        if metadata is not None:
            given = {name: value for name, value in metadata.items() if name not in mapping.OWNERS}
            fields["metadata"] = {**found.metadata, **given}
        if expiration_date is not _UNSET:
            fields["valid_to"] = mapping.end_of(expiration_date) or mapping.FOREVER
        await self._client.update(found.id, content=text if text is not None else data, **fields)
        return {"message": "Memory updated successfully!"}

    async def delete(self, memory_id: str) -> dict[str, str]:
        """Forget a memory.

        Raises:
            ValueError: There is no memory of this id.
        """
        found = await self._stored(memory_id)
        if found is None:
            raise ValueError(f"Memory with id {memory_id} not found")
        await self._client.forget(found.id)
        return {"message": "Memory deleted successfully!"}

    async def delete_all(
        self, user_id: str | None = None, agent_id: str | None = None, run_id: str | None = None
    ) -> dict[str, str]:
        """Forget all memories of a user, an agent or a run.

        Raises:
            ValueError: No id.
        """
        ids = mapping.owners(user_id=user_id, agent_id=agent_id, run_id=run_id)
        await self._client.forget_many(namespace=self._namespace, metadata_where=ids, include_superseded=True)
        return {"message": "Memories deleted successfully!"}

    async def history(self, memory_id: str) -> list[dict[str, Any]]:
        """Return the changes of a memory, oldest first; empty if there is none of this id."""
        if not memory_id.isdecimal():
            return []
        try:
            found = await self._client.history(int(memory_id))
        except NotFound:
            return []
        return mapping.changes(found, int(memory_id))

    async def reset(self) -> None:
        """Erase all memories of the namespace permanently."""
        await self._client.erase_namespace(self._namespace)
        await self._client.admin.create_namespace(self._namespace)

    async def _stored(self, memory_id: str) -> StoredMemory | None:
        found = await self._client.get(int(memory_id)) if str(memory_id).isdecimal() else None
        return found if found is not None and found.namespace == self._namespace else None
