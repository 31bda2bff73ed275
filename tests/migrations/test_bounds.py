"""Times, numbers and depth that a reader cannot read: refused in every column, repaired by the upgrade."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from pgrecall import Client
from pgrecall.admin.migrate import migrate
from support.memories import remember, rows
from support.migrating import run

if TYPE_CHECKING:
    from collections.abc import Callable

    from psycopg import Connection

TIMES = ("infinity", "-infinity", "0044-03-15 BC", "10000-01-01Z", "294276-01-01Z", "0001-01-01 00:00+14")
DEEP = json.dumps(json.loads("[" * 70 + "]" * 70))
METADATA = ('{"n": 1e5000}', '{"n": -1e400}', '{"n": 1e-5000}', '{"a": [{"b": 1e309}]}', f'{{"a": {DEEP}}}')
MAY_HOLD = {
    ("relationships", "valid_to"), ("posting_states", "separated_at"),
}  # fmt: skip
"""Columns with a sentinel that no reader gets."""


def test_every_time_column_has_bounds(conn: Connection[Any]) -> None:
    columns = conn.execute("""
        SELECT c.relname, a.attname, format_type(a.atttypid, NULL), COALESCE((
            SELECT string_agg(pg_get_constraintdef(o.oid), ' ') FROM pg_constraint o
            WHERE o.conrelid = c.oid AND o.contype = 'c' AND o.convalidated AND a.attnum = ANY (o.conkey)
        ), '')
        FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
        WHERE c.relnamespace = 'pgrecall'::regnamespace AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped
          AND a.atttypid IN ('timestamptz'::regtype, 'timestamp'::regtype, 'tstzrange'::regtype, 'interval'::regtype)
    """).fetchall()
    assert len(columns) > 50
    for table, column, kind, checks in columns:
        if kind == "interval":
            assert re.search(rf"{column} <= '1000 years'", checks), (table, column)
            continue
        assert kind == "timestamp with time zone", "a new type of time needs bounds of its own"
        assert re.search(rf"\({column} >= '0001-01-02 [^']*'", checks), (
            f"{table}.{column}: see migrations/versions/0012_bounds.py"
        )
        assert re.search(rf"\({column} <= '9999-12-31 [^']*'", checks), (table, column)


@pytest.mark.parametrize(
    "column",
    ["occurred_at", "created_at", "valid_from", "valid_to", "expires_at", "updated_at", "superseded_at"],
)
@pytest.mark.rollback
def test_a_memory_takes_no_time_that_a_reader_cannot_read(conn: Connection[Any], column: str) -> None:
    number = remember(conn)
    for wrong in TIMES:
        with pytest.raises(psycopg.errors.CheckViolation), conn.transaction():
            conn.execute(f"UPDATE pgrecall.memories SET {column} = %s WHERE id = %s", (wrong, number))


@pytest.mark.rollback
def test_functions_refuse_such_values_without_quoting_them(conn: Connection[Any]) -> None:
    number = remember(conn, "kept")
    fields = ("occurred_at", "created_at", "valid_from", "valid_to", "expires_at")
    for name in fields:
        for wrong in TIMES:
            if name in {"valid_to", "expires_at"} and wrong == "infinity":
                assert remember(conn, "without an end", **{name: wrong})
                continue
            for function, given in (("remember", ["secret"]), ("update_memory", [number])):
                if (function, name) == ("update_memory", "created_at"):
                    continue
                with pytest.raises(psycopg.Error) as caught, conn.transaction():
                    rows(conn, function, *given, **{name: wrong})
                assert caught.value.sqlstate == "22023", (function, name, wrong, caught.value)
                assert "secret" not in str(caught.value.diag.message_detail)
    for wrong in TIMES:
        with pytest.raises(psycopg.errors.InvalidParameterValue), conn.transaction():
            rows(conn, "supersede", number, "new", occurred_at=wrong)
        with pytest.raises(psycopg.errors.InvalidParameterValue), conn.transaction():
            rows(conn, "supersede", number, successor=remember(conn, "other"), occurred_at=wrong)
    for wrong in ("infinity", "yesterday", "now", "Today 10:00"):
        memories = Jsonb([{"content": "secret", "occurred_at": wrong}])
        with pytest.raises(psycopg.errors.InvalidParameterValue), conn.transaction():
            rows(conn, "remember_many", memories)
    for wrong in METADATA:
        with pytest.raises(psycopg.errors.ProgramLimitExceeded), conn.transaction():
            conn.execute("SELECT remember('secret', metadata => %s::jsonb)", (wrong,))
    for keep in ("290000 years", "1001 years"):
        with pytest.raises(psycopg.errors.InvalidParameterValue), conn.transaction():
            conn.execute("SELECT pgrecall.set_retention('default', %s)", (keep,))


def test_an_upgrade_repairs_what_is_there(migrated_database: Callable[[], str]) -> None:
    dsn = migrated_database()
    migrate(dsn, revision="0011")
    with psycopg.connect(dsn, autocommit=True) as conn:
        home = conn.execute("SELECT id FROM pgrecall.namespaces").fetchone()
        if home is None:
            home = conn.execute(
                "INSERT INTO pgrecall.namespaces (name, language) VALUES ('default', 'english') RETURNING id"
            ).fetchone()
        assert home is not None
        for time in TIMES:
            conn.execute(
                "INSERT INTO pgrecall.memories (namespace_id, language, content, content_hash, search_vector, occurred_at, created_at, expires_at, valid_to)"
                " VALUES (%(home)s, 'english', 'old', '', '', %(time)s, %(time)s, %(time)s, %(time)s)",
                {"home": home[0], "time": time},
            )
        for metadata in METADATA:
            conn.execute(
                "INSERT INTO pgrecall.memories (namespace_id, language, content, content_hash, search_vector, metadata) VALUES (%s, 'english', 'old', '', '', %s)",
                (home[0], metadata),
            )
        conn.execute(
            "INSERT INTO pgrecall.retention (namespace_id, keep, action) VALUES (%s, '290000 years', 'forget')",
            (home[0],),
        )
    migrate(dsn)
    found = run(
        dsn,
        "SELECT count(*), count(*) FILTER (WHERE expires_at IS NULL), count(deleted_at) FROM pgrecall.memories",
    )
    assert found == [(len(TIMES) + len(METADATA), len(METADATA) + 1, 0)]
    # No such model: loading one takes seconds, and a time is read without.
    with Client(dsn, model="none") as client:
        listed = client.list(k=100)
        # Without those that were over before the year 1.
        assert len(listed) == len(METADATA) + 3
        for one in client.get_many([one.id for one in listed]):
            assert one.created_at.astimezone() is not None
        assert client.timeline("old") is not None
    run(dsn, "SELECT pgrecall.expire_memories()")
    run(dsn, "SELECT * FROM recall_status()")
    run(dsn, "SELECT * FROM pgrecall.health()")


def test_a_client_reads_what_an_owner_put_there(dsn: str, conn: Connection[Any]) -> None:
    numbers = [remember(conn, f"old tea {n}") for n in range(len(TIMES) + len(METADATA))]
    conn.execute(
        "ALTER TABLE pgrecall.memories DROP CONSTRAINT memories_times, DROP CONSTRAINT memories_metadata_plain"
    )
    for number, time in zip(numbers, TIMES, strict=False):
        conn.execute(
            "UPDATE pgrecall.memories SET occurred_at = %s, valid_from = %s WHERE id = %s",
            (time, time, number),
        )
    for number, metadata in zip(numbers[len(TIMES) :], METADATA, strict=True):
        conn.execute("UPDATE pgrecall.memories SET metadata = %s WHERE id = %s", (metadata, number))
    conn.execute(
        "UPDATE pgrecall.memories SET metadata = %s WHERE id = %s",
        ('{"a":' + "[" * 3000 + "]" * 3000 + "}", numbers[-1]),
    )
    with Client(dsn, model="none") as client:
        assert len(client.list()) == len(numbers)
        assert len(client.get_many(numbers)) == len(numbers)
        assert len(client.recall("old tea", k=100)) == len(numbers)
        assert len(client.timeline("old tea", k=100)) == len(numbers)
        assert client.history(numbers[0])
        assert client.history(numbers[-1])
