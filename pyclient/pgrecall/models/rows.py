"""The base class of result rows, with conversion to JSON values."""

from __future__ import annotations

from dataclasses import MISSING, dataclass, fields
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Self
from uuid import UUID

from pgrecall.errors import SchemaMismatch

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Row:
    """One row of an answer."""

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Self:
        """Make one from a row by column name; a newer database may have columns that are not known here.

        Raises:
            SchemaMismatch: An older database has no such column.
        """
        known = {field.name: row[field.name] for field in fields(cls) if field.name in row}
        try:
            return cls(**known)
        except TypeError:
            missing = [
                field.name for field in fields(cls) if field.name not in known and field.default is MISSING
            ]
            if not missing:
                raise
            raise lacks(*missing) from None

    def as_dict(self) -> dict[str, Any]:
        """Return the attributes as JSON values, in order; times are ISO 8601 in UTC, spans in seconds."""
        return {field.name: plain(getattr(self, field.name)) for field in fields(self)}


def lacks(*columns: str) -> SchemaMismatch:
    """Return the error for a function of the database that returns no such columns."""
    return SchemaMismatch(
        f"the database is older than this package: its functions return no {', '.join(columns)}"
    )


def bounds(span: Any) -> tuple[Any, Any] | None:
    """Return the ends of a PostgreSQL range, of integers as of a slice; None for NULL."""
    return None if span is None else (span.lower, span.upper)


def plain(value: Any) -> Any:
    """Return a field's value as JSON has it; times are ISO 8601 in UTC, spans of time are in seconds."""
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, tuple):
        return [plain(one) for one in value]
    if isinstance(value, UUID):
        return str(value)
    return value
