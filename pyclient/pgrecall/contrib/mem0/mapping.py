"""mem0's arguments and results in pgrecall's terms."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any

from pgrecall.contrib.importers.fields import end_of_day
from pgrecall.contrib.transcripts.records import text_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence, Set

    from pgrecall.models import MemoryChange, RecalledMemory, StoredMemory

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
FOREVER = datetime(9999, 12, 31, tzinfo=UTC)
"""The end of a memory whose expiration date was taken away."""
OWNERS = ("user_id", "agent_id", "run_id")
_IDENTITIES = (*OWNERS, "actor_id")
_NOT_SAID = {None, "system", "developer", "tool", "function"}
"""Roles whose messages are no memories."""
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


def owners(**given: object) -> dict[str, str]:
    """Return the ids that were given.

    Raises:
        ValueError: None was, or one is no id.
    """
    found = {name: _id(name, value) for name, value in given.items() if value is not None}
    if not found:
        raise ValueError("At least one of 'user_id', 'agent_id', or 'run_id' must be provided.")
    return found


def _id(name: str, value: object) -> str:
    """Return an id as mem0 keeps it: a text without white space."""
    text = str(value).strip()
    if not text or len(text.split()) > 1:
        raise ValueError(f"Invalid {name}: it is blank or contains white space.")
    return text


def scope(filters: Mapping[str, Any] | None, ids: Mapping[str, Any]) -> dict[str, Any]:
    """Return mem0's filters as the conditions of `metadata_where`.

    Every condition holds beside all others, also of the same field, so no filter widens what an id allows.

    Args:
        filters: Values by field, `{"gte": 3}` and the like, "*" for a field that is there, AND of several.
        ids: user_id, agent_id and run_id that were passed beside the filters, as in mem0 1.

    Raises:
        ValueError: No id is named among them, or they hold OR, NOT, contains or an unknown operator.
        TypeError: What was passed beside the filters is no id.
    """
    if unknown := set(ids) - set(OWNERS):
        raise TypeError(f"unexpected argument {sorted(unknown)[0]!r}")
    conditions = [{name: _id(name, value)} for name, value in ids.items() if value is not None]
    names_one = bool(conditions)
    for name, value in _pairs(filters or {}):
        condition = _condition(name, value)
        conditions.append({name: condition})
        # "*", ne and the like fit other users too.
        is_named = not isinstance(condition, dict) or bool({"$eq", "$in"} & set(condition))
        names_one = names_one or (name in OWNERS and is_named)
    if not names_one:
        raise ValueError("filters must contain at least one of: user_id, agent_id, run_id, by its value")
    return {"$and": conditions}


def check_limits(top_k: object, threshold: float | None = None) -> None:
    """Check the limits of a search or a list.

    Raises:
        ValueError: One is out of its range.
    """
    if not isinstance(top_k, int) or isinstance(top_k, bool) or top_k < 0:
        raise ValueError(f"Invalid top_k: {top_k}. Must be a non-negative integer.")
    if threshold is not None and not 0 <= threshold <= 1:
        raise ValueError(f"Invalid threshold: {threshold}. Must be between 0 and 1 (inclusive).")


def _pairs(filters: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in filters.items():
        if name == "AND":
            for part in value:
                yield from _pairs(part)
        elif name in {"OR", "NOT"} or name.startswith("$"):
            raise ValueError(f"{name} has no equivalent: search several times, or filter the results")
        else:
            yield name, value


def _condition(name: str, value: object) -> Any:
    if value == "*":
        return {"$exists": True}
    if isinstance(value, list):
        return {"$in": [_operand(name, one) for one in value]}
    if not isinstance(value, dict):
        return _operand(name, value)
    if unknown := set(value) - set(_OPERATORS):
        raise ValueError(f"{name}: {sorted(unknown)[0]} has no equivalent; there are {', '.join(_OPERATORS)}")
    return {
        _OPERATORS[operator]: [_operand(name, item) for item in one]
        if isinstance(one, list)
        else _operand(name, one)
        for operator, one in value.items()
    }


def _operand(name: str, value: object) -> object:
    """Return a value to compare with; an id as `add` stores it."""
    return _id(name, "" if value is None else value) if name in OWNERS else value


def said(messages: object) -> list[dict[str, Any]]:
    """Return the messages of an `add`; a text is a message of the user.

    Raises:
        ValueError: They are neither a text, a message nor a list.
    """
    if isinstance(messages, str):
        return [{"role": "user", "content": messages}]
    if isinstance(messages, Mapping):
        return [dict(messages)]
    if not isinstance(messages, list | tuple):
        raise ValueError("messages must be str, dict, or list[dict]")  # noqa: TRY004 - mem0's kind
    return [dict(one) for one in messages if isinstance(one, Mapping)]


def fields_of(metadata: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return metadata without the fields that say whose a memory is: only arguments and messages set them."""
    return {name: one for name, one in (metadata or {}).items() if name not in _IDENTITIES}


def actor(message: Mapping[str, Any]) -> dict[str, Any]:
    """Return what mem0 keeps of a message besides its text: its role and the name of who said it."""
    name = message.get("name")
    return {"role": message.get("role")} | ({"actor_id": name} if name else {})


def speaker(message: Mapping[str, Any]) -> str:
    """Return who said a message: a name, else the role."""
    return str(message.get("name") or message["role"])


def origin(message: Mapping[str, Any]) -> str:
    """Return whether the user or an agent said a message."""
    return "user" if message.get("role") in {"user", "human"} else "agent"


def without(messages: Sequence[Mapping[str, Any]], places: Set[int]) -> list[Mapping[str, Any]]:
    """Return the messages with a text, of users and agents, at other places; the first place is 1."""
    return [
        one
        for place, one in enumerate(messages, 1)
        if place not in places and one.get("role") not in _NOT_SAID and text_of(one.get("content")).strip()
    ]


def added(id: int, content: str) -> dict[str, Any]:
    """Return what mem0 answers of a new memory."""
    return {"id": str(id), "memory": content, "event": "ADD"}


def session_of(ids: Mapping[str, str], messages: Sequence[Mapping[str, Any]]) -> str:
    """Return the session of a conversation: that of its run, else one of its own.

    Other ids never have the same session, whatever is in them: messages are stored once in a session.
    """
    if "run_id" in ids:
        return json.dumps(ids, sort_keys=True, ensure_ascii=False)
    return hashlib.md5(
        json.dumps([ids, messages], sort_keys=True).encode(), usedforsecurity=False
    ).hexdigest()


def end_of(expiration_date: object) -> datetime | None:
    """Return the end of the last day on which a memory holds; None for none.

    Raises:
        ValueError: It is no date such as '2026-12-31'.
    """
    if expiration_date is None:
        return None
    if isinstance(expiration_date, datetime):
        expiration_date = expiration_date.date()
    if isinstance(expiration_date, str):
        expiration_date = date.fromisoformat(expiration_date)
    if not isinstance(expiration_date, date):
        raise ValueError("expiration_date must be a date string in YYYY-MM-DD format.")  # noqa: TRY004 - mem0's kind
    return end_of_day(expiration_date)


def item(memory: StoredMemory) -> dict[str, Any]:
    """Return a memory as mem0's `get_all` returns it."""
    metadata = dict(memory.metadata)
    found: dict[str, Any] = {
        "id": str(memory.id),
        "memory": memory.content,
        "hash": hashlib.md5(memory.content.encode(), usedforsecurity=False).hexdigest(),
        "created_at": memory.created_at.astimezone(UTC).isoformat(),
        "updated_at": memory.updated_at.astimezone(UTC).isoformat(),
    }
    found |= {name: metadata.pop(name) for name in (*OWNERS, "actor_id", "role") if name in metadata}
    if memory.speaker is not None:
        found.setdefault("role", memory.speaker)
    if memory.category == "note" and "role" in found:
        found["attributed_to"] = found.pop("role")
    if memory.valid_to is not None:
        is_open = memory.valid_to.year >= FOREVER.year
        found["expiration_date"] = (
            None if is_open else (memory.valid_to.astimezone(UTC) - timedelta(days=1)).date().isoformat()
        )
    return {**found, "metadata": metadata or None}


def scored(
    recalled: RecalledMemory, memory: StoredMemory, details: Mapping[str, Any] | None
) -> dict[str, Any]:
    """Return a memory as mem0's `search` returns it.

    Args:
        recalled: The memory as it was found.
        memory: The same memory with all its fields.
        details: What `score_details` has besides the scores of the legs; None leaves it out.
    """
    found = {**item(memory), "score": recalled.score}
    if details is not None:
        found["score_details"] = {
            "semantic_score": recalled.similarity,
            "bm25_score": recalled.lexical_score,
            "entity_boost": recalled.graph_score,
            "raw_score": recalled.score,
            "max_possible_score": 1.0,
            "final_score": recalled.score,
            **details,
        }
    return found


def changes(history: Sequence[MemoryChange], memory: StoredMemory) -> list[dict[str, Any]]:
    """Return the history of one memory as mem0 returns it."""
    listed: list[dict[str, Any]] = []
    text: str | None = None
    for place, change in enumerate(one for one in history if one.memory_id == memory.id):
        event = _EVENTS.get(change.action, "UPDATE")
        is_deleted = event == "DELETE"
        listed.append({
            "id": f"{memory.id}-{place}",
            "memory_id": str(memory.id),
            "old_memory": text,
            "new_memory": None if is_deleted else change.content,
            "event": event,
            "created_at": memory.created_at.isoformat(),
            "updated_at": change.changed_at.isoformat(),
            "is_deleted": is_deleted,
            "actor_id": memory.metadata.get("actor_id"),
            "role": memory.metadata.get("role", memory.speaker),
        })  # fmt: skip
        text = change.content
    return listed
