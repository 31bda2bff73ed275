"""Errors as an agent reads them: what was wrong with which value, and what to do about it.

They never tell where the database is, nor quote what the caller did not say itself.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pgrecall.errors import (
    Conflict,
    ConnectionFailed,
    NotFound,
    PermissionDenied,
    PgrecallError,
    ReadOnlyServer,
    SchemaMismatch,
    TimedOut,
    UnknownNamespace,
)
from pgrecall.formatting import sanitize_line

if TYPE_CHECKING:
    from collections.abc import Collection

    from pydantic import ValidationError

__all__ = ["agents_notice", "bad_arguments_text", "error_text", "unknown_arguments_text"]

_LONGEST_QUOTE = 60
_PARTS = re.compile(r"(?<=[.;]) ")
_FOR_OTHERS = re.compile(r"pip install|`|\w+=|=>|\w\(|(?<!\w)/\w+/|SELECT |NULL")

# The client's own hints are for who writes Python or SQL.
_HINTS: tuple[tuple[type[PgrecallError], str], ...] = (
    (Conflict, "Pass on_conflict 'keep' to leave the stored memory, or change that with memory_update."),
    (NotFound, "Ids come from memory_store and memory_recall; a forgotten memory counts as absent."),
    (
        UnknownNamespace,
        "Check the name. To have it made, the user starts the server with --create-namespace.",
    ),
    (
        PermissionDenied,
        "The database role of this server may not do this: the user has to grant it or start the server with "
        "another role. Do not try again.",
    ),
    (ReadOnlyServer, "The database takes no writes now: recall works. Try again later."),
    (TimedOut, "Ask for less: a smaller k, a shorter query."),
    (SchemaMismatch, "The user has to run `pgrecall migrate`, or to upgrade the package. Do not try again."),
)


def error_text(error: PgrecallError) -> str:
    """Write an error of the client."""
    if isinstance(error, ConnectionFailed):
        # Its own text may name host, port and user.
        return _written(
            "the memory database cannot be reached",
            "Try again in a while; if that does not help, the user has to check that the database runs and "
            "that PGRECALL_DSN is right.",
        )
    hint = next((text for kind, text in _HINTS if isinstance(error, kind)), agents_notice(error.hint))
    return _written(error.message, hint)


def agents_notice(text: str | None) -> str | None:
    """Leave the sentences out that are for who installs or programs: commands, paths, calls of functions."""
    if text is None:
        return None
    text = text.replace("after_id", "after")  # as the tool calls it
    kept = [part for part in _PARTS.split(text) if not _FOR_OTHERS.search(part)]
    return " ".join(kept).rstrip(";") or None


def unknown_arguments_text(unknown: Collection[str], known: Collection[str]) -> str:
    """Write that a tool has no such arguments."""
    names = ", ".join(_quoted(name) for name in sorted(unknown)[:3])
    return _written(f"there is no argument {names}", f"The arguments are {', '.join(known)}.")


def bad_arguments_text(error: ValidationError) -> str:
    """Write what is wrong with arguments that do not match the tool's schema."""
    found = [_wrong(part) for part in error.errors(include_url=False, include_context=False)]
    return _written("; ".join(found), "Correct the arguments and call the tool again.")


def _wrong(part: Any) -> str:
    name = str(part["loc"][0])
    if part["type"] == "missing":
        return f"{name} is missing"
    problem = str(part["msg"]).removeprefix("Value error, ").removeprefix("Input ")
    return f"{name} {_quoted(part['input'])}: {problem}"


def _quoted(value: object) -> str:
    if isinstance(value, str | int | float) and len(text := repr(value)) <= _LONGEST_QUOTE:
        return text
    return f"({len(value)} characters)" if isinstance(value, str) else f"({type(value).__name__})"


def _written(what: str, hint: str | None) -> str:
    return sanitize_line(f"{what}." if hint is None else f"{what}. {hint}")
