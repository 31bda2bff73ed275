"""Has a language model write down what new messages say that is worth keeping."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pgrecall_embedder.jobs.asking.llm_job import LlmJob
from pgrecall_embedder.jobs.storing import REFUSALS
from pgrecall_embedder.llm import AnswerUnusable, LlmMisconfigured, LlmUnavailable
from pgrecall_embedder.logs import describe

from .question import NOTES_VERSION, write_notes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from structlog.typing import FilteringBoundLogger

    from pgrecall_embedder.jobs.reading import Claimed
    from pgrecall_embedder.jobs.setup import Setup
    from pgrecall_embedder.llm import LlmClient

    from .question import Message
    from .queue import NoteQueue

__all__ = ["NoteJob", "notes_version"]


def notes_version(model: str) -> str:
    """Return the version of a model's notes, as pgrecall.extractions has it.

    Args:
        model: The model's name.
    """
    return f"{model}.n{NOTES_VERSION}"


class NoteJob(LlmJob):
    """Makes notes of messages, after names and times were read in them.

    Args:
        queue: Where messages come from, and notes go to.
        setup: How to read.
        drain: Return when nothing is left, or the server cannot be asked, instead of waiting.
        is_last: Tells whether the text extraction job is done, so that no more messages follow.
        poll_seconds: How long to wait before looking again.
        log: Called with messages about messages that failed, and of pauses.
    """

    def __init__(
        self,
        queue: NoteQueue,
        setup: Setup,
        *,
        drain: bool,
        is_last: Callable[[], bool],
        poll_seconds: float,
        log: FilteringBoundLogger,
    ) -> None:
        super().__init__(
            queue, setup, "extract_notes", drain=drain, is_last=is_last, poll_seconds=poll_seconds, log=log
        )
        self._queue = queue

    async def read(self, client: LlmClient, claimed: list[Claimed]) -> bool:
        """Read messages, each conversation by itself; return whether to look for more at once."""
        of = {one.document.memory_id: one for one in claimed}
        for conversation in await self._queue.conversations(list(of)):
            try:
                await self._read(client, conversation, of)
            except (LlmMisconfigured, LlmUnavailable) as problem:
                await self.pause(problem)
                return False
        # What is in no conversation any more is sensitive, forgotten or expired: there is nothing to note.
        for one in of.values():
            self._count([one], await self._queue.complete_notes(notes_version(client.model), [one], []))
        return True

    async def _read(self, client: LlmClient, conversation: Sequence[Message], of: dict[int, Claimed]) -> None:
        """Read a conversation; one on which there is no usable answer message by message."""
        claimed = [of.pop(one.memory_id) for one in conversation if one.is_new]
        try:
            notes = await write_notes(client, conversation)
            landed = await self._queue.complete_notes(notes_version(client.model), claimed, notes)
        except AnswerUnusable as error:
            if len(claimed) == 1:
                await self.fail(claimed[0], error.message)
                return
            await self._read_each(client, {one.document.memory_id: one for one in claimed})
        except REFUSALS as error:
            # PostgreSQL may refuse a text all the same.
            for one in claimed:
                await self.fail(one, describe(error))
        else:
            self._count(claimed, landed)

    async def _read_each(self, client: LlmClient, claimed: Mapping[int, Claimed]) -> None:
        for memory_id, one in claimed.items():
            for conversation in await self._queue.conversations([memory_id]):
                await self._read(client, conversation, {memory_id: one})

    def _count(self, claimed: Sequence[Claimed], landed: int) -> None:
        self.counts.read += landed
        self.counts.stale += len(claimed) - landed
