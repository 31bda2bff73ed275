"""remember_many(): order, batches that fail whole, conflicts within a batch, two batches at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from threading import Barrier
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from support.memories import concepts, contents, refused, remember, remember_many, rows, scalar, stored, waits

if TYPE_CHECKING:
    from psycopg import Connection

pytestmark = pytest.mark.rollback


def test_ids_come_in_the_order_of_the_memories(conn: Connection[Any]) -> None:
    memories = [
        {"content": f"memory {place}", "external_id": f"{place * 7919 % 1000}"} for place in range(1000)
    ]
    ids = remember_many(conn, memories)
    assert ids == sorted(set(ids))
    query = "SELECT content FROM pgrecall.memories ORDER BY id"
    assert [text for (text,) in conn.execute(query)] == [memory["content"] for memory in memories]
    # The second time some are there and some are new.
    mixed = [*reversed(memories[:500]), {"content": "new", "external_id": "new"}, *memories[500:]]
    again = remember_many(conn, mixed)
    assert again[:500] + again[501:] == ids[499::-1] + ids[500:]
    assert again[500] > ids[-1]


def test_nothing_to_store(conn: Connection[Any]) -> None:
    assert remember_many(conn, []) == []


def test_keys_of_a_memory(conn: Connection[Any]) -> None:
    options: dict[str, Any] = {
        "title": "t", "category": "c", "tags": ["a"], "expanded_keywords": ["b"], "importance": 1, "metadata": {"x": None},
        "source": "s", "session": "e", "speaker": "p", "position": -2, "language": "simple", "is_sensitive": True,
        "external_id": "i", "namespace": "there",
    }  # fmt: skip
    times = dict.fromkeys(
        ("occurred_at", "created_at", "valid_from", "valid_to"), "2024-05-17T14:00:00+02:00"
    )
    (number,) = remember_many(conn, [{"content": "x", **options, **times}], create_namespace=True)
    found = stored(conn, number)
    assert {name: found[name] for name in options} == options
    assert {found[name] for name in times} == {datetime(2024, 5, 17, 12, tzinfo=UTC)}


def test_null_is_as_good_as_left_out(conn: Connection[Any]) -> None:
    names = (
        "title category tags expanded_keywords importance metadata source session speaker position language is_sensitive "
        "occurred_at created_at valid_from valid_to external_id namespace"
    )
    one, other = remember_many(conn, [{"content": "x", **dict.fromkeys(names.split())}, {"content": "x"}])
    differ = {"id", "created_at", "updated_at"}
    assert {**stored(conn, one), **dict.fromkeys(differ)} == {**stored(conn, other), **dict.fromkeys(differ)}


REFUSED: list[tuple[Any, str]] = [
    ({"contents": "x"}, "22023"),
    ({"content": "x", "Tags": []}, "22023"),
    ({"content": "x", "id": 7}, "22023"),
    ({}, "22023"),
    ({"content": None}, "22023"),
    ({"content": 5}, "22023"),
    ({"content": ["x"]}, "22023"),
    ({"content": "x", "title": 5}, "22023"),
    ({"content": "x", "tags": "a"}, "22023"),
    ({"content": "x", "tags": {"a": "b"}}, "22023"),
    ({"content": "x", "tags": ["a", 1]}, "22023"),
    ({"content": "x", "expanded_keywords": [None]}, "22023"),
    ({"content": "x", "importance": "0.5"}, "22023"),
    ({"content": "x", "importance": 1.5}, "22023"),
    ({"content": "x", "importance": 1e300}, "22023"),
    ({"content": "x", "position": 1.5}, "22023"),
    ({"content": "x", "position": 2.0}, "22023"),
    ({"content": "x", "position": 2**31}, "22023"),
    ({"content": "x", "is_sensitive": "yes"}, "22023"),
    ({"content": "x", "is_sensitive": 1}, "22023"),
    ({"content": "x", "metadata": [1]}, "22023"),
    ({"content": "x", "metadata": "x"}, "22023"),
    ({"content": "x", "occurred_at": "the day before"}, "22023"),
    ({"content": "x", "created_at": "2024-13-01"}, "22023"),
    ({"content": "x", "valid_from": ""}, "22023"),
    ({"content": "x", "valid_to": 2024}, "22023"),
    ({"content": "x", "external_id": 7}, "22023"),
    ({"content": "x", "valid_from": "2024-01-02", "valid_to": "2024-01-01"}, "22023"),
    ({"content": "x", "language": "klingon"}, "42704"),
    ({"content": "x", "namespace": "nowhere"}, "42704"),
    ({"content": "x" * 262_145}, "54000"),
    ({"content": "x", "title": "x" * 4097}, "54000"),
    ("x", "22023"),
    (5, "22023"),
    (None, "22023"),
    ([], "22023"),
    ([{"content": "x"}], "22023"),
]


def test_one_bad_memory_refuses_all(conn: Connection[Any]) -> None:
    for bad, sqlstate in REFUSED:
        with refused(conn, sqlstate):
            remember_many(conn, [{"content": "good", "namespace": "default"}, bad])


def test_the_message_says_which(conn: Connection[Any]) -> None:
    with pytest.raises(psycopg.Error, match='memory 3 of 3: there is no field "size"'):
        remember_many(conn, [{"content": "x"}, {"content": "y"}, {"content": "z", "size": 1}])
    with pytest.raises(psycopg.Error, match="memory 2 of 2: expected a JSON object, got number"):
        remember_many(conn, [{"content": "x"}, 5])
    with pytest.raises(psycopg.Error, match="memory 2 of 2: external_id"):
        remember_many(conn, [{"content": "x", "external_id": "a"}, {"content": "y", "external_id": "a"}])
    with pytest.raises(psycopg.Error, match=r'^memory: there is no field "size"'):
        remember_many(conn, [{"content": "x", "size": 1}])
    with pytest.raises(psycopg.Error, match=r"^memory: content"):
        remember_many(conn, [{"content": " "}])
    remember_many(conn, [{"content": "x", "external_id": "a"}])
    with pytest.raises(psycopg.Error, match=r"^memory: external_id"):
        remember_many(conn, [{"content": "z", "external_id": "a"}])


def test_what_is_no_array_is_refused(conn: Connection[Any]) -> None:
    no_arrays: list[Any] = [{}, "x", 5, None]
    for value in no_arrays:
        with refused(conn, "22023"):
            remember_many(conn, value)
    with refused(conn, "22023"):
        rows(conn, "remember_many", None)
    for on_conflict in ("ERROR", "", None):
        with refused(conn, "22023"):
            remember_many(conn, [], on_conflict=on_conflict)


def test_namespaces_of_a_batch(conn: Connection[Any]) -> None:
    memories = [{"content": "a", "namespace": "one"}, {"content": "b"}, {"content": "c", "namespace": "two"}]
    with refused(conn, "42704"):
        remember_many(conn, memories)
    ids = remember_many(conn, memories, namespace="rest", create_namespace=True)
    assert [stored(conn, number)["namespace"] for number in ids] == ["one", "rest", "two"]


def test_the_same_external_id_twice_in_a_batch(conn: Connection[Any]) -> None:
    first, second = {"content": "a", "tags": ["x"], "external_id": "e"}, {"content": "b", "external_id": "e"}
    with refused(conn, "23505"):
        remember_many(conn, [first, second])
    number, other, same = remember_many(conn, [first, {"content": "c"}, first])
    assert number == same != other
    assert remember_many(conn, [second, first], on_conflict="keep") == [number, number]
    assert stored(conn, number)["content"] == "a"
    assert remember_many(conn, [first, second], on_conflict="update") == [number, number]
    assert (stored(conn, number)["content"], stored(conn, number)["tags"]) == ("b", ["x"])
    new = {"external_id": "f"}
    one, two = remember_many(conn, [{"content": "1", **new}, {"content": "2", **new}], on_conflict="update")
    assert one == two
    assert stored(conn, one)["content"] == "2"


def test_conflict_revises_what_is_given(conn: Connection[Any]) -> None:
    number = remember(conn, "secret", external_id="e", title="t", tags=["x"], is_sensitive=True)
    remember_many(conn, [{"content": "new", "external_id": "e", "title": None}], on_conflict="update")
    found = stored(conn, number)
    assert (found["content"], found["title"], found["tags"], found["is_sensitive"]) == (
        "new",
        "t",
        ["x"],
        True,
    )
    with refused(conn, "22023"):
        bad = {"content": "x", "external_id": "e", "importance": 2}
        remember_many(conn, [{"content": "y", "external_id": "e"}, bad], on_conflict="update")


def test_valid_to_is_compared_with_what_is_stored(conn: Connection[Any]) -> None:
    remember(conn, "x", external_id="e", valid_from=datetime(2024, 5, 17, tzinfo=UTC))
    with refused(conn, "22023"):
        remember_many(
            conn, [{"content": "x", "external_id": "e", "valid_to": "2024-05-16"}], on_conflict="update"
        )


def test_importing_twice_changes_nothing(conn: Connection[Any]) -> None:
    memories = [
        {"content": f"memory {place}", "external_id": str(place), "tags": ["a"]} for place in range(50)
    ]
    ids = remember_many(conn, memories)
    before = contents(conn)
    for on_conflict in ("error", "keep", "update"):
        assert remember_many(conn, memories, on_conflict=on_conflict) == ids
        assert contents(conn) == before


@pytest.mark.parametrize("on_conflict", ["keep", "update"])
def test_two_sessions_store_the_same_batch(conn: Connection[Any], dsn: str, on_conflict: str) -> None:
    memories = [{"content": name, "external_id": name, "namespace": name} for name in "ab"]
    options = {"on_conflict": on_conflict, "create_namespace": True}
    with psycopg.connect(dsn) as first:
        ids = remember_many(first, memories, **options)
        second = waits(conn, lambda: remember_many(conn, memories[::-1], **options))
        first.commit()
        assert second() == ids[::-1]


@pytest.mark.slow
@pytest.mark.pg15
def test_batches_in_opposite_order_do_not_deadlock(conn: Connection[Any], dsn: str) -> None:
    together = Barrier(4, timeout=60)

    def write(step: int) -> None:
        with psycopg.connect(dsn, autocommit=True) as own:
            for turn in range(15):
                names = [f"{turn}/{place}" for place in range(100)][::step]
                together.wait()
                remember_many(
                    own, [{"content": name, "external_id": name} for name in names], on_conflict="keep"
                )
                together.wait()
                changed = [{"content": f"{step} {name}", "external_id": name} for name in names]
                remember_many(own, changed, on_conflict="update")

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(write, (1, -1, 1, -1))) == [None] * 4
    assert scalar(conn, "SELECT count(*) FROM pgrecall.memories") == 1500


@pytest.mark.parametrize(("names", "calls"), [("a", 0), ("ab", 1), ("ac", 1), ("cc", 2)])
def test_memories_that_are_there_are_locked_once(conn: Connection[Any], names: str, calls: int) -> None:
    remember_many(conn, [{"content": name, "external_id": name} for name in "ab"])
    conn.execute("SET track_functions = 'pl'")
    query = (
        "SELECT COALESCE(sum(calls), 0) FROM pg_stat_xact_user_functions WHERE funcname = 'lock_external_ids'"
    )
    before = scalar(conn, query)
    batch = [{"content": f"{name}, corrected", "external_id": name} for name in names]
    remember_many(conn, batch, on_conflict="update")
    # The second time for what has appeared meanwhile.
    assert scalar(conn, query) - before == calls


@pytest.mark.slow
@pytest.mark.pg15
def test_twenty_thousand_tags_in_one_call(conn: Connection[Any]) -> None:
    memories = [
        {"content": "x", "tags": [f"t{place * 10 + tag}" for tag in range(10)]} for place in range(2000)
    ]
    ids = remember_many(conn, memories)
    assert len(concepts(conn)) == 20_000
    assert concepts(conn, ids[0]) == [f"t{tag}" for tag in range(10)]
