"""The times of a text, written so that a table of them reads well."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from pgrecall_extract.temporal import languages
from pgrecall_extract.temporal.references import temporal_references

NOON = datetime(2026, 5, 13, 12, tzinfo=UTC)
"""A Wednesday."""
LANGUAGES = [*languages.CODES, "english", "simple", "klingon"]


def read(text: str, anchor: datetime = NOON, language: str = "english") -> list[tuple[str, str, str]]:
    """Each stretch with its period and granularity; in the anchor's days, a time of day only where there is one."""
    return [
        (text[found.start : found.end], f"{short(found.from_at)} {short(found.to_at)}", found.granularity)
        for found in temporal_references(text, anchor, language)
    ]


def short(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d}" if (moment.hour, moment.minute) == (0, 0) else f"{moment:%Y-%m-%dT%H:%M}"


def one(text: str, anchor: datetime = NOON, language: str = "english") -> tuple[str, str]:
    """The period and granularity of a text's only reference."""
    found = read(text, anchor, language)
    assert len(found) == 1, found
    return found[0][1:]


def at(local: str, zone: str = "UTC") -> datetime:
    return datetime.fromisoformat(local).replace(tzinfo=ZoneInfo(zone))
