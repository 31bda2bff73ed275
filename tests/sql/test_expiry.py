"""expires_at and retention: what has expired is never returned, and is forgotten or erased in time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from support.memories import call, embed, refused, remember, remember_many, rows, scalar, share, stored

if TYPE_CHECKING:
    from psycopg import Connection

PAST = datetime(2024, 3, 1, tzinfo=UTC)
VECTOR = str([0.5] * 384)


def alive(conn: Connection[Any]) -> set[str]:
    return {
        content
        for (content,) in conn.execute("SELECT content FROM pgrecall.memories WHERE deleted_at IS NULL")
    }


def expire(conn: Connection[Any], **options: object) -> tuple[int, int]:
    (counts,) = rows(conn, "pgrecall.expire_memories", **options)
    return (counts[0], counts[1])


def test_an_expired_memory_is_never_returned(conn: Connection[Any]) -> None:
    stays = remember(conn, "tea is ready", session="s", session_position=1)
    gone = remember(
        conn,
        "tea was cold",
        session="s",
        session_position=2,
        expires_at=datetime.now(UTC) + timedelta(hours=1),
    )
    embed(conn, stays)
    embed(conn, gone)
    ways: list[tuple[str, dict[str, Any]]] = [
        ("recall", {"query": "tea", "query_vec": VECTOR}),
        ("recall", {"query": "tea", "include_superseded": True}),
        ("recall", {"query": "tea", "as_of": datetime.now(UTC)}),
        ("recall", {"query": "", "query_vec": VECTOR, "sessions": ["s"]}),
        ("recall_timeline", {"topic": "tea"}),
        ("list_memories", {}),
        ("list_memories", {"sessions": ["s"]}),
        ("get_memories", {"ids": [stays, gone]}),
    ]
    for function, arguments in ways:
        assert {row[0] for row in rows(conn, function, **arguments)} == {stays, gone}, function
    assert "cold" in call(conn, "recall_briefing", "tea")
    conn.execute("UPDATE pgrecall.memories SET expires_at = now() WHERE id = %s", (gone,))
    for function, arguments in ways:
        assert {row[0] for row in rows(conn, function, **arguments)} == {stays}, function
    assert "cold" not in call(conn, "recall_briefing", "tea")
    (row,) = conn.execute("SELECT reason FROM recall_explain('tea', ids => %s)", ([gone],)).fetchall()
    assert row[0].startswith("expired at ")
    assert rows(conn, "list_sessions")[0][1] == 1


@pytest.mark.rollback
def test_infinity_is_no_end(conn: Connection[Any]) -> None:
    number = remember(conn, "tea", expires_at=PAST, valid_to=PAST)
    call(conn, "update_memory", number, expires_at="infinity", valid_to="infinity")
    assert (stored(conn, number)["expires_at"], stored(conn, number)["valid_to"]) == (None, None)
    assert stored(conn, remember(conn, "tea", expires_at="infinity"))["expires_at"] is None


@pytest.mark.rollback
def test_what_is_due_is_forgotten_with_a_note(conn: Connection[Any]) -> None:
    remember(conn, "stays")
    remember(conn, "later", expires_at=datetime(2999, 1, 1, tzinfo=UTC))
    number = remember(conn, "due", expires_at=PAST)
    secret = remember(conn, "due and sensitive", expires_at=PAST, is_sensitive=True)
    assert scalar(conn, "SELECT due FROM recall_status()") == 2
    assert expire(conn) == (2, 0)
    assert expire(conn) == (0, 0)
    assert scalar(conn, "SELECT due FROM recall_status()") == 0
    assert alive(conn) == {"stays", "later"}
    for one in (number, secret):
        (_, action, *_), *_ = rows(conn, "memory_history", one)[1:]
        assert action == "expire"


@pytest.mark.rollback
def test_what_a_rule_forgot_is_restored_with_its_own_expiry(conn: Connection[Any]) -> None:
    now = scalar(conn, "SELECT now()")
    expiries = (now + timedelta(days=1000), None, now - timedelta(days=1))
    numbers = [
        remember(conn, f"tea {place}", created_at=now - timedelta(days=400), expires_at=expires_at)
        for place, expires_at in enumerate(expiries)
    ]
    conn.execute("SELECT pgrecall.set_retention('default', '90 days')")
    assert expire(conn) == (3, 0)
    conn.execute("SELECT pgrecall.set_retention('default', NULL)")
    for number, expires_at in zip(numbers, (expiries[0], None, None), strict=True):
        assert call(conn, "restore", number)
        assert stored(conn, number)["expires_at"] == expires_at
    # Its user ended it, and no rule did.
    call(conn, "update_memory", numbers[0], expires_at=now)
    assert expire(conn) == (1, 0)
    call(conn, "restore", numbers[0])
    assert stored(conn, numbers[0])["expires_at"] is None


@pytest.mark.rollback
def test_retention_of_a_namespace_and_of_a_category(conn: Connection[Any]) -> None:
    now = scalar(conn, "SELECT now()")
    for category in ("note", "chat", None):
        for days in (1, 10, 100):
            remember(conn, f"{category} {days}", category=category, created_at=now - timedelta(days=days))
    remember(
        conn, "elsewhere", namespace="there", create_namespace=True, created_at=now - timedelta(days=100)
    )
    conn.execute("SELECT pgrecall.set_retention('default', '30 days')")
    conn.execute("SELECT pgrecall.set_retention('default', '5 days', 'chat', 'erase')")
    conn.execute("SELECT pgrecall.set_retention('default', '1000 days', 'note')")
    call(conn, "forget", scalar(conn, "SELECT id FROM pgrecall.memories WHERE content = 'chat 10'"))
    assert [(row[1], row[4]) for row in rows(conn, "pgrecall.list_retention")] == [
        (None, 1),
        ("chat", 2),
        ("note", 0),
    ]
    assert expire(conn) == (1, 2)
    assert alive(conn) == {"note 1", "note 10", "note 100", "chat 1", "None 1", "None 10", "elsewhere"}
    assert scalar(conn, "SELECT count(*) FROM pgrecall.memories WHERE content LIKE 'chat 10%%'") == 0
    conn.execute("SELECT pgrecall.set_retention('default', NULL, 'note')")
    assert expire(conn) == (1, 0)
    assert "note 100" not in alive(conn)


@pytest.mark.rollback
def test_the_rule_of_the_namespace_decides_what_happens_to_expired_ones(conn: Connection[Any]) -> None:
    conn.execute("SELECT pgrecall.set_retention('default', '1000 years', NULL, 'erase')")
    number = remember(conn, "due", expires_at=PAST)
    assert expire(conn) == (0, 1)
    assert scalar(conn, "SELECT count(*) FROM pgrecall.memories WHERE id = %s", number) == 0
    assert scalar(conn, "SELECT count(*) FROM pgrecall.erasures WHERE memory_id = %s", number) == 1


def test_it_waits_for_nobody(conn: Connection[Any], dsn: str) -> None:
    held, free = remember(conn, "held", expires_at=PAST), remember(conn, "free", expires_at=PAST)
    with psycopg.connect(dsn) as other:
        other.execute("SELECT FROM pgrecall.memories WHERE id = %s FOR UPDATE", (held,))
        assert expire(conn) == (1, 0)
        assert stored(conn, free)["deleted_at"] is not None
    assert expire(conn) == (1, 0)


def test_batches(conn: Connection[Any]) -> None:
    remember_many(conn, [{"content": f"due {n}", "expires_at": str(PAST)} for n in range(25)])
    assert [expire(conn, max_memories=10)[0] for _ in range(4)] == [10, 10, 5, 0]
    for wrong in (0, -1, 100001, None):
        with refused(conn, "22023"):
            expire(conn, max_memories=wrong)


@pytest.mark.rollback
def test_who_may_set_and_who_may_run(conn: Connection[Any]) -> None:
    remember(conn, "due", expires_at=PAST, namespace="there", create_namespace=True)
    share(conn)
    for wrong, sqlstate in (("'default', '-1 day'", "22023"), ("'default', '0'", "22023"), ("'default', '1 day', NULL, 'burn'", "22023"),
                            ("'nowhere', '1 day'", "42704")):  # fmt: skip
        with refused(conn, sqlstate), conn.transaction():
            conn.execute(f"SELECT pgrecall.set_retention({wrong})".encode())
    conn.execute("SET LOCAL ROLE pgrecall_writer")
    for statement in ("pgrecall.set_retention('default', '1 day')", "pgrecall.expire_memories()"):
        with pytest.raises(psycopg.errors.InsufficientPrivilege), conn.transaction():
            conn.execute(f"SELECT {statement}".encode())
    assert rows(conn, "pgrecall.list_retention") == []
    conn.execute("RESET ROLE")
    conn.execute("SET LOCAL ROLE pgrecall_embedder")
    assert expire(conn) == (1, 0)
    with pytest.raises(psycopg.errors.InsufficientPrivilege), conn.transaction():
        conn.execute("SELECT * FROM pgrecall.memory_changes")
