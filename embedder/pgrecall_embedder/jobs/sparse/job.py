"""Has a sparse model give each memory words with weights, once."""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias

from pgrecall.errors import PgrecallError
from pgrecall_embedder.jobs.reading import Counts
from pgrecall_embedder.jobs.storing import write_back
from pgrecall_embedder.logs import describe
from pgrecall_embedder.waiting import run_unless
from pgrecall_embedder.worker import Job, Step

from .model import SparseModel

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from structlog.typing import FilteringBoundLogger

    from pgrecall_embedder.jobs.reading import Claimed
    from pgrecall_embedder.jobs.setup import Setup
    from pgrecall_extract.base import Document

    from .queue import SparseQueue

__all__ = ["SparseJob", "sparse_model"]

_BATCH: Final = 32
# What is read before it is stored: a worker that is stopped does not read long texts in vain for long.
_PORTION_CHARACTERS: Final = 16_000
_STOP_SECONDS: Final = 10.0
_PAUSE_SECONDS: Final = 60.0


class Model(Protocol):
    """What gives terms to memories."""

    @property
    def name(self) -> str:
        """The model's name."""
        ...

    def read(self, documents: Sequence[Document]) -> Sequence[Mapping[str, float]]:
        """Return the terms of each memory with their weights."""
        ...


_Read: TypeAlias = "list[Mapping[str, float] | str]"


def sparse_model(setup: Setup) -> str:
    """Return the name of the model that reads memories; empty: nothing is read.

    Args:
        setup: How memories are to be read.
    """
    # A database of an older version has no such setting.
    return setup.settings.get("extract_sparse", "")


class SparseJob(Job):
    """Gives sparse terms to memories, where the setting names a model.

    Args:
        queue: Where memories come from, and terms go to.
        setup: How to read.
        drain: Return when nothing is left, or there is no model, instead of waiting.
        is_last: Tells whether no more memories follow.
        poll_seconds: How long to wait before looking again.
        log: Called with messages about memories that failed, and of pauses.
        load: Loads a model by its name.
    """

    def __init__(
        self,
        queue: SparseQueue,
        setup: Setup,
        *,
        drain: bool,
        is_last: Callable[[], bool],
        poll_seconds: float,
        log: FilteringBoundLogger,
        load: Callable[[str], Model] = SparseModel,
    ) -> None:
        super().__init__(poll_seconds)
        self.counts = Counts()
        self._queue = queue
        self._name = sparse_model(setup)
        self._drain = drain
        self._is_last = is_last
        self._log = log
        self._load = load
        self._model: Model | None = None
        # Its thread begins with the first memory.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="sparse")
        self._paused_until = 0.0
        self._refused = ""  # the model that could not be loaded, once that is told

    @property
    def connections(self) -> int:
        """How many connections the claims have had."""
        return self._queue.connections

    async def release(self) -> None:
        """Give back every lease."""
        await self._queue.release()

    def change(self, setup: Setup) -> None:
        """Go on in another way, also where it was paused.

        Args:
            setup: How.
        """
        self._name = sparse_model(setup)
        self._paused_until = 0.0
        self.wake()

    async def run(self) -> None:
        """Work until stopped or, when draining, until nothing is left that can be read."""
        try:
            await super().run()
        finally:
            self._thread.shutdown(wait=False, cancel_futures=True)

    async def step(self) -> Step:
        """Claim and read a few memories, where the setting names a model."""
        was_last, name = self._is_last(), self._name
        if self._model is not None and self._model.name != name:
            self._model = None
        can_read = bool(name) and time.monotonic() >= self._paused_until
        if can_read and await self._batch(name):
            return Step.WORKED
        return Step.DONE if self._drain and (was_last or not can_read) else Step.IDLE

    async def _batch(self, name: str) -> bool:
        """Claim and read a few memories; return whether to look for more at once."""
        claimed = await self._queue.claim(_BATCH)
        if not claimed:
            return False
        try:
            model = self._model or await run_unless(self.loop.stopping, self._loaded(name))
        except Exception as error:  # noqa: BLE001 - a library may raise anything
            await self._pause(name, error)
            return False
        if model is None:
            return False
        self._model = model
        for portion in _portions(claimed):
            read = await run_unless(self.loop.stopping, self._read(model, portion), grace=_STOP_SECONDS)
            if read is None:
                return False
            await self._settle(name, list(zip(portion, read, strict=True)))
        return True

    async def _loaded(self, name: str) -> Model:
        """Load a model beside everything else."""
        model = await asyncio.get_running_loop().run_in_executor(self._thread, self._load, name)
        self._refused = ""
        self._log.info("sparse model loaded", model=name)
        return model

    async def _read(self, model: Model, claimed: list[Claimed]) -> _Read:
        documents = [one.document for one in claimed]
        return await asyncio.get_running_loop().run_in_executor(self._thread, _read, model, documents)

    async def _settle(self, name: str, read: list[tuple[Claimed, Mapping[str, float] | str]]) -> None:
        good = [(one, terms) for one, terms in read if not isinstance(terms, str)]
        landed, refused = await write_back(self._queue.complete_sparse, name, good)
        for one, error in [*((one, why) for one, why in read if isinstance(why, str)), *refused]:
            await self._queue.fail(one, error)
            self.counts.failed += 1
            self._log.warning(
                "memory cannot be read by the sparse model", memory_id=one.document.memory_id, error=error
            )
        stale = len(good) - landed - len(refused)
        self.counts.read += landed
        self.counts.stale += stale
        await self._queue.settle((one.ticket for one, _ in read), is_complete=not stale)

    async def _pause(self, name: str, problem: Exception) -> None:
        """Give back every lease and try again after a while."""
        await self._queue.release()
        self._paused_until = time.monotonic() + _PAUSE_SECONDS
        if self._refused != name:
            self._refused = name
            hint = problem.hint if isinstance(problem, PgrecallError) else None
            self._log.warning(
                "sparse model cannot be loaded, retrying",
                model=name,
                error=problem.message if isinstance(problem, PgrecallError) else describe(problem),
                hint=hint,
                retry_in_s=round(_PAUSE_SECONDS),
            )


def _portions(claimed: Sequence[Claimed]) -> Iterator[list[Claimed]]:
    portion: list[Claimed] = []
    characters = 0
    for one in claimed:
        portion.append(one)
        characters += len(one.document.content)
        if characters >= _PORTION_CHARACTERS:
            yield portion
            portion, characters = [], 0
    if portion:
        yield portion


def _read(model: Model, documents: Sequence[Document]) -> _Read:
    """Read memories; where that fails, each by itself. Returns of each its terms, or what failed."""
    try:
        return list(model.read(documents))
    except Exception as error:  # noqa: BLE001 - a library may raise anything; describe() quotes no text
        if len(documents) == 1:
            return [describe(error)]
    return [read for document in documents for read in _read(model, [document])]
