"""The log of the hooks, the only place where they complain."""

from __future__ import annotations

import os
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from pgrecall.errors import ConnectionFailed, PermissionDenied, PgrecallError, SchemaMismatch

__all__ = ["describe", "log_file", "log_line"]

_MOST_BYTES = 2**20
# Errors whose messages speak of databases and files alone; those of others might quote a memory.
_SAFE = (PgrecallError, ConnectionFailed, PermissionDenied, SchemaMismatch)


def log_file() -> Path:
    """Return the path of the log; it is set aside as `….1` when it has a megabyte."""
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(state) / "pgrecall" / "hooks.log"


def log_line(hook: str, text: str) -> None:
    """Write a line; a log that cannot be written is no reason to fail."""
    with suppress(OSError, RuntimeError):
        file = log_file()
        file.parent.mkdir(parents=True, exist_ok=True)
        if file.exists() and file.stat().st_size > _MOST_BYTES:
            file.replace(file.with_name(f"{file.name}.1"))
        now = datetime.now(UTC).isoformat(timespec="seconds")
        with file.open("a", encoding="utf-8", errors="backslashreplace") as lines:
            lines.write(f"{now} {hook}: {' '.join(text.split())}\n")


def describe(error: BaseException) -> str:
    """Describe an error without anything of a memory or a prompt."""
    if isinstance(error, PgrecallError) and type(error) in _SAFE:
        return f"{type(error).__name__}: {error.message}" + (f" {error.hint}" if error.hint else "")
    state = error.sqlstate if isinstance(error, PgrecallError) else None
    return type(error).__name__ + (f", SQLSTATE {state}" if state else "")
