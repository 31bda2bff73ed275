"""Checks new memories and packs them into JSON batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sized
from dataclasses import fields
from datetime import datetime
from typing import Any

from .arguments import as_str, checked_arguments, json_text
from .errors import InvalidInput, PgrecallError, TooLarge
from .models import NewMemory

MAX_CONTENT_BYTES = 262_144
"""The server's limit for one memory. Checked here too, so that an import can reject a single line."""

MAX_BATCH_CHARACTERS = 4 * 2**20

_FIELDS = frozenset(field.name for field in fields(NewMemory))


def new_memory(memory: NewMemory | Mapping[str, Any]) -> dict[str, Any]:
    """Check one memory for `remember_many` and return it as a JSON object.

    Raises:
        InvalidInput: A key that is not a field of `NewMemory`, or a value of the wrong type.
        TooLarge: The content exceeds the limit of the server.
    """
    if isinstance(memory, NewMemory):
        values: dict[str, Any] = {name: getattr(memory, name) for name in _FIELDS}
    elif isinstance(memory, Mapping):
        values = dict(memory)
    else:
        raise InvalidInput(f"a memory must be a NewMemory or a mapping, not {type(memory).__name__}")
    unknown = sorted(str(key) for key in values.keys() - _FIELDS)
    if unknown:
        raise InvalidInput(
            f"unknown field {unknown[0]!r}", hint=f"The fields are {', '.join(sorted(_FIELDS))}."
        )
    check_content(values.get("content"))
    checked = checked_arguments(**values)
    return {
        name: value.isoformat() if isinstance(value, datetime) else value for name, value in checked.items()
    }


def batches(memories: Iterable[NewMemory | Mapping[str, Any]], size: int) -> Iterator[str]:
    """Check memories and pack them into JSON arrays.

    Args:
        memories: Read lazily, as batches are requested.
        size: Memories per batch; a batch also ends at `MAX_BATCH_CHARACTERS`.

    Raises:
        InvalidInput: A memory is invalid (or TooLarge, and so on); the message says which of several.
    """
    if size < 1:
        raise InvalidInput("batch_size must be at least 1")
    batch: list[str] = []
    length = 0
    for number, memory in enumerate(memories, 1):
        try:
            packed = json_text(new_memory(memory))
        except PgrecallError as error:
            raise type(error)(
                f"memory{_of(number, memories)}: {error.message}", sqlstate=error.sqlstate, hint=error.hint
            ) from error
        batch.append(packed)
        length += len(packed)
        if len(batch) == size or length >= MAX_BATCH_CHARACTERS:
            yield f"[{','.join(batch)}]"
            batch, length = [], 0
    if batch:
        yield f"[{','.join(batch)}]"


def _of(number: int, memories: object) -> str:
    """Return which memory it is; a single one has no number, and how many an iterator has is not known."""
    total = len(memories) if isinstance(memories, Sized) else None
    if total == 1:
        return ""
    return f" {number}" if total is None else f" {number} of {total}"


def check_content(value: object) -> str:
    """Return the content of a new memory.

    Raises:
        InvalidInput: It is missing, not text, or blank.
        TooLarge: It is longer than `MAX_CONTENT_BYTES`.
    """
    if value is None:
        raise InvalidInput("content is missing")
    body = as_str("content", value)
    if not body.strip():
        raise InvalidInput("content is blank", hint="Give the text to remember.")
    size = len(body.encode())
    if size > MAX_CONTENT_BYTES:
        raise TooLarge(
            f"content has {size} bytes; the limit is {MAX_CONTENT_BYTES}",
            hint="Split the content into several memories of one session.",
        )
    return body
