"""supersede(): a fact and its successor, new or already there, and chains that must not close."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from support.memories import call, concepts, contents, refused, remember, rows, scalar, stored, waits

if TYPE_CHECKING:
    from collections.abc import Callable

    from psycopg import Connection

pytestmark = pytest.mark.rollback

NOON = datetime(2024, 5, 17, 12, tzinfo=UTC)


def test_content_makes_a_successor_like_the_old_memory(conn: Connection[Any]) -> None:
    copied: dict[str, Any] = {
        "title": "Home", "category": "fact", "tags": ["home"], "expanded_keywords": ["address"], "importance": 0.9,
        "metadata": {"a": 1}, "source": "chat", "session": "s", "speaker": "p", "language": "simple",
        "is_sensitive": False, "namespace": "there", "expires_at": datetime(2999, 1, 1, tzinfo=UTC),
    }  # fmt: skip
    old = remember(
        conn, "in Rome", position=1, external_id="e", occurred_at=NOON, create_namespace=True, **copied
    )
    new = call(conn, "supersede", old, "in Oslo", occurred_at=NOON + timedelta(days=1))
    after = stored(conn, new)
    assert new > old
    assert (after["content"], after["occurred_at"]) == ("in Oslo", NOON + timedelta(days=1))
    assert {name: after[name] for name in copied} == copied | {"importance": pytest.approx(0.9)}
    assert [
        after[name] for name in ("external_id", "position", "superseded_by", "valid_from", "valid_to")
    ] == [None] * 5
    assert concepts(conn, new) == concepts(conn, old) == ["address", "home"]
    before = stored(conn, old)
    assert (before["superseded_by"], before["valid_to"]) == (new, NOON + timedelta(days=1))
    assert (before["content"], before["deleted_at"]) == ("in Rome", None)


def test_new_fields_of_the_successor(conn: Connection[Any]) -> None:
    old = remember(conn, "in Rome", metadata={"a": 1}, importance=0.25)
    after = stored(conn, call(conn, "supersede", old, "in Oslo", metadata={"b": 2}, importance=0.75))
    assert (after["metadata"], after["importance"], after["occurred_at"]) == ({"b": 2}, 0.75, None)


def test_successor_that_is_there(conn: Connection[Any]) -> None:
    old, new = remember(conn, "in Rome", tags=["home"]), remember(conn, "in Oslo", metadata={"a": 1})
    assert call(conn, "supersede", old, successor=new, metadata={"b": 2}, importance=1) == new
    after = stored(conn, new)
    assert (after["content"], after["tags"], after["metadata"], after["importance"]) == (
        "in Oslo",
        [],
        {"b": 2},
        1,
    )
    assert stored(conn, old)["superseded_by"] == new
    # One memory may take the place of several.
    another = remember(conn, "in Bari")
    assert call(conn, "supersede", another, successor=new) == new


@pytest.mark.usefixtures("dsn")
def test_end_of_validity(conn: Connection[Any]) -> None:
    now = scalar(conn, "SELECT now()")
    old = remember(conn, "x")
    call(conn, "supersede", old, "y")
    assert timedelta(0) <= stored(conn, old)["valid_to"] - now < timedelta(minutes=1)
    old = remember(conn, "x", valid_to=NOON)
    call(conn, "supersede", old, "y")
    assert stored(conn, old)["valid_to"] == NOON
    old = remember(conn, "x", valid_from=NOON)
    call(conn, "supersede", old, "y", occurred_at=NOON - timedelta(days=1))
    assert stored(conn, old)["valid_to"] == NOON


def test_secrecy_is_inherited(conn: Connection[Any]) -> None:
    old = remember(conn, "secret", tags=["canary"], is_sensitive=True)
    new = call(conn, "supersede", old, "new secret")
    assert (stored(conn, new)["is_sensitive"], stored(conn, new)["tags"], concepts(conn)) == (
        True,
        ["canary"],
        [],
    )


def test_both_or_neither(conn: Connection[Any]) -> None:
    old, new = remember(conn, "x"), remember(conn, "y")
    with refused(conn, "22023"):
        call(conn, "supersede", old)
    with refused(conn, "22023"):
        call(conn, "supersede", old, "z", successor=new)


def test_circles(conn: Connection[Any]) -> None:
    a, b, c = (remember(conn, name) for name in "abc")
    with refused(conn, "22023"):
        call(conn, "supersede", a, successor=a)
    call(conn, "supersede", a, successor=b)
    call(conn, "supersede", b, successor=c)
    for successor in (a, b, c):
        with refused(conn, "22023"):
            call(conn, "supersede", c, successor=successor)
    assert call(conn, "supersede", c, "d") > c


def test_a_memory_is_superseded_once(conn: Connection[Any]) -> None:
    old, other = remember(conn, "x"), remember(conn, "z")
    new = call(conn, "supersede", old, "y")
    for options in ({"content": "z"}, {"successor": other}):
        with refused(conn, "22023"):
            call(conn, "supersede", old, **options)
    before = contents(conn)
    assert call(conn, "supersede", old, successor=new) == new
    assert contents(conn) == before


def test_unknown_and_forgotten_memories(conn: Connection[Any]) -> None:
    forgotten, there = remember(conn, "x"), remember(conn, "y")
    elsewhere = remember(conn, "z", namespace="elsewhere", create_namespace=True)
    call(conn, "forget", forgotten)
    expired = remember(conn, "x, for a minute", expires_at=NOON)
    with refused(conn, "P0002"):
        call(conn, "supersede", expired, "a successor that has expired, too")
    for unknown in (forgotten, 2**62, -1, None):
        with refused(conn, "P0002"):
            call(conn, "supersede", unknown, "new")
        with refused(conn, "P0002"):
            call(conn, "supersede", unknown, successor=there)
    for unknown in (forgotten, 2**62, -1, elsewhere):
        with refused(conn, "P0002"):
            call(conn, "supersede", there, successor=unknown)


def test_bad_fields_are_refused(conn: Connection[Any]) -> None:
    old, new = remember(conn, "x"), remember(conn, "y")
    refusals: list[tuple[dict[str, Any], str]] = [
        ({"content": " "}, "22023"),
        ({"content": "x" * 262_145}, "54000"),
        ({"content": "x", "importance": 2}, "22023"),
        ({"successor": new, "importance": 2}, "22023"),
        ({"successor": new, "importance": float("nan")}, "22023"),
    ]
    for options, sqlstate in refusals:
        with refused(conn, sqlstate):
            call(conn, "supersede", old, **options)


def test_forgetting_the_successor_leaves_the_old_fact_closed(conn: Connection[Any]) -> None:
    old = remember(conn, "x")
    new = call(conn, "supersede", old, "y")
    assert call(conn, "forget", new)
    assert stored(conn, old)["superseded_by"] == new


def test_two_sessions_supersede_each_other(conn: Connection[Any], dsn: str) -> None:
    a, b = remember(conn, "a"), remember(conn, "b")
    with psycopg.connect(dsn) as first:
        call(first, "supersede", a, successor=b)
        second = waits(conn, lambda: call(conn, "supersede", b, successor=a))
        first.commit()
        with pytest.raises(psycopg.errors.InvalidParameterValue):
            second()
    assert stored(conn, b)["superseded_by"] is None


def test_two_sessions_close_no_circle_of_four(conn: Connection[Any], dsn: str) -> None:
    a, b, c, d = (remember(conn, name) for name in "abcd")
    call(conn, "supersede", a, successor=b)
    call(conn, "supersede", c, successor=d)
    with psycopg.connect(dsn) as first:
        call(first, "supersede", b, successor=c)
        second = waits(conn, lambda: call(conn, "supersede", d, successor=a))
        first.commit()
        with pytest.raises(psycopg.errors.InvalidParameterValue):
            second()
    assert stored(conn, d)["superseded_by"] is None


def pushed(conn: Connection[Any], old: int, new: int) -> None:
    at = datetime.now(UTC).isoformat()
    write = {"kind": "supersede", "key": "k", "id": old, "at": at, "fields": {"successor": new}}
    rows(conn, "pgrecall.sync_push", Jsonb(write))


def superseded(conn: Connection[Any], old: int, new: int) -> None:
    call(conn, "supersede", old, successor=new)


@pytest.mark.parametrize("write", [superseded, pushed])
def test_whose_successor_is_superseded_meanwhile_holds_no_row_of_who_is_before(
    conn: Connection[Any], dsn: str, write: Callable[[Connection[Any], int, int], None]
) -> None:
    """The second waits for the first; the third, which needs the second's memory, goes before it."""
    old, new, newest, earlier, later = (remember(conn, name) for name in "abcde")
    superseded(conn, earlier, later)
    with psycopg.connect(dsn) as first, psycopg.connect(dsn, autocommit=True) as other:
        superseded(first, new, newest)
        second = waits(conn, lambda: write(conn, old, new))
        third = waits(other, lambda: superseded(other, old, earlier))
        first.commit()
        told = []
        for result in (second, third):
            try:
                result()
            except psycopg.Error as error:
                told.append(error.sqlstate)
    assert told == ["22023"]  # whoever comes second finds it superseded
    assert stored(conn, old)["superseded_by"] in {new, earlier}


def test_two_sessions_supersede_one_memory(conn: Connection[Any], dsn: str) -> None:
    old = remember(conn, "a")
    with psycopg.connect(dsn) as first:
        new = call(first, "supersede", old, "b")
        second = waits(conn, lambda: call(conn, "supersede", old, "c"))
        first.commit()
        with pytest.raises(psycopg.errors.InvalidParameterValue):
            second()
    assert stored(conn, old)["superseded_by"] == new
    assert conn.execute("SELECT count(*) FROM pgrecall.memories").fetchone() == (2,)


@pytest.mark.parametrize(
    ("style", "zone", "moment"),
    [
        ("SQL, DMY", "Asia/Jakarta", NOON),
        ("Postgres", "Asia/Jakarta", NOON),
        ("German", "Europe/Berlin", datetime(1850, 1, 1, tzinfo=UTC)),
    ],
)
def test_occurred_at_is_the_same_in_every_style_and_zone(
    conn: Connection[Any], style: str, zone: str, moment: datetime
) -> None:
    """Not every server reads the abbreviation of a zone that it writes."""
    old = remember(conn, "in Rome")
    with conn.transaction():
        conn.execute(
            "SELECT set_config('DateStyle', %s, true), set_config('TimeZone', %s, true)", (style, zone)
        )
        new = call(conn, "supersede", old, "in Oslo", occurred_at=moment)
    assert scalar(conn, "SELECT occurred_at = %s FROM pgrecall.memories WHERE id = %s", moment, new)
    for wrong in ("0001-01-01 00:00+00", "10000-01-01 00:00+00", "infinity"):
        with refused(conn, "22023"):
            call(conn, "supersede", new, "in Lima", occurred_at=wrong)
