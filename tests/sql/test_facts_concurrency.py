"""Workers that store the same facts, and memories that go meanwhile: nothing deadlocks, is lost, or held twice."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg.types.json import Jsonb

from support.facts import day, fact, forget_facts, lives, read, relationships, spans, told
from support.memories import call, contents, remember, rows, scalar, waits

if TYPE_CHECKING:
    from collections.abc import Callable

    from psycopg import Connection

WORKERS = 4
ROUNDS = 12
PLACES = ("Oslo", "Rome", "Paris", "Kyiv")


def at_once(dsn: str, *actions: Callable[[Connection[Any]], None]) -> None:
    """Run each action in a thread with its own connection."""

    def run(action: Callable[[Connection[Any]], None]) -> None:
        with psycopg.connect(dsn, autocommit=True) as own:
            own.execute("SET deadlock_timeout = '50ms'")
            action(own)

    with ThreadPoolExecutor(len(actions)) as pool:
        for future in [pool.submit(run, action) for action in actions]:
            future.result(timeout=120)


def story(number: int) -> list[dict[str, Any]]:
    """What memory `number` states, in an order of its own."""
    chance = random.Random(number)
    facts = [lives(name, chance.choice(PLACES)) for name in ("Ana", "Bo", "Cy")]
    facts += [fact("Ana", "knows", name) for name in ("Bo", "Cy", "Di")]
    chance.shuffle(facts)
    return facts


def test_the_second_writer_waits_and_sees_the_first(dsn: str, conn: Connection[Any]) -> None:
    memories = [remember(conn, f"{place}", occurred_at=day(place + 1)) for place in range(2)]
    with psycopg.connect(dsn, autocommit=True) as other:
        with conn.transaction():
            read(conn, memories[1], lives("Ana", "Rome"))
            finish = waits(other, lambda: read(other, memories[0], lives("Ana", "Oslo")))
        finish()
    assert sorted(spans(conn)) == [("Oslo", None, day(2)), ("Rome", None, None)]


def test_workers_with_the_same_facts(dsn: str, conn: Connection[Any]) -> None:
    moments = [day(1 + number // 28, 1 + number % 28) for number in range(WORKERS * ROUNDS)]
    memories = [remember(conn, f"{number}", occurred_at=moment) for number, moment in enumerate(moments)]

    def worker(first: int) -> Callable[[Connection[Any]], None]:
        def work(own: Connection[Any]) -> None:
            for number in range(first, len(memories), WORKERS):
                read(own, memories[number], *story(number))

        return work

    at_once(dsn, *map(worker, range(WORKERS)))
    found = relationships(conn)
    assert sum(row["valid_to"] is None for row in found) == 3 + 3
    assert sum(len(row["evidence"]) for row in found) == len(memories) * 6
    forget_facts(conn, *memories)
    for number, memory in enumerate(memories):
        read(conn, memory, *story(number))
    assert relationships(conn) == found


def test_memories_go_while_others_are_read(dsn: str, conn: Connection[Any]) -> None:
    gone = [told(conn, f"gone {number}", *story(number), tags=["Oslo"]) for number in range(ROUNDS)]
    kept = [remember(conn, f"kept {number}", occurred_at=day(2, number + 1)) for number in range(ROUNDS * 2)]

    def complete(own: Connection[Any]) -> None:
        while claimed := rows(
            own, "pgrecall.claim_extractions", "00000000-0000-0000-0000-000000000001", "text", 3
        ):
            found = [
                {"memory_id": row[0], "ticket": row[1], "mentions": [], "times": [],
                 "facts": [{**one, "source": "pattern"} for one in story(row[0])]}
                for row in claimed
            ]  # fmt: skip
            call(own, "pgrecall.complete_extractions", "text", "1", Jsonb(found))

    def forget(own: Connection[Any]) -> None:
        for memory in gone:
            call(own, "forget", memory)

    def update(own: Connection[Any]) -> None:
        # Several in one statement: locks of the first are held while the others are waited for.
        for start in range(ROUNDS):
            query = "UPDATE pgrecall.memories SET content = content || '.' WHERE id = ANY (%s)"
            own.execute(query, (kept[start::ROUNDS],))

    at_once(dsn, complete, forget, complete, update)
    # What a writer had locked when its results came is still leased.
    call(conn, "pgrecall.release_extractions", "00000000-0000-0000-0000-000000000001")
    complete(conn)
    assert {memory for row in relationships(conn) for memory in row["evidence"]} == set(kept)
    found = relationships(conn)
    conn.execute("SELECT _pgrecall.refresh_relationships(array_agg(id)) FROM pgrecall.relationships")
    assert relationships(conn) == found
    forget_facts(conn, *kept)
    assert contents(conn)["relationships"] == []


def test_relabelling_while_others_read(dsn: str, conn: Connection[Any]) -> None:
    memories = [remember(conn, f"{number}") for number in range(ROUNDS * 2)]

    def work(own: Connection[Any]) -> None:
        for memory in memories:
            read(own, memory, fact("Ana", "knows", "Bo"), fact("Ana", "is friends with", "Bo"))

    def decide(own: Connection[Any]) -> None:
        for place in range(ROUNDS):
            call(
                own,
                "pgrecall.set_relation_label",
                1,
                "is friends with",
                ("knows", "is friends with")[place % 2],
            )
            call(own, "pgrecall.set_relation_label", 1, "knows", ("knows", "meets")[place % 2])

    at_once(dsn, work, decide)
    call(conn, "pgrecall.set_relation_label", 1, "knows", "knows")
    call(conn, "pgrecall.set_relation_label", 1, "is friends with", "knows")
    (found,) = relationships(conn)
    assert found["label"] == "knows"
    assert set(found["evidence"]) == set(memories)
    assert scalar(conn, "SELECT count(*) FROM pgrecall.relationship_evidence") == len(memories) * 2
