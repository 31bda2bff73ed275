"""Facts by a language model, for those who opt in: claimed, asked about, stored; nothing waits for it."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import psycopg

from pgrecall_embedder.jobs.asking.llm_job import LlmJob
from pgrecall_embedder.jobs.storing import write_back
from pgrecall_embedder.llm import LlmMisconfigured, LlmUnavailable, Rejected, extract_facts
from pgrecall_embedder.llm.prompts import PROMPT_VERSION, cache_key

from .answer_cache import AnswerCache
from .encoding import encode_facts
from .labels import Labels

if TYPE_CHECKING:
    from collections.abc import Callable

    from structlog.typing import FilteringBoundLogger

    from pgrecall_embedder.jobs.concepts.vectors import Embed
    from pgrecall_embedder.jobs.reading import Claimed
    from pgrecall_embedder.jobs.setup import Setup
    from pgrecall_embedder.llm import LlmClient
    from pgrecall_extract.base import Fact

    from .queue import ExtractionQueue

__all__ = ["LlmExtractionJob", "llm_version"]


def llm_version(model: str) -> str:
    """Return the version of what a model reads, as pgrecall.extractions has it.

    Args:
        model: The model's name.
    """
    return f"{model}.p{PROMPT_VERSION}"


class LlmExtractionJob(LlmJob):
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
        super().__init__(
            queue, setup, "extract_llm", drain=drain, is_last=is_last, poll_seconds=poll_seconds, log=log
        )
        self._queue = queue
        self._labels = Labels(queue, embed)

    async def read(self, client: LlmClient, claimed: list[Claimed]) -> bool:
        """Read facts and store them; return whether to look for more at once."""
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
            await self.pause(problem)
            return False
        for one, outcome in found.items():
            if isinstance(outcome, Rejected):
                await self.fail(one, outcome.reason)
        bodies = [(one, encode_facts(facts)) for one, facts in read.items()]
        landed, refused = await write_back(self._queue.complete, llm_version(client.model), bodies)
        for one, error in refused:
            await self.fail(one, error)
        self.counts.read += landed
        self.counts.stale += len(bodies) - landed - len(refused)
        if result.problem is not None:
            await self.pause(result.problem)
            return False
        return True

    async def _settle_labels(self, client: LlmClient, read: dict[Claimed, tuple[Fact, ...]]) -> None:
        for one, facts in read.items():
            cache = AnswerCache(self._queue, {}, [one], self._log)
            # Where its namespace was erased meanwhile, what was read in it lands nowhere.
            with contextlib.suppress(psycopg.errors.UndefinedObject, psycopg.errors.ForeignKeyViolation):
                await self._labels.settle(
                    client, cache, one.document.namespace_id, [fact.label for fact in facts]
                )
