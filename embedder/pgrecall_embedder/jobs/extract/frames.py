"""Messages between the daemon and its extraction process: pickled objects with a length prefix."""

from __future__ import annotations

import pickle
import struct
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import asyncio

__all__ = ["Read", "Ready", "receive", "receive_from", "sent"]

_LENGTH: Final = struct.Struct("!Q")


@dataclass(frozen=True, slots=True)
class Ready:
    """The extraction process has loaded a setup.

    Attributes:
        version: The version of code, models, switches and rules: another version may find other things.
        missing: Names of optional libraries that are not installed.
        problems: Errors in rules and settings, which are ignored.
    """

    version: str
    missing: tuple[str, ...]
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Read:
    """The extraction of one memory: `body` is the result as JSON; None if `error` is set."""

    memory_id: int
    body: str | None = field(repr=False)
    error: str | None = None


def sent(message: object) -> bytes:
    """Encode a message."""
    body = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    return _LENGTH.pack(len(body)) + body


def receive(stream: IO[bytes]) -> Any:
    """Wait for a message.

    Args:
        stream: A pipe between the two processes only.

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
        stream: A pipe between the two processes only.

    Raises:
        asyncio.IncompleteReadError: The stream ended.
    """
    [length] = _LENGTH.unpack(await stream.readexactly(_LENGTH.size))
    return pickle.loads(await stream.readexactly(length))  # noqa: S301 - of our own process
