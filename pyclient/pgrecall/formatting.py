"""Formats values for display on the command line and in the inspector."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from unicodedata import category

SECTIONS = {
    "memories": (
        "namespaces", "memories", "sensitive", "due", "memories_bytes", "analyzed_at", "pending_postings",
        "pending_extractions", "retrying_extractions", "failed_extractions", "oldest_pending_extraction",
        "pending_llm_extractions", "jobs",
    ),
    "embeddings": (
        "model", "dimension", "generation", "embedded", "pending", "in_progress", "retrying",
        "oldest_pending", "failed", "failures_by_cause", "truncated", "workers", "per_second", "eta",
        "dense_index_name", "dense_index_valid", "dense_index_bytes",
        "other_generation", "other_state", "other_model",
    ),
    "versions": ("schema_revision", "bundle_hash", "server_version", "pgvector_version"),
}  # fmt: skip
"""The attributes of `Status` by topic."""


_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164"
    "\ud800-\uf8ff\ufdd0-\ufdef\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\U00013430-\U00013455\U00016fe4"
    "\U0001bca0-\U0001bca3\U0001d159\U0001d173-\U0001d17a\U000e0000-\U0010ffff]"
)
_SPACES = re.compile("[\0-\u0020\u007f-\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+")
_CONTROLS = re.compile("[\0-\u0009\u000b-\u001f\u007f-\u009f\u2028\u2029]")
_CONTROLS_IN_FILES = re.compile("[\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_LEADING = re.compile("[ \u1160-\u11ff\ud7b0-\ud7ff\U0001f3fb-\U0001f3ff]")


def counted(number: int, one: str, many: str | None = None) -> str:
    """Return a number with its noun.

    Args:
        number: How many there are.
        one: The noun for one; of `memory` and `query` the plural is known.
        many: The plural; None adds an s.
    """
    if many is None:
        many = f"{one[:-1]}ies" if one.endswith("y") else f"{one}s"
    return f"{number} {one if number == 1 else many}"


def origin_mark(origin: str) -> str:
    """Return the mark that stands before the text of what did not come from the user, such as '[web] '.

    A text may begin with such a mark itself, but none can take its own away.
    """
    return "" if origin == "user" else f"[{origin}] "


def format_age(span: timedelta) -> str:
    """Format a time span in its largest whole unit, with the prefix 'in' for the future."""
    seconds = abs(span.total_seconds())
    for unit, length in (("y", 31_557_600), ("mo", 2_629_800), ("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= length:
            text = f"{int(seconds // length)} {unit}"
            break
    else:
        text = f"{int(seconds)} s"
    return f"in {text}" if span < timedelta(0) else text


def sanitize_line(text: str) -> str:
    """Return a text as one line of visible characters, without hidden text and terminal control.

    Python's side of the SQL function `_pgrecall.sanitize_line`, without its look-alikes of markup. Every text
    of a memory, a user, a provider or a worker that is shown goes through one of the two.

    Args:
        text: Any text.
    """
    line = _SPACES.sub(" ", _INVISIBLE.sub("", text)).strip(" ")
    start = 0
    # A mark would combine with what stands before the line.
    while start < len(line) and (category(line[start]).startswith("M") or _LEADING.match(line[start])):
        start += 1
    return line[start:]


def printable(text: str) -> str:
    """Return a text of several lines without hidden text and terminal control; indentation stays.

    Args:
        text: Any text. What would move the cursor, a carriage return or another line's end, becomes a space.
    """
    return _CONTROLS.sub(" ", _INVISIBLE.sub("", text))


def escape_controls(text: str, form: str = "\\u{:04x}") -> str:
    """Return a text of a format for programs, with references for its control characters: the value stays.

    Args:
        text: JSON, which allows some of them in strings, or XML.
        form: A reference to a character in that format.
    """
    return _CONTROLS_IN_FILES.sub(lambda found: form.format(ord(found[0])), text)


def format_value(value: object) -> str:
    """Format a value: a span in its largest unit, a time in local time, None as '-'."""
    if value is None:
        return "-"
    if isinstance(value, timedelta):
        return format_age(value)
    if isinstance(value, datetime):
        return f"{value.astimezone():%Y-%m-%d %H:%M}"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.1f}"
    if isinstance(value, dict):
        return (
            ", ".join(f"{count} {sanitize_line(str(name))}" for name, count in sorted(value.items())) or "-"
        )
    if isinstance(value, list | tuple):
        return ", ".join(sanitize_line(str(item)) for item in value) or "-"
    return sanitize_line(str(value))


def format_bytes(count: int | None) -> str:
    """Format a number of bytes in its largest unit."""
    if count is None:
        return "-"
    for unit, length in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if count >= length:
            return f"{count / length:.1f} {unit}"
    return f"{count} B"
