"""Pages: standing answers of a namespace."""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, Self

from pgrecall.formatting import origin_mark, sanitize_line

from .rows import Row

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pgrecall.options import Origin

Section = Literal["facts", "preferences", "open", "recent"]
"""What a line of a page is: a fact that holds now, a preference, an open matter, a recent event."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageLine(Row):
    """A line of a page.

    Attributes:
        section: What it is.
        text: One line of text, without markup.
        memory_ids: The memories that it rests on.
        said_at: When the first of them occurred or was stored.
        origin: Where they come from; none came through a tool or from the web.
    """

    section: Section
    text: str
    memory_ids: tuple[int, ...]
    said_at: datetime
    origin: Origin

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Self:
        """Make one from a line of `pgrecall.page`."""
        return cls(
            section=row["section"],
            text=row["text"],
            memory_ids=tuple(row["memory_ids"]),
            said_at=datetime.fromisoformat(row["said_at"]),
            origin=row["origin"],
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the attributes as JSON values."""
        return {
            "section": self.section,
            "text": self.text,
            "memory_ids": list(self.memory_ids),
            "said_at": self.said_at.isoformat(),
            "origin": self.origin,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Page(Row):
    """A page, as it is now.

    Attributes:
        name: Its name.
        question: What its lines are recalled for; None: the namespace as a whole.
        lines: Its lines, in order.
        refreshed_at: When it was filled last; None: never.
        stale_since: Since when the daemon is behind; None: the page is current.
    """

    name: str
    question: str | None
    lines: tuple[PageLine, ...]
    refreshed_at: datetime | None
    stale_since: datetime | None

    def as_dict(self) -> dict[str, Any]:
        """Return the attributes as JSON values."""
        return {**Row.as_dict(self), "lines": [line.as_dict() for line in self.lines]}

    def as_text(self) -> str:
        """Return its lines by section, each with the ids of its memories; empty if it has none."""
        parts: dict[str, list[str]] = {}
        for line in self.lines:
            ids = ", ".join(str(one) for one in line.memory_ids)
            text = f"{origin_mark(line.origin)}{sanitize_line(line.text)}"
            parts.setdefault(line.section, []).append(f"  {text} [{ids}]")
        return "\n".join("\n".join([f"{section}:", *told]) for section, told in parts.items())


@dataclass(frozen=True, slots=True, kw_only=True)
class PageInfo(Row):
    """What a page is to be, and how it is.

    Attributes:
        name: Its name.
        question: What its lines are recalled for; None: the namespace as a whole.
        sections: Its sections; an earlier one takes its part of the budget first.
        budget: The most that its lines have together.
        unit: What the budget counts; a token is taken to be three bytes.
        lines: How many lines it has.
        refreshed_at: When it was filled last; None: never.
        stale_since: Since when the daemon is behind; None: the page is current.
    """

    name: str
    question: str | None
    sections: tuple[Section, ...]
    budget: int
    unit: Literal["characters", "tokens"]
    lines: int
    refreshed_at: datetime | None
    stale_since: datetime | None

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Self:
        """Make one from a row of `pgrecall.list_pages`."""
        return cls(
            **{field.name: row[field.name] for field in fields(cls) if field.name != "sections"},
            sections=tuple(row["sections"]),
        )
