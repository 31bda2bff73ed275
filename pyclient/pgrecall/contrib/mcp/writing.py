"""The tools that write."""

from typing import TYPE_CHECKING, Annotated

from mcp.server.mcpserver.tools import Tool
from mcp.types import CallToolResult, ToolAnnotations

from pgrecall.errors import InvalidInput, NotFound
from pgrecall.new_memories import check_content

from . import fields
from .results import Changed, Forgotten, Recorded, Stored, Superseded
from .toolset import EMBED, Toolset, answer

if TYPE_CHECKING:
    from pgrecall.options import Origin, UpdatableFields

__all__ = ["WritingTools"]


class WritingTools(Toolset):
    """The tools that store and change memories."""

    def all(self) -> list[Tool]:
        """Return the tools."""
        return [
            self._tool(self.memory_store, "Store a memory", _writes()),
            self._tool(self.memory_update, "Correct a memory", _writes(destroys=True, is_idempotent=True)),
            self._tool(self.memory_supersede, "Replace a fact that no longer holds", _writes()),
            self._tool(self.memory_forget, "Forget a memory", _writes(destroys=True, is_idempotent=True)),
            self._tool(self.memory_feedback, "Say what helped", _writes(is_idempotent=True)),
        ]

    async def memory_store(
        self,
        content: fields.Content,
        title: fields.Title = None,
        tags: fields.Tags = None,
        category: fields.Category = None,
        importance: fields.Importance = None,
        occurred_at: fields.OccurredAt = None,
        is_sensitive: fields.Sensitive = False,
        speaker: fields.Speaker = None,
        session: fields.Session = None,
        external_id: fields.ExternalId = None,
        on_conflict: fields.OnConflict = "error",
        origin: fields.OwnOrigin = "agent",
        namespace: fields.Namespace = None,
    ) -> Annotated[CallToolResult, Stored]:
        """Store one memory that is worth knowing in later conversations, and return its id.

        Call memory_recall first: if it returns the same fact in an older state, call memory_supersede
        instead, if it returns a wrong one, memory_update.
        """
        number = await self._client.remember(
            check_content(content),
            namespace=self._namespace(namespace),
            create_namespace=self._serving.create_namespace,
            on_conflict=on_conflict,
            title=title,
            tags=tags,
            category=category,
            importance=importance,
            occurred_at=occurred_at,
            is_sensitive=is_sensitive or None,
            speaker=speaker,
            session=session,
            external_id=external_id,
            origin=origin,
        )
        if on_conflict == "keep" and await self._is_other(number, content):
            return answer(
                Stored(id=number, stored=False),
                f"Nothing was stored: memory {number} has this external_id and another text, and was kept.",
            )
        return answer(Stored(id=number, stored=True), f"Stored as memory {number}.")

    async def _is_other(self, number: int, content: str, title: str | None = None) -> bool:
        """Tell whether a memory has another text than a given one; no content, or no title, is none given."""
        return any(
            content not in ("", memory.content) or title not in (None, memory.title or "")
            for memory in await self._client.get_many([number])
        )

    async def _own_origin(self, number: int) -> "Origin | None":
        """Return the origin of a text that the agent puts in place of a memory's: it is never the user's.

        None leaves it to the database, which raises none.
        """
        [memory] = await self._client.get_many([number], include_forgotten=True)
        return "agent" if memory.origin == "user" else None

    async def memory_update(
        self,
        id: fields.Id,
        content: fields.NewContent = "",
        title: fields.Title = None,
        tags: fields.Tags = None,
        category: fields.Category = None,
        importance: fields.Importance = None,
        occurred_at: fields.OccurredAt = None,
        is_sensitive: fields.Sensitive = False,
        speaker: fields.Speaker = None,
        session: fields.Session = None,
    ) -> Annotated[CallToolResult, Changed]:
        """Correct a memory that is wrong or incomplete; what is not given stays.

        An empty title or list of tags clears it. The old text is gone: for a fact that was right and has
        changed use memory_supersede, which keeps both.
        """
        changes: UpdatableFields = {
            "title": title,
            "tags": tags,
            "category": category,
            "importance": importance,
            "occurred_at": occurred_at,
            "is_sensitive": is_sensitive or None,
            "speaker": speaker,
            "session": session,
        }
        if not content and all(value is None for value in changes.values()):
            raise InvalidInput(
                "no field was given to change", hint="Give content, title, tags or another field."
            )
        await self._check(id)
        if await self._is_other(id, content, title):
            changes["origin"] = await self._own_origin(id)
        changed = await self._client.update(id, content=content or None, **changes)
        outcome = "was changed" if changed else "was so already"
        return answer(Changed(id=id, changed=changed), f"Memory {id} {outcome}.")

    async def memory_supersede(
        self,
        id: fields.Id,
        content: fields.NewContent = "",
        successor: fields.Successor = None,
        occurred_at: fields.OccurredAt = None,
        importance: fields.Importance = None,
    ) -> Annotated[CallToolResult, Superseded]:
        """Replace a fact that held and has changed: by a new text, or by a memory that is there (successor).

        The old memory stays for questions about the past and is otherwise not recalled any more. The new one
        takes over title, tags and so on. occurred_at is when the fact changed.
        """
        await self._check(id)
        if successor is not None:
            await self._check(successor)
        number = await self._client.supersede(
            id,
            content or None,
            successor=successor,
            occurred_at=occurred_at,
            importance=importance,
            origin=await self._own_origin(id) if content else None,
        )
        return answer(
            Superseded(id=id, superseded_by=number), f"Memory {id} is superseded by memory {number}."
        )

    async def memory_forget(self, id: fields.Id) -> Annotated[CallToolResult, Forgotten]:
        """Forget a memory that should never have been stored: no recall returns it any more.

        A fact that has changed is superseded instead (memory_supersede), so that the past stays known.
        """
        try:
            await self._check(id)
        except NotFound:
            return answer(
                Forgotten(id=id, forgotten=False), f"There is no memory {id}: nothing was forgotten."
            )
        forgotten = await self._client.forget(id)
        return answer(Forgotten(id=id, forgotten=forgotten), f"Memory {id} was forgotten.")

    async def memory_feedback(
        self, query: fields.Query, id: fields.Id, useful: fields.Useful, namespace: fields.Namespace = None
    ) -> Annotated[CallToolResult, Recorded]:
        """Say whether a memory that memory_recall returned answered the question.

        Give it the same question. Enough feedback can teach recall to rank better; nothing changes at once.
        """
        await self._check(id)
        if not namespace:
            [memory] = await self._client.get_many([id])
            namespace = memory.namespace
        await self._client.learning.feedback(query, id, useful, namespace=self._namespace(namespace), **EMBED)
        outcome = "answers" if useful else "does not answer"
        return answer(Recorded(id=id, useful=useful), f"Recorded that memory {id} {outcome} the question.")


def _writes(*, destroys: bool = False, is_idempotent: bool = False) -> ToolAnnotations:
    return ToolAnnotations(
        read_only_hint=False, destructive_hint=destroys, idempotent_hint=is_idempotent, open_world_hint=False
    )
