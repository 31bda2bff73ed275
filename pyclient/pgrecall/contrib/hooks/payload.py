"""What an agent tells a hook."""

from __future__ import annotations

import json
import sys
from typing import Any

from pgrecall.errors import PgrecallError

__all__ = ["event_of", "read_payload", "text_at"]

_LONGEST = 16 * 2**20


def read_payload() -> dict[str, Any]:
    """Read the object on standard input.

    Raises:
        PgrecallError: It is none.
    """
    raw = b"" if sys.stdin is None or sys.stdin.isatty() else sys.stdin.buffer.read(_LONGEST)
    try:
        payload = json.loads(raw)
    except (ValueError, RecursionError):
        payload = None
    if not isinstance(payload, dict):
        raise PgrecallError(
            "standard input holds no JSON object",
            hint="Coding agents call this; `pgrecall agent` sets it up.",
        )
    return payload


def text_at(payload: dict[str, Any], *keys: str) -> str | None:
    """Return the first text at one of the keys; None if there is none."""
    for key in keys:
        value = payload.get(key)
        if isinstance(value, str) and value.strip():
            return value
    return None


def event_of(payload: dict[str, Any]) -> str | None:
    """Return the name of what happened, as the agent calls it."""
    return text_at(payload, "hook_event_name", "hookEventName")
