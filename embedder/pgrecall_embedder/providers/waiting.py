"""How long a server wants to be left alone, by the headers of its answer."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pgrecall_embedder.llm.retrying import retry_after_seconds

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["seconds_to_wait"]

_NUMBER = re.compile(r"\d{1,12}(?:\.\d{1,9})?")
# Go's way of writing a duration, which OpenAI's headers use: 1s, 6m0s, 20ms.
_DURATION = re.compile(r"(?:\d{1,12}(?:\.\d{1,9})?(?:ms|h|m|s))+")
_PART = re.compile(r"([\d.]+)(ms|h|m|s)")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


def seconds_to_wait(headers: Mapping[str, str]) -> float | None:
    """Read Retry-After and what services have beside it.

    Args:
        headers: The answer's headers; names are looked up in lower case.

    Returns:
        Seconds from now; None if the server does not say.
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
