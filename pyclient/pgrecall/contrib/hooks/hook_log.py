"""The log of the hooks, the only place where they complain."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import NoReturn

from pgrecall.errors import ConnectionFailed, PermissionDenied, PgrecallError, SchemaMismatch

__all__ = ["describe", "end_hook", "log_file", "log_line"]

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


def end_hook(error: BaseException) -> NoReturn:
    """End the process of a hook with 0, whatever ended its command.

    Args:
        error: What did; SystemExit if it ended by itself.

    Raises:
        SystemExit: Always.
    """
    if not isinstance(error, SystemExit):
        log_line("hook", describe(error))
    elif error.code:
        # What is wrong with them is on standard error; they may hold a password.
        log_line("hook", "the command line is not understood: see `pgrecall hook --help`")
    for name in ("stdout", "stderr"):
        try:
            stream = getattr(sys, name)
            if stream is not None:
                stream.flush()
        except (OSError, ValueError):
            # Else Python would try again as it ends, and end with 120.
            setattr(sys, name, None)
    raise SystemExit(0) from None
