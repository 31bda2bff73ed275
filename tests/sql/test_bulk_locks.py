"""Calls that write many rows, ten at once, each in its own order: they wait for each other and never deadlock."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from support.memories import remember_many, rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from psycopg import Connection

    Write = Callable[[Connection[Any], random.Random, int, int], None]

THREADS, ROUNDS, ITEMS = 10, 3, 20


def items(dice: random.Random, turn: int, worker: int) -> list[dict[str, Any]]:
    """Memories with the same ids and tags in every worker, in an order of its own."""
    made = [
        {"content": f"Priya moved from Goa to Town{n} in turn {turn}, said {worker}", "external_id": f"{turn}-{n}",
         "tags": [f"tag {turn} {n}", f"tag {turn} {n * 7 % ITEMS}"], "metadata": {"turn": turn, "n": n}, "session": f"s{n % 5}"}
        for n in range(ITEMS)
    ]  # fmt: skip
    dice.shuffle(made)
    return made


def stored(conn: Connection[Any], dice: random.Random) -> list[int]:
    """Ids of memories that are there, shuffled."""
    ids = [
        row[0]
        for row in conn.execute(
            "SELECT id FROM pgrecall.memories WHERE deleted_at IS NULL ORDER BY id DESC LIMIT 60"
        )
    ]
    dice.shuffle(ids)
    return ids


def many(on_conflict: str) -> Write:
    def write(conn: Connection[Any], dice: random.Random, turn: int, worker: int) -> None:
        remember_many(conn, items(dice, turn, worker), on_conflict=on_conflict)

    return write


def messages(conn: Connection[Any], dice: random.Random, turn: int, worker: int) -> None:
    said = [
        {"role": "user", "content": one["content"], "created_at": "2026-01-01Z"}
        for one in items(dice, turn, 0)
    ]
    rows(conn, "remember_messages", Jsonb(said), f"talk {turn}")


def imports(conn: Connection[Any], dice: random.Random, turn: int, worker: int) -> None:
    given = [
        {"memory": one, "import": {"kind": "k", "id": one["external_id"], "fingerprint": str(worker)}}
        for one in items(dice, turn, worker)
    ]
    rows(conn, "pgrecall.import_rows", Jsonb(given))


def updates(conn: Connection[Any], dice: random.Random, turn: int, worker: int) -> None:
    for number in stored(conn, dice)[:5]:
        rows(
            conn,
            "update_memory",
            number,
            content=f"Priya likes Town{turn} by {worker}",
            tags=[f"t{turn} {dice.randrange(9)}", "x"],
        )


def supersedes(conn: Connection[Any], dice: random.Random, turn: int, worker: int) -> None:
    old, new, *_ = stored(conn, dice)
    rows(conn, "supersede", old, successor=new)


def forgets(conn: Connection[Any], dice: random.Random, turn: int, worker: int) -> None:
    rows(conn, "forget_many", sessions=dice.sample([f"s{n}" for n in range(5)], 3), include_superseded=True)


def erases(conn: Connection[Any], dice: random.Random, turn: int, worker: int) -> None:
    rows(conn, "erase_many", metadata_where=Jsonb({"n": {"$in": dice.sample(range(ITEMS), 6)}}))


def pushes(conn: Connection[Any], dice: random.Random, turn: int, worker: int) -> None:
    for one in items(dice, turn, worker)[:3]:
        rows(
            conn,
            "pgrecall.sync_push",
            Jsonb(
                {
                    "kind": "remember",
                    "key": one["external_id"],
                    "at": "2026-01-01Z",
                    "fields": one,
                    "on_conflict": "update",
                }
            ),
        )


WRITES: dict[str, Write] = {
    "update": many("update"),
    "keep": many("keep"),
    "messages": messages,
    "imports": imports,
    "updates": updates,
    "supersedes": supersedes,
    "forgets": forgets,
    "erases": erases,
    "pushes": pushes,
}
EXPECTED = ("P0002", "22023", "23505")
"""What a call may answer because another was faster: the memory is gone or superseded, an import's id is taken."""


def deadlocks(dsn: str, writes: list[Write]) -> list[str]:
    """Run the writes in ten threads; return what went wrong."""
    together = Barrier(THREADS)

    def work(worker: int) -> list[str]:
        dice = random.Random(worker)
        told = []
        with psycopg.connect(dsn, autocommit=True) as conn:
            for turn in range(ROUNDS):
                together.wait(60)
                try:
                    writes[(worker + turn) % len(writes)](conn, dice, turn, worker)
                except psycopg.Error as error:
                    if error.sqlstate not in EXPECTED:
                        told.append(f"{error.sqlstate} {error.diag.message_primary} {error.diag.context}")
        return told

    with ThreadPoolExecutor(THREADS) as pool:
        return [one for found in pool.map(work, range(THREADS)) for one in found]


@pytest.mark.parametrize("name", WRITES)
def test_ten_calls_of_one_kind_in_shuffled_orders(dsn: str, conn: Connection[Any], name: str) -> None:
    remember_many(conn, items(random.Random(1), 99, 0))
    conn.commit()
    assert deadlocks(dsn, [WRITES[name]]) == []


def test_all_kinds_at_once(dsn: str, conn: Connection[Any]) -> None:
    remember_many(conn, items(random.Random(1), 99, 0))
    conn.commit()
    assert deadlocks(dsn, list(WRITES.values())) == []
