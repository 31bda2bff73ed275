"""Texts that the server makes sensitive or redacts: they leave the file of a copy with the push."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pgrecall.contrib.offline import FallbackClient, OfflineClient, connect
from support.memories import call, remember, rows, scalar, stored
from support.offline import bytes_of, contents, in_copy, on_server

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from psycopg import Connection

PASSWORD = "tiger" + "2041"
SAID = f"The wifi password is {PASSWORD}"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "copy.db"


@pytest.fixture
def memory(dsn: str, path: Path) -> Iterator[FallbackClient]:
    with connect(dsn, offline=path) as opened:
        opened.pull()
        yield opened


def assert_gone(path: Path) -> None:
    for written in (PASSWORD, PASSWORD[:5]):
        assert written.encode() not in bytes_of(path)


WRITES: dict[str, Callable[[Any, int], object]] = {
    "remember": lambda memory, _: memory.remember(SAID),
    "remember_many": lambda memory, _: memory.remember_many([{"content": "tea"}, {"content": SAID}]),
    "update": lambda memory, id: memory.update(id, content=SAID),
    "supersede": lambda memory, id: memory.supersede(id, SAID),
}


@pytest.mark.parametrize("policy", ["sensitive", "redact"])
@pytest.mark.parametrize("how", WRITES)
def test_it_leaves_the_file_with_the_write(
    conn: Connection[Any], memory: FallbackClient, path: Path, how: str, policy: str
) -> None:
    call(conn, "pgrecall.set_secrets", "default", policy)
    id = remember(conn, "The wifi")
    memory.pull()
    WRITES[how](memory, id)
    assert_gone(path)
    assert memory.offline.status().is_purged
    assert SAID not in contents(memory.offline.recall("wifi", include_superseded=True))
    # What was redacted is there as it was stored.
    shown = [row["content"] for row in on_server(conn)]
    assert sorted(row["content"] for row in in_copy(path)) == sorted(shown)
    assert any("[redacted" in text for text in shown) == (policy == "redact")
    memory.pull()
    assert in_copy(path) == on_server(conn)


def test_a_copy_of_sensitive_memories_has_it_as_such(dsn: str, conn: Connection[Any], path: Path) -> None:
    with OfflineClient(path, dsn) as copy:
        copy.pull(include_sensitive=True)
        copy.remember(SAID)
        copy.push()
        (row,) = in_copy(path)
        assert (row["content"], row["is_sensitive"]) == (SAID, True)
        assert contents(copy.recall("wifi", include_sensitive=False)) == []
        copy.pull()
        assert in_copy(path) == on_server(conn, sensitive=True)


def test_what_waits_about_it_is_no_conflict(dsn: str, conn: Connection[Any], path: Path) -> None:
    """It is sent with the base that it had, although the copy has the memory no more."""
    old = remember(conn, "The wifi")
    with OfflineClient(path, dsn) as copy:
        copy.pull()
        copy.update(old, content=SAID)
        copy.update(old, title="wifi")
        new = copy.remember(SAID)
        copy.update(new, title="another")
        copy.forget(copy.remember(f"{SAID} too"))
        report = copy.push()
        assert (report.sent, report.settled, report.refused) == (6, (), ())
        assert [stored(conn, copy.stored_id(id))["title"] for id in (old, new)] == ["wifi", "another"]
        assert scalar(conn, "SELECT count(*) FROM pgrecall.memories WHERE deleted_at IS NULL") == 2
        assert in_copy(path) == []
        assert_gone(path)


def test_what_the_server_has_made_sensitive_meanwhile(dsn: str, conn: Connection[Any], path: Path) -> None:
    id = remember(conn, "The word is tiger" + "2041")
    with OfflineClient(path, dsn) as copy:
        copy.pull()
        copy.update(id, title="a word")
        rows(conn, "update_memory", id, is_sensitive=True)
        copy.push()
        assert in_copy(path) == []
        assert_gone(path)


def test_an_interrupted_push_has_taken_it_out(
    dsn: str, conn: Connection[Any], path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(number: int, error: object) -> None:
        raise KeyboardInterrupt

    with OfflineClient(path, dsn) as copy:
        copy.pull()
        copy.remember(SAID)
        copy.remember("in no language", language="klingon")
        monkeypatch.setattr(copy._store, "refuse", interrupted)
        with pytest.raises(KeyboardInterrupt):
            copy.push()
        assert [row["content"] for row in in_copy(path)] == ["in no language"]
        assert_gone(path)


def test_what_is_stored_as_it_was_given_stays(dsn: str, conn: Connection[Any], path: Path) -> None:
    old = remember(conn, "old")
    with OfflineClient(path, dsn) as copy:
        copy.pull()
        new = copy.remember(
            "new", tags=["t"], metadata={"a": 1}, importance=0.3, title="", valid_to="infinity", session="s"
        )
        copy.supersede(
            old, successor=new, metadata={"b": 2}, importance=0.25, origin="web", occurred_at="2026-01-01"
        )
        copy.supersede(copy.remember("a"), "b", occurred_at="2026-01-01", metadata={"c": 1})
        fetched: list[object] = []
        copy._store.replace = fetched.append  # type: ignore[method-assign, assignment]
        assert copy.push().sent == 4
        assert fetched == []
