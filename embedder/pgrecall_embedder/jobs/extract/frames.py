"""What the daemon and its reading process say to each other: pickled objects, each after its length."""

from __future__ import annotations

import pickle
import struct
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, BinaryIO, Final

if TYPE_CHECKING:
    import asyncio

__all__ = ["NO_ANCHOR", "Read", "Ready", "receive", "receive_from", "sent"]

NO_ANCHOR: Final = datetime(1, 1, 2, tzinfo=UTC)
"""Stands for a time of a memory that Python's calendar does not have, such as infinity."""

_LENGTH: Final = struct.Struct("!Q")


@dataclass(frozen=True, slots=True)
class Ready:
    """The reading process has taken a setup.

    Attributes:
        version: The version of code, models, switches and rules: another version may find other things.
        missing: Names of libraries that are wanted and not there.
        problems: What is wrong with rules and settings; those are left out.
    """

    version: str
    missing: tuple[str, ...]
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Read:
    """What became of one memory: `body` is what was read, as JSON, or `error` says why there is none."""

    memory_id: int
    body: str | None = field(repr=False)
    error: str | None = None


def sent(message: object) -> bytes:
    """Return a message as it is sent."""
    body = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    return _LENGTH.pack(len(body)) + body


def receive(stream: BinaryIO) -> Any:
    """Wait for a message.

    Args:
        stream: A pipe of ours; nobody else writes to it.

    Returns:
        The message; None at the end of the stream.
    """
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    return pickle.loads(stream.read(*_LENGTH.unpack(head)))  # noqa: S301 - of our own process


async def receive_from(stream: asyncio.StreamReader) -> Any:
    """Wait for a message.

    Args:
        stream: A pipe of ours; nobody else writes to it.

    Raises:
        asyncio.IncompleteReadError: The stream ended.
    """
    [length] = _LENGTH.unpack(await stream.readexactly(_LENGTH.size))
    return pickle.loads(await stream.readexactly(length))  # noqa: S301 - of our own process
