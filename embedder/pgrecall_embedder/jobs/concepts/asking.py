"""Asks a language model which names mean the same, where neither letters nor embeddings tell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pgrecall_embedder.jobs.asking.llm_access import LlmAccess, UsageLog
from pgrecall_embedder.llm import LlmMisconfigured, LlmUnavailable, choose_label

if TYPE_CHECKING:
    from structlog.typing import FilteringBoundLogger

    from pgrecall_embedder.connection import Connection
    from pgrecall_embedder.jobs.setup import Setup
    from pgrecall_embedder.llm import LlmClient

__all__ = ["NameChoices"]

_ASKED: Final = 5


class NameChoices:
    """Puts the doubtful names of the database to the language model.

    The database keeps which pairs were asked about, so none is asked about again, and bounds how many a day.

    Args:
        connection: The connection for upkeep.
        setup: How memories are to be read: names are sent where memories are.
        log: Called with messages about pauses.
    """

    def __init__(self, connection: Connection, setup: Setup, log: FilteringBoundLogger) -> None:
        self._connection = connection
        self._asking = LlmAccess(setup, lambda setup: setup.is_on("extract_llm"), log)
        self._usage = UsageLog(connection)

    def change(self, setup: Setup) -> None:
        """Go on in another way, also where it was paused."""
        self._asking.change(setup)

    async def ask(self) -> bool:
        """Ask about a few names; return whether there was anything to ask."""
        client = await self._asking.client()
        if client is None or self._asking.is_paused:
            return False
        rows = await self._connection.fetch(
            "SELECT id, name, candidate_ids, candidates FROM pgrecall.doubtful_names(%s)", [_ASKED]
        )
        try:
            for concept, name, ids, candidates in rows:
                await self._settle(client, int(concept), str(name), list(ids), list(candidates))
        except (LlmMisconfigured, LlmUnavailable) as problem:
            self._asking.pause(problem)
            return False
        finally:
            await self._asking.record(client, self._usage)
        return bool(rows)

    async def _settle(
        self, client: LlmClient, concept: int, name: str, ids: list[int], candidates: list[str]
    ) -> None:
        chosen = await choose_label(client, name, candidates, kind="name")
        same = None if chosen is None else ids[candidates.index(chosen)]
        await self._connection.fetch(
            "SELECT pgrecall.settle_names(%s::bigint, %s::bigint[], %s::bigint, %s::text[])",
            [concept, ids, same, [] if chosen is None else [name, chosen]],
        )

    async def close(self) -> None:
        """Close the client."""
        await self._asking.close()
