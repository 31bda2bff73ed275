"""What an agent tells a hook."""

from __future__ import annotations

import json
import sys
from threading import Thread
from typing import Any

from pgrecall.errors import PgrecallError

__all__ = ["event_of", "read_payload", "text_at"]

_LONGEST = 16 * 2**20
_PIECE = 64 * 1024


def read_payload(seconds: float | None = None) -> dict[str, Any]:
    """Read the object on standard input.

    Args:
        seconds: How long to wait for its end; what came by then counts. None waits without a limit.

    Raises:
        PgrecallError: It is none.
    """
    read = bytearray()
    if seconds is None:
        _read_input(read)
    else:
        reader = Thread(target=_read_input, args=(read,), daemon=True)
        reader.start()
        reader.join(seconds)
    try:
        payload = json.loads(bytes(read))
    except (ValueError, RecursionError):
        payload = None
    if not isinstance(payload, dict):
        raise PgrecallError(
            "standard input holds no JSON object",
            hint="Coding agents call this; `pgrecall agent` sets it up.",
        )
    return payload


def _read_input(read: bytearray) -> None:
    if sys.stdin is None or sys.stdin.isatty():
        return
    # Past the buffer: a waiting thread would hold its lock, on which Python aborts at exit.
    source = getattr(sys.stdin.buffer, "raw", sys.stdin.buffer)
    while len(read) < _LONGEST and (piece := source.read(_PIECE)):
        read += piece


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
