"""Retries: the only module that uses tenacity.

`RetryPolicy` retries a database call, `RequestRetries` an HTTP request. Both use the same exponential,
jittered delays. They differ in the errors that they retry and in the point at which they give up.

`Backoff` does not use tenacity. tenacity retries one call in one place. A provider's pause outlasts the
failed call: the memories go back to the queue, the worker loop stops claiming, and other tasks check the time
left. A wait of tenacity needs the state of a call, which does not exist here, so an adapter would be longer
than the formula.
"""

from __future__ import annotations

import asyncio
import random
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final, TypeVar

import psycopg
import tenacity

from .waiting import wait_at_most

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from structlog.typing import FilteringBoundLogger

__all__ = ["Backoff", "RequestRetries", "RetryPolicy", "TransientFailure"]

_T = TypeVar("_T")

_FIRST_DELAY: Final = 0.25
_LONGEST_DELAY: Final = 15.0
_LAST_ATTEMPTS: Final = 3
# 08 connection, 53 resources, 57P shutdown or startup, 40 rollback after a conflict, 55P03 lock timeout,
# 25006 a standby that is yet to be promoted, 57014 cancelled by an administrator.
_TRANSIENT: Final = ("08", "53", "57P", "40", "55P03", "25006", "57014")
_LONGEST_PAUSE: Final = 30.0
_SHORTEST_WAIT: Final = 1.0
_LONGEST_ASKED_FOR: Final = 600.0
_SHORTEST_ASKED_FOR: Final = 0.5


def _exponential(first: float, longest: float) -> tenacity.wait.wait_base:
    return tenacity.wait_random_exponential(multiplier=first, max=longest)


def _error(state: tenacity.RetryCallState) -> BaseException | None:
    return None if state.outcome is None else state.outcome.exception()


@dataclass(slots=True)
class RetryPolicy:
    """Retries a database call while the server is unavailable.

    Attributes:
        stopping: Once set, a call gets only a few attempts.
        give_up_after: Seconds until the error is raised. None retries forever.
        log: Receives a warning for each failed attempt.
        disk_full_at: When the server last had no room on its disk, on the monotonic clock; None: never.
    """

    stopping: asyncio.Event
    give_up_after: float | None
    log: FilteringBoundLogger
    disk_full_at: float | None = None

    async def run(self, attempt: Callable[[], Awaitable[_T]]) -> _T:
        """Await `attempt()` until it succeeds, with exponential, jittered delays.

        Raises:
            psycopg.Error: The error of the last attempt, if it is permanent or the time is over.
        """
        give_up: tenacity.stop.stop_base = tenacity.stop_never
        if self.give_up_after is not None:
            give_up = tenacity.stop_after_delay(self.give_up_after)
        retrying = tenacity.AsyncRetrying(
            retry=tenacity.retry_if_exception(_is_transient),
            wait=_exponential(_FIRST_DELAY, _LONGEST_DELAY),
            stop=lambda state: self._is_over(state) or give_up(state),
            sleep=self._sleep,
            before_sleep=self._report,
            reraise=True,
        )
        return await retrying(attempt)

    def _is_over(self, state: tenacity.RetryCallState) -> bool:
        # Not at the first failure: a connection that broke while idle fails only when it is used.
        # Who cancels a statement again and again means it.
        is_last = self.stopping.is_set() or isinstance(_error(state), psycopg.errors.QueryCanceled)
        return is_last and state.attempt_number >= _LAST_ATTEMPTS

    async def _sleep(self, seconds: float) -> None:
        if self.stopping.is_set():
            await asyncio.sleep(min(seconds, _FIRST_DELAY))
            return
        await wait_at_most(seconds, self.stopping)

    def _report(self, state: tenacity.RetryCallState) -> None:
        from .logs import describe  # structlog is not part of the llm extra

        error = _error(state)
        if isinstance(error, psycopg.errors.DiskFull):
            self.disk_full_at = time.monotonic()
        delay = state.next_action.sleep if state.next_action is not None else 0.0
        if error is not None:
            self.log.warning(
                "database unavailable, retrying", error=describe(error), retry_in_s=round(delay, 1)
            )


def _is_transient(error: BaseException) -> bool:
    """Tell whether a retry may succeed: the server was unavailable or too busy."""
    if isinstance(error, psycopg.OperationalError) and error.sqlstate is None:
        return True
    return isinstance(error, psycopg.Error) and (error.sqlstate or "").startswith(_TRANSIENT)


class TransientFailure(Exception):  # noqa: N818 - an error only after the last retry
    """A request failed and a retry may succeed.

    Attributes:
        reason: What failed, in a few words.
        is_busy: The server asked the client to wait. This does not count as a failure.
        retry_after: Seconds that the server asked for, if any.
        is_answer: The server took the request and failed on it, so the text may be to blame.
        is_broken: It broke off in the middle, as a server does that a text crashes.
    """

    def __init__(
        self,
        reason: str,
        *,
        is_busy: bool = False,
        retry_after: float | None = None,
        is_answer: bool = False,
        is_broken: bool = False,
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.is_busy = is_busy
        self.retry_after = retry_after
        self.is_answer = is_answer
        self.is_broken = is_broken


class RequestRetries:
    """Retries one HTTP request and honours Retry-After.

    Args:
        max_retries: Retries after a failure. A server that asks the client to wait does not count.
        max_wait: Upper limit in seconds for the sum of the waits that the server asks for. A wait that
            would exceed it does not begin.
        backoff: Upper limit in seconds of the first pause if the server names no time. It doubles up to 30.
    """

    def __init__(self, max_retries: int, max_wait: float, backoff: float) -> None:
        self._left = max_retries
        self._max_wait = max_wait
        self._waited = 0.0
        self._jittered = _exponential(backoff, _LONGEST_PAUSE)

    def attempts(self) -> tenacity.AsyncRetrying:
        """Return the attempts, for `async for`. The last `TransientFailure` is raised unchanged."""
        return tenacity.AsyncRetrying(
            retry=tenacity.retry_if_exception_type(TransientFailure),
            wait=self._pause,
            stop=self._is_over,
            reraise=True,
        )

    def _pause(self, state: tenacity.RetryCallState) -> float:
        asked = _failure(state).retry_after
        pause = self._jittered(state)
        return pause if asked is None else max(asked, pause)

    def _is_over(self, state: tenacity.RetryCallState) -> bool:
        if _failure(state).is_busy:
            # A server that always asks for 0 seconds must run into the limit, too.
            self._waited += max(_SHORTEST_WAIT, state.upcoming_sleep)
            return self._waited > self._max_wait
        self._left -= 1
        return self._left < 0


def _failure(state: tenacity.RetryCallState) -> TransientFailure:
    failure = _error(state)
    if not isinstance(failure, TransientFailure):
        raise TypeError("only a failed attempt is followed by a pause")
    return failure


class Backoff:
    """A pause in the requests to a provider. It grows with each consecutive failure that names no time.

    Args:
        first: Seconds of the first pause, unless the provider names a time.
        longest: Upper limit of a pause in seconds, unless the provider names a time.
    """

    def __init__(self, first: float = 1.0, longest: float = 300.0) -> None:
        self._first = first
        self._longest = longest
        self._failures = 0
        self._failing_since: float | None = None
        self._ends = 0.0
        self.cause = ""

    @property
    def seconds_left(self) -> float:
        """Seconds until the pause ends; 0 if it is over."""
        return max(0.0, self._ends - time.monotonic())

    @property
    def until(self) -> str:
        """The end of the pause, in ISO 8601."""
        end = datetime.now(UTC) + timedelta(seconds=self.seconds_left)
        return end.isoformat(timespec="seconds")

    @property
    def seconds_failing(self) -> float:
        """Seconds since the first failure after the last success."""
        return 0.0 if self._failing_since is None else time.monotonic() - self._failing_since

    def begin(self, cause: str, retry_after: float | None = None) -> float | None:
        """Begin a pause. Returns its seconds, or None if the current pause lasts as long.

        Args:
            cause: The reason, in one word.
            retry_after: Seconds that the provider asked for.
        """
        already = self.seconds_left
        if already and retry_after is None:
            return None
        if self._failing_since is None:
            self._failing_since = time.monotonic()
        # Jitter, so that daemons that failed together do not retry together.
        share = random.random()  # noqa: S311
        if retry_after is None:
            seconds = min(self._longest, self._first * 2.0 ** min(self._failures, 30)) * (1 - share / 4)
        else:
            asked_for = min(_LONGEST_ASKED_FOR, max(_SHORTEST_ASKED_FOR, retry_after))
            seconds = asked_for + share * min(1.0, asked_for / 10)
        if seconds <= already:
            return None
        self.cause = cause
        # A provider that names a time is alive: later pauses do not grow.
        self._failures += retry_after is None
        self._ends = time.monotonic() + seconds
        return None if already else seconds

    def succeed(self) -> None:
        """Record a success: the next pause is short again."""
        self._failures = 0
        self._failing_since = None
