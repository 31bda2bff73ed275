"""mem0's interface on the asynchronous client."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING, Any, Self

from pgrecall._async.client import AsyncClient
from pgrecall._async.listing import get_all, list_newest
from pgrecall.contrib.mem0 import mapping
from pgrecall.contrib.transcripts.records import text_of
from pgrecall.errors import UnknownNamespace
from pgrecall.filters import Filter

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from types import TracebackType

    from pgrecall.models import StoredMemory, StoredMessage

_UNSET: Any = object()
_MOST_FOUND = 1000  # by one recall
_MOST_DIGITS = 18  # of an id; what is longer is none, and Python converts no text of thousands


class AsyncMemory:
    """The methods of mem0's memory, with its arguments and results.

    Messages are stored as they are. pgrecall's daemon embeds them and reads names, times and facts from
    them. So `prompt` and `memory_type`, which tell mem0's language model what to write, are refused.

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
        infer: bool = True,
        memory_type: str | None = None,
        prompt: str | None = None,
    ) -> dict[str, Any]:
        """Store a text or the messages of a conversation.

        Args:
            messages: A text, a message or messages. System messages are left out.
            user_id: Whose they are; at least one id is needed.
            agent_id: The agent.
            run_id: The run, whose conversation they continue.
            metadata: JSON object of each memory. It does not set ids.
            timestamp: When they were said.
            expiration_date: The last day on which they are found.
            infer: True takes them as a conversation: a message of the run that was stored is left out, also
                if it was deleted; without `run_id`, messages that are stored together already. False stores
                each again.
            memory_type: Refused.
            prompt: Refused.

        Returns:
            `{"results": [{"id": …, "memory": …, "event": "ADD"}, …]}` of what is new.

        Raises:
            ValueError: No id, no messages, or an argument that has no equivalent.
        """
        if prompt is not None or memory_type is not None:
            name = "memory_type" if prompt is None else "prompt"
            raise ValueError(f"{name} has no equivalent: messages are stored as they are")
        ids = mapping.owners(user_id=user_id, agent_id=agent_id, run_id=run_id)
        fields = {**mapping.fields_of(metadata), **ids}
        ends = mapping.end_of(expiration_date)
        said = mapping.said(messages)
        session = mapping.session_of(ids, said)
        if not infer:
            return {"results": await self._add_each(said, session, fields, timestamp, ends)}
        given = [
            {
                **one,
                "created_at": one.get("created_at") if timestamp is None else str(timestamp),
                "valid_to": None if ends is None else ends.isoformat(),
                "metadata": mapping.actor(one),
            }
            for one in said
        ]
        stored = await self._client.remember_messages(
            given, session, namespace=self._namespace, create_namespace=True, metadata=fields
        )
        added = await get_all(self._client, [one.id for one in stored if one.is_new])
        results = [mapping.added(one.id, one.content) for one in added]
        if run_id is None and (deleted := await self._deleted(said, session, stored)):
            results += await self._add_each(deleted, session, fields, timestamp, ends)
        return {"results": results}

    async def _deleted(
        self, said: Sequence[Mapping[str, Any]], session: str, stored: Sequence[StoredMessage]
    ) -> list[Mapping[str, Any]]:
        """Return the messages that were deleted, and were not added again before.

        `remember_messages` keeps them away, because a growing conversation brings them again. Without a run
        they are said anew.
        """
        known = {one.id for one in await get_all(self._client, [one.id for one in stored if not one.is_new])}
        kept = {one.place for one in stored if one.is_new or one.id in known}
        deleted = mapping.without(said, kept)
        if not deleted:
            return []
        wanted = Filter(sessions=(session,))
        found = await list_newest(self._client, sys.maxsize, namespace=self._namespace, filter=wanted)
        there = {(one.speaker, one.content) for one in found}
        return [one for one in deleted if (mapping.speaker(one), text_of(one["content"])) not in there]

    async def _add_each(
        self,
        messages: Sequence[Mapping[str, Any]],
        session: str,
        fields: Mapping[str, Any],
        occurred_at: Any,
        valid_to: datetime | None,
    ) -> list[dict[str, Any]]:
        said = [
            one
            for one in messages
            if one.get("content") is not None and one.get("role") not in {None, "system"}
        ]
        stored = await self._client.remember_many(
            [
                {
                    "content": text_of(one["content"]),
                    "speaker": mapping.speaker(one),
                    "session": session,
                    "metadata": {**fields, **mapping.actor(one)},
                    "occurred_at": one.get("created_at") if occurred_at is None else occurred_at,
                    "valid_to": valid_to,
                    "origin": mapping.origin(one),
                }
                for one in said
            ],
            namespace=self._namespace,
            create_namespace=True,
        )
        return [
            {**mapping.added(id, text_of(one["content"])), "actor_id": None, **mapping.actor(one)}
            for id, one in zip(stored, said, strict=True)
        ]

    async def get(self, memory_id: str) -> dict[str, Any] | None:
        """Return a memory; None if there is none of this id."""
        found = await self._stored(memory_id)
        return None if found is None else {**mapping.item(found), "score": None}

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
            ValueError: Filters without an id, or with an operator that has no equivalent; or a wrong `top_k`.
        """
        mapping.check_limits(top_k)
        wanted = Filter(metadata_where=mapping.scope(filters, ids), include_superseded=show_expired)
        found = await list_newest(self._client, top_k, namespace=self._namespace, filter=wanted)
        return {"results": list(map(mapping.item, found))}

    async def search(
        self,
        query: str,
        *,
        top_k: int = 20,
        filters: Mapping[str, Any] | None = None,
        threshold: float | None = None,
        rerank: bool = False,  # noqa: ARG002 - mem0's argument
        explain: bool = False,
        show_expired: bool = False,
        **ids: Any,
    ) -> dict[str, Any]:
        """Return the memories most relevant to a query that fit the filters.

        Args:
            query: The question.
            top_k: Number of memories, of which the first 1,000 are returned.
            filters: As for `get_all`.
            threshold: Minimum score; pgrecall's, which is not mem0's.
            rerank: Ignored: pgrecall fuses words, vectors and concepts.
            explain: True returns the scores of the legs as `score_details`.
            show_expired: True returns memories after their expiration date too.
            **ids: user_id, agent_id or run_id, instead of filters.

        Raises:
            ValueError: Filters without an id, or with an operator that has no equivalent; or a limit out of
                its range; or a blank query.
        """
        mapping.check_limits(top_k, threshold)
        if not query.strip():
            raise ValueError("Invalid query: cannot be empty or whitespace-only.")
        recalled = await self._client.recall(
            query,
            k=max(1, min(top_k, _MOST_FOUND)),
            namespace=self._namespace,
            filter=Filter(metadata_where=mapping.scope(filters, ids), include_superseded=show_expired),
            min_score=threshold,
        )
        found = recalled[:top_k]
        stored = {one.id: one for one in await self._client.get_many([one.id for one in found])}
        details = {"threshold": threshold} if explain else None
        return {
            "results": [mapping.scored(one, stored[one.id], details) for one in found if one.id in stored]
        }

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
            ValueError: There is no memory of this id, or nothing to change.
        """
        text = data if text is None else text
        if text is None and metadata is None and expiration_date is _UNSET:
            raise ValueError("At least one of text, metadata, or expiration_date must be provided.")
        found = await self._stored(memory_id)
        if found is None:
            raise ValueError(f"Memory with id {memory_id} not found")
        fields: dict[str, Any] = {}
        if metadata is not None:
            fields["metadata"] = {**found.metadata, **mapping.fields_of(metadata)}
        if expiration_date is not _UNSET:
            fields["valid_to"] = mapping.end_of(expiration_date) or mapping.FOREVER
        await self._client.update(found.id, content=text, **fields)
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
        """Erase all memories of a user, an agent or a run permanently, deleted and superseded ones too.

        Raises:
            ValueError: No id.
        """
        ids = mapping.owners(user_id=user_id, agent_id=agent_id, run_id=run_id)
        with contextlib.suppress(UnknownNamespace):
            await self._client.erase_many(namespace=self._namespace, filter=Filter(metadata_where=ids))
        return {"message": "Memories deleted successfully!"}

    async def history(self, memory_id: str) -> list[dict[str, Any]]:
        """Return the changes of a memory, oldest first; empty if there is none of this id."""
        found = await self._stored(memory_id, is_forgotten_too=True)
        if found is None:
            return []
        return mapping.changes(await self._client.history(found.id), found)

    async def reset(self) -> None:
        """Erase all memories of the namespace permanently; its language, grants and rules stay."""
        try:
            # A filter that fits everything is refused, where memories are deleted.
            await self._client.erase_many(namespace=self._namespace, until=mapping.EPOCH)
            await self._client.erase_many(namespace=self._namespace, since=mapping.EPOCH)
        except UnknownNamespace:
            await self._client.admin.create_namespace(self._namespace)

    async def _stored(self, memory_id: str, *, is_forgotten_too: bool = False) -> StoredMemory | None:
        if not str(memory_id).isdecimal() or len(str(memory_id)) > _MOST_DIGITS:
            return None
        found = await self._client.get_many([int(memory_id)], include_forgotten=is_forgotten_too)
        return next((one for one in found if one.namespace == self._namespace), None)
