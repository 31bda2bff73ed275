"""Thousands of small namespaces: work grows with what has changed in them, not with their number."""

from __future__ import annotations

import random
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from support.extraction import claimed, complete, mention, wrong
from support.facts import fact
from support.memories import call, remember, rows, scalar
from support.postings import assert_same_as_rebuilt, noted
from support.roles import role

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from psycopg import Connection

PLACES = [f"tenant {number}" for number in range(12)]


@pytest.fixture
def tenants(conn: Connection[Any]) -> list[int]:
    """Namespaces of one memory each, which waits for its postings; their ids."""
    for place in PLACES:
        remember(conn, f"tea in {place}", namespace=place, create_namespace=True)
    return [call(conn, "pgrecall.namespace_id", place) for place in PLACES]


@contextmanager
def counting(conn: Connection[Any]) -> Iterator[Callable[[str], int]]:
    """Count the calls of functions in a transaction."""

    def calls(function: str) -> int:
        query = "SELECT coalesce(pg_stat_get_xact_function_calls(to_regproc(%s)), 0)"
        return int(scalar(conn, query, function))

    with conn.transaction():
        conn.execute("SET LOCAL track_functions = 'all'")
        yield calls


@pytest.mark.usefixtures("tenants")
def test_a_call_flushes_many_namespaces(conn: Connection[Any]) -> None:
    remember(conn, "milk", namespace=PLACES[3])
    assert call(conn, "pgrecall.flush_pending_postings", 2) == 2
    assert len(noted(conn)) == len(PLACES) - 1
    assert call(conn, "pgrecall.flush_pending_postings", 1) == len(PLACES) - 1
    assert noted(conn) == []
    assert call(conn, "pgrecall.flush_pending_postings", 1) == 0
    assert_same_as_rebuilt(conn)


@pytest.mark.usefixtures("tenants")
def test_a_flush_waits_in_no_namespace_while_it_holds_others(conn: Connection[Any], dsn: str) -> None:
    with psycopg.connect(dsn) as other:
        other.execute("SELECT pgrecall.rename_namespace(%s, 'elsewhere')", (PLACES[5],))
        conn.execute("SET lock_timeout = '5s'")
        assert call(conn, "pgrecall.flush_pending_postings", 1) == len(PLACES) - 1
        assert len(noted(conn)) == 1
    assert call(conn, "pgrecall.flush_pending_postings", 1) == 1


def read(conn: Connection[Any]) -> list[dict[str, Any]]:
    """What an embedder would read in every memory: the same names, and a fact."""
    return [
        {
            "memory_id": row[0],
            "ticket": row[1],
            "mentions": [mention("Jane", "PERSON"), mention("Acme", "ORG")],
            "facts": [fact("Jane", "works at", "Acme")],
        }
        for row in claimed(conn)
    ]


@pytest.mark.usefixtures("tenants")
def test_what_was_read_in_many_namespaces_is_stored_at_once(conn: Connection[Any]) -> None:
    conn.execute("SELECT pgrecall.set_setting('curate', 'rules'), pgrecall.set_setting('extract_llm', 'on')")
    items = read(conn)
    with counting(conn) as calls:
        assert complete(conn, items) == len(PLACES)
        assert calls("_pgrecall.store_extractions") == 1
    assert wrong(conn) == {}
    for table, each in (("mentions", 2), ("concepts", 2), ("relationships", 1)):
        counts = f"SELECT count(*) FROM pgrecall.{table} GROUP BY namespace_id".encode()
        assert conn.execute(counts).fetchall() == [(each,)] * len(PLACES)
    misplaced = """
        SELECT j.memory_id FROM pgrecall.jobs j JOIN pgrecall.memories m ON m.id = j.memory_id WHERE j.namespace_id <> m.namespace_id
    """
    assert conn.execute(misplaced).fetchall() == []
    kinds = "SELECT kind, count(*) FROM pgrecall.jobs WHERE kind <> 'embedding' GROUP BY kind ORDER BY kind"
    assert conn.execute(kinds).fetchall() == [("curation", len(PLACES)), ("llm", len(PLACES))]


@pytest.mark.parametrize("lock", ["names", "facts"])
def test_a_namespace_in_use_holds_back_its_own_memories_only(
    conn: Connection[Any], dsn: str, tenants: list[int], lock: str
) -> None:
    items = read(conn)
    with psycopg.connect(dsn) as other:
        other.execute(
            "SELECT FROM pgrecall.locks WHERE home = %s AND name = %s FOR UPDATE", (tenants[6], lock)
        )
        with counting(conn) as calls:
            assert complete(conn, items) == len(PLACES) - 1
            # Together, then one by one.
            assert calls("_pgrecall.store_extractions") <= 1 + len(PLACES)
    left = "SELECT namespace_id, ticket, next_attempt_at > now() FROM pgrecall.jobs WHERE kind = 'text'"
    assert conn.execute(left).fetchall() == [(tenants[6], None, True)]
    assert wrong(conn) == {}


@pytest.mark.parametrize("action", ["forget", "erase"])
def test_expiry_looks_closer_only_where_something_is_due(
    conn: Connection[Any], tenants: list[int], action: str
) -> None:
    conn.execute(
        "INSERT INTO pgrecall.retention (namespace_id, keep, action) SELECT n, '1 year', %s FROM unnest(%s) n",
        (action, tenants),
    )
    conn.execute("SELECT pgrecall.set_retention(%s, '1 day', 'note', %s)", (PLACES[1], action))
    with counting(conn) as calls:
        assert rows(conn, "pgrecall.expire_memories") == [(0, 0)]
        assert calls("_pgrecall.expire_namespace") == 0
    # Older than its namespace's rule; of a category with a rule of its own; at its own end.
    old = "UPDATE pgrecall.memories SET created_at = now() - interval '2 {}', category = %s WHERE namespace_id = %s"
    conn.execute(old.format("years"), ("fact", tenants[4]))
    conn.execute(old.format("days"), ("note", tenants[1]))
    conn.execute(old.format("days"), ("note", tenants[2]))
    conn.execute("UPDATE pgrecall.memories SET expires_at = now() WHERE namespace_id = %s", (tenants[7],))
    with counting(conn) as calls:
        (done,) = rows(conn, "pgrecall.expire_memories")
        assert done == ((3, 0) if action == "forget" else (0, 3))
        assert calls("_pgrecall.expire_namespace") == 2 * 3


def test_a_grant_reads_no_other_grants_of_its_role(conn: Connection[Any], tenants: list[int]) -> None:
    read = "SELECT pg_stat_get_xact_tuples_fetched(c) + pg_stat_get_xact_tuples_returned(c) FROM CAST('pgrecall.grants' AS regclass) c"
    counts = []
    with conn.transaction():
        for place in PLACES:
            before = scalar(conn, read)
            call(conn, "pgrecall.grant_namespace", "pgrecall_reader", place)
            counts.append(scalar(conn, read) - before)
    assert max(counts) == counts[0]
    bounds = "SELECT array_lower(namespaces, 1), array_upper(namespaces, 1) FROM pgrecall.granted"
    assert conn.execute(bounds).fetchall() == [(min(tenants), max(tenants))]


def agrees(conn: Connection[Any]) -> None:
    """Check that the arrays are what the grants say, without a NULL, and no longer than they must be for readers."""
    wrong = """
        SELECT g.role, e.id FROM pgrecall.granted g
        CROSS JOIN LATERAL (
            SELECT i AS id, g.namespaces[i] AS is_granted
            FROM generate_series(array_lower(g.namespaces, 1), array_upper(g.namespaces, 1)) i
        ) e
        WHERE e.is_granted IS DISTINCT FROM EXISTS (
            SELECT FROM pgrecall.grants x WHERE x.role = g.role AND x.namespace_id = e.id
        )
        UNION ALL
        SELECT x.role, x.namespace_id FROM pgrecall.grants x
        WHERE NOT EXISTS (SELECT FROM pgrecall.granted g WHERE g.role = x.role AND g.namespaces[x.namespace_id])
    """
    assert conn.execute(wrong).fetchall() == []
    roles = "SELECT (SELECT array_agg(DISTINCT role) FROM pgrecall.grants), (SELECT array_agg(role ORDER BY role) FROM pgrecall.granted)"
    (granting, granted) = conn.execute(roles).fetchone() or ((), ())
    assert granting == granted


def test_grants_in_any_order_give_the_same_array(conn: Connection[Any], tenants: list[int]) -> None:
    chance = random.Random(7)
    held = ["pgrecall_reader", "pgrecall_writer"]
    for _ in range(60):
        who, places = chance.choice(held), chance.sample(tenants, chance.randint(1, 3))
        match chance.randrange(5):
            case 0 | 1:
                statement = (
                    "INSERT INTO pgrecall.grants (namespace_id, role, access) SELECT n, CAST(%s AS regrole), 'read' "
                    "FROM unnest(%s) n ON CONFLICT DO NOTHING"
                )
            case 2:
                statement = (
                    "DELETE FROM pgrecall.grants WHERE role = CAST(%s AS regrole) AND namespace_id = ANY (%s)"
                )
            case 3:
                statement = (
                    "UPDATE pgrecall.grants SET access = 'write' "
                    "WHERE role = CAST(%s AS regrole) AND namespace_id = ANY (%s)"
                )
            case _:
                places = places[:1]
                statement = (
                    "UPDATE pgrecall.grants g SET role = CAST(%s AS regrole) WHERE g.namespace_id = ANY (%s) "
                    "AND (SELECT count(*) FROM pgrecall.grants x WHERE x.namespace_id = g.namespace_id) = 1"
                )
        conn.execute(statement, (who, places))
        agrees(conn)


@pytest.mark.usefixtures("tenants")
def test_a_list_of_namespaces_asks_once_for_the_role(conn: Connection[Any]) -> None:
    for place in PLACES[::2]:
        call(conn, "pgrecall.grant_namespace", "pgrecall_reader", place)
    call(conn, "pgrecall.grant_namespace", "pgrecall_writer", PLACES[4], "write")
    call(conn, "pgrecall.grant_namespace", "pgrecall_writer", PLACES[5], "write")
    listed = {}
    for who in ("pgrecall_reader", "pgrecall_writer", "postgres"):
        with counting(conn) as calls:
            with role(conn, who):
                found = conn.execute("SELECT name, access FROM pgrecall.list_namespaces()").fetchall()
            assert found == sorted(found)
            assert calls("_pgrecall.held_roles") <= 5
        listed[who] = dict(found)
    assert listed["pgrecall_reader"] == dict.fromkeys(PLACES[::2], "read")
    # A writer is a reader.
    assert listed["pgrecall_writer"] == {**listed["pgrecall_reader"], PLACES[4]: "write", PLACES[5]: "write"}
    assert set(PLACES) < set(listed["postgres"])
    assert set(listed["postgres"].values()) == {"write"}


@pytest.mark.usefixtures("tenants")
def test_a_list_of_secrets_asks_once_for_the_database(conn: Connection[Any]) -> None:
    call(conn, "pgrecall.set_secrets", PLACES[2], "refuse")
    with counting(conn) as calls:
        found = {row[0]: row[1:3] for row in rows(conn, "pgrecall.list_secrets")}
        assert calls("pgrecall.stored_setting") <= 2
    query = "SELECT n.name, _pgrecall.secrets_policy(n.id, NULL), _pgrecall.secrets_policy(n.id, _pgrecall.message_key('s', 'a', 'b')) FROM pgrecall.namespaces n"
    assert found == {name: tuple(policies) for name, *policies in conn.execute(query)}
    assert found[PLACES[2]][0] == "refuse"


@pytest.mark.usefixtures("tenants")
def test_the_grants_of_a_role_are_found_by_an_index(conn: Connection[Any]) -> None:
    call(conn, "pgrecall.grant_namespace", "pgrecall_reader", PLACES[0])
    with conn.transaction(), role(conn, "pgrecall_reader"):
        conn.execute("SET LOCAL enable_seqscan = off")
        assert rows(conn, "pgrecall.list_namespaces") == [(PLACES[0], "read", "english")]
        conn.execute("RESET ROLE")
        assert scalar(conn, "SELECT pg_stat_get_xact_numscans('pgrecall.granted_pkey'::regclass)") > 0
        assert scalar(conn, "SELECT pg_stat_get_xact_numscans('pgrecall.granted'::regclass)") == 0
