"""The queue of messages that notes are to be made of: calls of the database's functions, nothing else."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from pgrecall_embedder.jobs.reading import ReadingQueue
from pgrecall_extract.base import NO_ANCHOR

from .question import Message

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pgrecall_embedder.connection import Connection
    from pgrecall_embedder.jobs.reading import Claimed

    from .question import Note

__all__ = ["NoteQueue"]


class NoteQueue(ReadingQueue):
    """The queue of messages, used by one worker.

    Args:
        claims: The connection for claims and releases.
        writes: The connection for everything else.
        lease_seconds: How long a lease lasts, unless it is renewed.
    """

    def __init__(self, claims: Connection, writes: Connection, lease_seconds: float) -> None:
        super().__init__(claims, writes, "notes", lease_seconds)

    async def conversations(self, ids: Sequence[int]) -> list[list[Message]]:
        """Return the conversations of messages: these, and a few around them, in their order.

        Args:
            ids: The messages.
        """
        rows = await self._writes.fetch(
            "SELECT namespace_id, session, id, speaker, content, "
            "CASE WHEN anchor BETWEEN '0002-01-01 00:00Z' AND '9998-12-31 00:00Z' THEN anchor END, is_new "
            "FROM pgrecall.message_context(%s::bigint[])",
            [list(ids)],
        )
        found: dict[tuple[int, str], list[Message]] = {}
        for namespace, session, number, speaker, content, anchor, is_new in rows:
            said = Message(number, speaker, content, NO_ANCHOR if anchor is None else anchor, is_new)
            found.setdefault((namespace, session), []).append(said)
        return list(found.values())

    async def complete_notes(self, version: str, claimed: Sequence[Claimed], notes: Sequence[Note]) -> int:
        """Store the notes of messages of one conversation; returns how many messages they landed on.

        The others were edited or taken away meanwhile; or they landed, and the answer to that was lost.

        Args:
            version: Of what wrote the notes.
            claimed: The messages that were read, with or without a note.
            notes: The notes.
        """
        claims = [{"memory_id": one.document.memory_id, "ticket": one.ticket} for one in claimed]
        stated = [{"text": note.text, "memory_ids": list(note.messages)} for note in notes]
        [(landed,)] = await self._writes.fetch(
            "SELECT pgrecall.complete_notes(%s, %s::jsonb, %s::jsonb)",
            [version, json.dumps(claims), json.dumps(stated)],
        )
        return int(landed)
