"""LangGraph's items and namespaces in pgrecall's terms.

The item `key` of the namespace `("users", "42")` is the memory with the external id `users.42..key` in the
session `users.42`. No label has a period or is empty, so `..` ends the namespace. The external ids of all
items in and below `users` begin with `users.`, and no others do.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from langgraph.store.base import Item, SearchItem, get_text_at_path, tokenize_path

from pgrecall.errors import InvalidInput
from pgrecall.filters import Filter

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from langgraph.store.base import ListNamespacesOp, MatchCondition, PutOp, SearchOp

    from pgrecall.models import RecalledMemory, StoredMemory

INDEXED = "langgraph"
"""The source of items that search finds."""
NOT_INDEXED = "langgraph:index=False"
"""The source of items that only get and search without a query return."""
TTL = "$ttl"
"""The key of an item's time to live in minutes, beside its value in the memory's metadata.

A field of the value that is called so, or so after more dollars, is stored with one dollar more.
"""
NEVER = "infinity"


def external_id(namespace: Sequence[str], key: str) -> str:
    """Return the external id of an item."""
    return f"{'.'.join(namespace)}..{key}"


def prefix(namespace: Sequence[str]) -> str | None:
    """Return what the external ids of all items in and below a namespace begin with; None for all items."""
    return f"{'.'.join(namespace)}." if namespace else None


def memory(op: PutOp, fields: Sequence[str] | None, now: datetime) -> dict[str, Any]:
    """Return the memory of an item.

    Args:
        op: The item to store.
        fields: The paths to index where the operation gives none; None indexes every field.
        now: The time; it becomes the item's `updated_at`.
    """
    if op.value is not None and not isinstance(op.value, Mapping):
        raise InvalidInput(
            f"the value of an item must be a dictionary, not {type(op.value).__name__}",
            hint="Put what it is under a name: {'value': …}.",
        )
    value = dict(op.value or {})
    stored = {_stored_name(name): one for name, one in value.items()}
    is_indexed = op.index is not False
    paths = op.index if isinstance(op.index, list) else fields
    content = "\n".join(_texts(value, paths)) if is_indexed else ""
    ttl = _minutes(op.ttl)
    expires_at = None if ttl is None else _end(now, ttl)
    return {
        # A memory has a text. An item without one is found by its key.
        "content": content if content.strip() else op.key or "item",
        "metadata": stored if expires_at is None else {**stored, TTL: ttl},
        "source": INDEXED if is_indexed else NOT_INDEXED,
        "session": ".".join(op.namespace),
        "external_id": external_id(op.namespace, op.key),
        "occurred_at": now,
        "expires_at": NEVER if expires_at is None else expires_at,
    }


def _stored_name(name: Any) -> Any:
    """Return what a field of an item is called in the memory's metadata."""
    return f"${name}" if isinstance(name, str) and _is_ttl(name) else name


def _own_name(name: str) -> str:
    return name[1:] if _is_ttl(name) else name


def _is_ttl(name: str) -> bool:
    return name.startswith("$") and name.lstrip("$") == TTL[1:]


def _minutes(ttl: Any) -> float | None:
    if ttl is None:
        return None
    try:
        minutes = float(ttl)
    except OverflowError:  # a whole number that no float holds
        minutes = math.inf if ttl > 0 else -math.inf
    except (TypeError, ValueError):
        minutes = math.nan
    if math.isnan(minutes):
        raise InvalidInput("ttl must be a number of minutes")
    return max(minutes, 0.0)


def _end(now: datetime, minutes: float) -> datetime | None:
    """Return when a life ends that lasts so long from now; None if that is later than any date."""
    try:
        return now + timedelta(minutes=minutes)
    except OverflowError:
        return None


def _texts(value: Mapping[str, Any], paths: Sequence[str] | None) -> Iterator[str]:
    if paths is None or "$" in paths:
        for name, one in value.items():
            yield f"{name}: {one if isinstance(one, str) else json.dumps(one, ensure_ascii=False)}"
        return
    for path in paths:
        yield from get_text_at_path(value, tokenize_path(path))


def search_filter(op: SearchOp, sources: Sequence[str]) -> Filter:
    """Return the filter of a search. A list or an object fits if the item's field contains it."""
    conditions: dict[str, Any] = {}
    contained: dict[str, Any] = {}
    for name, value in (op.filter or {}).items():
        is_operators = isinstance(value, dict) and value and all(key.startswith("$") for key in value)
        if isinstance(value, dict | list) and not is_operators:
            contained[_stored_name(name)] = value
        else:
            field, period, path = name.partition(".")
            conditions[f"{_stored_name(field)}{period}{path}"] = value
    return Filter(
        sources=sources,
        external_id_prefix=prefix(op.namespace_prefix),
        metadata_where=conditions or None,
        metadata_contains=contained or None,
    )


def item(memory: StoredMemory) -> Item:
    """Return a memory as an item."""
    return Item(**_fields(memory))


def search_item(memory: StoredMemory | RecalledMemory) -> SearchItem:
    """Return a memory as an item of a search, with its score if a query found it."""
    return SearchItem(**_fields(memory), score=getattr(memory, "score", None))


def _fields(memory: StoredMemory | RecalledMemory) -> dict[str, Any]:
    path, _, key = (memory.external_id or "").partition("..")
    return {
        "namespace": tuple(path.split(".")),
        "key": key,
        "value": {_own_name(name): one for name, one in memory.metadata.items() if name != TTL},
        "created_at": memory.created_at,
        # The client's clock may be behind the server's.
        "updated_at": max(memory.occurred_at or memory.created_at, memory.created_at),
    }


def refreshed(memory: StoredMemory, now: datetime) -> datetime | None:
    """Return when an item expires that is read now; None if that need not be stored.

    An expiry that moves by less than a tenth of the time to live is left, so that frequent readers seldom
    write.
    """
    if memory.expires_at is None:
        return None
    expires_at = _end(now, memory.metadata[TTL])
    if expires_at is None:
        return None
    return expires_at if expires_at - memory.expires_at >= (expires_at - now) / 10 else None


def namespaces(paths: Iterable[str], op: ListNamespacesOp) -> list[tuple[str, ...]]:
    """Return the page of namespaces that an operation asks for, in alphabetical order."""
    found = {
        path[: op.max_depth]
        for path in (tuple(one.split(".")) for one in paths)
        if all(_fits(path, condition) for condition in op.match_conditions or ())
    }
    return sorted(found)[op.offset : op.offset + op.limit]


def _fits(path: tuple[str, ...], condition: MatchCondition) -> bool:
    wanted = tuple(condition.path)
    if len(wanted) > len(path):
        return False
    part = path[: len(wanted)] if condition.match_type == "prefix" else path[len(path) - len(wanted) :]
    return all(label in {"*", here} for label, here in zip(wanted, part, strict=True))


def now() -> datetime:
    """Return the time."""
    return datetime.now(UTC)
