"""Writers, extractions, merges and splits at once: no deadlock, no error but "try again", and a graph that is true.

PGRECALL_STRESS_SECONDS says how long; 60 is a thorough run.
"""

from __future__ import annotations

import os
import random
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any
from uuid import UUID

import psycopg
import pytest

from support.extraction import claimed, complete, fact, mention, wrong
from support.memories import call, remember, remember_many, scalar, waits

if TYPE_CHECKING:
    from collections.abc import Callable

    from psycopg import Connection

WRITERS = 6
EXTRACTORS = 3
SECONDS = float(os.environ.get("PGRECALL_STRESS_SECONDS", "6"))
LEAST = 6  # what each of them does at least, however slow the machine is
NAMES = [f"name {number}" for number in range(30)]


class Writer:
    """One session that writes at random; every call is a transaction of its own."""

    def __init__(self, conn: Connection[Any], number: int) -> None:
        self.conn = conn
        self.random = random.Random(number)

    def tags(self) -> list[str]:
        return self.random.sample(NAMES, self.random.randrange(4))

    def memory(self) -> int:
        query = "SELECT id FROM pgrecall.memories WHERE deleted_at IS NULL ORDER BY random() LIMIT 1"
        row = self.conn.execute(query).fetchone()
        return remember(self.conn) if row is None else int(row[0])

    def insert(self) -> None:
        namespace = f"ns {self.random.randrange(2)}"
        remember(self.conn, "text", tags=self.tags(), namespace=namespace, create_namespace=True)

    def batch(self) -> None:
        memories = [{"content": f"{self.random.random()}", "tags": self.tags()} for _ in range(20)]
        remember_many(self.conn, memories, namespace="ns 0", create_namespace=True)

    def update(self) -> None:
        call(
            self.conn,
            "update_memory",
            self.memory(),
            tags=self.tags(),
            content=f"text {self.random.random()}",
        )

    def hide(self) -> None:
        call(self.conn, "update_memory", self.memory(), is_sensitive=self.random.random() < 0.5)

    def forget(self) -> None:
        call(self.conn, "forget", self.memory())

    def give_up(self) -> None:
        with self.conn.transaction() as transaction:
            call(self.conn, "update_memory", self.memory(), content="never", tags=self.tags())
            raise psycopg.Rollback(transaction)


def write(dsn: str, number: int, until: float) -> int:
    done = 0
    with psycopg.connect(dsn, autocommit=True) as conn:
        writer = Writer(conn, number)
        actions: list[Callable[[], None]] = [
            writer.insert, writer.insert, writer.batch, writer.update, writer.update, writer.hide, writer.forget,
            writer.give_up,
        ]  # fmt: skip
        while done < LEAST or time.monotonic() < until:
            try:
                writer.random.choice(actions)()
            except psycopg.errors.NoDataFound:
                continue  # another writer has just forgotten it
            done += 1
    return done


def read(chance: random.Random, row: Any) -> dict[str, Any]:
    found = chance.sample(NAMES, 5)
    kinds = chance.choices(["PERSON", "ORG", "CONCEPT"], k=3)
    mentions = [mention(name, kind, chance.random()) for name, kind in zip(found, kinds, strict=False)]
    facts = [fact(found[0], chance.choice(["likes", "owns"]), found[3]), fact(found[4], "likes", found[1])]
    return {"memory_id": row[0], "ticket": row[1], "mentions": mentions, "facts": facts}


def extract(dsn: str, number: int, until: float) -> int:
    done = 0
    chance = random.Random(-number)
    with psycopg.connect(dsn, autocommit=True) as conn:
        while done < LEAST or time.monotonic() < until:
            items = [read(chance, row) for row in claimed(conn, UUID(int=number), batch=8)]
            # Background work gives way: what is left out is claimed again.
            done += complete(conn, items)
            conn.execute("UPDATE pgrecall.jobs SET next_attempt_at = NULL WHERE next_attempt_at IS NOT NULL")
            if chance.random() < 0.1:
                call(conn, "pgrecall.reextract", "default")
    return done


def merge(dsn: str, until: float) -> int:
    done = 0
    chance = random.Random(0)
    with psycopg.connect(dsn, autocommit=True) as conn:
        while done < LEAST or time.monotonic() < until:
            try:
                if chance.random() < 0.6:
                    query = "SELECT id FROM pgrecall.concepts WHERE namespace_id = 1 + %s ORDER BY random() LIMIT 2"
                    found = [row[0] for row in conn.execute(query, (chance.randrange(3),))]
                    if len(found) == 2:
                        call(conn, "pgrecall.merge_concepts", *found)
                        done += 1
                else:
                    query = "SELECT id FROM pgrecall.concept_merges WHERE split_at IS NULL ORDER BY random() LIMIT 1"
                    for (number,) in conn.execute(query).fetchall():
                        call(conn, "pgrecall.split_concept", number)
                        done += 1
            except (psycopg.errors.UndefinedObject, psycopg.errors.LockNotAvailable):
                continue  # it has just gone, or somebody is writing for too long
            time.sleep(0.01)
    return done


def resolve(dsn: str, until: float) -> int:
    done = 0
    with psycopg.connect(dsn, autocommit=True) as conn:
        while done < LEAST or time.monotonic() < until:
            call(conn, "pgrecall.resolve_concepts")
            done += 1
            time.sleep(0.05)
    return done


def test_everybody_at_once(conn: Connection[Any], dsn: str) -> None:
    for place in range(20):
        remember(conn, f"{place}", tags=NAMES[place : place + 3])
    until = time.monotonic() + SECONDS
    with ThreadPoolExecutor(WRITERS + EXTRACTORS + 2) as pool:
        # A merge has no place in a queue: it comes when no writer is at it, or gives up.
        others = [pool.submit(merge, dsn, until), pool.submit(resolve, dsn, until)]
        extractors = [pool.submit(extract, dsn, number + 1, until) for number in range(EXTRACTORS)]
        writers = [pool.submit(write, dsn, number, until) for number in range(WRITERS)]
        assert min(future.result() for future in writers + extractors + others) >= LEAST
    assert wrong(conn) == {}
    assert scalar(conn, "SELECT count(*) FROM pgrecall.relationships") > 0
    assert scalar(conn, "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()") == 0


def test_two_who_remove_the_last_two_names_of_a_concept(conn: Connection[Any], dsn: str) -> None:
    one, two = remember(conn, tags=["ann"]), remember(conn, tags=["bob"])
    ids = [call(conn, "pgrecall.find_concept", name) for name in ("ann", "bob")]
    call(conn, "pgrecall.merge_concepts", *ids)
    with psycopg.connect(dsn) as first, ThreadPoolExecutor(1) as pool:
        call(first, "forget", one)
        second = pool.submit(lambda: call(conn, "forget", two))
        time.sleep(0.2)
        first.commit()
        assert second.result(timeout=60) is True
    assert scalar(conn, "SELECT count(*) FROM pgrecall.concepts") == 0
    assert wrong(conn) == {}


@pytest.mark.parametrize("action", ["merge", "split"])
def test_one_who_moves_names_and_a_writer_who_takes_facts_away(
    conn: Connection[Any], dsn: str, action: str
) -> None:
    ids = [remember(conn, tags=[name]) for name in ("ann", "bob", "cem")]
    items = [
        {
            "memory_id": row[0],
            "ticket": row[1],
            "facts": [fact("cem", "likes", "dan")] if row[0] == ids[2] else [],
        }
        for row in claimed(conn)
    ]
    assert complete(conn, items) == 3
    one, other = (call(conn, "pgrecall.find_concept", name) for name in ("ann", "bob"))
    split = call(conn, "pgrecall.merge_concepts", one, other) if action == "split" else None
    with psycopg.connect(dsn) as writer:
        call(writer, "update_memory", ids[0], tags=["ann", "eva"])
        if split is None:
            moved = waits(conn, lambda: call(conn, "pgrecall.merge_concepts", one, other))
        else:
            moved = waits(conn, lambda: call(conn, "pgrecall.split_concept", split))
        call(writer, "forget", ids[2])
        writer.commit()
        assert moved() is not None
    assert scalar(conn, "SELECT count(*) FROM pgrecall.relationships") == 0
    assert wrong(conn) == {}


@pytest.mark.parametrize("enricher", ["text", "llm"])
@pytest.mark.parametrize("action", ["forget", "hide"])
def test_one_who_has_all_read_again_and_a_writer_who_takes_a_memory_away(
    conn: Connection[Any], dsn: str, enricher: str, action: str
) -> None:
    kept, gone = remember(conn), remember(conn, "another")
    with psycopg.connect(dsn) as writer:
        if action == "forget":
            call(writer, "forget", gone)
        else:
            call(writer, "update_memory", gone, is_sensitive=True)
        again = waits(conn, lambda: call(conn, "pgrecall.reextract", enricher=enricher))
        writer.commit()
        again()
    query = "SELECT array_agg(memory_id) FROM pgrecall.jobs WHERE kind = %s"
    assert scalar(conn, query, enricher) == [kept]
    assert wrong(conn) == {}
