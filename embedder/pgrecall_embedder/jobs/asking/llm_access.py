"""A language model as the settings have it: one client for a setup, pauses, and its usage recorded."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pgrecall.errors import PgrecallError
from pgrecall_embedder.llm import (
    LlmClient,
    LlmMisconfigured,
    LlmUnavailable,
    Prices,
    Usage,
    api_key,
    base_url,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from structlog.typing import FilteringBoundLogger

    from pgrecall_embedder.connection import Connection
    from pgrecall_embedder.jobs.setup import Setup

__all__ = ["KEY_FILE_VARIABLE", "LlmAccess", "UsageLog", "client_for"]

KEY_FILE_VARIABLE: Final = "PGRECALL_LLM_API_KEY_FILE"

_RETRIES: Final = 2
_OUTAGE_PAUSE: Final = 30.0
_LONGEST_PAUSE: Final = 600.0


class UsageLog:
    """Records the usage of a language model in the database.

    Args:
        writes: The connection for the records.
    """

    def __init__(self, writes: Connection) -> None:
        self._writes = writes

    async def record_usage(
        self, model: str, requests: int, prompt_tokens: int, completion_tokens: int, cost: float | None
    ) -> None:
        """Add requests, tokens and cost to today's usage of a model."""
        await self._writes.fetch(
            "SELECT pgrecall.record_llm_usage(%s, %s::bigint, %s::bigint, %s::bigint, %s::numeric)",
            [model, requests, prompt_tokens, completion_tokens, cost],
        )


@dataclass(frozen=True, slots=True)
class _Made:
    """A client, and the setup it was made for."""

    client: LlmClient
    fingerprint: str


def client_for(setup: Setup) -> LlmClient:
    """Make the client that a setup asks for, at the address that this machine's environment names.

    Args:
        setup: The setup.

    Raises:
        PgrecallError: The address, the model or the key is none, or a library is missing.
    """
    return LlmClient(
        base_url(),
        setup.settings["llm_model"],
        api_key(os.environ.get(KEY_FILE_VARIABLE) or None),
        max_retries=_RETRIES,
        prices=Prices(setup.number("llm_prompt_price"), setup.number("llm_completion_price")),
    )


class LlmAccess:
    """Access to the language model, and when to pause.

    Args:
        setup: How memories are to be read.
        is_wanted: Whether by a setup it is to be asked at all.
        log: Called with messages about pauses.
    """

    def __init__(self, setup: Setup, is_wanted: Callable[[Setup], bool], log: FilteringBoundLogger) -> None:
        self._setup = setup
        self._is_wanted = is_wanted
        self._log = log
        self._made: _Made | None = None
        self._recorded = Usage()
        self._refused = ""  # the setup that no client could be made of
        self._refused_until = 0.0
        self._is_doubtful = False  # the server refused what the client sends, such as its key
        self._paused_until = 0.0

    @property
    def is_paused(self) -> bool:
        """Whether it is left alone for a while."""
        return time.monotonic() < self._paused_until

    def change(self, setup: Setup) -> None:
        """Go on in another way, also where it was paused.

        Args:
            setup: How.
        """
        self._setup = setup
        self._paused_until = 0.0

    async def client(self) -> LlmClient | None:
        """Return the client for the setup in force; None if there is none to be made."""
        setup = self._setup
        # After a refusal the operator may have put another key into the file, which only a new client reads.
        is_outdated = self._is_doubtful and not self.is_paused
        if self._made is not None and self._made.fingerprint == setup.fingerprint and not is_outdated:
            return self._made.client
        await self.close()
        is_refused = self._refused == setup.fingerprint and time.monotonic() < self._refused_until
        if not self._is_wanted(setup) or is_refused:
            return None
        try:
            client = client_for(setup)
        except PgrecallError as error:
            self._refused = setup.fingerprint
            self._refused_until = time.monotonic() + _LONGEST_PAUSE
            self._log.error("no language model available", error=error.message, hint=error.hint)
            return None
        self._made = _Made(client, setup.fingerprint)
        self._is_doubtful = False
        self._recorded = Usage()
        return client

    def pause(self, problem: LlmMisconfigured | LlmUnavailable) -> None:
        """Leave it alone, for as long as it wants or as makes sense.

        Args:
            problem: What it said.
        """
        seconds = _LONGEST_PAUSE
        self._is_doubtful |= isinstance(problem, LlmMisconfigured)
        if isinstance(problem, LlmUnavailable):
            seconds = _OUTAGE_PAUSE if problem.retry_after is None else problem.retry_after
        seconds = min(_LONGEST_PAUSE, seconds)
        self._paused_until = time.monotonic() + seconds
        self._log.warning(
            "language model paused",
            error=problem.message,
            hint=problem.hint,
            retry_in_s=round(seconds),
        )

    async def record(self, client: LlmClient, log: UsageLog) -> None:
        """Add what a client has used since this was done last.

        Args:
            client: The client.
            log: Where to.
        """
        usage, before = client.usage, self._recorded
        if usage.requests == before.requests:
            return
        self._recorded = usage
        await log.record_usage(
            client.model,
            usage.requests - before.requests,
            usage.prompt_tokens - before.prompt_tokens,
            usage.completion_tokens - before.completion_tokens,
            None if usage.cost is None else usage.cost - (before.cost or 0.0),
        )

    async def close(self) -> None:
        """Close the client."""
        made, self._made = self._made, None
        if made is not None:
            await made.client.aclose()
