"""The queue of an offline copy: what is sent next, and what becomes of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from . import writing
from .file import micros, moment
from .models import Finished, Sending, Settled

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping

__all__ = ["claim", "finish", "next_write", "refuse", "unclaim", "withdraw"]


def next_write(connection: sqlite3.Connection) -> Sending | None:
    """Return the first write that waits, with the server's ids; None if none does."""
    while True:
        row = connection.execute(
            "SELECT number, key, kind, memory_id, at, body, sent_in, result, base FROM queue "
            "WHERE reason IS NULL ORDER BY number LIMIT 1"
        ).fetchone()
        if row is None:
            return None
        number, key, kind, memory_id, at, body, sent_in, outcome, base = row
        changed = None
        if outcome is not None:
            result = json.loads(outcome)
            changed = (result["id"], moment(result["written_at"]))
        write = {"kind": kind, "key": key, "at": moment(at).isoformat(), **json.loads(body)}
        if kind == "remember":
            return Sending(number=number, write=write, transaction=sent_in, changed=changed)
        id = write["id"] = writing.stored_id(connection, memory_id)
        named = [id]
        if "successor" in write.get("fields", {}):
            successor = writing.stored_id(connection, write["fields"]["successor"])
            write["fields"]["successor"] = successor
            named.append(successor)
        if min(named) < 0:
            refuse(connection, number, "the server has refused the memory that this is about", None)
            continue
        (base,) = connection.execute("SELECT base FROM memories WHERE id = ?", (id,)).fetchone() or (base,)
        write["base"] = None if base is None else moment(base).isoformat()
        return Sending(number=number, write=write, transaction=sent_in, changed=changed)


def claim(connection: sqlite3.Connection, number: int, transaction: str, result: Mapping[str, Any]) -> bool:
    """Note in which transaction a write was sent; False if another process has sent it."""
    outcome = {
        **result,
        "updated_at": micros(result["updated_at"]),
        "written_at": micros(result["written_at"]),
    }
    return (
        connection.execute(
            "UPDATE queue SET sent_in = ?, result = ? "
            "WHERE number = ? AND sent_in IS NULL AND reason IS NULL",
            (transaction, json.dumps(outcome), number),
        ).rowcount
        > 0
    )


def unclaim(connection: sqlite3.Connection, number: int, transaction: str) -> None:
    """Take that back: the transaction is known not to have been committed."""
    connection.execute(
        "UPDATE queue SET sent_in = NULL, result = NULL WHERE number = ? AND sent_in = ?",
        (number, transaction),
    )


def finish(connection: sqlite3.Connection, number: int) -> Finished | None:
    """Take a write that was committed out of the queue; returns None if another process did.

    Another also takes one back that has changed nothing on the server, and sends it once more.
    """
    row = connection.execute(
        "SELECT kind, memory_id, made_id, result FROM queue WHERE number = ? AND result IS NOT NULL",
        (number,),
    ).fetchone()
    if row is None:
        return None
    kind, memory_id, made_id, outcome = row
    result = json.loads(outcome)
    connection.execute("DELETE FROM queue WHERE number = ?", (number,))
    if made_id is not None:
        _give_id(connection, made_id, result["id"], result["updated_at"])
    id = writing.stored_id(connection, memory_id)
    is_gone = kind == "forget" and result["outcome"] != "theirs"
    if is_gone:
        connection.execute("DELETE FROM memories WHERE id = ?", (id,))
    elif result["outcome"] == "theirs":
        connection.execute("UPDATE memories SET version = NULL, is_forgotten = 0 WHERE id = ?", (id,))
    else:
        # With the state that the server has of it now, the next write to it is no conflict.
        changed = result["written_at"] if kind == "supersede" else result["updated_at"]
        base = result["updated_at"] if id == result["id"] else changed
        connection.execute("UPDATE memories SET version = NULL, base = ? WHERE id = ?", (base, id))
        connection.execute("UPDATE queue SET base = ? WHERE memory_id = ?", (base, id))
    conflict = None
    if result["outcome"] != "applied":
        conflict = Settled(memory_id=id, winner=result["outcome"], kept=result["kept"])
    differs = not is_gone and _take_out_if_other(connection, result)
    return Finished(conflict=conflict, to_fetch=result["id"] if differs else None)


def _take_out_if_other(connection: sqlite3.Connection, result: Mapping[str, Any]) -> bool:
    """Delete a memory that the server has stored in another way; returns whether the copy lacks it now.

    What the server has made sensitive or redacted must leave the file with the write, not with some pull.
    """
    id = result["id"]
    here = connection.execute("SELECT is_sensitive FROM memories WHERE id = ?", (id,)).fetchone()
    if here == (int(result["is_sensitive"]),) and result["is_as_given"]:
        return False
    connection.execute(
        "UPDATE queue SET base = COALESCE((SELECT base FROM memories WHERE id = ?), base) "
        "WHERE memory_id = ?",
        (id, id),
    )
    connection.execute("DELETE FROM memories WHERE id = ?", (id,))
    return True


def _give_id(connection: sqlite3.Connection, local: int, id: int, updated_at: int) -> None:
    """Put the server's id in the place of a negative one."""
    connection.execute("INSERT INTO stored_ids VALUES (?, ?)", (local, id))
    if connection.execute("SELECT 1 FROM memories WHERE id = ?", (id,)).fetchone() is not None:
        connection.execute("DELETE FROM memories WHERE id = ?", (local,))
        connection.execute("UPDATE memories SET version = NULL WHERE id = ?", (id,))
    connection.execute(
        "UPDATE memories SET id = ?, version = NULL, base = ? WHERE id = ?", (id, updated_at, local)
    )
    connection.execute("UPDATE memories SET superseded_by = ? WHERE superseded_by = ?", (id, local))
    connection.execute(
        "UPDATE queue SET memory_id = ?, base = ? WHERE memory_id = ?", (id, updated_at, local)
    )


def refuse(
    connection: sqlite3.Connection, number: int, reason: str, hint: str | None, sqlstate: str | None = None
) -> None:
    """Set a write aside; what it did to the copy is undone by the next pull.

    Of several that send the same write at once, another may have sent it with success, or seen it refused
    and given it up.
    """
    row = connection.execute(
        "UPDATE queue SET reason = ?, hint = ?, sqlstate = ? "
        "WHERE number = ? AND sent_in IS NULL AND reason IS NULL RETURNING memory_id, made_id",
        (reason, hint, sqlstate, number),
    ).fetchone()
    if row is None:
        return
    memory_id, made_id = row
    connection.execute("UPDATE memories SET version = NULL, is_forgotten = 0 WHERE id = ?", (memory_id,))
    if made_id is not None:
        connection.execute("DELETE FROM memories WHERE id = ?", (made_id,))


def withdraw(connection: sqlite3.Connection, noted: writing.Noted) -> bool:
    """Undo the writes of a call; returns False, and does nothing, unless all of them still wait."""
    for placed in noted.numbers.items():
        waits = "SELECT 1 FROM queue WHERE number = ? AND key = ? AND sent_in IS NULL AND reason IS NULL"
        if connection.execute(waits, placed).fetchone() is None:
            return False
    for number in noted.numbers:
        connection.execute(
            "DELETE FROM memories WHERE id = (SELECT made_id FROM queue WHERE number = ?)", (number,)
        )
        connection.execute("DELETE FROM queue WHERE number = ?", (number,))
    # One that others have changed since stays as it is: what they queued is sent, and then it is fetched.
    last = max(noted.numbers, default=0)
    later = "SELECT 1 FROM queue q WHERE q.memory_id = memories.id AND q.reason IS NULL AND q.number > :last"
    for row in reversed(noted.before):
        # The server may have given out ids meanwhile, with another base and version.
        values = {name: value for name, value in row.items() if name not in ("version", "base")}
        values["id"] = writing.stored_id(connection, row["id"])
        if row["superseded_by"] is not None:
            values["superseded_by"] = writing.stored_id(connection, row["superseded_by"])
        assignments = ", ".join(f"{name} = :{name}" for name in values)
        connection.execute(
            f"UPDATE memories SET {assignments} WHERE id = :id AND NOT EXISTS ({later})",
            {**values, "last": last},
        )
    return True
