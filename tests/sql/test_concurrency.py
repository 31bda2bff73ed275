"""Many writers at once on the same memories and tags: no deadlock, no error, and nothing inconsistent left behind."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

import psycopg

from support.memories import call, concepts, remember, remember_many, rows, scalar

if TYPE_CHECKING:
    from collections.abc import Callable

    from psycopg import Connection

WRITERS = 16
EMBEDDERS = 2
ACTIONS = 25
"""What each writer does, however long it takes: a busy machine is slower and not wrong."""
TAGS = ["hub", *(f"tag {number}" for number in range(25))]


class Writer:
    """One session that writes at random; every call is a transaction of its own."""

    def __init__(self, conn: Connection[Any], number: int) -> None:
        self.conn = conn
        self.random = random.Random(number)

    def tags(self) -> list[str]:
        return self.random.sample(TAGS, self.random.randrange(5))

    def memory(self) -> int:
        query = "SELECT id FROM pgrecall.memories WHERE deleted_at IS NULL AND superseded_by IS NULL ORDER BY random() LIMIT 1"
        row = self.conn.execute(query).fetchone()
        return remember(self.conn) if row is None else int(row[0])

    def insert(self) -> None:
        namespace = f"ns {self.random.randrange(4)}"
        remember(self.conn, "text", tags=self.tags(), namespace=namespace, create_namespace=True)

    def batch(self) -> None:
        places = self.random.sample(range(20), 5)
        memories = [
            {"content": f"{self.random.random()}", "external_id": f"{p}", "tags": self.tags()} for p in places
        ]
        remember_many(self.conn, memories, on_conflict="keep")

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

    def supersede(self) -> None:
        call(self.conn, "supersede", self.memory(), "newer")

    def forget(self) -> None:
        call(self.conn, "forget", self.memory())

    def recall(self) -> None:
        rows(self.conn, "recall", "text newer tag")


def write(dsn: str, number: int) -> None:
    done = 0
    with psycopg.connect(dsn, autocommit=True) as conn:
        writer = Writer(conn, number)
        actions: list[Callable[[], None]] = [
            writer.insert, writer.insert, writer.insert, writer.batch, writer.update, writer.update, writer.hide,
            writer.supersede, writer.forget, writer.recall,
        ]  # fmt: skip
        while done < ACTIONS:
            try:
                writer.random.choice(actions)()
            except (psycopg.errors.NoDataFound, psycopg.errors.InvalidParameterValue):
                continue  # another writer has just forgotten or superseded it
            done += 1


def embed(dsn: str, worker: UUID, writers_ended: Event) -> int:
    done = 0
    with psycopg.connect(dsn, autocommit=True) as conn:
        while not writers_ended.is_set():
            claimed = rows(conn, "pgrecall.claim", worker, 20)
            ids, hashes = [row[0] for row in claimed], [row[1] for row in claimed]
            done += call(conn, "pgrecall.complete", worker, ids, hashes, [str([1.0] * 384)] * len(ids))
    return done


def test_writers_with_the_same_memories_and_tags(conn: Connection[Any], dsn: str) -> None:
    conn.execute(
        "DROP INDEX pgrecall.memories_embedding_idx"
    )  # its upkeep would take the time of the writers
    writers_ended = Event()
    with ThreadPoolExecutor(WRITERS + EMBEDDERS) as pool:
        embedders = [pool.submit(embed, dsn, uuid4(), writers_ended) for _ in range(EMBEDDERS)]
        writers = [pool.submit(write, dsn, number) for number in range(WRITERS)]
        try:
            for future in writers:
                future.result()
        finally:
            writers_ended.set()
        assert sum(future.result() for future in embedders) > 20

    said = "SELECT DISTINCT memory_id, namespace_id, source, alias FROM _pgrecall.declared_concepts(ARRAY(SELECT id FROM pgrecall.memories))"
    linked = """
        SELECT m.memory_id, c.namespace_id, m.source, a.alias
        FROM pgrecall.mentions m JOIN pgrecall.concepts c ON c.id = m.concept_id
        JOIN pgrecall.concept_aliases a ON a.concept_id = m.concept_id AND a.id = m.alias_id
    """
    assert set(conn.execute(said)) == set(conn.execute(linked))
    orphans = "SELECT c.key FROM pgrecall.concepts c WHERE c.id NOT IN (SELECT m.concept_id FROM pgrecall.mentions m)"
    assert conn.execute(orphans).fetchall() == []
    aliases = scalar(conn, "SELECT count(*) FROM pgrecall.concept_aliases")
    assert aliases == len(concepts(conn)) > len(TAGS)
    query = "SELECT count(*) FROM pg_stat_database WHERE datname = current_database() AND deadlocks > 0"
    assert conn.execute(query).fetchone() == (0,)
