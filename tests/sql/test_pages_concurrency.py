"""Pages while others write: no writer waits for another, no change is missed, nothing that is withdrawn comes back."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg import IsolationLevel

from support.memories import call, remember, rows, scalar, waits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from psycopg import Connection


@pytest.fixture
def other(dsn: str) -> Iterator[Connection[Any]]:
    with psycopg.connect(dsn, autocommit=True) as connection:
        yield connection


@pytest.fixture(autouse=True)
def page(conn: Connection[Any]) -> int:
    """A namespace with a page of one memory, filled whenever it is behind."""
    call(conn, "pgrecall.set_setting", "page_delay", "0 seconds")
    one = remember(conn, "We went to the sea")
    call(conn, "pgrecall.set_page", "about-user")
    return one


def texts(conn: Connection[Any]) -> list[str]:
    [row] = rows(conn, "pgrecall.page", "about-user")
    return [line["text"] for line in row[1]]


def is_stale(conn: Connection[Any]) -> bool:
    [row] = rows(conn, "pgrecall.page", "about-user")
    return row[3] is not None


def test_writers_do_not_wait_for_each_other(conn: Connection[Any], other: Connection[Any]) -> None:
    with conn.transaction(), other.transaction():
        remember(conn, "one")
        other.execute("SET LOCAL lock_timeout = '10ms'")
        remember(other, "two")
    assert call(conn, "pgrecall.refresh_pages") == 1
    assert sorted(texts(conn)) == ["We went to the sea", "one", "two"]
    assert not is_stale(conn)


def test_a_change_that_is_not_committed_while_the_page_is_filled_is_not_missed(
    conn: Connection[Any], other: Connection[Any]
) -> None:
    remember(conn, "one")
    with other.transaction():
        remember(other, "two")  # finds the note of the first, and holds it
        assert call(conn, "pgrecall.refresh_pages") == 1
        assert "two" not in texts(conn)
        assert is_stale(conn)
    assert call(conn, "pgrecall.refresh_pages") == 1
    assert "two" in texts(conn)
    assert not is_stale(conn)


def test_a_note_that_is_just_taken_is_written_anew(conn: Connection[Any], other: Connection[Any]) -> None:
    remember(conn, "one")
    with other.transaction():
        assert call(other, "pgrecall.refresh_pages") == 1
        conn.execute("SET lock_timeout = '10ms'")
        remember(conn, "two")
    assert is_stale(conn)
    assert call(conn, "pgrecall.refresh_pages") == 1
    assert "two" in texts(conn)


@pytest.mark.parametrize("ends", ["commit", "rollback"])
def test_a_memory_that_is_being_forgotten_does_not_come_back(
    conn: Connection[Any], other: Connection[Any], page: int, ends: str
) -> None:
    remember(conn, "one")
    # Its line is not there yet: nothing that the forgetting could withdraw.
    conn.execute("DELETE FROM pgrecall.page_lines")
    with other.transaction() as transaction:
        call(other, "forget", page)
        assert call(conn, "pgrecall.refresh_pages") == 1
        assert texts(conn) == ["one"]
        if ends == "rollback":
            raise psycopg.Rollback(transaction)
    assert "We went to the sea" not in texts(conn)
    if ends == "rollback":
        # The writer's note went with it; the next change brings the line back.
        remember(conn, "two")
    call(conn, "pgrecall.refresh_pages")
    assert ("We went to the sea" in texts(conn)) == (ends == "rollback")


def test_a_text_that_changes_between_reading_and_storing_is_not_quoted(
    conn: Connection[Any], other: Connection[Any], page: int
) -> None:
    """The filling waits for its lines, has read the old text, and finds the new one under the lock."""
    remember(conn, "one")
    with other.transaction():
        # Holds the line for a moment: the filling has read everything before it deletes lines.
        other.execute("SELECT FROM pgrecall.page_lines FOR KEY SHARE")
        conn.execute("SET lock_timeout = 0")
        filling = waits(conn, lambda: scalar(conn, "SELECT _pgrecall.fill_pages(1)"))
        with psycopg.connect(conn.info.dsn, autocommit=True) as third:
            third.execute("SET session_replication_role = replica")  # as if the trigger had come too early
            third.execute("UPDATE pgrecall.memories SET content = 'We stayed' WHERE id = %s", (page,))
    assert filling() == 1
    assert texts(conn) == ["one"]


def test_a_page_that_is_being_made_misses_no_change(conn: Connection[Any], other: Connection[Any]) -> None:
    """Who fills the other pages meanwhile would take the note of a change that the new page has not seen."""
    with other.transaction():
        call(other, "pgrecall.set_page", "recent")
        remember(conn, "one")
        assert call(conn, "pgrecall.refresh_pages") == 0
    assert call(conn, "pgrecall.refresh_pages") == 2
    assert "one" in [line["text"] for line in rows(conn, "pgrecall.page", "recent")[0][1]]


def test_a_held_line_leaves_the_namespace_for_the_next_call(
    conn: Connection[Any], other: Connection[Any], page: int
) -> None:
    call(conn, "pgrecall.create_namespace", "free")
    call(conn, "pgrecall.set_page", "about-user", namespace="free")
    remember(conn, "one")
    remember(conn, "two", namespace="free")
    with other.transaction():
        call(other, "forget", page)
        filled = [call(conn, "pgrecall.refresh_pages") for _ in range(2)]
        assert filled == [1, 0]
        assert rows(conn, "pgrecall.page", "about-user", "free")[0][1][0]["text"] == "two"
    assert call(conn, "pgrecall.refresh_pages") == 1
    assert texts(conn) == ["one"]


def test_two_daemons_do_not_fill_the_same_pages(conn: Connection[Any], other: Connection[Any]) -> None:
    remember(conn, "one")
    with other.transaction():
        assert call(other, "pgrecall.refresh_pages") == 1
        assert call(conn, "pgrecall.refresh_pages") == 0


@pytest.mark.parametrize("level", ["REPEATABLE READ", "SERIALIZABLE"])
def test_a_writer_with_an_older_snapshot_is_not_refused(
    conn: Connection[Any], other: Connection[Any], level: str
) -> None:
    remember(conn, "one")
    other.execute(f"BEGIN ISOLATION LEVEL {level}".encode())
    scalar(other, "SELECT count(*) FROM pgrecall.memories")
    assert call(conn, "pgrecall.refresh_pages") == 1
    remember(other, "two")
    other.execute("COMMIT")
    assert is_stale(conn)
    conn.execute(f"BEGIN ISOLATION LEVEL {level}".encode())
    with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState):
        call(conn, "pgrecall.refresh_pages")
    conn.execute("ROLLBACK")


def test_a_killed_filling_leaves_the_page_as_it_was(conn: Connection[Any], dsn: str) -> None:
    remember(conn, "one")
    with psycopg.connect(dsn) as killed:
        assert call(killed, "pgrecall.refresh_pages") == 1
        conn.execute("SELECT pg_terminate_backend(%s, 5000)", (killed.info.backend_pid,))
        killed.close()
    assert texts(conn) == ["We went to the sea"]
    assert is_stale(conn)
    assert call(conn, "pgrecall.refresh_pages") == 1
    assert "one" in texts(conn)


def test_sessions_that_change_the_same_pages_take_turns(conn: Connection[Any], dsn: str) -> None:
    """A page that is made anew is another row: who waited for the old one would lock the rest out of order."""
    call(conn, "pgrecall.set_page", "recent")
    with ExitStack() as stack:
        first, dropping, second, third = (
            stack.enter_context(psycopg.connect(dsn, autocommit=True)) for _ in range(4)
        )
        first.isolation_level = IsolationLevel.REPEATABLE_READ  # does not fill the pages
        with dropping.transaction(force_rollback=True):
            with first.transaction():
                call(first, "pgrecall.set_page", "about-user", "Which one is first?")
                dropped = waits(dropping, lambda: call(dropping, "pgrecall.drop_page", "recent"))
                second_set = waits(
                    second, lambda: call(second, "pgrecall.set_page", "about-user", "Which is second?")
                )
            assert dropped()
            third_set = waits(
                third, lambda: call(third, "pgrecall.set_page", "about-user", "Which one is third?")
            )
        second_set()
        third_set()
    assert sorted(scalar(conn, "SELECT array_agg(name) FROM pgrecall.pages")) == ["about-user", "recent"]


@pytest.mark.parametrize("change", ["pgrecall.set_page", "pgrecall.drop_page"])
def test_a_page_that_changes_while_its_namespace_is_erased(
    conn: Connection[Any], other: Connection[Any], change: str
) -> None:
    call(conn, "pgrecall.create_namespace", "gone")
    call(conn, "pgrecall.set_page", "recent", namespace="gone")
    with conn.transaction():
        call(conn, "erase_namespace", "gone")
        changing = waits(other, lambda: call(other, change, "recent", namespace="gone"))
    with pytest.raises(psycopg.errors.UndefinedObject, match=r"there is no namespace [0-9]+ any more"):
        changing()


def test_a_namespace_is_erased_after_its_page_has_changed(
    conn: Connection[Any], other: Connection[Any]
) -> None:
    call(conn, "pgrecall.create_namespace", "gone")
    call(conn, "pgrecall.set_page", "recent", namespace="gone")
    with conn.transaction():
        call(conn, "pgrecall.set_page", "recent", "What is new?", namespace="gone")
        erasing = waits(other, lambda: call(other, "erase_namespace", "gone"))
        call(conn, "pgrecall.set_page", "about-user", namespace="gone")
    erasing()
    assert scalar(conn, "SELECT count(*) FROM pgrecall.pages") == 1
