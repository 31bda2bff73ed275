"""Facts by a language model, for those who opt in: claimed, asked about, stored; nothing waits for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pgrecall_embedder.llm import LlmMisconfigured, LlmUnavailable, Rejected, extract_facts
from pgrecall_embedder.llm.prompts import PROMPT_VERSION, cache_key
from pgrecall_embedder.waiting import run_unless
from pgrecall_embedder.worker import Job, Step

from .answer_cache import AnswerCache
from .encoding import encode_facts
from .labels import Labels
from .llm_access import LlmAccess
from .text import Counts, write_back

if TYPE_CHECKING:
    from collections.abc import Callable

    from structlog.typing import FilteringBoundLogger

    from pgrecall_embedder.jobs.concepts.vectors import Embed
    from pgrecall_embedder.llm import LlmClient
    from pgrecall_extract.base import Fact

    from .queue import Claimed, ExtractionQueue
    from .setup import Setup

__all__ = ["LlmExtractionJob", "llm_version"]

# Few: what was claimed is sent at once, and a memory that becomes sensitive meanwhile may be on its way.
_BATCH: Final = 16


def llm_version(model: str) -> str:
    """Return the version of what a model reads, as pgrecall.extractions has it.

    Args:
        model: The model's name.
    """
    return f"{model}.p{PROMPT_VERSION}"


class LlmExtractionJob(Job):
    """Has a language model read memories, after names and times were read in them.

    Args:
        queue: Where memories come from, and facts go to.
        setup: How to read.
        embed: Embeds labels; None: only rules join them.
        drain: Return when nothing is left, or the server cannot be asked, instead of waiting.
        is_last: Tells whether the text extraction job is done, so that no more memories follow.
        poll_seconds: How long to wait before looking again.
        log: Called with messages about memories that failed, and of pauses.
    """

    def __init__(
        self,
        queue: ExtractionQueue,
        setup: Setup,
        embed: Embed | None,
        *,
        drain: bool,
        is_last: Callable[[], bool],
        poll_seconds: float,
        log: FilteringBoundLogger,
    ) -> None:
        super().__init__(poll_seconds)
        self.counts = Counts()
        self._queue = queue
        self._asking = LlmAccess(setup, lambda setup: setup.is_on("extract_llm"), log)
        self._labels = Labels(queue, embed)
        self._drain = drain
        self._is_last = is_last
        self._log = log

    def change(self, setup: Setup) -> None:
        """Go on in another way, also where it was paused.

        Args:
            setup: How.
        """
        self._asking.change(setup)
        self.wake()

    @property
    def connections(self) -> int:
        """How many connections the claims have had."""
        return self._queue.connections

    async def release(self) -> None:
        """Give back every lease."""
        await self._queue.release()

    async def run(self) -> None:
        """Work until stopped or, when draining, until nothing is left that can be done."""
        try:
            await super().run()
        finally:
            await self._asking.close()

    async def step(self) -> Step:
        """Claim and read a few memories, where the settings ask for it."""
        was_last = self._is_last()
        client = await self._asking.client()
        if client is not None and not self._asking.is_paused and await self._batch(client):
            return Step.WORKED
        return Step.DONE if self._drain and (was_last or client is None) else Step.IDLE

    async def _batch(self, client: LlmClient) -> bool:
        """Claim and read a few memories; return whether to look for more at once."""
        claimed = await self._queue.claim(_BATCH)
        if not claimed:
            return False
        try:
            return bool(await run_unless(self.loop.stopping, self._read(client, claimed)))
        finally:
            await self._asking.record(client, self._queue)

    async def _read(self, client: LlmClient, claimed: list[Claimed]) -> bool:
        owners: dict[str, list[Claimed]] = {}
        for one in claimed:
            owners.setdefault(cache_key(client.model, one.document), []).append(one)
        answers = AnswerCache(self._queue, owners, claimed, self._log)
        try:
            result = await extract_facts(client, [one.document for one in claimed], cache=answers)
            found = {
                one: outcome
                for one in claimed
                if (outcome := result.outcomes.get(one.document.memory_id)) is not None
            }
            read = {one: outcome for one, outcome in found.items() if not isinstance(outcome, Rejected)}
            await self._settle_labels(client, read)
        except (LlmMisconfigured, LlmUnavailable) as problem:
            # What was answered is kept: it costs nothing when these memories are claimed again.
            await self._pause(problem)
            return False
        for one, outcome in found.items():
            if isinstance(outcome, Rejected):
                await self._fail(one, outcome.reason)
        bodies = [(one, encode_facts(facts)) for one, facts in read.items()]
        landed, refused = await write_back(self._queue, llm_version(client.model), bodies)
        for one, error in refused:
            await self._fail(one, error)
        self.counts.read += landed
        self.counts.stale += len(bodies) - landed - len(refused)
        if result.problem is not None:
            await self._pause(result.problem)
            return False
        return True

    async def _settle_labels(self, client: LlmClient, read: dict[Claimed, tuple[Fact, ...]]) -> None:
        for one, facts in read.items():
            cache = AnswerCache(self._queue, {}, [one], self._log)
            await self._labels.settle(
                client, cache, one.document.namespace_id, [fact.label for fact in facts]
            )

    async def _pause(self, problem: LlmMisconfigured | LlmUnavailable) -> None:
        await self._queue.release()
        self._asking.pause(problem)

    async def _fail(self, claimed: Claimed, error: str) -> None:
        await self._queue.fail(claimed, error)
        self.counts.failed += 1
        self._log.warning(
            "memory cannot be read by the language model", memory_id=claimed.document.memory_id, error=error
        )
