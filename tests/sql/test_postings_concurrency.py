"""Writers, readers and folding at once: nobody waits for postings, nothing deadlocks, nothing is lost or posted twice.

PGRECALL_STRESS_SECONDS says how long the writers write; 60 is a thorough run.
"""

from __future__ import annotations

import os
import random
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from support.memories import call, remember, remember_many, rows, scalar, waits
from support.postings import assert_same_as_rebuilt, fold, noted, problems

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from psycopg import Connection

WRITERS = 16
READERS = 3
SECONDS = float(os.environ.get("PGRECALL_STRESS_SECONDS", "6"))
LEAST = 6  # what each of them does at least, however slow the machine is
NAMESPACES = ("one", "two", "three")
WORDS = ["tea", "tea", "tea", "milk", "milk", "harbour", "crane", "night", "report", "shift"]
CANARIES = ["alpaca", "bison", "cougar", "dingo", "ferret", "gecko"]


class Writer:
    """One session that writes at random; where it touches several memories it does so in the order of their ids."""

    def __init__(self, conn: Connection[Any], number: int) -> None:
        self.conn = conn
        self.random = random.Random(number)

    def text(self) -> str:
        return " ".join(self.random.choices(WORDS, k=self.random.randrange(1, 12)))

    def namespace(self) -> str:
        return self.random.choice(NAMESPACES)

    def common(self, count: int) -> list[int]:
        """Ids of memories that every writer changes, in order."""
        query = "SELECT id FROM pgrecall.memories WHERE external_id LIKE 'common%' ORDER BY id"
        found = [number for (number,) in self.conn.execute(query)]
        return sorted(self.random.sample(found, count))

    def remember(self) -> None:
        remember(self.conn, self.text(), namespace=self.namespace())

    def remember_many(self) -> None:
        remember_many(self.conn, [{"content": self.text()} for _ in range(300)], namespace=self.namespace())

    def update(self) -> None:
        (number,) = self.common(1)
        call(self.conn, "update_memory", number, content=self.text(), category=self.random.choice(WORDS))

    def revise_several(self) -> None:
        with self.conn.transaction():
            for number in self.common(5):
                with self.conn.transaction() as savepoint:
                    query = "UPDATE pgrecall.memories SET content = %s, deleted_at = NULL WHERE id = %s"
                    self.conn.execute(query, (self.text(), number))
                    if self.random.random() < 0.2:
                        raise psycopg.Rollback(savepoint)
            if self.random.random() < 0.3:
                self.remember_many()

    def forget(self) -> None:
        call(self.conn, "forget", self.common(1)[0])

    def remember_again(self) -> None:
        places = self.random.sample(range(40), 4)
        memories = [{"content": self.text(), "external_id": f"common {place}"} for place in places]
        remember_many(self.conn, memories, namespace=self.namespace(), on_conflict="update")

    def move(self) -> None:
        query = """
            UPDATE pgrecall.memories SET external_id = NULL,
                   namespace_id = (SELECT n.id FROM pgrecall.namespaces n WHERE n.name = %s)
            WHERE id = (SELECT m.id FROM pgrecall.memories m WHERE m.external_id IS NULL AND m.category IS NULL
                        ORDER BY m.id DESC LIMIT 1)
        """
        self.conn.execute(query, (self.namespace(),))

    def delete(self) -> None:
        query = """
            DELETE FROM pgrecall.memories WHERE id = (
                SELECT m.id FROM pgrecall.memories m WHERE m.external_id IS NULL AND m.category IS NULL
                ORDER BY m.id LIMIT 1 FOR UPDATE SKIP LOCKED)
        """
        self.conn.execute(query)


def write(dsn: str, number: int, until: float) -> int:
    done = 0
    with psycopg.connect(dsn, autocommit=True) as conn:
        writer = Writer(conn, number)
        actions: list[Callable[[], None]] = [
            writer.remember, writer.remember, writer.remember, writer.remember_many, writer.update, writer.update, writer.update,
            writer.revise_several, writer.forget, writer.remember_again, writer.move, writer.delete,
        ]  # fmt: skip
        while done < LEAST or time.monotonic() < until:
            try:
                writer.random.choice(actions)()
            except psycopg.errors.NoDataFound:
                continue  # another writer has just forgotten it
            done += 1
    return done


def read(dsn: str, number: int, until: float) -> int:
    """Recall while others write; what nobody touches must be there at any moment, once, with its frequency."""
    done = 0
    with psycopg.connect(dsn, autocommit=True) as conn:
        chance = random.Random(-number)
        while done < LEAST or time.monotonic() < until:
            canary, namespace = chance.choice(CANARIES), chance.choice(NAMESPACES)
            found = rows(conn, "recall", f"tea harbour {canary}", None, 20, namespace)
            assert [row[3] for row in found].count(f"the {canary} is where it was") == 1
            ids = [row[0] for row in found]
            assert len(ids) == len(set(ids)) == 20
            words = (
                "SELECT term, documents FROM _pgrecall.query_term_weights(pgrecall.namespace_id(%s), %s, 10)"
            )
            assert conn.execute(words, (namespace, [canary])).fetchall() == [(canary, 1)]
            done += 1
    return done


def fold_on(dsn: str, until: float) -> int:
    folded = 0
    with psycopg.connect(dsn, autocommit=True) as conn:
        while time.monotonic() < until:
            folded += call(conn, "pgrecall.flush_pending_postings", 1)
            time.sleep(0.01)
    return folded


def refresh(dsn: str, until: float) -> int:
    done = 0
    with psycopg.connect(dsn, autocommit=True) as conn:
        while time.monotonic() < until:
            conn.execute("CALL pgrecall.rebuild_all_postings()")
            done += 1
            time.sleep(1)
    return done


@pytest.mark.slow
@pytest.mark.pg15
def test_writers_and_readers_with_the_same_words_and_memories(conn: Connection[Any], dsn: str) -> None:
    for namespace in NAMESPACES:
        for place in range(40):
            remember(conn, "tea", namespace=namespace, external_id=f"common {place}", create_namespace=True)
        for canary in CANARIES:
            remember(conn, f"the {canary} is where it was", namespace=namespace, external_id=canary)
    until = time.monotonic() + SECONDS
    with ThreadPoolExecutor(WRITERS + READERS + 2) as pool:
        writers = [pool.submit(write, dsn, number, until) for number in range(WRITERS)]
        readers = [pool.submit(read, dsn, number, until) for number in range(READERS)]
        folding = pool.submit(fold_on, dsn, until)
        refreshing = pool.submit(refresh, dsn, until)
        assert min(future.result() for future in writers + readers) >= LEAST
        assert folding.result() > 100
        assert refreshing.result() >= 1

    assert problems(conn) == {}
    assert_same_as_rebuilt(conn)
    assert scalar(conn, "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()") == 0


@pytest.fixture
def other(dsn: str) -> Iterator[Connection[Any]]:
    """A second session."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        yield connection


def changed(conn: Connection[Any], number: int, content: str) -> None:
    conn.execute("UPDATE pgrecall.memories SET content = %s WHERE id = %s", (content, number))


def test_folding_leaves_alone_what_a_writer_is_changing(
    conn: Connection[Any], other: Connection[Any]
) -> None:
    posted, noted_before, bystander = remember(conn, "tea"), remember(conn, "milk"), remember(conn, "crane")
    fold(conn)
    changed(conn, noted_before, "milk milk")
    changed(conn, bystander, "crane crane")
    with conn.transaction():
        changed(conn, posted, "harbour")
        changed(conn, noted_before, "night")
        assert call(other, "pgrecall.flush_pending_postings", 1) == 1
        assert problems(other) == {}
        assert noted(other) == [noted_before]
    assert noted(conn) == [posted, noted_before]
    assert problems(conn) == {}
    assert_same_as_rebuilt(conn)


@pytest.mark.parametrize("end", ["COMMIT", "ROLLBACK"])
def test_a_writer_waits_for_folding_to_end(conn: Connection[Any], other: Connection[Any], end: str) -> None:
    number = remember(conn, "tea")
    other.execute("BEGIN")
    assert call(other, "pgrecall.flush_pending_postings", 1) == 1
    wait = waits(conn, lambda: changed(conn, number, "milk"))
    other.execute(end)
    wait()
    assert noted(conn) == [number]
    assert problems(conn) == {}
    assert_same_as_rebuilt(conn)


def test_nobody_waits_for_who_posts_at_once(conn: Connection[Any], other: Connection[Any]) -> None:
    memories = [{"content": f"{WORDS[place % len(WORDS)]} tea"} for place in range(300)]
    first = remember(conn, "the first of its language takes a lock on the namespace")
    conn.execute("BEGIN")
    assert len(remember_many(conn, memories)) == 300
    assert noted(conn) == [first]
    # What conn holds, it holds until after this call: waiting for it ends in the timeout, however long.
    # A shorter one is met by the server's own locks (a table that grows, a vacuum) on a busy machine.
    other.execute("SET lock_timeout = '5s'")
    ids = remember_many(other, memories)
    assert noted(other) == [first, *ids]
    assert call(other, "pgrecall.flush_pending_postings", 1) == 0
    conn.execute("COMMIT")
    assert problems(conn) == {}
    assert_same_as_rebuilt(conn)


def test_an_id_that_is_used_again_while_it_is_folded(conn: Connection[Any], other: Connection[Any]) -> None:
    number = remember(conn, "tea")
    fold(conn)
    conn.execute("DELETE FROM pgrecall.memories")
    with conn.transaction():
        conn.execute(
            "INSERT INTO pgrecall.memories (id, namespace_id, content, language, content_hash, search_vector) "
            "VALUES (%s, pgrecall.namespace_id(), 'milk', 'english', '', '')",
            (number,),
        )
        fold(other)
    assert problems(conn) == {}
    assert len(rows(conn, "recall", "milk")) == 1
    assert_same_as_rebuilt(conn)


def test_an_id_that_is_used_again_under_repeatable_read(
    conn: Connection[Any], other: Connection[Any]
) -> None:
    number = remember(conn, "tea")
    insert = (
        "INSERT INTO pgrecall.memories (id, namespace_id, content, language, content_hash, search_vector) "
        f"VALUES ({number}, pgrecall.namespace_id(), 'milk', 'english', '', '')"
    )
    fold(conn)
    conn.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
    assert scalar(conn, "SELECT count(*) FROM pgrecall.memories") == 1
    other.execute("DELETE FROM pgrecall.memories")
    with pytest.raises(psycopg.errors.SerializationFailure):
        conn.execute(insert.encode())
    conn.execute("ROLLBACK")
    conn.execute(insert.encode())
    assert problems(conn) == {}
    assert_same_as_rebuilt(conn)


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE pgrecall.memories SET content = 'milk'",
        "UPDATE pgrecall.memories SET deleted_at = now()",
        "DELETE FROM pgrecall.memories",
    ],
)
@pytest.mark.parametrize("is_noted", [False, True])
def test_a_change_while_postings_are_made_anew(
    conn: Connection[Any], other: Connection[Any], dsn: str, change: str, is_noted: bool
) -> None:
    number = remember(conn, "tea")
    fold(conn)
    if is_noted:
        changed(conn, number, "tea tea")
        conn.execute("BEGIN")
        conn.execute(change.encode())
    with psycopg.connect(dsn, autocommit=True) as blocker:
        blocker.execute("BEGIN")
        blocker.execute("LOCK TABLE pgrecall.postings IN SHARE MODE")
        wait = waits(other, lambda: other.execute("CALL pgrecall.rebuild_all_postings()"))
        if is_noted:
            conn.execute("COMMIT")
        else:
            conn.execute(change.encode())
        blocker.execute("COMMIT")
        wait()
    assert problems(conn) == {}
    assert noted(conn) == [number]
    assert_same_as_rebuilt(conn)


def test_truncate_waits_for_folding(conn: Connection[Any], other: Connection[Any], dsn: str) -> None:
    remember(conn, "tea")
    fold(conn)
    conn.execute("UPDATE pgrecall.memories SET content = 'milk'")
    with psycopg.connect(dsn, autocommit=True) as blocker:
        blocker.execute("BEGIN")
        blocker.execute("LOCK TABLE pgrecall.postings IN SHARE MODE")
        folding = waits(other, lambda: call(other, "pgrecall.flush_pending_postings", 1))
        truncating = waits(conn, lambda: conn.execute("TRUNCATE pgrecall.memories CASCADE"))
        blocker.execute("COMMIT")
        assert folding() == 1
        truncating()
    assert problems(conn) == {}
    assert scalar(conn, "SELECT count(*) FROM pgrecall.postings") == 0


def test_refreshing_ends_where_repeatable_read_is_the_default(conn: Connection[Any]) -> None:
    remember(conn, "tea")
    conn.execute("SET default_transaction_isolation = 'repeatable read'")
    conn.execute("SET statement_timeout = '5s'")
    conn.execute("CALL pgrecall.rebuild_all_postings()")
    assert noted(conn) == []
    assert problems(conn) == {}


def test_refreshing_waits_for_who_writes_postings(conn: Connection[Any], other: Connection[Any]) -> None:
    memories = [{"content": WORDS[place % len(WORDS)]} for place in range(300)]
    with ThreadPoolExecutor(1) as pool:
        with other.transaction():
            remember_many(other, memories)
            refreshing = pool.submit(conn.execute, "CALL pgrecall.rebuild_all_postings('default')")
            time.sleep(0.3)
            assert not refreshing.done()
        refreshing.result(timeout=60)
    assert problems(conn) == {}


def test_single_memories_are_folded_without_an_embedder(conn: Connection[Any]) -> None:
    longest = 0
    for place in range(700):
        remember(conn, f"{WORDS[place % len(WORDS)]} tea")
        longest = max(longest, len(noted(conn)))
    assert 32 < longest < 64 + 32
    assert problems(conn) == {}


@pytest.mark.parametrize("count", [2, 3, 10, 32])
def test_namespaces_that_are_written_in_turn_are_all_flushed(conn: Connection[Any], count: int) -> None:
    """The ids of one are then all even, or all odd."""
    conn.execute("SELECT pgrecall.create_namespace('turn' || i) FROM generate_series(0, %s - 1) i", (count,))
    conn.execute(
        "SELECT remember('tea ' || i, namespace => 'turn' || i %% %s) FROM generate_series(1, 130 * %s) i",
        (count, count),
    )
    pending = (
        "SELECT max(n) FROM (SELECT count(*) AS n FROM pgrecall.pending_postings GROUP BY namespace_id) p"
    )
    assert scalar(conn, f"SELECT COALESCE(({pending}), 0) < 64 + 64")
    assert problems(conn) == {}


def test_single_memories_of_one_transaction_are_folded_at_its_end(conn: Connection[Any]) -> None:
    with conn.transaction():
        for place in range(300):
            remember(conn, f"{WORDS[place % len(WORDS)]} tea")
        assert len(noted(conn)) == 300
    assert len(noted(conn)) < 64
    assert problems(conn) == {}
