"""When a request that failed is sent again: by the server's word, else after a growing, jittered pause."""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

from tenacity import AsyncRetrying, retry_if_exception_type
from tenacity.wait import wait_random_exponential

if TYPE_CHECKING:
    from tenacity import RetryCallState

__all__ = ["Again", "RequestRetries", "retry_after_seconds"]

_LONGEST_PAUSE = 30.0
_SHORTEST_WAIT = 1.0


class Again(Exception):  # noqa: N818 - it is no error until the retries are used up
    """A request failed in a way that passes.

    Attributes:
        reason: Why, in a few words.
        is_busy: The server asked to wait: it works, and nothing failed.
        retry_after: Seconds that it asked for; None where it did not say.
    """

    def __init__(self, reason: str, *, is_busy: bool = False, retry_after: float | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.is_busy = is_busy
        self.retry_after = retry_after


class RequestRetries:
    """How long one request is tried.

    Args:
        max_retries: How often a request that failed is sent again. Being asked to wait is no failure.
        max_wait: The most seconds that one request waits for a server that asks for it, all its pauses
            together; a single longer one is not begun.
        backoff: Seconds of the first pause at most, where the server does not say; it doubles up to 30.
    """

    def __init__(self, max_retries: int, max_wait: float, backoff: float) -> None:
        self._left = max_retries
        self._max_wait = max_wait
        self._waited = 0.0
        self._jittered = wait_random_exponential(multiplier=backoff, max=_LONGEST_PAUSE)

    def tries(self) -> AsyncRetrying:
        """Return the tries of one request, for `async for`; the last `Again` is raised as it is."""
        return AsyncRetrying(
            retry=retry_if_exception_type(Again), wait=self._pause, stop=self._is_over, reraise=True
        )

    def _pause(self, state: RetryCallState) -> float:
        asked = _failure(state).retry_after
        pause = self._jittered(state)
        return pause if asked is None else max(asked, pause)

    def _is_over(self, state: RetryCallState) -> bool:
        if _failure(state).is_busy:
            # A server that always asks for no time at all is to be left some day, too.
            self._waited += max(_SHORTEST_WAIT, state.upcoming_sleep)
            return self._waited > self._max_wait
        self._left -= 1
        return self._left < 0


def _failure(state: RetryCallState) -> Again:
    failure = None if state.outcome is None else state.outcome.exception()
    if not isinstance(failure, Again):
        raise TypeError("only a failed try is followed by a pause")
    return failure


def retry_after_seconds(value: str | None, now: datetime | None = None) -> float | None:
    """Read a Retry-After header: seconds, or a date of HTTP (RFC 9110, section 10.2.3).

    Args:
        value: The header; None where there is none.
        now: The time to count from; None is now.

    Returns:
        Seconds from now, 0 for a date gone by; None for what is neither.
    """
    text = "" if value is None else value.strip()
    if text.isascii() and text.isdigit():
        return float(text)
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - (datetime.now(UTC) if now is None else now)).total_seconds())
