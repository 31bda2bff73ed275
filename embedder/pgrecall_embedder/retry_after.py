"""Reads from the headers of a response how long the server asks the client to wait."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["retry_after_seconds", "seconds_to_wait"]

_NUMBER = re.compile(r"\d{1,12}(?:\.\d{1,9})?")
# The duration format of Go, which OpenAI's headers use: 1s, 6m0s, 20ms.
_DURATION = re.compile(r"(?:\d{1,12}(?:\.\d{1,9})?(?:ms|h|m|s))+")
_PART = re.compile(r"([\d.]+)(ms|h|m|s)")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


def retry_after_seconds(value: str | None, now: datetime | None = None) -> float | None:
    """Parse a Retry-After header: seconds or an HTTP date (RFC 9110, section 10.2.3).

    Args:
        value: The value of the header, or None if it is missing.
        now: The time to count from. Defaults to the current time.

    Returns:
        Seconds from now: 0 for a date in the past, None for an invalid value.
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


def seconds_to_wait(headers: Mapping[str, str]) -> float | None:
    """Parse Retry-After and the vendor headers with the same purpose.

    Args:
        headers: The headers of the response, looked up in lower case.

    Returns:
        Seconds from now; None if no header names a time.
    """
    exact = headers.get("retry-after-ms", "").strip()
    if _NUMBER.fullmatch(exact):
        return float(exact) / 1000
    said = headers.get("retry-after", "").strip()
    if _NUMBER.fullmatch(said):
        return float(said)
    if said and (wait := retry_after_seconds(said)) is not None:
        return wait
    resets = {
        limit: seconds
        for limit in ("requests", "tokens")
        if (seconds := _duration(headers.get(f"x-ratelimit-reset-{limit}", ""))) is not None
    }
    used_up = [
        resets[limit] for limit in resets if headers.get(f"x-ratelimit-remaining-{limit}", "").strip() == "0"
    ]
    return max(used_up or resets.values(), default=None)


def _duration(said: str) -> float | None:
    said = said.strip()
    if _NUMBER.fullmatch(said):
        return float(said)
    if not _DURATION.fullmatch(said):
        return None
    return sum(float(number) * _SECONDS[unit] for number, unit in _PART.findall(said))
