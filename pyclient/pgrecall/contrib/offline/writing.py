"""What is done to an offline copy: seen at once by its recall, and queued for the server."""

from __future__ import annotations

import json
import uuid
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import UTC, datetime
from threading import Event
from typing import TYPE_CHECKING, Any

from pgrecall.arguments import json_text
from pgrecall.errors import Conflict, InvalidInput, NeedsServer, NotFound, TimedOut
from pgrecall.new_memories import check_content

from .file import micros, moment_or_none

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Mapping

    from .models import Kind

__all__ = [
    "LISTS",
    "TEXTS",
    "TIMES",
    "Noted",
    "forget",
    "noting",
    "remember",
    "stored_id",
    "supersede",
    "update",
]

TEXTS = ("content", "title", "category", "source", "session", "speaker", "language", "external_id")
LISTS = ("tags", "expanded_keywords")
TIMES = ("occurred_at", "created_at", "valid_from", "valid_to", "expires_at")
# Not among the fields of a version: a new text that says no origin is given one by the server.
ORIGIN = "origin"
_OTHERS = ("importance", "metadata", "position", "is_sensitive")
_DEFAULTS: dict[str, Any] = {
    "tags": "[]",
    "expanded_keywords": "[]",
    "importance": 0.5,
    "metadata": "{}",
    "is_sensitive": 0,
    "origin": "agent",
}
# What the successor of a memory has of it.
_INHERITED = (
    "title",
    "category",
    *LISTS,
    "importance",
    "metadata",
    "source",
    "session",
    "speaker",
    "language",
    "is_sensitive",
    "expires_at",
)
_REVISABLE = tuple(
    name for name in (*TEXTS, *LISTS, *TIMES, *_OTHERS) if name not in ("external_id", "created_at")
)


@dataclass(frozen=True, slots=True)
class Noted:
    """What a call has done to the file.

    Attributes:
        numbers: The places of its writes in the queue, with their keys: what was rolled back is given a place
            again, for the next write.
        made: The memories that it has made, by their ids in the copy.
        before: The rows of the memories that it changed, as they were.
        given_up: Set once nobody waits for the call any more: a thread that is still about it writes nothing.
    """

    numbers: dict[int, str] = field(default_factory=dict)
    made: list[int] = field(default_factory=list)
    before: list[dict[str, Any]] = field(default_factory=list)
    given_up: Event = field(default_factory=Event)


_noted: ContextVar[Noted | None] = ContextVar("pgrecall_offline_noted", default=None)


@contextmanager
def noting(noted: Noted) -> Iterator[None]:
    """Note what the calling task or thread does to the file meanwhile: others write to it as well."""
    token = _noted.set(noted)
    try:
        yield
    finally:
        _noted.reset(token)


def remember(connection: sqlite3.Connection, arguments: Mapping[str, Any], on_conflict: str) -> int:
    """Store a memory; the arguments are checked, as `remember` of the client takes them."""
    check_content(arguments.get("content"))
    _allow(connection, arguments)
    if on_conflict not in ("error", "keep", "update"):
        raise InvalidInput(f"on_conflict cannot be {on_conflict!r}", hint="It takes error, keep or update.")
    key = arguments.get("external_id") or _key()
    present = connection.execute(
        "SELECT id, content, title FROM memories WHERE external_id = ? AND NOT is_forgotten", (key,)
    ).fetchone()
    fields = {**arguments, "external_id": key}
    if present is not None:
        id, content, title = present
        if on_conflict == "update":
            _note_before(connection, id)
            _change(connection, id, fields)
            _queue(connection, "remember", _key(), id, {"fields": fields, "on_conflict": on_conflict})
        elif on_conflict == "error" and (content, title) != (
            arguments["content"],
            arguments.get("title") or None,
        ):
            raise Conflict(f"external_id {key!r} belongs to memory {id}, whose text differs")
        return int(id)
    now = datetime.now(UTC)
    fields = {"created_at": now, **fields}
    id = _new(connection, fields, now)
    # A key of our own is stored once, whatever became of the text since.
    kept = "keep" if "external_id" not in arguments else on_conflict
    _queue(connection, "remember", _key(), id, {"fields": fields, "on_conflict": kept}, now, made=id)
    return id


def update(connection: sqlite3.Connection, arguments: Mapping[str, Any]) -> bool:
    """Change fields of a memory; the arguments are checked, as `update` of the client takes them."""
    id = _there(connection, arguments["id"])
    fields = {name: value for name, value in arguments.items() if name != "id"}
    if "content" in fields:
        check_content(fields["content"])
    _allow(connection, fields)
    if not _change(connection, id, fields):
        return False
    _queue(connection, "update", _key(), id, {"fields": fields, "mine": _fields(connection, id)})
    return True


def supersede(connection: sqlite3.Connection, arguments: Mapping[str, Any]) -> int:
    """Close a fact; the arguments are checked, as `supersede` of the client takes them."""
    id = _there(connection, arguments["id"])
    fields = {name: value for name, value in arguments.items() if name != "id"}
    if ("content" in fields) == ("successor" in fields):
        raise InvalidInput(
            f"memory {id}: pass either content or successor",
            hint="content makes a new memory, successor names an existing one.",
        )
    (later,) = connection.execute("SELECT superseded_by FROM memories WHERE id = ?", (id,)).fetchone()
    now = datetime.now(UTC)
    key = _key()
    if "successor" in fields:
        successor = fields["successor"] = _there(connection, fields["successor"])
        if later == successor:
            return successor
        _refuse_circle(connection, id, successor)
    if later is not None:
        raise InvalidInput(
            f"memory {id} is already superseded by {later}", hint=f"Supersede {later}, or update it."
        )
    made = None
    if "content" in fields:
        check_content(fields["content"])
        inherited = {name: value for name, value in _fields(connection, id).items() if name in _INHERITED}
        inherited[ORIGIN] = _lesser_origin(connection, id)
        fields = {"created_at": now, **fields}
        successor = made = _new(connection, {**inherited, **fields, "external_id": key}, now)
    elif changed := {
        name: value for name, value in fields.items() if name in ("metadata", "importance", ORIGIN)
    }:
        _change(connection, successor, changed)
    ended = fields.get("occurred_at", now)
    connection.execute(
        "UPDATE memories SET superseded_by = ?, superseded_at = ?, updated_at = ?, "
        "valid_to = max(COALESCE(valid_from, -1e18), COALESCE(valid_to, ?)) WHERE id = ?",
        (successor, micros(now), micros(now), micros(ended), id),
    )
    _queue(connection, "supersede", key, id, {"fields": fields}, now, made=made)
    return successor


def forget(connection: sqlite3.Connection, id: int) -> bool:
    """Forget a memory; returns whether it was there."""
    id = stored_id(connection, id)
    _note_before(connection, id)
    gone = connection.execute(
        "UPDATE memories SET is_forgotten = 1 WHERE id = ? AND NOT is_forgotten", (id,)
    ).rowcount
    if gone:
        _queue(connection, "forget", _key(), id, {})
    return gone > 0


def stored_id(connection: sqlite3.Connection, id: int) -> int:
    """Return the server's id of a memory that was made here, once it has one."""
    row = connection.execute("SELECT id FROM stored_ids WHERE local = ?", (id,)).fetchone()
    return id if row is None else int(row[0])


def column(name: str, value: Any) -> Any:
    """Return a field as the file has it."""
    # The word that takes an end away; the queue keeps it, because the server reads no value as no change.
    if value is None or (name in TIMES and value == "infinity"):
        return _DEFAULTS.get(name)
    if name in LISTS or name == "metadata":
        return json_text(list(value) if name in LISTS else dict(value))
    if isinstance(value, datetime):
        return micros(value)
    if name in TEXTS and name != "content":
        return value or None
    return int(value) if name == "is_sensitive" else value


def _there(connection: sqlite3.Connection, id: int) -> int:
    id = stored_id(connection, id)
    if (
        connection.execute("SELECT 1 FROM memories WHERE id = ? AND NOT is_forgotten", (id,)).fetchone()
        is None
    ):
        raise NotFound(
            f"there is no memory {id} in the copy",
            hint="Pull it, if the server has it; sensitive memories are copied only if that was asked for.",
        )
    _note_before(connection, id)
    return id


def _note_before(connection: sqlite3.Connection, id: int) -> None:
    """Note how a memory is, so that a write that is withdrawn leaves it so."""
    noted = _noted.get()
    if noted is not None:
        cursor = connection.execute("SELECT * FROM memories WHERE id = ?", (id,))
        names = [column[0] for column in cursor.description]
        noted.before.extend(dict(zip(names, row, strict=True)) for row in cursor)


def _allow(connection: sqlite3.Connection, fields: Mapping[str, Any]) -> None:
    if fields.get("is_sensitive") and connection.execute(
        "SELECT value FROM meta WHERE name = 'include_sensitive'"
    ).fetchone() != ("1",):
        raise NeedsServer(
            "this copy takes no sensitive memories",
            hint="Store it on the server, or pull with sensitive memories included.",
        )


def _new(connection: sqlite3.Connection, fields: Mapping[str, Any], now: datetime) -> int:
    """Store a row under a negative id; the server gives it another one."""
    (id,) = connection.execute(
        "UPDATE meta SET value = value - 1 WHERE name = 'local_id' RETURNING CAST(value AS INTEGER)"
    ).fetchone()
    names = (*TEXTS, *LISTS, *TIMES, *_OTHERS, ORIGIN)
    values = {name: column(name, fields.get(name)) for name in names}
    if values["language"] is None:
        (values["language"],) = connection.execute(
            "SELECT value FROM meta WHERE name = 'language'"
        ).fetchone()
    values |= {"id": id, "updated_at": micros(now)}
    connection.execute(
        f"INSERT INTO memories ({', '.join(values)}) VALUES ({', '.join(['?'] * len(values))})",
        list(values.values()),
    )
    return int(id)


def _change(connection: sqlite3.Connection, id: int, fields: Mapping[str, Any]) -> bool:
    """Give a row new values for those fields that are given; returns whether any is another."""
    values = {name: column(name, value) for name, value in fields.items() if name in (*_REVISABLE, ORIGIN)}
    assignments = ", ".join(f"{name} = :{name}" for name in values)
    differs = " OR ".join(f"{name} IS NOT :{name}" for name in values)
    if not values:
        return False
    return (
        connection.execute(
            f"UPDATE memories SET {assignments}, updated_at = :now WHERE id = :id AND ({differs})",
            {**values, "now": micros(datetime.now(UTC)), "id": id},
        ).rowcount
        > 0
    )


def _fields(connection: sqlite3.Connection, id: int) -> dict[str, Any]:
    """Return all fields of a row that can be updated, as a client gives them."""
    row = connection.execute(f"SELECT {', '.join(_REVISABLE)} FROM memories WHERE id = ?", (id,)).fetchone()
    fields = dict(zip(_REVISABLE, row, strict=True))
    fields |= {name: json.loads(fields[name]) for name in (*LISTS, "metadata")}
    fields |= {name: moment_or_none(fields[name]) for name in TIMES if name in fields}
    return fields | {"is_sensitive": bool(fields["is_sensitive"])}


def _refuse_circle(connection: sqlite3.Connection, id: int, successor: int) -> None:
    later: int | None = successor
    seen = set()
    while later is not None and later not in seen:
        if later == id:
            raise InvalidInput(
                f"memory {successor} is itself superseded by {id}",
                hint="Two memories cannot supersede each other.",
            )
        seen.add(later)
        row = connection.execute("SELECT superseded_by FROM memories WHERE id = ?", (later,)).fetchone()
        later = None if row is None else row[0]


def _lesser_origin(connection: sqlite3.Connection, id: int) -> str:
    """Return the origin of a new text in place of a memory's, until the server says it."""
    (origin,) = connection.execute("SELECT origin FROM memories WHERE id = ?", (id,)).fetchone()
    return "agent" if origin == "user" else str(origin)


def _key() -> str:
    return f"offline:{uuid.uuid4()}"


def _queue(
    connection: sqlite3.Connection,
    kind: Kind,
    key: str,
    id: int,
    body: Mapping[str, Any],
    now: datetime | None = None,
    *,
    made: int | None = None,
) -> None:
    """Note a write for the server; `made` is the negative id of the memory that it makes."""
    at = datetime.now(UTC) if now is None else now
    (number,) = connection.execute(
        "INSERT INTO queue (key, kind, memory_id, made_id, at, body) VALUES (?, ?, ?, ?, ?, ?) "
        "RETURNING number",
        (key, kind, id, made, micros(at), json.dumps(body, ensure_ascii=False, default=_iso)),
    ).fetchone()
    noted = _noted.get()
    if noted is not None:
        noted.numbers[number] = key
        if made is not None:
            noted.made.append(made)
        # After it was noted: whoever gives a call up sees what is noted by then, and withdraws it.
        if noted.given_up.is_set():
            raise TimedOut("the call was given up before its write")


def _iso(value: Any) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} has no place in a queued write")
