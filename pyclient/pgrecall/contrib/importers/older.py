"""Records of the older, lexical-only memory service, from whatever holds them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pgrecall.errors import InvalidInput
from pgrecall.jsonl.lines import text_search_configuration
from pgrecall.models import NewMemory

from .fields import SENSITIVE, importance, mapping, moment, name, number, sensitive, texts
from .rows import Row

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["DERIVED", "OWN", "found_columns", "memory_row"]

_NAMES = ("title", "category", "source", "session", "speaker")
_TIMES = ("occurred_at", "created_at", "valid_from", "valid_to")
_NONE: Any = None
"""The content of a record that has none: what checks it says so."""

DERIVED = frozenset({"search_vector", "embedding", "vector", "fts", "rank"})
"""Columns that are made from the others, and are left out."""

OWN = frozenset(
    {"id", "content", "tags", "expanded_keywords", "importance", "position", "language", "lang", "metadata"}
    | {"updated_at", "deleted_at"}
) | {*_NAMES, *_TIMES, *SENSITIVE}
"""Columns that are fields of a memory; the others go to its metadata."""


def found_columns(columns: Iterable[str], left_out: Iterable[str] = ()) -> tuple[str, ...]:
    """Say what becomes of the columns of a table.

    Args:
        columns: Those that are read.
        left_out: Those whose type is nothing for a memory.

    Raises:
        InvalidInput: There is none for the id, or for the content.
    """
    names = list(columns)
    for needed in ("id", "content"):
        if needed not in names:
            raise InvalidInput(
                f"there is no column {needed!r}", hint=f"There are {', '.join(names)}: is it the right table?"
            )
    notes = [f"columns: {', '.join(column for column in names if column in OWN)}"]
    others = [column for column in names if column not in OWN | DERIVED]
    if others:
        notes.append(f"to the metadata: {', '.join(others)}")
    unread = [*(column for column in names if column in DERIVED), *left_out]
    if unread:
        notes.append(f"left out: {', '.join(unread)}")
    if not any(column in names for column in SENSITIVE):
        notes.append("no column is_sensitive: nothing is taken for sensitive")
    return tuple(notes)


def memory_row(place: str, record: Mapping[str, Any], most: float) -> Row:
    """Read a record.

    Args:
        place: Where it is, for a report.
        record: Its columns by name; None is what is not there.
        most: The importance of the most important ones.

    Raises:
        InvalidInput: A value is not what its column is for.
    """
    there = {key: value for key, value in record.items() if value is not None and key not in DERIVED}
    if "id" not in there:
        raise InvalidInput("it has no id, so that nobody could find it again")
    id = name("id", there["id"])
    fields: dict[str, Any] = {key: name(key, there[key]) for key in _NAMES if key in there}
    fields |= {key: moment(key, there[key]) for key in _TIMES if there.get(key, "") != ""}
    fields |= {key: texts(key, there[key]) for key in ("tags", "expanded_keywords") if key in there}
    if "importance" in there:
        fields["importance"] = importance(there["importance"], most)
    if "position" in there:
        place_in_session = number("position", there["position"])
        if not place_in_session.is_integer():
            raise InvalidInput("position must be a whole number")
        fields["position"] = int(place_in_session)
    fields["language"] = text_search_configuration(there.get("language", there.get("lang")))
    metadata = {key: value for key, value in there.items() if key not in OWN}
    flags = [sensitive(there)]
    if there.get("metadata", "") != "":
        inside = dict(mapping("metadata", there["metadata"]))
        flags.append(sensitive(inside))
        if any(metadata[key] != inside[key] for key in metadata.keys() & inside.keys()):
            raise InvalidInput("a key stands beside metadata and inside it with different values")
        metadata |= inside
    return Row(
        place=place,
        id=id,
        memory=NewMemory(
            content=there.get("content", _NONE),
            is_sensitive=any(flags),
            metadata=metadata,
            **fields,
        ),
        updated_at=_optional("updated_at", there),
        deleted_at=_optional("deleted_at", there),
    )


def _optional(key: str, there: Mapping[str, Any]) -> Any:
    value = there.get(key)
    # What is not deleted has 0 or nothing in some versions.
    return None if value in (None, "", 0) else moment(key, value)
