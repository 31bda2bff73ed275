"""Storing and managing memories: the part of the client that is not recall."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

from pgrecall.arguments import as_int, check_given, check_options, checked_arguments, json_object, json_text
from pgrecall.concurrency import in_thread
from pgrecall.errors import PgrecallError
from pgrecall.filters import ListFilters, RecallFilters
from pgrecall.languages import AUTO, UNDETECTED, detect, detect_batch
from pgrecall.models import (
    MemoryChange,
    NewMemory,
    OnConflict,
    Session,
    StoredMemory,
    StoredMessage,
)
from pgrecall.new_memories import batches
from pgrecall.options import MemoryFields, UpdatableFields

from .erasures import AsyncErasures

if TYPE_CHECKING:
    import builtins
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from pgrecall.options import Origin


class AsyncMemories(AsyncErasures):
    """Stores and manages memories. `AsyncClient` is one, and adds recall.

    Args:
        database: The database.
    """

    async def remember(
        self,
        content: str,
        *,
        namespace: str | None = None,
        create_namespace: bool | None = None,
        on_conflict: OnConflict | None = None,
        **fields: Unpack[MemoryFields],
    ) -> int:
        """Store one memory.

        Args:
            content: The text, not blank, at most 262,144 bytes.
            namespace: The target namespace.
            create_namespace: True creates the namespace if it does not exist.
            on_conflict: What to do if the external id exists: 'error', 'keep' or 'update'.
            **fields: title, category, tags, importance, occurred_at and so on: see `MemoryFields`.

        Returns:
            The memory's id.

        Raises:
            InvalidInput: Blank content, an importance outside 0 to 1, a NUL in a text.
            TooLarge: The content is too long.
            UnknownNamespace: The namespace does not exist, and `create_namespace` is not True.
            UnknownLanguage: There is no such text-search configuration.
            Conflict: The external id belongs to another text.
        """
        check_given("content", content)
        arguments = checked_arguments(
            content=content,
            namespace=await self._database.namespace(namespace),
            create_namespace=create_namespace,
            on_conflict=on_conflict,
            **check_options(fields, MemoryFields),
        )
        if arguments.get("language") == AUTO:
            arguments = await in_thread(detect, arguments)
        return int(await self._database.value("public.remember", arguments))

    async def remember_many(
        self,
        memories: Iterable[NewMemory | Mapping[str, Any]],
        *,
        namespace: str | None = None,
        create_namespace: bool | None = None,
        on_conflict: OnConflict | None = None,
        batch_size: int = 500,
    ) -> builtins.list[int]:
        """Store many memories from any iterable, which is read lazily.

        Each batch is one statement and one transaction. If a batch is refused, the batches before it stay
        stored; `stored` of the error has their ids.

        Args:
            memories: `NewMemory` objects, or mappings with its fields as keys.
            namespace: The namespace of memories that name none.
            create_namespace: True creates missing namespaces.
            on_conflict: What to do if an external id exists: 'error', 'keep' or 'update'.
            batch_size: Memories per batch; a batch also ends at 4 MiB.

        Returns:
            The ids, in the order of the memories.

        Raises:
            InvalidInput: As for `remember`; the message gives the number of the memory, from 1.
            TooLarge: A content is over 262,144 bytes.
            UnknownNamespace: A namespace does not exist, and `create_namespace` is not True.
            UnknownLanguage: There is no such text-search configuration.
            Conflict: An external id belongs to another text.
        """
        target = checked_arguments(
            namespace=await self._database.namespace(namespace),
            create_namespace=create_namespace,
            on_conflict=on_conflict,
        )
        ids: builtins.list[int] = []
        try:
            for batch in batches(memories, as_int("batch_size", batch_size)):
                if UNDETECTED in batch:
                    batch = await in_thread(detect_batch, batch)
                rows = await self._database.rows("public.remember_many", {"memories": batch, **target})
                ids.extend(int(row["remember_many"]) for row in rows)
        except PgrecallError as error:
            error.stored = tuple(ids)
            raise
        return ids

    async def remember_messages(
        self,
        messages: Iterable[Mapping[str, Any]],
        session: str,
        *,
        namespace: str | None = None,
        create_namespace: bool | None = None,
        metadata: Mapping[str, Any] | None = None,
        tags: Iterable[str] | None = None,
        expires_at: datetime | str | None = None,
    ) -> Sequence[StoredMessage]:
        """Store a conversation, each message once, however often the growing list is handed over.

        Args:
            messages: Messages as chat models take them: `{"role": "user", "content": "…"}`, optionally with
                "name", "created_at", "valid_to", "origin" and "metadata". Messages of the role "user" or
                "human" have the origin 'user', the others 'agent', unless they state another. Messages of
                the system are left out, and those of tools that state no origin, which is 'tool' at most.
            session: The conversation.
            namespace: The target namespace.
            create_namespace: True creates the namespace if it does not exist.
            metadata: JSON object of every new memory.
            tags: Labels of every new memory.
            expires_at: When the new memories expire.

        Returns:
            The memory of each message that was not left out, and whether it is new.

        Raises:
            InvalidInput: A message without a role, or with a content that is neither text nor parts.
            TooLarge: A text is over 262,144 bytes.
            UnknownNamespace: The namespace does not exist, and `create_namespace` is not True.
        """
        arguments = checked_arguments(
            session=session,
            namespace=await self._database.namespace(namespace),
            create_namespace=create_namespace,
            metadata=metadata,
            tags=tags,
            expires_at=expires_at,
        )
        checked = [json_object(f"message {place}", one) for place, one in enumerate(messages, 1)]
        rows = await self._database.rows(
            "public.remember_messages", {"messages": json_text(checked), **arguments}
        )
        return tuple(StoredMessage.of(row) for row in rows)

    async def update(self, id: int, *, content: str | None = None, **fields: Unpack[UpdatableFields]) -> bool:
        """Change fields of one memory; None keeps a field, an empty text or list clears it.

        Args:
            id: The memory.
            content: The new text.
            **fields: title, category, tags, metadata and so on: see `UpdatableFields`. New metadata replaces
                the old.

        Returns:
            True if anything changed.

        Raises:
            NotFound: There is no such memory.
            InvalidInput: As for `remember`.
            TooLarge: The content is too long.
            UnknownLanguage: There is no such text-search configuration.
        """
        arguments = checked_arguments(id=id, content=content, **check_options(fields, UpdatableFields))
        if arguments.get("language") == AUTO:
            arguments = await in_thread(detect, arguments)
        return bool(await self._database.value("public.update_memory", arguments))

    async def supersede(
        self,
        id: int,
        content: str | None = None,
        *,
        successor: int | None = None,
        occurred_at: datetime | str | None = None,
        metadata: Mapping[str, Any] | None = None,
        importance: float | None = None,
        origin: Origin | None = None,
    ) -> int:
        """End the validity of a memory and link it to its successor. The old memory stays stored.

        Args:
            id: The memory that is no longer valid.
            content: The new text, which becomes a new memory.
            successor: An existing memory to use as successor, instead of `content`.
            occurred_at: When it changed.
            metadata: JSON object of the new memory.
            importance: Importance of the new memory, 0 to 1.
            origin: Where the new memory comes from; by default it is not more trusted than the old one.

        Returns:
            The successor's id.

        Raises:
            NotFound: There is no such memory.
            InvalidInput: Neither or both of `content` and `successor`; otherwise as for `remember`.
        """
        arguments = checked_arguments(
            id=id,
            content=content,
            successor=successor,
            occurred_at=occurred_at,
            metadata=metadata,
            importance=importance,
            origin=origin,
        )
        return int(await self._database.value("public.supersede", arguments))

    async def forget(self, id: int) -> bool:
        """Forget one memory: recall no longer finds it, and its row stays as a tombstone.

        Returns:
            True if it existed.
        """
        return bool(await self._database.value("public.forget", checked_arguments(id=id)))

    async def forget_many(self, *, dry_run: bool = False, **filters: Unpack[RecallFilters]) -> int:
        """Forget all memories that pass the filters. `restore` brings each of them back.

        Args:
            dry_run: True only counts them.
            **filters: namespace, filter, tags_any, sessions, until and so on: see `Filter`. At least one
                besides namespace, and none that is empty.

        Returns:
            How many there were.

        Raises:
            InvalidInput: No filter, an empty one, which every memory would pass, or an invalid one.
            PermissionDenied: The role may only read the namespace.
        """
        arguments = {**checked_arguments(dry_run=dry_run), **await self._filtered(filters, RecallFilters)}
        return int(await self._database.value("public.forget_many", arguments))

    async def restore(self, id: int) -> bool:
        """Bring a forgotten or expired memory back.

        Returns:
            True if it was forgotten or expired.

        Raises:
            NotFound: There is no such memory; it may have been erased.
            PermissionDenied: The role may only read it.
        """
        return bool(await self._database.value("public.restore", checked_arguments(id=id)))

    async def get(self, id: int, *, include_forgotten: bool = False) -> StoredMemory | None:
        """Return a memory with all its fields; None if it does not exist, is forgotten or expired.

        Args:
            id: The memory.
            include_forgotten: True returns a forgotten or expired one too.
        """
        found = await self.get_many([id], include_forgotten=include_forgotten)
        return found[0] if found else None

    async def get_many(
        self,
        ids: Iterable[int] | None = None,
        *,
        external_ids: Iterable[str] | None = None,
        namespace: str | None = None,
        include_forgotten: bool = False,
    ) -> builtins.list[StoredMemory]:
        """Return memories with all their fields, in the order of the ids. Unknown ids are left out.

        Args:
            ids: The memories, at most 1,000.
            external_ids: The caller's own ids instead, at most 1,000.
            namespace: The namespace of the external ids.
            include_forgotten: True returns forgotten and expired ones too.

        Raises:
            InvalidInput: Both `ids` and `external_ids`, or neither.
            TooLarge: More than 1,000 ids.
        """
        arguments = checked_arguments(ids=ids, external_ids=external_ids, include_forgotten=include_forgotten)
        if external_ids is not None:
            arguments |= checked_arguments(namespace=await self._database.namespace(namespace))
        rows = await self._database.rows("public.get_memories", arguments)
        return list(map(StoredMemory.from_row, rows))

    async def list(
        self,
        *,
        k: int = 100,
        after: int | None = None,
        oldest_first: bool = False,
        **filters: Unpack[ListFilters],
    ) -> Sequence[StoredMemory]:
        """Return a page of memories, newest first.

        Args:
            k: Memories in the page, 1 to 1000.
            after: The id of the last memory of the page before; None: the first page.
            oldest_first: True reverses the order.
            **filters: namespace, namespaces, filter, tags_any, forgotten and so on: see `SearchFilters` and
                `Filter`.

        Returns:
            At most `k` memories. Fewer than `k`: it is the last page.

        Raises:
            InvalidInput: `k` out of range, or an invalid filter.
            NotFound: `after` has been erased.
        """
        arguments = checked_arguments(max_results=k, after_id=after, oldest_first=oldest_first)
        arguments |= await self._filtered(filters, ListFilters)
        rows = await self._database.rows("public.list_memories", arguments)
        if not rows:
            await self._database.check_empty(arguments)
        return tuple(map(StoredMemory.from_row, rows))

    async def count(self, **filters: Unpack[ListFilters]) -> int:
        """Return the number of memories that pass the filters, which are those of `list`."""
        arguments = await self._filtered(filters, ListFilters)
        count = int(await self._database.value("public.count_memories", arguments))
        if count == 0:
            await self._database.check_empty(arguments)
        return count

    async def sessions(self, *, namespace: str | None = None, k: int = 100) -> Sequence[Session]:
        """Return the sessions of a namespace, the most recent first.

        Args:
            namespace: The namespace.
            k: Maximum number of sessions, 1 to 10,000.
        """
        arguments = checked_arguments(namespace=await self._database.namespace(namespace), max_results=k)
        rows = await self._database.rows("public.list_sessions", arguments)
        if not rows:
            await self._database.check_empty(arguments)
        return tuple(Session.of({**row, "speakers": tuple(row["speakers"])}) for row in rows)

    async def history(self, id: int, *, include_sensitive: bool = True) -> Sequence[MemoryChange]:
        """Return every version of a memory, of its predecessors and its successors, oldest first.

        Args:
            id: The memory, which may be forgotten.
            include_sensitive: False leaves out sensitive memories, and what one was while it was sensitive.

        Raises:
            NotFound: There is no such memory.
        """
        arguments = checked_arguments(id=id, include_sensitive=include_sensitive)
        rows = await self._database.rows("public.memory_history", arguments)
        return tuple(MemoryChange.of(row) for row in rows)
