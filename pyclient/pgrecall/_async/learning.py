"""Learning from feedback for the asynchronous client."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pgrecall.arguments import Vector, checked_arguments
from pgrecall.models import LearnedSettings, Learning
from pgrecall.query.embedding import Embed, VectorRequest
from pgrecall.query.preparing import prepare

if TYPE_CHECKING:
    from .database import AsyncDatabase
    from .queries import AsyncQueries


class AsyncLearner:
    """Feedback on results, and the settings that a namespace learns from it: `client.learning`."""

    def __init__(self, database: AsyncDatabase, queries: AsyncQueries) -> None:
        self._database = database
        self._queries = queries

    async def feedback(
        self,
        query: str,
        id: int,
        useful: bool | None,
        *,
        namespace: str | None = None,
        vector: Vector | None = None,
        embed: Embed = None,
        embed_timeout: float | None = None,
    ) -> None:
        """Record whether a memory answered a query. Changes no ranking by itself.

        Args:
            query: As passed to `recall`.
            id: The memory.
            useful: True if it answers the query, False if not; None takes the feedback back.
            namespace: The namespace; None is the client's.
            vector: As for `recall`.
            embed: As for `recall`.
            embed_timeout: As for `recall`, in seconds.

        Raises:
            InvalidInput: As for `recall`.
            NotFound: The memory is forgotten or not in the namespace.
            UnknownNamespace: There is no such namespace.
            PermissionDenied: The role may only read it.
        """
        prepared = prepare(
            "public.recall_feedback",
            query,
            {"query": query, "id": id, "namespace": namespace},
            VectorRequest.of(vector, embed, embed_timeout=embed_timeout),
            # With settings, such as the name of the vector's model, a call is read-only unless it says so.
            session={"transaction_read_only": "off"},
            nullable={"useful": useful},
        )
        await self._queries.answer(prepared)

    async def learn(self, namespace: str | None = None, *, dry_run: bool = False) -> Learning:
        """Find settings that suit a namespace, and adopt them if they help. Takes one to three minutes.

        Needs 40 queries with feedback and a vector.

        Args:
            namespace: The namespace; None is the client's.
            dry_run: True measures and changes nothing.

        Raises:
            UnknownNamespace: There is no such namespace.
            PermissionDenied: The role may only read it.
        """
        arguments = checked_arguments(namespace=await self._database.namespace(namespace), dry_run=dry_run)
        rows = await self._database.rows("pgrecall.learn", arguments)
        return Learning.of(rows[0])

    async def undo(self, namespace: str | None = None) -> bool:
        """End a namespace's learned settings. The feedback stays.

        Returns:
            Whether there were any.

        Raises:
            UnknownNamespace: There is no such namespace.
            PermissionDenied: The role may only read it.
        """
        arguments = checked_arguments(namespace=await self._database.namespace(namespace))
        return bool(await self._database.value("pgrecall.unlearn", arguments))

    async def learned(self, namespace: str | None = None) -> list[LearnedSettings]:
        """Return what namespaces have learned, newest first.

        Args:
            namespace: Only this one; None is every namespace that the role may read.
        """
        rows = await self._database.rows("pgrecall.list_learned", checked_arguments(namespace=namespace))
        return [LearnedSettings.of(row) for row in rows]
