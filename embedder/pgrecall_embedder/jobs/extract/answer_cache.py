"""The database as the place where a language model's answers are kept."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from pgrecall_embedder.jobs.storing import REFUSALS
from pgrecall_embedder.logs import describe

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from structlog.typing import FilteringBoundLogger

    from pgrecall_embedder.jobs.reading import Claimed

    from .queue import ExtractionQueue

__all__ = ["AnswerCache"]


class AnswerCache:
    """Caches answers by the hash of the request. A change of its memories removes an answer.

    Args:
        queue: The database.
        owners: The claimed memories whose answer has a hash.
        others: The memories that any other answer belongs to.
        log: Called with messages about answers that cannot be kept.
    """

    def __init__(
        self,
        queue: ExtractionQueue,
        owners: Mapping[str, Sequence[Claimed]],
        others: Sequence[Claimed],
        log: FilteringBoundLogger,
    ) -> None:
        self._queue = queue
        self._owners = owners
        self._others = others
        self._log = log

    async def get(self, hashes: Sequence[str]) -> Mapping[str, str]:
        """Return the answers that are there, as JSON texts, by hash.

        Args:
            hashes: SHA-256 in hex.
        """
        known = await self._queue.cached_llm_answers([bytes.fromhex(one) for one in hashes])
        return {key.hex(): answer for key, answer in known}

    async def put(self, values: Mapping[str, str]) -> None:
        """Keep answers, for those of their memories that are still claimed.

        Args:
            values: JSON texts by hash.
        """
        items = [
            {
                "key": key,
                "memory_id": claimed.document.memory_id,
                "ticket": claimed.ticket,
                "answer": json.loads(answer),
            }
            for key, answer in values.items()
            for claimed in self._owners.get(key, self._others)
        ]
        try:
            await self._queue.cache_llm_answers(items)
        except REFUSALS as error:
            # PostgreSQL may still refuse one, such as for its size; the answer counts all the same.
            self._log.warning("answer not cached", error=describe(error))
