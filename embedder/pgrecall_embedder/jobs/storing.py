"""Stores what was read, apart from what the database refuses."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar

import psycopg

from pgrecall_embedder.logs import describe

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from .reading import Claimed

__all__ = ["REFUSALS", "write_back"]

_Read = TypeVar("_Read")
_Store: TypeAlias = "Callable[[str, Sequence[tuple[Claimed, _Read]]], Awaitable[int]]"

# Another worker, whose claim began before this one was committed, holds a row for a moment in vain.
# What is still left out after these is postponed by whoever has claimed it.
_LEFT_OUT_PAUSES: Final = (0.05, 0.25, 1.0)
# What one memory of a batch may be to blame for.
REFUSALS: Final = (
    psycopg.DataError,
    psycopg.IntegrityError,
    psycopg.InternalError,
    psycopg.errors.ProgramLimitExceeded,
    psycopg.errors.QueryCanceled,
)


async def write_back(
    store: _Store[_Read], version: str, read: Sequence[tuple[Claimed, _Read]]
) -> tuple[int, list[tuple[Claimed, str]]]:
    """Store what was read, halving what the database refuses down to the memories that are to blame.

    What is left out is tried again: its memory has changed, or another worker had only looked at it.

    Args:
        store: Stores what a version read, all or nothing, and returns on how many memories it landed.
        version: Of what read it.
        read: Memories with what was read in them.

    Returns:
        How many landed, and those that were refused, each with the reason.
    """
    landed, refused = await _land(store, version, read)
    for pause in _LEFT_OUT_PAUSES:
        if landed + len(refused) == len(read):
            break
        await asyncio.sleep(pause)
        # Whatever has landed is not stored twice.
        blamed = {one for one, _ in refused}
        more, also_refused = await _land(store, version, [item for item in read if item[0] not in blamed])
        landed += more
        refused += also_refused
    return landed, refused


async def _land(
    store: _Store[_Read], version: str, read: Sequence[tuple[Claimed, _Read]]
) -> tuple[int, list[tuple[Claimed, str]]]:
    if not read:
        return 0, []
    try:
        return await store(version, read), []
    except REFUSALS as error:
        if len(read) == 1:
            return 0, [(read[0][0], describe(error))]
    middle = len(read) // 2
    first = await _land(store, version, read[:middle])
    second = await _land(store, version, read[middle:])
    return first[0] + second[0], first[1] + second[1]
