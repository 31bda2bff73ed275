"""Curates new memories in the background, where the setting curate says so; otherwise asks nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pgrecall_embedder.jobs.asking.job import AskingJob
from pgrecall_embedder.jobs.asking.llm_access import LlmAccess
from pgrecall_embedder.llm import LlmMisconfigured, LlmUnavailable
from pgrecall_embedder.waiting import run_unless
from pgrecall_embedder.worker import Step

from .decision import CURATION_VERSION, decide

if TYPE_CHECKING:
    from collections.abc import Callable

    from structlog.typing import FilteringBoundLogger

    from pgrecall_embedder.jobs.setup import Setup
    from pgrecall_embedder.llm import LlmClient

    from .queue import Claimed, CurationQueue

__all__ = ["CurationCounts", "Curator", "curator_version"]

# Few: what is claimed is sent soon, and a memory that becomes sensitive meanwhile may be on its way.
_BATCH: Final = 16


def curator_version(model: str) -> str:
    """Return what pgrecall.curations calls a model as the decider.

    Args:
        model: The model's name.
    """
    return f"{model}.p{CURATION_VERSION}"


@dataclass(slots=True)
class CurationCounts:
    """What was done.

    Attributes:
        curated: Memories that were decided about.
        stale: Memories that had changed meanwhile, or were gone.
    """

    curated: int = 0
    stale: int = 0


class Curator(AskingJob):
    """Compares new memories with older ones, once they are read and embedded.

    Args:
        queue: Where memories come from, and decisions go to.
        setup: By what to decide.
        drain: Return when nothing is left, or the server cannot be asked, instead of waiting.
        is_last: Whether nothing more will be handed on.
        poll_seconds: How long to wait before looking again.
        log: Called with messages about pauses.
    """

    def __init__(
        self,
        queue: CurationQueue,
        setup: Setup,
        *,
        drain: bool,
        is_last: Callable[[], bool],
        poll_seconds: float,
        log: FilteringBoundLogger,
    ) -> None:
        asking = LlmAccess(setup, lambda setup: setup.settings["curate"] == "llm", log)
        super().__init__(queue, asking, poll_seconds)
        self.counts = CurationCounts()
        self._queue = queue
        self._setup = setup
        self._drain = drain
        self._is_last = is_last

    def change(self, setup: Setup) -> None:
        """Go on in another way, also where it was paused.

        Args:
            setup: How.
        """
        self._setup = setup
        super().change(setup)

    async def step(self) -> Step:
        """Claim and curate a few memories, where the settings ask for it."""
        was_last = self._is_last()
        can_work = await self._can_work()
        if can_work and await self._batch():
            return Step.WORKED
        return Step.DONE if self._drain and (was_last or not can_work) else Step.IDLE

    async def _can_work(self) -> bool:
        decider = self._setup.settings["curate"]
        if decider == "llm":
            return await self._asking.client() is not None and not self._asking.is_paused
        return decider == "rules"

    async def _batch(self) -> bool:
        """Claim and curate a few memories; return whether to look for more at once."""
        claimed = await self._queue.claim(_BATCH)
        if not claimed:
            return False
        client = await self._asking.client()
        work = self._by_rules(claimed) if client is None else self._by_model(client, claimed)
        try:
            return bool(await run_unless(self.loop.stopping, work))
        finally:
            if client is not None:
                await self._asking.record(client, self._queue)

    async def _by_rules(self, claimed: list[Claimed]) -> bool:
        for one in claimed:
            await self._settle(one, is_done=await self._queue.curate(one))
        return True

    async def _by_model(self, client: LlmClient, claimed: list[Claimed]) -> bool:
        # One after the other, oldest first: what one decision supersedes is no candidate of the next.
        for one in claimed:
            question = await self._queue.question(one.memory_id)
            if question is None:
                await self._settle(one, is_done=await self._queue.curate(one))
                continue
            try:
                decided = await decide(client, question)
            except (LlmMisconfigured, LlmUnavailable) as problem:
                await self.pause(problem)
                return False
            decider = curator_version(client.model)
            await self._settle(one, is_done=await self._queue.apply(one, question, decided, decider))
        return True

    async def _settle(self, claimed: Claimed, *, is_done: bool) -> None:
        await self._queue.settle([claimed.ticket], is_complete=is_done)
        if is_done:
            self.counts.curated += 1
        else:
            self.counts.stale += 1
