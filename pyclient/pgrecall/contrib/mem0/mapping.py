"""mem0's arguments and results in pgrecall's terms."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pgrecall.models import MemoryChange, RecalledMemory, StoredMemory

FOREVER = datetime(9999, 12, 31, tzinfo=UTC)
"""The end of a memory whose expiration date was taken away."""
OWNERS = ("user_id", "agent_id", "run_id")
_OPERATORS = {
    "eq": "$eq",
    "ne": "$ne",
    "in": "$in",
    "nin": "$nin",
    "gt": "$gt",
    "gte": "$gte",
    "lt": "$lt",
    "lte": "$lte",
}
_EVENTS = {
    "remember": "ADD",
    "update": "UPDATE",
    "restore": "ADD",
    "forget": "DELETE",
    "expire": "DELETE",
    "supersede": "DELETE",
}


def owners(**given: str | None) -> dict[str, str]:
    """Return the ids that were given.

    Raises:
        ValueError: None was, or one is blank.
    """
    found = {}
    for name, value in given.items():
        if value is None:
            continue
        if not value.strip():
            raise ValueError(f"{name} is blank")
        found[name] = value.strip()
    if not found:
        raise ValueError("At least one of 'user_id', 'agent_id', or 'run_id' must be provided.")
    return found


def scope(filters: Mapping[str, Any] | None, ids: Mapping[str, Any]) -> dict[str, Any]:
    """Return mem0's filters as the conditions of `metadata_where`.

    Args:
        filters: Values by field, `{"gte": 3}` and the like, "*" for a field that is there, AND of several.
        ids: user_id, agent_id and run_id that were passed beside the filters.

    Raises:
        ValueError: No id is among them, or they hold OR, NOT, contains or an unknown operator.
    """
    conditions: dict[str, Any] = {}
    for name, value in {
        **_merged(filters or {}),
        **{name: one for name, one in ids.items() if one is not None},
    }.items():
        conditions[name] = _condition(name, value)
    if not set(conditions) & set(OWNERS):
        raise ValueError("filters must contain at least one of: user_id, agent_id, run_id")
    return conditions


def _merged(filters: Mapping[str, Any]) -> dict[str, Any]:
    merged: dict[str, Any] = {}
    for name, value in filters.items():
        if name == "AND":
            for part in value:
                merged |= _merged(part)
        elif name in {"OR", "NOT"}:
            raise ValueError(f"{name} has no equivalent: search several times, or filter the results")
        else:
            merged[name] = value
    return merged


def _condition(name: str, value: object) -> object:
    if value == "*":
        return {"$exists": True}
    if isinstance(value, list):
        return {"$in": value}
    if not isinstance(value, dict):
        return value
    if unknown := set(value) - set(_OPERATORS):
        raise ValueError(f"{name}: {sorted(unknown)[0]} has no equivalent; there are {', '.join(_OPERATORS)}")
    return {_OPERATORS[operator]: one for operator, one in value.items()}


def session_of(ids: Mapping[str, str], messages: Sequence[Mapping[str, Any]]) -> str:
    """Return the session of a conversation: that of its run, else one of its own."""
    if "run_id" in ids:
        return "/".join(ids[name] for name in OWNERS if name in ids)
    return hashlib.md5(
        json.dumps([ids, messages], sort_keys=True).encode(), usedforsecurity=False
    ).hexdigest()


def end_of(expiration_date: object) -> datetime | None:
    """Return the end of the last day on which a memory holds; None for none.

    Raises:
        ValueError: It is no date such as '2026-12-31'.
        TypeError: It is neither a date nor a text.
    """
    if expiration_date is None:
        return None
    if isinstance(expiration_date, datetime):
        expiration_date = expiration_date.date()
    if isinstance(expiration_date, str):
        expiration_date = date.fromisoformat(expiration_date)
    if not isinstance(expiration_date, date):
        raise TypeError(f"expiration_date must be a date, not {type(expiration_date).__name__}")
    return datetime(expiration_date.year, expiration_date.month, expiration_date.day, tzinfo=UTC) + timedelta(
        days=1
    )


def item(memory: StoredMemory | RecalledMemory) -> dict[str, Any]:
    """Return a memory as mem0 returns it."""
    metadata = dict(memory.metadata)
    changed = getattr(memory, "updated_at", memory.created_at)
    found: dict[str, Any] = {
        "id": str(memory.id),
        "memory": memory.content,
        "hash": hashlib.md5(memory.content.encode(), usedforsecurity=False).hexdigest(),
        "created_at": memory.created_at.isoformat(),
        "updated_at": changed.isoformat(),
    }
    found |= {name: metadata.pop(name) for name in OWNERS if name in metadata}
    if memory.speaker is not None:
        found["role"] = memory.speaker
    if (ends := getattr(memory, "valid_to", None)) and ends.year < FOREVER.year:
        found["expiration_date"] = (ends - timedelta(days=1)).date().isoformat()
    if metadata:
        found["metadata"] = metadata
    if (score := getattr(memory, "score", None)) is not None:
        found["score"] = score
    return found


def changes(history: Sequence[MemoryChange], id: int) -> list[dict[str, Any]]:
    """Return the history of one memory as mem0 returns it."""
    listed: list[dict[str, Any]] = []
    text: str | None = None
    for place, change in enumerate(one for one in history if one.memory_id == id):
        event = _EVENTS.get(change.action, "UPDATE")
        is_deleted = event == "DELETE"
        listed.append({
            "id": f"{id}-{place}",
            "memory_id": str(id),
            "old_memory": text,
            "new_memory": None if is_deleted else change.content,
            "event": event,
            "created_at": history[0].changed_at.isoformat(),
            "updated_at": change.changed_at.isoformat(),
            "is_deleted": int(is_deleted),
            "actor_id": change.role,
        })  # fmt: skip
        text = change.content
    return listed
