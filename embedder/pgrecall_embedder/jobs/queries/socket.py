"""A Unix socket that answers queries of the functions in Python on the same machine (`recall_embed`).

A line of JSON asks, a line of JSON answers, as often as a connection likes:

    {"generation": 1, "model": "…", "seconds": 0.5, "query": "…"}
    {"vector": "[0.1,…]"}    or    {"error": "…"}

The permissions of the socket decide who may ask. No query is logged.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import json
import os
import socket
import stat
from typing import TYPE_CHECKING, Final

from pgrecall.errors import EmbeddingUnavailable, InvalidInput
from pgrecall_embedder.logs import describe

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from structlog.typing import FilteringBoundLogger

__all__ = ["Asked", "QuerySocket"]

Asked = tuple[int, str, str, float]
"""Generation, model, query, and for how many seconds somebody waits."""

# A query has 16,384 characters at the most, of up to four bytes each, or six where one is escaped.
_LONGEST_LINE: Final = 16384 * 6 + 1024
_LONGEST_QUERY: Final = 16384
_LONGEST_WAIT: Final = 60.0
_MOST_CONNECTIONS: Final = 1000
_BACKLOG: Final = 128


class QuerySocket:
    """The socket of one daemon.

    Args:
        path: The path of the socket, in an existing folder.
        mode: Its permissions.
        answer: Embeds a query; raises EmbeddingUnavailable with a message for the caller.
        log: The log.
    """

    def __init__(
        self, path: Path, mode: int, *, answer: Callable[[Asked], Awaitable[str]], log: FilteringBoundLogger
    ) -> None:
        self._path = path
        self._mode = mode
        self._answer = answer
        self._log = log
        self._connections: set[asyncio.StreamWriter] = set()

    async def serve(self) -> None:
        """Answer until cancelled, then remove the socket.

        Raises:
            InvalidInput: The socket cannot be created.
        """
        listening, number = self._bind()
        server = await asyncio.start_unix_server(
            self._converse, sock=listening, limit=_LONGEST_LINE, backlog=_BACKLOG
        )
        try:
            self._log.info("queries are answered", socket=str(self._path))
            await asyncio.get_running_loop().create_future()
        finally:
            server.close()
            for connection in list(self._connections):
                connection.close()
            with contextlib.suppress(OSError):
                if self._path.lstat().st_ino == number:
                    self._path.unlink()

    def _bind(self) -> tuple[socket.socket, int]:
        """Make the socket, with its permissions from the first moment on; return it and its inode."""
        self._clear()
        listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        mask = os.umask(0o777 & ~self._mode)
        try:
            listening.bind(str(self._path))
            return listening, self._path.lstat().st_ino
        except OSError as error:
            listening.close()
            raise InvalidInput(
                f"the socket {self._path} cannot be made: {error.strerror or error}",
                hint="Name a path of at most 107 bytes in a folder that this user may write to.",
            ) from None
        finally:
            os.umask(mask)

    def _clear(self) -> None:
        """Remove the socket of a killed daemon.

        Raises:
            InvalidInput: The path is no socket, or another daemon listens on it.
        """
        try:
            if not stat.S_ISSOCK(self._path.lstat().st_mode):
                raise InvalidInput(f"{self._path} is there and no socket", hint="Name another path.")
        except OSError:
            return
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as trying:
            try:
                trying.connect(str(self._path))
            except OSError as error:
                if error.errno == errno.ECONNREFUSED:
                    with contextlib.suppress(OSError):
                        self._path.unlink()
                    return
        raise InvalidInput(f"another daemon answers on {self._path}", hint="Give each a path of its own.")

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(self._connections) >= _MOST_CONNECTIONS:
            writer.close()
            return
        self._connections.add(writer)
        try:
            while line := await reader.readline():
                writer.write(json.dumps(await self._reply(line)).encode() + b"\n")
                await writer.drain()
        except (OSError, ValueError):
            # The caller has disconnected, or sent a line that is too long: nobody can receive an answer.
            return
        finally:
            self._connections.discard(writer)
            writer.close()

    async def _reply(self, line: bytes) -> dict[str, str]:
        asked = _read(line)
        if asked is None:
            return {"error": "the embedder does not understand the request: is it of another version?"}
        try:
            async with asyncio.timeout(asked[3]):
                return {"vector": await self._answer(asked)}
        except TimeoutError:
            return {"error": "the embedder did not embed it in time"}
        except EmbeddingUnavailable as error:
            return {"error": error.message}
        except Exception as error:  # noqa: BLE001 - a provider may raise anything, and say the query
            self._log.warning("query cannot be embedded", error=describe(error))
            return {"error": "the embedder's model failed"}


def _read(line: bytes) -> Asked | None:
    try:
        asked = json.loads(line)
        generation, model, query = asked["generation"], asked["model"], asked["query"]
        seconds = float(asked["seconds"])
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
        return None
    if not isinstance(generation, int) or not isinstance(model, str) or not isinstance(query, str):
        return None
    if not 0 < seconds <= _LONGEST_WAIT or len(query) > _LONGEST_QUERY:
        return None
    return generation, model, query, seconds
