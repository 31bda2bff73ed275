"""The lines of a transcript, and the fields of what is in them, read without trust."""

from __future__ import annotations

from datetime import MAXYEAR
from typing import TYPE_CHECKING, Any

from pgrecall.contrib.importers.fields import moment
from pgrecall.contrib.importers.rows import Rejected
from pgrecall.errors import InvalidInput, PgrecallError
from pgrecall.files import open_regular
from pgrecall.jsonl.lines import MAX_LINE_BYTES, bounded_lines, json_object

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime
    from pathlib import Path

__all__ = ["field_of", "items_of", "records", "text_of", "time_of", "without"]


def records(file: Path, reject: Callable[[Rejected], None]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the objects of a file of JSON Lines, each with its place.

    A last line that does not end yet is left for the next time: the agent is writing it.

    Args:
        file: The file.
        reject: Told each line that is no object.

    Raises:
        PgrecallError: The file cannot be read.
    """
    with open_regular(file) as lines:
        for number, raw in enumerate(bounded_lines(lines), 1):
            if not raw.strip() or (not raw.endswith(b"\n") and len(raw) <= MAX_LINE_BYTES and _is_cut(raw)):
                continue
            place = f"{file.name}:{number}"
            try:
                if len(raw) > MAX_LINE_BYTES:
                    raise InvalidInput(f"it has more than {MAX_LINE_BYTES} bytes")
                yield place, json_object(raw)
            except PgrecallError as error:
                reject(Rejected(place, error.message))


def _is_cut(raw: bytes) -> bool:
    return not raw.rstrip().endswith(b"}")


def field_of(record: Any, *keys: str) -> Any:
    """Return what is below keys, one inside the other; None if that is not there."""
    for key in keys:
        record = record.get(key) if isinstance(record, dict) else None
    return record


def items_of(record: Any, key: str) -> list[Any]:
    """Return the items of the list below a key; none if there is no list."""
    found = field_of(record, key)
    return found if isinstance(found, list) else []


def time_of(value: Any) -> datetime | None:
    """Read a time; None if it is none, or of the last year of all, which has no room for what follows."""
    try:
        read = None if value in (None, "") else moment("time", value)
    except InvalidInput:
        return None
    return None if read is None or read.year == MAXYEAR else read


def text_of(content: Any, *kinds: str) -> str:
    """Return the texts of a content: a text, or blocks, those of `kinds`, or of any kind if none is named."""
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        content = [content]
    if not isinstance(content, list):
        return ""
    found = []
    for block in content:
        if isinstance(block, str):
            found.append(block)
        elif isinstance(block, dict) and (not kinds or block.get("type") in kinds):
            text = block.get("text")
            found.extend([text] if isinstance(text, str) else [])
    return "\n".join(found)


def without(text: str, tag: str) -> str:
    """Return a text without its elements of a tag, which the program has put into it."""
    opening, closing = f"<{tag}>", f"</{tag}>"
    kept: list[str] = []
    place = 0
    while (start := text.find(opening, place)) >= 0:
        end = text.find(closing, start)
        if end < 0:
            break
        kept.append(text[place:start])
        place = end + len(closing)
    return "".join([*kept, text[place:]])
