"""Conflicts of an offline copy with the server, and that each write is done once whatever is killed."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import threading
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from psycopg.conninfo import make_conninfo

from pgrecall import Client, Conflict, InvalidInput, NotFound, PgrecallError
from pgrecall.contrib.offline import OfflineClient
from support.memories import remember, rows, scalar, share, stored
from support.offline import alive, contents, in_copy, on_server

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from psycopg import Connection


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "copy.db"


@pytest.fixture
def copy(dsn: str, path: Path) -> Iterator[OfflineClient]:
    with OfflineClient(path, dsn) as opened:
        opened.pull()
        yield opened


# -- conflicts


def moved_clock(conn: Connection[Any], id: int, by: timedelta) -> None:
    """Make the last change of a memory on the server an earlier or later one."""
    conn.execute("UPDATE pgrecall.memories SET updated_at = updated_at + %s WHERE id = %s", (by, id))


EARLIER, LATER = timedelta(hours=-1), timedelta(hours=1)


def test_the_later_edit_wins_and_the_other_is_kept(
    conn: Connection[Any], copy: OfflineClient, path: Path
) -> None:
    for by, winner in ((EARLIER, "mine"), (LATER, "theirs")):
        id = remember(conn, f"text {winner}", tags=["a"])
        copy.pull()
        copy.update(id, content=f"of the copy, {winner}")
        rows(conn, "update_memory", id, content=f"of the server, {winner}", tags=["b"])
        moved_clock(conn, id, by)
        (settled,) = copy.push().settled
        assert (settled.memory_id, settled.winner) == (id, winner)
        assert settled.kept is not None
        won, lost = ("copy", "server") if winner == "mine" else ("server", "copy")
        row, kept = stored(conn, id), stored(conn, settled.kept)
        assert (row["content"], row["superseded_by"]) == (f"of the {won}, {winner}", None)
        assert (kept["content"], kept["superseded_by"]) == (f"of the {lost}, {winner}", id)
        assert kept["metadata"]["conflict"] == {"with": id, "lost": "theirs" if winner == "mine" else "mine"}
        assert kept["tags"] == (["b"] if lost == "server" else ["a"])
        copy.pull()
        assert in_copy(path) == on_server(conn)
        found = contents(copy.recall(f"of the, {winner}", include_superseded=True))
        assert {f"of the copy, {winner}", f"of the server, {winner}"} <= set(found)
        assert contents(copy.recall(f"{winner}")) == [f"of the {won}, {winner}"]


def test_forgetting_and_editing_are_a_conflict(
    conn: Connection[Any], copy: OfflineClient, path: Path
) -> None:
    ids = {name: remember(conn, f"text {name}") for name in ("a", "b", "c", "d")}
    copy.pull()
    copy.update(ids["a"], content="edited a")
    copy.update(ids["b"], content="edited b")
    copy.forget(ids["c"])
    copy.forget(ids["d"])
    for name in "ab":
        rows(conn, "forget", ids[name])
    for name in "cd":
        rows(conn, "update_memory", ids[name], content=f"edited {name}")
    for name in "ac":
        moved_clock(conn, ids[name], EARLIER)
    for name in "bd":
        moved_clock(conn, ids[name], LATER)
    settled = {one.memory_id: one for one in copy.push().settled}
    winners = {name: settled[ids[name]].winner for name in ids}
    assert winners == {"a": "mine", "b": "theirs", "c": "mine", "d": "theirs"}
    assert alive(conn) == ["edited d", "edited a"] or sorted(alive(conn)) == ["edited a", "edited d"]
    copy.pull()
    assert in_copy(path) == on_server(conn)
    assert sorted(contents(copy.recall("edited"))) == ["edited a", "edited d"]
    assert sorted(contents(copy.recall("edited", include_superseded=True))) == [
        f"edited {name}" for name in "abcd"
    ]


def test_both_superseded_it(conn: Connection[Any], copy: OfflineClient, path: Path) -> None:
    for by, winner in ((EARLIER, "mine"), (LATER, "theirs")):
        id = remember(conn, f"start {winner}")
        copy.pull()
        copy.supersede(id, f"copy {winner}")
        rows(conn, "supersede", id, f"server {winner}")
        moved_clock(conn, id, by)
        (settled,) = copy.push().settled
        assert settled.winner == winner
        expected = f"copy {winner}" if winner == "mine" else f"server {winner}"
        copy.pull()
        assert in_copy(path) == on_server(conn)
        assert contents(copy.recall(winner)) == [expected]
        assert len(copy.recall(winner, include_superseded=True)) == 3


def test_the_same_edit_on_both_sides_is_none(conn: Connection[Any], copy: OfflineClient) -> None:
    id = remember(conn, "a text")
    copy.pull()
    copy.update(id, content="the same text")
    rows(conn, "update_memory", id, content="the same text")
    assert copy.push().settled == ()
    assert scalar(conn, "SELECT count(*) FROM pgrecall.memories") == 1


def test_a_conflict_does_not_make_public_what_is_sensitive(
    conn: Connection[Any], copy: OfflineClient
) -> None:
    id = remember(conn, "a number: 4711")
    copy.pull()
    copy.update(id, title="the number")
    rows(conn, "update_memory", id, is_sensitive=True)
    moved_clock(conn, id, EARLIER)
    copy.push()
    assert scalar(conn, "SELECT bool_and(is_sensitive) FROM pgrecall.memories")
    assert scalar(conn, "SELECT count(*) FROM pgrecall.memories") == 2
    copy.pull()
    assert contents(copy.recall("number", include_superseded=True)) == []


@pytest.mark.parametrize("is_pulled", [False, True])
def test_what_was_done_to_a_refused_memory_is_done_when_it_is_retried(
    dsn: str, conn: Connection[Any], path: Path, is_pulled: bool
) -> None:
    share(conn)
    with OfflineClient(path, make_conninfo(dsn, options="-c role=pgrecall_reader")) as reader:
        reader.pull()
        edited, forgotten = reader.remember("tea at four"), reader.remember("to be forgotten")
        reader.update(edited, content="tea at five")
        reader.update(edited, tags=["tea"])
        reader.forget(forgotten)
        later = reader.supersede(edited, "tea at six")
        reader.update(later, title="tea")
        assert len(reader.push().refused) == 7
        if is_pulled:
            reader.pull()
    # As if the role had been granted it.
    with OfflineClient(path, dsn) as copy:
        assert copy.retry() == 7
        report = copy.push()
        assert (report.sent, report.settled, report.refused) == (7, (), ())
        assert alive(conn) == ["tea at six"]
        assert scalar(conn, "SELECT count(*) FROM pgrecall.memories") == 3
        found = {row["content"]: row for row in on_server(conn)}
        assert found["tea at five"]["tags"] == ["tea"]
        assert found["tea at six"]["title"] == "tea"
        copy.pull()
        assert in_copy(path) == on_server(conn)


# -- once

KILLED = """
import os, signal, sys
from pgrecall.contrib.offline import OfflineClient
from pgrecall.contrib.offline._sync import copying as copying_sync

copy = OfflineClient(sys.argv[1], sys.argv[2])
def kill(*arguments, **options):
    os.kill(os.getpid(), signal.SIGKILL)
if sys.argv[3] == "after":      # the server has committed, the file does not know
    copy._store.finish = kill
elif sys.argv[3] == "before":   # the file knows the transaction, the server has not committed
    claim = copy._store.claim
    copy._store.claim = lambda *given: (claim(*given), kill())
else:                           # nobody knows anything
    copy._store.claim = kill
copy.push()
"""


@pytest.mark.parametrize("when", ["after", "before", "first"])
def test_a_push_that_is_killed_stores_nothing_twice(
    dsn: str, conn: Connection[Any], copy: OfflineClient, path: Path, when: str
) -> None:
    id = remember(conn, "old")
    copy.pull()
    new = copy.remember("new")
    copy.supersede(id, "newer than old")
    copy.update(new, content="new, updated")
    for _ in range(2 if when == "after" else 1):
        killed = subprocess.run(
            [sys.executable, "-c", KILLED, str(path), dsn, when],
            check=False,
            capture_output=True,
            timeout=180,
        )
        assert killed.returncode == -signal.SIGKILL, killed.stderr
        if when == "after":
            # Somebody else goes on with what is there.
            rows(conn, "update_memory", id, title="by another")
    copy.push()
    assert copy.queued() == []
    assert sorted(alive(conn)) == ["new, updated", "newer than old"]
    assert scalar(conn, "SELECT count(*) FROM pgrecall.memories") == 3
    copy.pull()
    assert in_copy(path) == on_server(conn)


def _interrupted(number: int) -> None:
    raise KeyboardInterrupt


def test_without_a_trace_of_the_transaction_the_key_sees_to_it(
    conn: Connection[Any], copy: OfflineClient, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after the restore of an older backup: the number is one that the server has not given out yet."""
    id = remember(conn, "old")
    copy.pull()
    copy.remember("new")
    copy.supersede(id, "newer than old")
    for _ in range(2):
        with monkeypatch.context() as patched:
            patched.setattr(copy._store, "finish", _interrupted)
            with pytest.raises(KeyboardInterrupt):
                copy.push()
        with copy._store.file.writing() as connection:
            connection.execute("UPDATE queue SET sent_in = '9000000000000000000' WHERE sent_in IS NOT NULL")
    copy.push()
    assert alive(conn) == ["new", "newer than old"]
    copy.pull()
    assert in_copy(path) == on_server(conn)


def test_anothers_transaction_of_the_same_number_is_not_taken_for_it(
    conn: Connection[Any], copy: OfflineClient
) -> None:
    """As after a crash of the server, which gives numbers that it has lost to others."""
    id = remember(conn, "old")
    copy.pull()
    copy.update(id, content="updated")
    (write,) = copy.queued()
    row = conn.execute("SELECT pg_current_xact_id()::text, now()").fetchone()
    assert row is not None
    result = {"id": id, "outcome": "applied", "kept": None, "updated_at": row[1], "written_at": row[1]}
    assert copy._store.claim(write.number, row[0], result)
    copy.push()
    assert alive(conn) == ["updated"]


def test_two_that_push_at_once(dsn: str, conn: Connection[Any], copy: OfflineClient, path: Path) -> None:
    for number in range(40):
        copy.remember(f"memory {number}")
    failed: list[BaseException] = []

    def push() -> None:
        try:
            with OfflineClient(path, dsn) as other:
                other.push()
        except BaseException as error:  # noqa: BLE001 - asserted below
            failed.append(error)

    threads = [threading.Thread(target=push) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert failed == []
    assert alive(conn) == [f"memory {number}" for number in range(40)]
    copy.pull()
    assert in_copy(path) == on_server(conn)


@pytest.mark.parametrize("how", ["discarded", "refused", "sent"])
def test_a_refusal_that_comes_after_anothers_answer(
    dsn: str,
    conn: Connection[Any],
    copy: OfflineClient,
    path: Path,
    monkeypatch: pytest.MonkeyPatch,
    how: str,
) -> None:
    """Two send the same write at once, and the second hears of it after the first is done."""
    copy.remember("tea", language="klingon")
    with OfflineClient(path, dsn) as other:
        refuse = copy._store.refuse

        def refused(number: int, error: PgrecallError) -> None:
            if how == "sent":
                row = conn.execute("SELECT pg_current_xact_id()::text, now()").fetchone()
                assert row is not None
                result = {
                    "id": 1,
                    "outcome": "applied",
                    "kept": None,
                    "updated_at": row[1],
                    "written_at": row[1],
                }
                assert other._store.claim(number, row[0], result)
            else:
                assert len(other.push().refused) == 1
            if how == "discarded":
                assert other.discard(number)
            monkeypatch.undo()
            refuse(number, error)
            if how == "sent":
                assert copy.refused() == []

        monkeypatch.setattr(copy._store, "refuse", refused)
        copy.push()
        assert (copy.queued(), len(copy.refused())) == ([], 0 if how == "discarded" else 1)


def test_another_takes_back_what_has_changed_nothing(
    conn: Connection[Any], copy: OfflineClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    remember(conn, "tea", external_id="e")
    copy.remember("tea", external_id="e", on_conflict="keep")
    finish = copy._store.finish

    def finished(number: int) -> object:
        sending = copy._store.next_write()
        assert sending is not None
        assert sending.transaction is not None
        copy._store.unclaim(number, sending.transaction)
        monkeypatch.undo()
        return finish(number)

    monkeypatch.setattr(copy._store, "finish", finished)
    copy.push()
    assert copy.queued() == []
    assert alive(conn) == ["tea"]


def test_whatever_is_done_on_both_sides_the_copy_is_the_servers(
    dsn: str, conn: Connection[Any], tmp_path: Path
) -> None:
    dice = random.Random(20_26)
    with (
        OfflineClient(tmp_path / "a.db", dsn) as a,
        OfflineClient(tmp_path / "b.db", dsn) as b,
        Client(dsn) as c,
    ):
        for each in (a, b):
            each.pull()
        for number in range(110):
            side: Any = dice.choice([a, b, c])
            known = [row["id"] for row in on_server(conn)] or [0]
            id = dice.choice(known)
            try:
                match dice.randrange(7):
                    case 0 | 1:
                        side.remember(f"memory {number}", external_id=dice.choice([None, f"e{number % 9}"]))
                    case 2 | 3:
                        side.update(id, content=f"text {number}", tags=[str(number)])
                    case 4:
                        side.supersede(id, f"successor {number}")
                    case 5:
                        side.forget(id)
                    case _ if side is not c:
                        side.pull()
            except (NotFound, InvalidInput, Conflict):
                continue
        for each in (a, b, a, b):
            each.pull()
        expected = on_server(conn)
        assert len(expected) > 15
        assert a.queued() == b.queued() == []
        assert in_copy(tmp_path / "a.db") == expected
        assert in_copy(tmp_path / "b.db") == expected
