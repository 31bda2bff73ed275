"""How the client gets a query embedded by an embedder, through the database."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, Any

from .arguments import call
from .embedding import Answer, QueryVector
from .errors import PgrecallError
from .session_async import AsyncSession

if TYPE_CHECKING:
    from psycopg import AsyncConnection
    from psycopg.rows import DictRow

# What the server reports at the beginning of a session, and whenever it changes.
READ_ONLY = ("in_hot_standby", "default_transaction_read_only")
"""Parameters that say so where a server takes no writes."""


class AsyncAsking(AsyncSession):
    """A session that can ask an embedder."""

    async def _ask(self, query: str, seconds: float) -> Answer:
        """Ask for the embedding of a query, and wait for it so long; never fail for it.

        An embedding from the cache costs one round trip, one that has to be waited for two: the server itself
        waits. That works behind a pooler too, which would lose a LISTEN.
        """
        until = monotonic() + seconds
        try:
            async with self._connection() as connection:
                if any(connection.info.parameter_status(name) == "on" for name in READ_ONLY):
                    return Answer(reason="a read-only server takes no questions to embed", was_put=False)
                [asked] = await self._called(connection, "pgrecall.request_query_embedding", {"query": query})
                if asked["error"] is not None:
                    return Answer(reason=asked["error"], was_put=asked["id"] is not None)
                if asked["embedding"] is not None:
                    return Answer(QueryVector(asked["embedding"], asked["model"], "cache"))
                waiting = {"id": asked["id"], "seconds": max(0.0, until - monotonic())}
                answers = await self._called(connection, "pgrecall.wait_query_embedding", waiting)
        except PgrecallError as error:
            # Whatever it was, the recall itself may do without: if not, it says so.
            return Answer(reason=error.message)
        if not answers:
            return Answer(reason=f"the embedder did not answer within {seconds:g} s")
        [answer] = answers
        if answer["embedding"] is None:
            return Answer(reason=answer["error"])
        return Answer(QueryVector(answer["embedding"], asked["model"], "daemon"))

    async def _called(
        self, connection: AsyncConnection[DictRow], function: str, arguments: dict[str, Any]
    ) -> list[DictRow]:
        statement, parameters = call(function, arguments)
        return await self._fetch(connection, statement, parameters)
