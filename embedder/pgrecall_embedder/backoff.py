"""When something that failed may be tried again."""

from __future__ import annotations

import random
import time
from datetime import UTC, datetime, timedelta
from typing import Final

__all__ = ["Backoff"]

_LONGEST_ASKED_FOR: Final = 600.0
_SHORTEST_ASKED_FOR: Final = 0.5


class Backoff:
    """A time in which a provider is left alone; it grows with every failure in a row that names no time.

    Args:
        first: Seconds of the first one, if the provider names none itself.
        longest: Seconds of the longest one.
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
        """How long it still lasts; 0 if it is over."""
        return max(0.0, self._ends - time.monotonic())

    @property
    def until(self) -> str:
        """When it ends, in ISO 8601."""
        end = datetime.now(UTC) + timedelta(seconds=self.seconds_left)
        return end.isoformat(timespec="seconds")

    @property
    def seconds_failing(self) -> float:
        """For how long nothing has succeeded."""
        return 0.0 if self._failing_since is None else time.monotonic() - self._failing_since

    def begin(self, cause: str, retry_after: float | None = None) -> float | None:
        """Begin a pause; returns its seconds, or None if there is one that lasts as long.

        Args:
            cause: Why, in one word.
            retry_after: For how many seconds the provider asked to be left alone.
        """
        already = self.seconds_left
        if already and retry_after is None:
            return None
        if self._failing_since is None:
            self._failing_since = time.monotonic()
        # At random, so that daemons which failed together do not come back together.
        share = random.random()  # noqa: S311
        if retry_after is None:
            seconds = min(self._longest, self._first * 2.0 ** min(self._failures, 30)) * (1 - share / 4)
        else:
            asked_for = min(_LONGEST_ASKED_FOR, max(_SHORTEST_ASKED_FOR, retry_after))
            seconds = asked_for + share * min(1.0, asked_for / 10)
        if seconds <= already:
            return None
        self.cause = cause
        # Who says when to come back is alive: that makes no later pause longer.
        self._failures += retry_after is None
        self._ends = time.monotonic() + seconds
        return None if already else seconds

    def succeed(self) -> None:
        """Note that it works: the next pause is short again."""
        self._failures = 0
        self._failing_since = None
