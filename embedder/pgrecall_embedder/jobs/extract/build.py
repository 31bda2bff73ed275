"""Read what waits, once, from the command line."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

import psycopg

from pgrecall.errors import PgrecallError, error_from
from pgrecall_embedder.connection import Connection
from pgrecall_embedder.daemon import Daemon
from pgrecall_embedder.jobs.notes import notes_version
from pgrecall_embedder.jobs.sparse import sparse_model
from pgrecall_embedder.logger import make_logger
from pgrecall_embedder.retry import RetryPolicy

from .llm import llm_version
from .queue import ExtractionQueue
from .reader import Reader, ReaderBroken

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["build", "versions"]

_TICK_SECONDS = 0.5
_PATIENCE_SECONDS = 30.0


def versions(dsn: str) -> dict[str, str]:
    """Return by enricher the version that would read a memory now; all but text only where switched on.

    Args:
        dsn: Connection string of the database.

    Raises:
        PgrecallError: The database cannot be asked, or the reading process does not start.
    """
    return asyncio.run(_versions(dsn))


def build(dsn: str, progress: Callable[[int], None]) -> dict[str, int]:
    """Read memories until none is left that can be read now.

    Args:
        dsn: Connection string of the database.
        progress: Called with how many are done, now and then.

    Returns:
        How many were read, and how many could not be, as the daemon logs it.

    Raises:
        PgrecallError: Something failed.
    """
    try:
        return asyncio.run(_build(dsn, progress))
    except (PgrecallError, psycopg.Error, ReaderBroken, ExceptionGroup) as error:
        first: BaseException = error
        while isinstance(first, BaseExceptionGroup):
            first = first.exceptions[0]
        if isinstance(first, psycopg.Error):
            raise error_from(first) from None
        if isinstance(first, ReaderBroken):
            raise PgrecallError(str(first), hint="Try again.") from None
        raise first from None


async def _versions(dsn: str) -> dict[str, str]:
    connection = Connection(dsn, RetryPolicy(asyncio.Event(), _PATIENCE_SECONDS, make_logger()))
    try:
        setup = await ExtractionQueue(connection, connection, "text", 0.0).setup()
    except psycopg.Error as error:
        raise error_from(error) from error
    finally:
        await connection.close()
    if setup is None:
        raise AssertionError("a setup differs from none")
    reader = Reader(setup)
    try:
        found = {"text": (await reader.ready()).version}
    except ReaderBroken as error:
        raise PgrecallError(str(error), hint="Try again.") from error
    finally:
        await reader.close()
    if setup.is_on("extract_llm"):
        found["llm"] = llm_version(setup.settings["llm_model"])
    if setup.is_on("extract_notes"):
        found["notes"] = notes_version(setup.settings["llm_model"])
    if sparse := sparse_model(setup):
        found["sparse"] = sparse
    return found


async def _build(dsn: str, progress: Callable[[int], None]) -> dict[str, int]:
    daemon = Daemon(dsn, log=make_logger(level=logging.WARNING), drain=True, only="extraction")

    async def tick() -> None:
        while True:
            progress(_done(daemon.sums()))
            await asyncio.sleep(_TICK_SECONDS)

    ticking = asyncio.create_task(tick())
    try:
        await daemon.run()
    finally:
        ticking.cancel()
    sums = daemon.sums()
    progress(_done(sums))
    return sums


def _done(sums: dict[str, int]) -> int:
    return sums.get("read", 0) + sums.get("read_failed", 0)
