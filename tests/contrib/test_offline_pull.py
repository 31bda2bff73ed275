"""What a pull brings into an offline copy and takes out of it, whatever happens meanwhile."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from pgrecall._async.client import AsyncClient
from pgrecall.contrib.offline import AsyncOfflineClient, OfflineClient
from pgrecall.contrib.offline.searching import ORIGINS
from pgrecall.contrib.offline.store import _COPIED
from pgrecall.contrib.offline.writing import _INHERITED, _OTHERS, LISTS, ORIGIN, TEXTS, TIMES
from support.memories import remember, remember_many, rows
from support.offline import contents, in_copy, on_server

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from psycopg import Connection


@pytest.fixture
def copy(dsn: str, tmp_path: Path) -> Iterator[OfflineClient]:
    with OfflineClient(tmp_path / "copy.db", dsn) as opened:
        yield opened


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "copy.db"


def test_pull_brings_what_has_changed_and_takes_away_what_is_gone(
    conn: Connection[Any], copy: OfflineClient, path: Path
) -> None:
    ids = remember_many(
        conn,
        [
            {"content": f"memory {number}", "tags": ["a", "ü"], "metadata": {"n": [number, None]}, "importance": 0.3,
             "title": "t", "occurred_at": "1961-04-12T06:07:00.123456Z", "session": "s", "position": number}
            for number in range(600)
        ],
    )  # fmt: skip
    report = copy.pull()
    assert (report.stored, report.removed, report.is_purged) == (600, 0, True)
    assert in_copy(path) == on_server(conn)
    assert copy.pull().stored == 0

    rows(conn, "update_memory", ids[0], content="another text")
    (successor,) = rows(conn, "supersede", ids[1], "what holds now")
    rows(conn, "forget", ids[2])
    rows(conn, "update_memory", ids[3], is_sensitive=True)
    conn.execute("SELECT pgrecall.create_namespace('elsewhere')")
    conn.execute(
        "UPDATE pgrecall.memories SET namespace_id = (SELECT id FROM pgrecall.namespaces WHERE name = 'elsewhere') WHERE id = %s",
        (ids[4],),
    )
    conn.execute("DELETE FROM pgrecall.memories WHERE id = %s", (ids[5],))
    report = copy.pull()
    assert (report.stored, report.removed) == (3, 4)
    assert in_copy(path) == on_server(conn)
    assert not {ids[2], ids[3], ids[4], ids[5]} & {row["id"] for row in in_copy(path)}
    assert successor in {memory.id for memory in copy.recall("what holds now")}


def test_a_row_whose_transaction_commits_late_is_not_missed(
    dsn: str, conn: Connection[Any], copy: OfflineClient, path: Path
) -> None:
    remember(conn, "the first of its language")
    with psycopg.connect(dsn) as late:
        remember(late, "committed late")
        remember(conn, "committed at once")
        copy.pull()
        late.commit()
    copy.pull()
    assert in_copy(path) == on_server(conn)
    assert len(in_copy(path)) == 3


def test_an_interrupted_pull_is_gone_on_with(
    conn: Connection[Any], copy: OfflineClient, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remember_many(conn, [{"content": f"memory {number}"} for number in range(500)])
    taken = copy._store.replace
    calls = iter(range(10))

    def once(found: Any) -> int:
        if next(calls):
            raise KeyboardInterrupt
        return taken(found)

    monkeypatch.setattr(copy._store, "replace", once)
    with pytest.raises(KeyboardInterrupt):
        copy.pull()
    assert copy.status().pulled_at is None
    assert len(in_copy(path)) == 200
    monkeypatch.undo()
    assert copy.pull().stored == 300
    assert in_copy(path) == on_server(conn)


def test_a_pull_does_not_undo_what_is_still_queued(
    conn: Connection[Any], copy: OfflineClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    id = remember(conn, "the first text")
    copy.pull()
    push = copy._push

    def written_meanwhile(*given: Any) -> Any:
        pushed = push(*given)
        copy.update(id, content="a later text")
        return pushed

    monkeypatch.setattr(copy, "_push", written_meanwhile)
    rows(conn, "update_memory", id, content="a text of the server")
    copy.pull()
    assert contents(copy.recall("text")) == ["a later text"]


async def _some(dsn: str, path: Path) -> tuple[list[str], list[str]]:
    async with AsyncOfflineClient(path, dsn) as memory:
        await memory.pull()
        await memory.remember("an asynchronous thought", session="s")
        found = await memory.recall("thought")
        dated = await memory.timeline("thought")
        assert (await memory.push()).sent == 1
        return contents(found), contents(dated)


def test_the_asynchronous_client(dsn: str, path: Path) -> None:
    import asyncio

    assert asyncio.run(_some(dsn, path)) == (["an asynchronous thought"], ["an asynchronous thought"])


def test_it_has_the_methods_of_the_client() -> None:
    for name in ("recall", "timeline", "remember", "remember_many", "update", "supersede", "forget", "close"):
        assert callable(getattr(AsyncOfflineClient, name))
        assert callable(getattr(AsyncClient, name))


def test_a_row_that_changed_at_its_source_at_the_same_time_is_fetched(
    conn: Connection[Any], copy: OfflineClient, path: Path
) -> None:
    def imported(tags: list[str], fingerprint: str) -> None:
        row = {
            "memory": {"external_id": "x:1", "content": "tea", "tags": tags},
            "import": {"kind": "x", "id": "x:1", "fingerprint": fingerprint},
            "updated_at": "2026-01-01T00:00:00Z",
        }
        rows(conn, "pgrecall.import_rows", Jsonb([row]))

    imported(["green"], "f")
    copy.pull()
    imported(["black"], "g")
    assert copy.pull().stored == 1
    assert in_copy(path) == on_server(conn)
    assert [memory.tags for memory in copy.recall("tea")] == [("black",)]


def test_a_copy_takes_every_column_that_the_server_sends(conn: Connection[Any]) -> None:
    query = """
        SELECT a.name FROM pg_proc p
        CROSS JOIN LATERAL unnest(p.proargnames, p.proargmodes) a (name, mode)
        WHERE p.oid = 'pgrecall.sync_memories'::regproc AND a.mode = 't'
    """
    assert {name for (name,) in conn.execute(query)} == set(_COPIED)


def test_a_successor_has_in_a_copy_what_it_has_on_the_server(conn: Connection[Any]) -> None:
    [old] = remember_many(
        conn,
        [{
            "content": "tea", "title": "T", "category": "c", "tags": ["t"], "expanded_keywords": ["k"],
            "importance": 0.25, "metadata": {"m": 1}, "source": "s", "session": "d", "speaker": "Lea", "position": 7,
            "language": "german", "is_sensitive": True, "occurred_at": "2026-01-01", "created_at": "2026-01-02",
            "valid_from": "2026-01-03", "valid_to": "2126-01-03", "external_id": "e", "expires_at": "2126-01-01",
            "origin": "tool",
        }],
    )  # fmt: skip
    [(new,)] = conn.execute("SELECT supersede(%s, 'mate')", [old]).fetchall()
    query = """
        SELECT o.key, o.value = n.value FROM pgrecall.memories a, pgrecall.memories b,
               jsonb_each(to_jsonb(a)) o JOIN jsonb_each(to_jsonb(b)) n ON n.key = o.key
        WHERE a.id = %s AND b.id = %s AND o.key IN (
            SELECT attname FROM pg_attribute WHERE attrelid = 'pgrecall.memory_fields'::regclass
        )
    """
    same = dict(conn.execute(query, [old, new]).fetchall())
    assert len(same) == len({*TEXTS, *LISTS, *TIMES, *_OTHERS, ORIGIN})
    assert {name for name, is_same in same.items() if is_same} == {*_INHERITED, ORIGIN}


def test_a_copy_orders_origins_as_the_server_does(conn: Connection[Any]) -> None:
    [(origins,)] = conn.execute("SELECT enum_range(NULL::pgrecall.memory_origin)::text[]").fetchall()
    assert ORIGINS.split() == origins
