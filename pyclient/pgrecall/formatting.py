"""Formats values for display on the command line and in the inspector."""

from __future__ import annotations

from datetime import datetime, timedelta

SECTIONS = {
    "memories": (
        "namespaces", "memories", "sensitive", "due", "memories_bytes", "analyzed_at", "pending_postings",
        "pending_extractions", "retrying_extractions", "failed_extractions", "oldest_pending_extraction",
        "pending_llm_extractions",
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


def sanitize(text: str) -> str:
    """Replace line breaks by spaces, and control characters, which could control the terminal, by a mark."""
    return "".join(
        char if char.isprintable() else " " if char.isspace() else "\N{REPLACEMENT CHARACTER}"
        for char in text
    )


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
        return ", ".join(f"{count} {name}" for name, count in sorted(value.items())) or "-"
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "-"
    return sanitize(str(value))


def format_bytes(count: int | None) -> str:
    """Format a number of bytes in its largest unit."""
    if count is None:
        return "-"
    for unit, length in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if count >= length:
            return f"{count / length:.1f} {unit}"
    return f"{count} B"
