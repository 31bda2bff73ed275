"""Curation as it is done: what changes, what is noted, how it is taken back, and who may."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from support.curation import LIVES, MOVED, count, curated, decided, decision, embed_as, noted, pair
from support.memories import call, refused, remember, remember_many, rows, scalar, share, stored, waits
from support.roles import role

if TYPE_CHECKING:
    from psycopg import Connection

pytestmark = pytest.mark.rollback


def applied(conn: Connection[Any], new: int, old: int, decision: str, **changed: object) -> Any:
    """Apply a decision of somebody else's, on the memories as they are."""
    values = {
        "memory_id": new,
        "other_id": old,
        "decision": decision,
        "decider": "m.p1",
        "evidence": {"cosine": 1},
        "memory_hash": stored(conn, new)["content_hash"],
        "other_hash": stored(conn, old)["content_hash"],
    }
    return call(conn, "pgrecall.apply_curation", **(values | changed))


def found(conn: Connection[Any], query: str, **options: object) -> set[int]:
    return {row[0] for row in rows(conn, "recall", query, **options)}


# --- What is done ---


@pytest.mark.usefixtures("dsn")
def test_what_is_no_longer_true_is_closed_and_stays(conn: Connection[Any]) -> None:
    old, new = remember(conn, LIVES), remember(conn, MOVED, occurred_at="2024-05-01T00:00:00Z")
    before = stored(conn, old)
    note = noted(conn, curated(conn, new))
    after = stored(conn, old)
    assert (note["decision"], note["decider"], note["memory_id"], note["other_id"]) == (
        "SUPERSEDE",
        "rules.1",
        new,
        old,
    )
    assert after["superseded_by"] == new
    assert after["valid_to"].isoformat() == "2024-05-01T00:00:00+00:00"
    changed = {name for name in before if before[name] != after[name]}
    assert changed == {"superseded_by", "superseded_at", "valid_to", "updated_at"}
    assert set(note["before"][str(old)]) == set(note["after"][str(old)]) == changed
    assert found(conn, "Ayesha") == {new}
    assert found(conn, "Ayesha", include_superseded=True) == {old, new}


def test_what_is_said_already_is_behind_what_says_it(conn: Connection[Any]) -> None:
    old, new = pair(conn, "The gate is locked.", "The gate is locked!")
    assert noted(conn, curated(conn, new))["decision"] == "NOOP"
    kept = stored(conn, new)
    assert (kept["superseded_by"], kept["valid_to"], stored(conn, old)["superseded_by"]) == (old, None, None)
    assert found(conn, "gate") == {old}
    assert found(conn, "gate", include_superseded=True) == {old, new}


def test_what_is_new_is_only_noted(conn: Connection[Any]) -> None:
    old, new = pair(conn, "The gate is locked.", "The gate needs paint.")
    before = stored(conn, old), stored(conn, new)
    note = noted(conn, curated(conn, new))
    assert (note["decision"], note["other_id"], note["before"], note["after"]) == ("ADD", old, {}, {})
    assert (stored(conn, old), stored(conn, new)) == before
    assert noted(conn, curated(conn, remember(conn, "xyzzy")))["other_id"] is None


def test_nothing_is_decided_twice(conn: Connection[Any]) -> None:
    old, new = pair(conn)
    first = curated(conn, new)
    assert applied(conn, new, old, "NOOP") == first
    assert curated(conn, new) == first
    assert count(conn, "curations") == 1
    assert rows(conn, "pgrecall.uncurated_memories") == []


def test_a_chain_goes_forward(conn: Connection[Any]) -> None:
    first, second, third = (remember(conn, f"The choir has {number} members.") for number in (42, 37, 35))
    for memory in (first, second, third):
        curated(conn, memory)
    assert [stored(conn, one)["superseded_by"] for one in (first, second, third)] == [second, third, None]


def test_the_best_of_several_decides(conn: Connection[Any]) -> None:
    far, near = remember(conn, "The gate of the garden is old."), remember(conn, "The gate is locked.")
    new = remember(conn, "The gate is locked!")
    for memory, value in ((far, 0.1), (near, 0.4), (new, 0.0)):
        embed_as(conn, memory, 1.0, value)
    assert (decided(conn, new)["decision"], decided(conn, new)["other_id"]) == ("NOOP", near)


def test_what_changed_since_it_was_decided_on_stays(conn: Connection[Any]) -> None:
    changes = (
        "update_memory({}, content => 'x')",
        "forget({})",
        "update_memory({}, is_sensitive => true)",
        "supersede({}, 'x')",
    )
    for change in changes:
        for place in (0, 1):
            ids = pair(conn)
            old, new = ids
            hashes = {
                "memory_hash": stored(conn, new)["content_hash"],
                "other_hash": stored(conn, old)["content_hash"],
            }
            conn.execute(f"SELECT public.{change.format(ids[place])}".encode())
            before = stored(conn, old), stored(conn, new)
            assert applied(conn, new, old, "SUPERSEDE", **hashes) is None, change
            assert (stored(conn, old), stored(conn, new)) == before
    assert count(conn, "curations") == 0


def test_what_is_no_decision_is_refused(conn: Connection[Any]) -> None:
    old, new = pair(conn)
    for changed in ({"decision": "DELETE"}, {"other_id": None}, {"other_id": new}, {"decision": None}):
        with refused(conn, "22023"):
            applied(conn, new, old, **({"decision": "NOOP"} | changed))
    other = remember(conn, MOVED, namespace="other", create_namespace=True)
    assert applied(conn, other, old, "NOOP") is None


# --- What is taken back ---


def test_undone_is_as_it_was(conn: Connection[Any]) -> None:
    for new in (MOVED, LIVES, "Ayesha lives in Leicester with two flatmates and a cat."):
        ids = pair(conn, LIVES, new, namespace=f"of {len(new)}", create_namespace=True)
        before = [stored(conn, one) for one in ids]
        number = curated(conn, ids[1])
        assert [stored(conn, one) for one in ids] != before
        assert call(conn, "undo_curation", number) is True
        assert [stored(conn, one) for one in ids] == before
        assert call(conn, "undo_curation", number) is False
        # The pair is not decided about again, by whomever.
        assert decision(conn, ids[1]) == "ADD"
        assert rows(conn, "pgrecall.uncurated_memories", namespace=f"of {len(new)}") == [ids[0]]


@pytest.mark.usefixtures("dsn")
def test_undo_is_refused_where_something_changed_since(conn: Connection[Any]) -> None:
    old, new = pair(conn)
    number = curated(conn, new)
    call(conn, "update_memory", old, importance=0.9)
    with refused(conn, "55000"):
        call(conn, "undo_curation", number)
    with refused(conn, "P0002"):
        call(conn, "undo_curation", number + 1)


def test_undo_after_a_memory_became_sensitive(conn: Connection[Any]) -> None:
    """Ids and times stay noted; what was measured on its text does not."""
    old, new = pair(conn)
    assert noted(conn, curated(conn, old))["decision"] == "ADD"
    number = curated(conn, new)
    assert noted(conn, number)["evidence"] != {}
    call(conn, "update_memory", new, is_sensitive=True)
    assert noted(conn, number)["evidence"] == {}
    assert call(conn, "undo_curation", number) is True
    assert stored(conn, old)["superseded_by"] is None
    call(conn, "update_memory", old, is_sensitive=True)
    assert [row[:2] for row in conn.execute("SELECT id, memory_id FROM pgrecall.curations")] == [
        (number, new)
    ]


def test_the_log_says_what_changed(conn: Connection[Any]) -> None:
    old, new = pair(conn)
    curated(conn, old)
    number = curated(conn, new)
    [row] = rows(conn, "pgrecall.curation_log")
    assert row[:5] == (number, new, old, "SUPERSEDE", "rules.1")
    assert row[7:9] == (MOVED, LIVES)
    assert len(rows(conn, "pgrecall.curation_log", changes=False)) == 2
    with refused(conn, "42704"):
        rows(conn, "pgrecall.curation_log", namespace="nowhere")


def test_a_preview_writes_nothing(conn: Connection[Any]) -> None:
    old, new = pair(conn)
    conn.execute("SET default_transaction_read_only = on")
    found = rows(conn, "pgrecall.preview_curation")
    assert [row[:3] for row in found] == [(old, "ADD", None), (new, "SUPERSEDE", old)]
    assert rows(conn, "pgrecall.preview_curation", max_memories=1) == found[:1]
    assert rows(conn, "pgrecall.preview_curation", since="2999-01-01") == []


# --- At the same time ---


def test_two_that_curate_the_same_do_it_once(dsn: str, conn: Connection[Any]) -> None:
    _, new = pair(conn)
    with psycopg.connect(dsn) as one, psycopg.connect(dsn) as two:
        first = curated(one, new)
        second = waits(two, lambda: curated(two, new))
        one.commit()
        assert second() == first
        two.commit()
    assert count(conn, "curations") == 1


def test_a_writer_goes_before(dsn: str, conn: Connection[Any]) -> None:
    """What is no more is not superseded; what is changed is decided about once more."""
    for change, expected in (
        ("update_memory({}, content => 'Ayesha lives in Leeds.')", "SUPERSEDE"),
        ("forget({})", "ADD"),
    ):
        old, new = pair(conn, namespace=expected, create_namespace=True)
        with psycopg.connect(dsn) as writer, psycopg.connect(dsn) as other:
            writer.execute(f"SELECT public.{change.format(old)}".encode())
            result = waits(other, partial(curated, other, new))
            writer.commit()
            number = result()
            other.commit()
        assert noted(conn, number)["decision"] == expected
        assert stored(conn, old)["superseded_by"] == (new if expected == "SUPERSEDE" else None)


def test_two_that_undo_the_same_do_it_once(dsn: str, conn: Connection[Any]) -> None:
    _, new = pair(conn)
    number = curated(conn, new)
    with psycopg.connect(dsn) as one, psycopg.connect(dsn) as two:
        assert call(one, "undo_curation", number) is True
        second = waits(two, lambda: call(two, "undo_curation", number))
        one.commit()
        assert second() is False


def test_undo_and_a_memory_that_becomes_sensitive_do_not_deadlock(dsn: str, conn: Connection[Any]) -> None:
    old, new = pair(conn)
    number = curated(conn, new)
    with psycopg.connect(dsn) as one, psycopg.connect(dsn) as two:
        one.execute("SELECT FROM pgrecall.memories WHERE id = %s FOR UPDATE", [new])
        undone = waits(two, lambda: call(two, "undo_curation", number))
        call(one, "update_memory", new, is_sensitive=True)
        one.commit()
        assert undone() is True
        two.commit()
    assert (noted(conn, number)["evidence"], stored(conn, old)["superseded_by"]) == ({}, None)


# --- Who may ---


def test_a_writer_curates_what_it_may_write(conn: Connection[Any]) -> None:
    old, new = pair(conn)
    share(conn)
    embed_as(conn, old, 1.0)
    embed_as(conn, new, 1.0, 0.1)
    with role(conn, "pgrecall_writer"):
        number = curated(conn, new)
        assert call(conn, "undo_curation", number) is True
        assert len(rows(conn, "pgrecall.curation_log")) == 1
    assert stored(conn, old)["superseded_by"] is None


def test_a_reader_looks_and_changes_nothing(conn: Connection[Any]) -> None:
    _, new = pair(conn)
    number = curated(conn, pair(conn, "The gate is locked.", "The gate is not locked.")[1])
    share(conn, access="read")
    with role(conn, "pgrecall_reader"):
        assert decision(conn, new) == "SUPERSEDE"
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            call(conn, "undo_curation", number)
    with role(conn, "pgrecall_writer"):
        for function, argument in (("pgrecall.curate", new), ("undo_curation", number)):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                call(conn, function, argument)
    assert count(conn, "curations") == 1


def test_who_was_granted_nothing_sees_nothing(conn: Connection[Any]) -> None:
    _, new = pair(conn)
    number = curated(conn, new)
    with role(conn, "pgrecall_writer"):
        with pytest.raises(psycopg.errors.UndefinedObject):
            rows(conn, "pgrecall.curation_log")
        assert rows(conn, "pgrecall.curation_context", new) == []
        assert call(conn, "pgrecall.curate", new) is None
        with pytest.raises(psycopg.errors.NoDataFound):
            call(conn, "undo_curation", number)


# --- Duplicates ---


def test_duplicates_come_in_clusters(conn: Connection[Any]) -> None:
    """Near is passed on: the first and the third of a chain are further apart than the similarity."""
    chain = [remember(conn, f"chain {number}") for number in range(3)]
    for memory, value in zip(chain, (0.0, 0.2, 0.4), strict=True):
        embed_as(conn, memory, 1.0, value)
    texts = remember_many(conn, [{"content": "the same"}] * 3)
    alone = remember(conn, "alone")
    embed_as(conn, alone, 0.0, 0.0, 1.0)
    found = [(row[0], row[1]) for row in rows(conn, "pgrecall.duplicates", similarity=0.97)]
    assert found == [(chain[0], one) for one in chain] + [(texts[0], one) for one in texts]
    assert [row[0] for row in rows(conn, "pgrecall.duplicates", similarity=1)] == [texts[0]] * 3
    assert {row[0] for row in rows(conn, "pgrecall.duplicates", similarity=0.97, max_memories=4)} == {
        texts[0]
    }
    with refused(conn, "22023"):
        rows(conn, "pgrecall.duplicates", similarity=2)


def test_what_is_superseded_is_no_duplicate(conn: Connection[Any]) -> None:
    ids = remember_many(conn, [{"content": "the same gate"}] * 4)
    curated(conn, ids[1])
    call(conn, "forget", ids[2])
    call(conn, "update_memory", ids[3], is_sensitive=True)
    assert rows(conn, "pgrecall.duplicates") == []


def test_duplicates_of_many_are_found_by_the_index(conn: Connection[Any]) -> None:
    conn.execute(
        """
        INSERT INTO pgrecall.memories (namespace_id, content, language, content_hash, search_vector, embedding)
        SELECT pgrecall.namespace_id('default'), 'memory ' || n, 'simple', '', '',
               (SELECT array_agg(sin(n * 0.37 + d * d)) FROM generate_series(1, 384) d WHERE n > 0)::real[]::halfvec
        FROM generate_series(1, 1200) n
        """
    )
    conn.execute("ANALYZE pgrecall.memories")
    # So few would be sorted: what matters is that the index can serve.
    conn.execute("SET enable_sort = off")
    conn.execute("LOAD 'auto_explain'")
    for name, value in (("log_min_duration", "0"), ("log_nested_statements", "on"), ("log_analyze", "on")):
        conn.execute(f"SET auto_explain.{name} = '{value}'".encode())
    conn.execute("SET client_min_messages = log")
    plans: list[str] = []
    conn.add_notice_handler(lambda notice: plans.append(notice.message_primary or ""))
    rows(conn, "pgrecall.duplicates", similarity=0.9999, max_memories=20)
    told = "\n".join(plans)
    assert "Index Scan using memories_embedding_idx" in told, told
    assert scalar(conn, "SELECT count(*) FROM pgrecall.memories") == 1200


@pytest.mark.usefixtures("dsn")
@pytest.mark.parametrize("end", [{}, {"valid_to": "infinity"}, {"valid_to": "2030-07-01 12:00+02"}])
def test_undo_in_another_time_zone(conn: Connection[Any], end: dict[str, str]) -> None:
    conn.execute("SET TimeZone = 'UTC'")
    old, new = remember(conn, LIVES, **end), remember(conn, MOVED)
    number = curated(conn, new)
    conn.execute("SET TimeZone = 'Asia/Kathmandu'")
    before = stored(conn, old)
    assert call(conn, "undo_curation", number) is True
    assert stored(conn, old)["superseded_by"] is None
    assert before["superseded_by"] == new


@pytest.mark.parametrize(
    ("old", "new", "decision"),
    [
        ({"expires_at": "2999-01-01"}, {}, "ADD"),
        ({"valid_to": "2999-01-01"}, {}, "ADD"),
        ({"expires_at": "2999-01-01"}, {"expires_at": "2998-01-01"}, "NOOP"),
        ({"expires_at": "2020-01-01"}, {}, "ADD"),
        ({"valid_to": "2020-01-01"}, {}, "ADD"),
        ({}, {"expires_at": "2999-01-01"}, "NOOP"),
    ],
)
def test_what_lasts_is_not_behind_what_ends_before_it(
    conn: Connection[Any], old: dict[str, str], new: dict[str, str], decision: str
) -> None:
    ids = remember(conn, LIVES, **old), remember(conn, LIVES, **new)
    assert noted(conn, curated(conn, ids[1]))["decision"] == decision
    assert (stored(conn, ids[1])["superseded_by"] is None) == (decision == "ADD")


def test_what_is_forgotten_soon_closes_nothing(conn: Connection[Any]) -> None:
    old, new = remember(conn, LIVES), remember(conn, MOVED, expires_at="2999-01-01")
    assert noted(conn, curated(conn, new))["decision"] == "ADD"
    assert stored(conn, old)["superseded_by"] is None
