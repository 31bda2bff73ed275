"""Has an embedder daemon embed a query, through the database."""

from __future__ import annotations

from contextlib import nullcontext
from time import monotonic
from typing import TYPE_CHECKING

from pgrecall.errors import PgrecallError
from pgrecall.query.embedding import EmbedderAnswer, QueryVector

from .cursor import is_read_only, step

if TYPE_CHECKING:
    from .database import AsyncDatabase


async def request_embedding(database: AsyncDatabase, query: str, seconds: float) -> EmbedderAnswer:
    """Request the embedding of a query and wait at most `seconds` for it. Never raises an error.

    A cached embedding costs one round trip, a computed one two: the server waits for it. Unlike LISTEN, this
    also works behind a pooler.
    """
    until = monotonic() + seconds
    try:
        async with database.connection() as connection:
            if await is_read_only(connection):
                return EmbedderAnswer(
                    reason="a read-only server cannot queue queries for an embedder", is_queued=False
                )
            is_within = database.is_within(connection)
            # A request that stayed in an open transaction would have others wait who ask the same.
            async with step(connection, is_undone=True) if is_within else nullcontext():
                [request] = await database.rows_on(
                    connection, "pgrecall.request_query_embedding", {"query": query}
                )
            if request["error"] is not None:
                return EmbedderAnswer(reason=request["error"], is_queued=request["id"] is not None)
            if request["embedding"] is not None:
                return EmbedderAnswer(QueryVector(request["embedding"], request["model"], "cache"))
            if is_within:
                return EmbedderAnswer(reason="an embedder cannot see a question of an open transaction")
            pause = request["poll_seconds"]
            if pause is not None and pause > seconds:
                return EmbedderAnswer(reason=f"the embedder is not notified and looks every {pause:g} s")
            answers = await database.rows_on(
                connection,
                "pgrecall.wait_query_embedding",
                {"id": request["id"], "seconds": max(0.0, until - monotonic())},
            )
    except PgrecallError as error:
        # Recall may still work without a vector; otherwise it raises its own error.
        return EmbedderAnswer(reason=error.message)
    if not answers:
        return EmbedderAnswer(reason=f"the embedder did not answer within {seconds:g} s")
    [answer] = answers
    if answer["embedding"] is None:
        return EmbedderAnswer(reason=answer["error"])
    return EmbedderAnswer(QueryVector(answer["embedding"], request["model"], "daemon"))
