"""The daemon's side of the extraction process."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from typing import TYPE_CHECKING, Any, Final

from .frames import Read, Ready, receive_from, sent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pgrecall_embedder.jobs.setup import Setup
    from pgrecall_extract.base import Document

__all__ = ["Reader", "ReaderBroken"]

# Limits of a request, which takes seconds. A text that takes minutes hangs a library.
_MOST_DOCUMENTS: Final = 64
_MOST_CHARACTERS: Final = 200_000
_READ_CHARACTERS: Final = 20_000
_SECONDS: Final = 30.0
_CHARACTERS_A_SECOND: Final = 4000.0
_SETUP_SECONDS: Final = 300.0
_COMMAND: Final = (sys.executable, "-m", "pgrecall_embedder.jobs.extract.process")


class ReaderBroken(Exception):  # noqa: N818 - it says what happened
    """The extraction process ended, or did not answer in time."""


class Reader:
    """Extracts in a separate process, which is started on demand and restarted after a failure.

    Args:
        setup: Settings and rules of extraction.
        announce: Called with the answer of the process to each new setup.
        seconds: Time limit of a request, in addition to what its length allows.
    """

    def __init__(
        self, setup: Setup, announce: Callable[[Ready], None] = lambda _: None, seconds: float = _SECONDS
    ) -> None:
        self._setup = setup
        self._announce = announce
        self._announced: Ready | None = None
        self._seconds = seconds
        self._process: asyncio.subprocess.Process | None = None
        self._ready: Ready | None = None

    def change(self, setup: Setup) -> None:
        """Use another setup from the next request on.

        Args:
            setup: Settings and rules of extraction.
        """
        self._setup = setup
        self._ready = None

    async def ready(self) -> Ready:
        """Start the process if necessary, send the setup, and return the answer.

        Raises:
            ReaderBroken: The process does not start.
        """
        setup = self._setup
        ready = self._ready
        while ready is None:
            answer: Ready = await self._ask(setup, _SETUP_SECONDS)
            if setup is self._setup:
                ready = self._ready = answer
            setup = self._setup
        if ready != self._announced:
            self._announced = ready
            self._announce(ready)
        return ready

    async def read(self, documents: Sequence[Document]) -> tuple[str, list[Read]]:
        """Extract from memories. A memory that breaks the process is isolated by bisection.

        Args:
            documents: Memories, each id once.

        Returns:
            The version of the extraction, and a result per memory, in their order.

        Raises:
            ReaderBroken: The process does not start.
        """
        version = (await self.ready()).version
        found: list[Read] = []
        for part in _parts(documents):
            found += await self._read(part)
        return version, found

    async def close(self) -> None:
        """Kill the process."""
        process, self._process, self._ready = self._process, None, None
        if process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()

    async def _read(self, documents: Sequence[Document]) -> list[Read]:
        await self.ready()
        seconds = self._seconds + sum(map(_length, documents)) / _CHARACTERS_A_SECOND
        try:
            found: list[Read] = await self._ask(list(documents), seconds)
        except ReaderBroken as error:
            if len(documents) == 1:
                return [Read(documents[0].memory_id, None, str(error))]
            middle = len(documents) // 2
            return await self._read(documents[:middle]) + await self._read(documents[middle:])
        return found

    async def _ask(self, message: object, seconds: float) -> Any:
        if self._process is None:
            self._process = await _started()
        process = self._process
        if process.stdin is None or process.stdout is None:
            raise ReaderBroken("the reading process has no pipes")
        is_answered = False
        try:
            async with asyncio.timeout(seconds):
                process.stdin.write(sent(message))
                await process.stdin.drain()
                answer = await receive_from(process.stdout)
            is_answered = True
        except TimeoutError:
            raise ReaderBroken(f"reading took longer than {seconds:.0f} s") from None
        except (asyncio.IncompleteReadError, OSError):
            raise ReaderBroken("the reading process ended") from None
        finally:
            # Also after a cancellation: nobody would read the late answer.
            if not is_answered:
                await self.close()
        return answer


async def _started() -> asyncio.subprocess.Process:
    # The child imports from the same folders.
    paths = os.pathsep.join(path for path in sys.path if path)
    return await asyncio.create_subprocess_exec(
        *_COMMAND,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        # A traceback there could quote a memory.
        stderr=asyncio.subprocess.DEVNULL,
        env=os.environ | {"PYTHONPATH": paths},
    )


def _parts(documents: Sequence[Document]) -> Iterator[Sequence[Document]]:
    start = size = 0
    for position, document in enumerate(documents):
        size += _length(document)
        if position > start and (size > _MOST_CHARACTERS or position - start == _MOST_DOCUMENTS):
            yield documents[start:position]
            start, size = position, _length(document)
    if start < len(documents):
        yield documents[start:]


def _length(document: Document) -> int:
    return min(len(document.content), _READ_CHARACTERS)
