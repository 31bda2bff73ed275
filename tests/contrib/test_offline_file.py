"""The file of an offline copy: whose it is, what it is no longer to hold, and what is said when it cannot be used."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

from pgrecall import ConnectionFailed, CopyUnusable, TimedOut
from pgrecall.contrib.offline import OfflineClient, connect
from pgrecall.contrib.offline.file import APPLICATION_ID, SCHEMA_VERSION, CopyFile
from support.memories import call, remember, remember_many, rows, scalar
from support.offline import bytes_of, contents, in_copy, on_server

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from psycopg import Connection

SECRET = "zanzibar4711"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "copy.db"


@pytest.fixture
def copy(dsn: str, path: Path) -> Iterator[OfflineClient]:
    with OfflineClient(path, dsn) as opened:
        opened.pull()
        yield opened


def test_what_kind_of_file_it_is(conn: Connection[Any], copy: OfflineClient, path: Path) -> None:
    remember(conn, "a memory")
    copy.pull()
    assert {each.name: each.stat().st_mode & 0o777 for each in path.parent.iterdir()} == dict.fromkeys(
        ("copy.db", "copy.db-wal", "copy.db-shm"), 0o600
    )
    with sqlite3.connect(path) as connection:
        values = [
            connection.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("application_id", "user_version", "journal_mode")
        ]
    connection.close()
    assert values == [APPLICATION_ID, SCHEMA_VERSION, "wal"]
    path.chmod(0o644)
    with OfflineClient(path) as again:
        assert again.status().memories == 1
    assert path.stat().st_mode & 0o777 == 0o600


# -- sensitive memories


def test_sensitive_memories_are_copied_only_if_asked_for(
    conn: Connection[Any], copy: OfflineClient, path: Path
) -> None:
    remember(conn, f"a secret {SECRET}", is_sensitive=True)
    remember(conn, "no secret")
    copy.pull()
    assert SECRET.encode() not in bytes_of(path)
    copy.pull(include_sensitive=True)
    assert in_copy(path) == on_server(conn, sensitive=True)
    assert len(copy.recall(SECRET)) == 1
    copy.remember(f"another {SECRET}", is_sensitive=True)
    copy.pull()
    assert len(in_copy(path)) == 3
    assert copy.pull(include_sensitive=False).removed == 2
    assert in_copy(path) == on_server(conn)
    assert SECRET.encode() not in bytes_of(path)


@pytest.mark.parametrize("how", ["sensitive", "forgotten", "updated", "deleted"])
def test_nothing_is_left_of_what_has_left_the_copy(
    conn: Connection[Any], copy: OfflineClient, path: Path, how: str
) -> None:
    others = [{"content": f"memory {number} of many others, which fill pages"} for number in range(300)]
    remember_many(conn, others)
    id = remember(
        conn,
        f"{SECRET} is the word " + "and more text " * 400,
        title=SECRET,
        tags=[SECRET],
        metadata={SECRET: 1},
    )
    remember_many(conn, others)
    copy.pull()
    assert SECRET.encode() in bytes_of(path)
    copy.update(id, content=f"{SECRET} is the word, and the copy has changed it")
    copy.push()
    match how:
        case "sensitive":
            rows(conn, "update_memory", id, is_sensitive=True)
        case "forgotten":
            rows(conn, "forget", id)
        case "deleted":
            conn.execute("DELETE FROM pgrecall.memories WHERE id = %s", (id,))
        case _:
            rows(conn, "update_memory", id, content="nothing", title="", tags=[], metadata={})
    report = copy.pull()
    assert report.is_purged
    assert copy.status().is_purged
    # Stems too: the index holds words, not text.
    for written in (SECRET, SECRET[:8]):
        assert written.encode() not in bytes_of(path)
    assert in_copy(path) == on_server(conn)


def test_a_reader_delays_the_purge(
    conn: Connection[Any], copy: OfflineClient, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    id = remember(conn, SECRET)
    copy.pull()
    reader = sqlite3.connect(path)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM memories").fetchone()
    rows(conn, "forget", id)
    copy._store.file._connection.execute("PRAGMA busy_timeout = 100")
    assert not copy.pull().is_purged
    assert not copy.status().is_purged
    reader.close()
    assert copy.pull().is_purged
    assert SECRET.encode() not in bytes_of(path)


def test_what_was_refused_is_emptied_when_the_memory_leaves(
    conn: Connection[Any], copy: OfflineClient, path: Path
) -> None:
    id = remember(conn, "a memory")
    copy.pull()
    copy.update(id, content=f"with {SECRET}", language="klingon")
    assert len(copy.pull().pushed.refused) == 1
    assert SECRET.encode() in bytes_of(path)
    rows(conn, "update_memory", id, is_sensitive=True)
    copy.pull()
    assert SECRET.encode() not in bytes_of(path)
    assert (copy.retry(), len(copy.refused())) == (0, 1)


@pytest.mark.parametrize("how", ["forgotten here", "refused", "superseding"])
def test_nothing_is_left_of_what_the_copy_itself_has_removed(
    conn: Connection[Any], copy: OfflineClient, path: Path, how: str
) -> None:
    text = f"the password is {SECRET}"
    if how == "forgotten here":
        id = copy.remember(f"the word is {SECRET}")
        copy.pull()
        copy.forget(id)
        copy.push()
        rows(conn, "erase", scalar(conn, "SELECT max(id) FROM pgrecall.memories"))
    else:
        call(conn, "pgrecall.set_secrets", "default", "refuse")
        id = remember(conn, "a memory")
        copy.pull()
        if how == "refused":
            copy.remember(text)
        else:
            copy.supersede(id, text)
        copy.push()
        [refusal] = copy.refused()
        assert copy.discard(refusal.number)
    assert SECRET.encode() in bytes_of(path)
    assert copy.pull().is_purged
    for written in (SECRET, SECRET[:8]):
        assert written.encode() not in bytes_of(path)
    assert in_copy(path) == on_server(conn)


# -- two processes

WRITER = """
import sys
from pgrecall.contrib.offline import OfflineClient
with OfflineClient(sys.argv[1]) as copy:
    for number in range(25):
        copy.remember(f"{sys.argv[2]} {number}")
        assert copy.recall(f"{sys.argv[2]} {number}")
"""


def test_two_processes_work_on_one_file(conn: Connection[Any], copy: OfflineClient, path: Path) -> None:
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(path), name], stderr=subprocess.PIPE)
        for name in ("apples", "pears")
    ]
    while any(writer.poll() is None for writer in writers):
        copy.pull()
    for writer in writers:
        assert writer.communicate(timeout=180)[1] == b""
        assert writer.returncode == 0
    copy.pull()
    found = on_server(conn)
    assert in_copy(path) == found
    for name in ("apples", "pears"):
        assert [row["content"] for row in found if name in row["content"]] == [
            f"{name} {number}" for number in range(25)
        ]


def test_a_file_that_stays_locked(copy: OfflineClient, path: Path) -> None:
    copy._store.file._connection.execute("PRAGMA busy_timeout = 50")
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(TimedOut, match="locked"):
        copy.remember("x")
    other.close()
    assert copy.remember("x") == -1


# -- files that cannot be used


def refused(path: Path, *words: str) -> None:
    with OfflineClient(path) as copy, pytest.raises(CopyUnusable) as caught:
        copy.recall("anything")
    assert caught.value.hint
    for word in words:
        assert word in caught.value.message


def test_no_file_and_an_empty_one(path: Path) -> None:
    refused(path, "there is no offline copy")
    assert not path.exists()
    path.touch()
    refused(path, "empty")


@pytest.mark.parametrize("is_ours", [False, True])
def test_a_pull_fills_an_empty_file(dsn: str, conn: Connection[Any], path: Path, is_ours: bool) -> None:
    """As `touch` leaves it, or a first pull that was killed after it had made the tables."""
    path.touch()
    if is_ours:
        CopyFile(path).close()
    remember(conn, "a memory")
    with OfflineClient(path, dsn) as copy:
        assert not copy.is_made()
        with pytest.raises(CopyUnusable, match="is empty"):
            copy.status()
        assert copy.pull().stored == 1
        assert copy.is_made()
    with connect(dsn, offline=path) as memory:
        assert memory.remember("another") > 0
    assert in_copy(path)[0]["content"] == "a memory"


def test_the_first_write_fills_an_empty_file(dsn: str, conn: Connection[Any], path: Path) -> None:
    path.touch()
    with connect(dsn, offline=path) as memory:
        assert memory.remember("a memory") > 0


def test_a_damaged_file(conn: Connection[Any], copy: OfflineClient, path: Path) -> None:
    remember_many(conn, [{"content": f"memory {number}"} for number in range(300)])
    copy.pull()
    copy.close()
    whole = path.read_bytes()
    for damaged in (
        b"this is no database at all" * 100,
        whole[:100] + b"\xff" * (len(whole) - 100),
        whole[:5000],
    ):
        path.write_bytes(damaged)
        refused(path, "damaged")
    # Damage further on is found when it is come across, and says the same.
    start = whole.index(b"memory 150") & ~4095
    path.write_bytes(whole[:start] + b"\xff" * 4096 + whole[start + 4096 :])
    with OfflineClient(path) as opened, pytest.raises(CopyUnusable, match="damaged"):
        opened.recall("memory", k=1000)


def test_anothers_file_and_another_version(copy: OfflineClient, path: Path, tmp_path: Path) -> None:
    copy.close()
    with sqlite3.connect(path) as connection:
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    connection.close()
    refused(path, "version")
    foreign = tmp_path / "foreign.db"
    with sqlite3.connect(foreign) as connection:
        connection.execute("CREATE TABLE t (x)")
    connection.close()
    before = foreign.read_bytes()
    refused(foreign, "another program")
    assert foreign.read_bytes() == before


def test_a_full_disk_leaves_the_file_as_it_was(
    conn: Connection[Any], copy: OfflineClient, path: Path
) -> None:
    remember(conn, "there before")
    copy.pull()
    connection = copy._store.file._connection
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    connection.execute(f"PRAGMA max_page_count = {pages}")
    before = in_copy(path)
    with pytest.raises(CopyUnusable, match="full"):
        copy.remember("x " * 20_000)
    remember(conn, "y " * 20_000)
    with pytest.raises(CopyUnusable, match="full"):
        copy.pull()
    assert in_copy(path) == before
    assert contents(copy.recall("before")) == ["there before"]
    connection.execute("PRAGMA max_page_count = 1000000")
    assert copy.pull().stored == 1


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_a_file_that_may_not_be_written(copy: OfflineClient, path: Path, public_dir: Path) -> None:
    copy.close()
    theirs = public_dir / "theirs"
    theirs.mkdir()
    theirs.chmod(0o755)
    shutil.copy(path, theirs / "copy.db")
    closed = public_dir / "closed"
    closed.mkdir()
    closed.chmod(0o700)
    shutil.copy(path, closed / "copy.db")
    os.seteuid(65534)
    try:
        refused(theirs / "copy.db", "cannot be used")
        refused(theirs / "nowhere" / "copy.db", "there is no offline copy")
        refused(closed / "copy.db", "cannot be used")
    finally:
        os.seteuid(0)


# -- whose copy it is


def test_another_database_is_refused_unless_the_namespace_has_moved_there(
    dsn: str, conn: Connection[Any], copy: OfflineClient, path: Path, new_database: Callable[..., str]
) -> None:
    remember(conn, "in the first")
    copy.pull()
    copy.remember("queued")
    copy.close()
    conn.close()
    clone = new_database(str(conninfo_to_dict(dsn)["dbname"]))
    with OfflineClient(path, clone) as other:
        for call in (other.push, other.pull):
            with pytest.raises(CopyUnusable, match="another database"):
                call()
        assert other.pull(moved=True).pushed.sent == 1
    with psycopg.connect(clone, autocommit=True) as there:
        assert in_copy(path) == on_server(there)
        there.execute("UPDATE pgrecall.namespaces SET created_at = created_at + interval '1 s'")
    with OfflineClient(path, clone) as other, pytest.raises(CopyUnusable, match="another database"):
        other.pull(moved=True)


def test_another_namespace_is_refused(
    dsn: str, conn: Connection[Any], copy: OfflineClient, path: Path
) -> None:
    name = "elsewhere"
    remember(conn, "somewhere else", namespace=name, create_namespace=True)
    copy.close()
    with OfflineClient(path, dsn, namespace=name) as other, pytest.raises(CopyUnusable, match="namespace"):
        other.pull()
    database = sql.Identifier(str(conninfo_to_dict(dsn)["dbname"]))
    conn.execute(sql.SQL("ALTER DATABASE {} SET pgrecall.namespace = {}").format(database, sql.Literal(name)))
    # A copy goes on with the namespace it is of, whatever is configured.
    with OfflineClient(path, dsn) as other:
        assert other.pull().stored == 0
        assert other.status().namespace == "default"
    with OfflineClient(path.with_name("new.db"), dsn) as new:
        assert new.pull().stored == 1
        assert new.status().namespace == name


def test_no_server(path: Path) -> None:
    with OfflineClient(path, "host=/nonexistent") as copy, pytest.raises(ConnectionFailed):
        copy.pull()
    assert not path.exists()
