"""What the tests of notes share: conversations, claims, and eyes on what became of them."""

from __future__ import annotations

import json
import uuid
from typing import TYPE_CHECKING, Any

from psycopg.types.json import Jsonb

from .memories import call, rows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from psycopg import Connection

WORKER = uuid.UUID(int=7)
TALK = (
    {"role": "user", "name": "Priya", "content": "How do we get to Goa?"},
    {"role": "assistant", "content": "By plane or by train."},
    {"role": "user", "name": "Priya", "content": "I prefer trains."},
)


def switch_on(conn: Connection[Any]) -> None:
    call(conn, "pgrecall.set_setting", "extract_notes", "on")


def talk(
    conn: Connection[Any], messages: Sequence[Mapping[str, Any]] = TALK, session: str = "trip", **options: Any
) -> list[int]:
    """Store a conversation, whose messages the language model is to read; return their memories."""
    ids = [row[1] for row in rows(conn, "remember_messages", Jsonb(list(messages)), session, **options)]
    queue(conn)
    return ids


def queue(conn: Connection[Any]) -> None:
    """Have what waits read without a language model, and nothing found."""
    found = rows(conn, "pgrecall.claim_extractions", WORKER)
    items = [
        {"memory_id": row[0], "ticket": row[1], "mentions": [], "times": [], "facts": []} for row in found
    ]
    call(conn, "pgrecall.complete_extractions", "text", "1", json.dumps(items))


def claim(conn: Connection[Any], worker: uuid.UUID = WORKER) -> dict[int, int]:
    """Claim messages; return their tickets."""
    return {row[0]: row[1] for row in rows(conn, "pgrecall.claim_extractions", worker, "notes")}


def note(conn: Connection[Any], tickets: Mapping[int, int], **notes: Sequence[int]) -> int:
    """Complete claims with notes, each with the messages that state it; underscores stand for spaces."""
    stated = [{"text": text.replace("_", " "), "memory_ids": list(ids)} for text, ids in notes.items()]
    claims = [{"memory_id": number, "ticket": ticket} for number, ticket in tickets.items()]
    return int(call(conn, "pgrecall.complete_notes", "m.n1", json.dumps(claims), json.dumps(stated)))


def again(conn: Connection[Any]) -> dict[int, int]:
    """Have every message read again; return the tickets."""
    call(conn, "pgrecall.reextract", enricher="notes")
    return claim(conn)


def notes_in(conn: Connection[Any]) -> list[tuple[str, bool]]:
    """Return the notes: their text, and whether they are forgotten."""
    query = (
        "SELECT content, deleted_at IS NOT NULL FROM pgrecall.memories WHERE category = 'note' ORDER BY id"
    )
    return conn.execute(query).fetchall()


def evidence(conn: Connection[Any]) -> list[tuple[str, int, bool]]:
    """Return which message states which note."""
    return conn.execute(
        "SELECT n.content, e.memory_id, e.is_stated FROM pgrecall.note_evidence e "
        "JOIN pgrecall.memories n ON n.id = e.note_id ORDER BY n.id, e.memory_id"
    ).fetchall()
