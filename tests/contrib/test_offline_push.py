"""Writes to an offline copy: in recall at once, on the server once, in order; and what becomes of conflicts."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from psycopg.conninfo import make_conninfo

from pgrecall import Client, Conflict, InvalidInput, NeedsServer, NotFound
from pgrecall.contrib.offline import OfflineClient
from support.memories import remember, share, stored
from support.offline import alive, contents, in_copy, on_server

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
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


def everything(conn: Connection[Any]) -> dict[str, dict[str, Any]]:
    return {row["content"]: row for row in on_server(conn)}


# -- writes


def test_a_successor_inherits_here_what_it_inherits_on_the_server(
    conn: Connection[Any], copy: OfflineClient, path: Path
) -> None:
    fields = {
        "title": "T", "category": "c", "tags": ["t"], "expanded_keywords": ["k"], "importance": 0.9, "metadata": {"m": 1},
        "source": "s", "session": "x", "speaker": "Lea", "language": "german", "expires_at": "2199-01-01T00:00:00Z",
        "occurred_at": "2020-01-01T00:00:00Z", "valid_to": "2198-01-01T00:00:00Z", "position": 3, "external_id": "e",
    }  # fmt: skip
    number = remember(conn, "Lea wohnt in Bonn", **fields)
    copy.pull()
    copy.supersede(number, "Lea wohnt in Ulm")
    # Its time, its key and its id are those of the write, or the server's.
    of_the_write = {"id", "external_id", "created_at", "updated_at", "valid_from", "occurred_at"}

    def successor(rows: list[dict[str, Any]]) -> dict[str, Any]:
        [row] = [row for row in rows if row["content"] == "Lea wohnt in Ulm"]
        return {name: value for name, value in row.items() if name not in of_the_write}

    here = successor(in_copy(path))
    copy.push()
    assert here == successor(on_server(conn))


def test_a_successor_that_is_there_takes_the_origin(
    conn: Connection[Any], copy: OfflineClient, path: Path
) -> None:
    old, new = remember(conn, "Lea lives in Bonn"), remember(conn, "Lea lives in Ulm")
    copy.pull()
    copy.supersede(old, successor=new, origin="web")
    assert [row["origin"] for row in in_copy(path) if row["id"] == new] == ["web"]
    copy.push()
    assert stored(conn, new)["origin"] == "web"


def test_writes_are_seen_at_once_and_sent_in_order(
    conn: Connection[Any], copy: OfflineClient, path: Path
) -> None:
    old = remember(conn, "Lea lives in Bonn", tags=["Lea"])
    gone = remember(conn, "to be forgotten")
    copy.pull()
    new = copy.remember("Lea has a cat", tags=["Lea"], importance=0.9, metadata={"a": [1]})
    assert new < 0
    assert copy.update(new, content="Lea has two cats", title="cats")
    assert not copy.update(new, title="cats")
    later = copy.supersede(old, "Lea lives in Ulm")
    last = copy.supersede(later, "Lea lives in Trier", occurred_at=datetime(2026, 1, 1, tzinfo=UTC))
    assert copy.forget(gone)
    assert not copy.forget(gone)
    assert sorted(contents(copy.recall("Lea lives has cats forgotten"))) == [
        "Lea has two cats",
        "Lea lives in Trier",
    ]
    superseded = copy.recall("Lea lives", include_superseded=True)
    assert {"Lea lives in Bonn", "Lea lives in Ulm"} < set(contents(superseded))
    assert [write.kind for write in copy.queued()] == [
        "remember",
        "update",
        "supersede",
        "supersede",
        "forget",
    ]
    before = copy.status()
    assert (before.queued, before.refused) == (5, 0)

    report = copy.push()
    assert (report.sent, report.settled, report.refused) == (5, (), ())
    assert alive(conn) == ["Lea has two cats", "Lea lives in Trier"]
    found = everything(conn)
    assert found["Lea lives in Bonn"]["superseded_by"] == copy.stored_id(later)
    assert found["Lea lives in Ulm"]["superseded_by"] == copy.stored_id(last)
    assert found["Lea has two cats"]["metadata"] == {"a": [1]}
    # An id of the time before goes on to work, and a further write is no conflict.
    assert copy.update(new, content="Lea has three cats")
    assert copy.push().settled == ()
    copy.pull()
    assert in_copy(path) == on_server(conn)
    assert copy.stored_id(new) == found["Lea has two cats"]["id"]


def test_remember_many_and_external_ids(conn: Connection[Any], copy: OfflineClient, path: Path) -> None:
    first, second = copy.remember_many(
        [
            {"content": "one", "external_id": "e", "occurred_at": datetime(2025, 1, 1, tzinfo=UTC)},
            {"content": "two"},
        ]
    )
    assert copy.remember("one", external_id="e") == first
    assert copy.remember("another", external_id="e", on_conflict="keep") == first
    with pytest.raises(Conflict):
        copy.remember("another", external_id="e")
    assert copy.remember("one, updated", external_id="e", on_conflict="update") == first
    with pytest.raises(InvalidInput):
        copy.remember_many([{"content": "three"}, {"content": " "}])
    copy.push()
    assert alive(conn) == ["one, updated", "two"]
    copy.pull()
    assert in_copy(path) == on_server(conn)
    assert second < 0 < copy.stored_id(second)


def test_memories_are_read_before_the_file_is_locked(conn: Connection[Any], copy: OfflineClient) -> None:
    """Whatever they are made from: a namespace is compared with the file's, and a generator may recall."""
    remember(conn, "tea")
    copy.pull()
    memories = ({"content": f"{text} again", "namespace": "default"} for text in contents(copy.recall("tea")))
    assert len(copy.remember_many(memories)) == 1
    recalled = ({"content": contents(copy.recall(word))[0] + " and milk"} for word in ("tea", "again"))
    assert len(copy.remember_many(recalled)) == 2
    with pytest.raises(InvalidInput, match="not of namespace"):
        copy.remember_many([{"content": "x", "namespace": "elsewhere"}])
    assert len(copy.queued()) == 3


def test_what_the_arguments_refuse(conn: Connection[Any], copy: OfflineClient) -> None:
    id = remember(conn, "a fact")
    copy.pull()
    refused: list[Callable[[], object]] = [
        lambda: copy.remember(" "),
        lambda: copy.remember("x", importance=2),
        lambda: copy.remember("x", namespace="elsewhere"),
        lambda: copy.supersede(id),
        lambda: copy.supersede(id, "x", successor=id),
        lambda: copy.supersede(id, successor=id),
    ]
    for wrong in refused:
        with pytest.raises(InvalidInput):
            wrong()
    other = copy.supersede(id, "another fact")
    refused = [lambda: copy.supersede(id, "x"), lambda: copy.supersede(other, successor=id)]
    for wrong in refused:
        with pytest.raises(InvalidInput):
            wrong()
    assert copy.supersede(id, successor=other) == other
    with pytest.raises(NotFound):
        copy.update(-100, content="x")
    with pytest.raises(NeedsServer):
        copy.remember("a secret", is_sensitive=True)
    with pytest.raises(NeedsServer):
        copy.update(id, is_sensitive=True)
    assert len(copy.queued()) == 1


def test_supersede_by_what_is_there(conn: Connection[Any], copy: OfflineClient, path: Path) -> None:
    old, new = remember(conn, "old"), remember(conn, "new")
    copy.pull()
    assert copy.supersede(old, successor=new, metadata={"why": "moved"}) == new
    copy.push()
    assert stored(conn, old)["superseded_by"] == new
    assert stored(conn, new)["metadata"] == {"why": "moved"}
    copy.pull()
    assert in_copy(path) == on_server(conn)


def test_infinity_takes_an_end_away(conn: Connection[Any], copy: OfflineClient, path: Path) -> None:
    ends = {"valid_to": "2198-01-01T00:00:00Z", "expires_at": "2199-01-01T00:00:00Z"}
    old, theirs = remember(conn, "an end", **ends), remember(conn, "an end of both", **ends)
    copy.pull()
    for id in (old, theirs):
        assert copy.update(id, valid_to="infinity", expires_at="infinity")
        assert not copy.update(id, valid_to="infinity")
        assert copy.update(id, title="a title")
    ids = [
        copy.remember("no end", valid_to="infinity", expires_at="infinity"),
        *copy.remember_many([{"content": "none either", "valid_to": "infinity", "expires_at": "infinity"}]),
    ]
    ids.append(copy.supersede(ids[0], "a successor"))
    assert copy.update(ids[1], tags=["t"])
    # An edit on both sides sends all fields of the copy.
    conn.execute(
        "UPDATE pgrecall.memories SET updated_at = updated_at - interval '1 h' WHERE id = %s", (theirs,)
    )
    assert len(contents(copy.recall("end none successor title", include_superseded=True))) == 5
    assert copy.push().refused == ()
    for id in (old, theirs, *map(copy.stored_id, ids[1:])):
        found = stored(conn, id)
        assert (found["valid_to"], found["expires_at"]) == (None, None)
    copy.pull()
    assert in_copy(path) == on_server(conn)


@pytest.mark.parametrize(
    "fields", [{"valid_to": "-infinity"}, {"expires_at": "-infinity"}, {"occurred_at": "infinity"}]
)
def test_another_infinity_is_refused_as_by_the_client(
    dsn: str, conn: Connection[Any], copy: OfflineClient, fields: dict[str, Any]
) -> None:
    id = remember(conn, "a memory")
    copy.pull()
    said = set()
    with Client(dsn) as client:
        for each in (client, copy):
            calls: list[Callable[..., object]] = [
                lambda each=each: each.update(id, **fields),
                lambda each=each: each.remember("x", **fields),
                lambda each=each: each.remember_many(iter([{"content": "x", **fields}])),
            ]
            for wrong in calls:
                with pytest.raises(InvalidInput, match="is not a time") as caught:
                    wrong()
                assert caught.value.hint
                said.add(caught.value.hint)
    assert len(said) == 1
    assert copy.queued() == []


# -- what the server refuses


def test_a_refused_write_is_set_aside_and_the_others_go_on(
    conn: Connection[Any], copy: OfflineClient, path: Path
) -> None:
    remember(conn, "the server's", external_id="taken")
    taken = copy.remember("mine", external_id="taken")
    copy.update(taken, title="a title")
    copy.remember("fine")
    copy.remember("in no language", language="klingon")
    report = copy.push()
    assert (report.sent, len(report.refused)) == (1, 3)
    assert [write.kind for write in copy.refused()] == ["remember", "update", "remember"]
    assert all(write.reason for write in copy.refused())
    assert "belongs to memory" in str(report.refused[0].reason)
    assert alive(conn) == ["the server's", "fine"]
    assert copy.pull().pushed.refused == ()
    assert in_copy(path) == on_server(conn)

    conn.execute(
        "UPDATE pgrecall.memories SET external_id = NULL, updated_at = now() WHERE external_id = 'taken'"
    )
    assert copy.retry() == 3
    assert (copy.push().sent, len(copy.refused())) == (2, 1)
    assert copy.discard(copy.refused()[0].number)
    assert not copy.discard(10_000)
    copy.pull()
    assert in_copy(path) == on_server(conn)
    assert alive(conn) == ["the server's", "fine", "mine"]


def test_a_reader_may_pull_and_its_writes_are_refused(
    dsn: str, conn: Connection[Any], tmp_path: Path
) -> None:
    id = remember(conn, "to be read")
    share(conn)
    with OfflineClient(
        tmp_path / "reader.db", make_conninfo(dsn, options="-c role=pgrecall_reader")
    ) as reader:
        assert reader.pull().stored == 1
        reader.remember("not allowed")
        reader.update(id, content="not allowed either")
        assert len(reader.push().refused) == 2
        reader.pull()
        assert contents(reader.recall("allowed read")) == ["to be read"]
    with OfflineClient(
        tmp_path / "writer.db", make_conninfo(dsn, options="-c role=pgrecall_writer")
    ) as writer:
        writer.pull()
        writer.remember("a writer's")
        writer.update(id, content="updated by a writer")
        writer.supersede(id, "superseded by a writer")
        assert writer.push().refused == ()
    assert alive(conn) == ["a writer's", "superseded by a writer"]
