"""A script written for mem0, on pgrecall."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from pgrecall.contrib.mem0 import AsyncMemory, Memory

if TYPE_CHECKING:
    from collections.abc import Iterator

PRIYA, BOB = {"user_id": "priya"}, {"user_id": "bob"}
TALK = [
    {"role": "user", "content": "I am allergic to peanuts"},
    {"role": "assistant", "content": "Noted: no peanuts for you"},
]


@pytest.fixture
def memory(dsn: str) -> Iterator[Memory]:
    with Memory.from_config({"dsn": dsn, "vector_store": {"provider": "qdrant"}}) as opened:
        yield opened


def texts(answer: dict[str, Any]) -> set[str]:
    return {one["memory"] for one in answer["results"]}


@pytest.mark.slow
def test_a_script_written_for_mem0(memory: Memory) -> None:
    added = memory.add("I like tea", user_id="priya", metadata={"kind": "taste", "rating": 4})["results"]
    (first,) = added
    assert (first["memory"], first["event"]) == ("I like tea", "ADD")
    assert len(memory.add(TALK, user_id="priya", run_id="r1")["results"]) == 2
    assert memory.add(TALK, user_id="priya", run_id="r1") == {"results": []}
    memory.add("I like tea too", user_id="bob", agent_id="a")

    found = memory.search("tea", filters=PRIYA)
    assert found["results"][0]["memory"] == "I like tea"
    assert found["results"][0]["user_id"] == "priya"
    assert found["results"][0]["metadata"] == {"kind": "taste", "rating": 4}
    assert found["results"][0]["score"] > 0
    assert "I like tea too" not in texts(found)
    assert texts(memory.get_all(filters=PRIYA)) == {"I like tea", *(one["content"] for one in TALK)}
    assert texts(memory.get_all(user_id="priya", filters={"run_id": "r1"})) == {
        one["content"] for one in TALK
    }
    assert texts(memory.get_all(filters={"AND": [PRIYA, {"rating": {"gte": 4}}]})) == {"I like tea"}
    assert texts(memory.get_all(filters={**PRIYA, "kind": "*"})) == {"I like tea"}
    assert texts(memory.get_all(filters={"user_id": ["priya", "bob"], "rating": {"ne": 4}})) == {
        "I like tea too",
        *(one["content"] for one in TALK),
    }

    one = memory.get(first["id"])
    assert one is not None
    assert {"id", "memory", "hash", "created_at", "updated_at", "user_id", "metadata"} <= set(one)
    memory.update(first["id"], text="I like green tea", metadata={"rating": 5, "user_id": "mallory"})
    one = memory.get(first["id"])
    assert one is not None
    assert (one["memory"], one["user_id"], one["metadata"]) == (
        "I like green tea",
        "priya",
        {"kind": "taste", "rating": 5},
    )
    memory.delete(first["id"])
    assert memory.get(first["id"]) is None
    assert [
        (change["event"], change["old_memory"], change["new_memory"])
        for change in memory.history(first["id"])
    ] == [
        ("ADD", None, "I like tea"),
        ("UPDATE", "I like tea", "I like green tea"),
        ("DELETE", "I like green tea", None),
    ]

    memory.delete_all(user_id="priya")
    assert memory.get_all(filters=PRIYA) == {"results": []}
    assert texts(memory.get_all(filters=BOB)) == {"I like tea too"}
    memory.reset()
    assert memory.get_all(filters=BOB) == {"results": []}


def test_what_is_empty_can_be_reset(memory: Memory) -> None:
    """Also before the first `add`, which makes the namespace."""
    memory.reset()
    memory.reset()
    memory.add("I like tea", user_id="priya")
    memory.reset()
    assert memory.get_all(filters=PRIYA) == {"results": []}


PARTS = {"role": "user", "content": [{"type": "text", "text": "I like"}, {"type": "text", "text": "jam"}]}
SYSTEM = {"role": "system", "content": "Be kind"}


@pytest.mark.parametrize("deleting", ["delete", "delete_all", "reset"])
@pytest.mark.parametrize("said", ["I like tea", TALK, [SYSTEM, PARTS, *TALK]])
@pytest.mark.parametrize("when", [None, "2026-01-01T00:00:00Z"])
def test_what_was_deleted_is_stored_when_it_is_added_again(
    memory: Memory, deleting: str, said: Any, when: str | None
) -> None:
    def add() -> list[str]:
        return sorted(texts(memory.add(said, user_id="priya", timestamp=when)))

    first = add()
    assert first
    for _ in range(2):
        assert add() == []
        for one in memory.get_all(filters=PRIYA)["results"]:
            if deleting == "delete":
                memory.delete(one["id"])
        if deleting == "delete_all":
            memory.delete_all(user_id="priya")
        elif deleting == "reset":
            memory.reset()
        assert add() == first
        assert sorted(texts(memory.get_all(filters=PRIYA))) == first
    assert len(memory.get_all(filters=PRIYA)["results"]) == len(first)


def test_what_was_deleted_of_a_run_stays_away(memory: Memory) -> None:
    memory.add(TALK, user_id="priya", run_id="r")
    memory.delete_all(run_id="r")
    assert memory.add(TALK, user_id="priya", run_id="r") == {"results": []}
    assert texts(memory.add(TALK, user_id="priya", run_id="r", infer=False)) == {
        one["content"] for one in TALK
    }


@pytest.mark.parametrize("run", [None, "r"])
def test_a_conversation_of_more_messages_than_a_call_returns(memory: Memory, run: str | None) -> None:
    many = [{"role": "user", "content": f"word {number}"} for number in range(1001)]
    assert len(memory.add(many, user_id="priya", run_id=run)["results"]) == 1001
    assert memory.add(many, user_id="priya", run_id=run) == {"results": []}
    memory.delete_all(user_id="priya")
    assert len(memory.add(many, user_id="priya", run_id=run)["results"]) == (1001 if run is None else 0)
    assert memory.add(many, user_id="priya", run_id=run) == {"results": []}


def test_messages_in_parts_are_stored_as_they_are(memory: Memory) -> None:
    assert texts(memory.add([PARTS], infer=False, user_id="priya")) == {"I like\njam"}


def test_a_reset_leaves_what_was_set_for_the_namespace(memory: Memory, conn: psycopg.Connection[Any]) -> None:
    conn.execute("SELECT pgrecall.create_namespace('mem0', 'german')")
    conn.execute("SELECT pgrecall.set_secrets('mem0', 'refuse'), pgrecall.set_retention('mem0', '1 year')")
    conn.execute("SELECT pgrecall.grant_namespace('pgrecall_reader', 'mem0', 'read')")
    query = (
        "SELECT n.id, n.language::text, n.secrets, count(g), (SELECT count(*) FROM pgrecall.retention) "
        "FROM pgrecall.namespaces n LEFT JOIN pgrecall.grants g ON g.namespace_id = n.id WHERE n.name = 'mem0' GROUP BY n.id"
    )
    before = conn.execute(query).fetchall()
    forgotten, _ = memory.add(TALK, user_id="priya", infer=False)["results"]
    memory.delete(forgotten["id"])
    memory.reset()
    assert conn.execute(query).fetchall() == before
    assert conn.execute("SELECT count(*) FROM pgrecall.memories").fetchall() == [(0,)]


@pytest.mark.parametrize("zone", ["America/New_York", "Asia/Tokyo", "UTC"])
def test_dates_are_those_that_were_given(dsn: str, zone: str) -> None:
    with Memory(make_conninfo(dsn, options=f"-c TimeZone={zone}")) as memory:
        added = memory.add("tea", user_id="priya", infer=False, expiration_date="2026-12-31")["results"]
        found = memory.get(added[0]["id"])
        assert found is not None
        assert found["expiration_date"] == "2026-12-31"
        assert found["created_at"].endswith("+00:00")


def test_what_has_no_equivalent_says_so(memory: Memory) -> None:
    (one,) = memory.add("tea", user_id="priya")["results"]
    for wrong in (
        {}, {"kind": "x"}, {**PRIYA, "OR": [{"a": 1}]}, {**PRIYA, "NOT": [{"a": 1}]}, {**PRIYA, "a": {"contains": "x"}}
    ):  # fmt: skip
        with pytest.raises(ValueError, match=r"id|equivalent"):
            memory.search("tea", filters=wrong)
    with pytest.raises(ValueError, match="must be provided"):
        memory.add("tea")
    with pytest.raises(ValueError, match="blank"):
        memory.add("tea", user_id=" ")
    with pytest.raises(ValueError, match="prompt"):
        memory.add("tea", user_id="priya", prompt="Extract")
    for unknown in ("999999", "no-number", "-1", "9" * 19, "9" * 5000):
        assert memory.get(unknown) is None
        assert memory.history(unknown) == []
        with pytest.raises(ValueError, match="not found"):
            memory.delete(unknown)
        with pytest.raises(ValueError, match="not found"):
            memory.update(unknown, text="x")
    assert memory.get(one["id"]) is not None


def test_all_are_more_than_a_page(memory: Memory, dsn: str) -> None:
    memory.add("the first", user_id="priya")
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute(
            "SELECT remember_many(jsonb_agg(jsonb_build_object('content', 'fact ' || n, 'metadata', '{\"user_id\": \"priya\"}'::jsonb)), 'mem0') "
            "FROM generate_series(1, 1100) n"
        )
    assert len(texts(memory.get_all(filters=PRIYA, top_k=5000))) == 1101
    assert len(texts(memory.get_all(filters=PRIYA, top_k=1050))) == 1050
    assert len(texts(memory.search("fact", filters=PRIYA, top_k=1050))) == 1000
    assert (
        memory.search("fact", filters=PRIYA, top_k=0)
        == memory.get_all(filters=PRIYA, top_k=0)
        == {"results": []}
    )


def test_expiration_dates(memory: Memory) -> None:
    (past,) = memory.add("an old tea", user_id="priya", expiration_date="2020-01-31")["results"]
    memory.add("a fresh tea", user_id="priya", expiration_date="2999-01-31")
    assert texts(memory.search("tea", filters=PRIYA)) == {"a fresh tea"}
    assert texts(memory.search("tea", filters=PRIYA, show_expired=True)) == {"a fresh tea", "an old tea"}
    assert texts(memory.get_all(filters=PRIYA, show_expired=True)) == {"a fresh tea", "an old tea"}
    assert (memory.get(past["id"]) or {})["expiration_date"] == "2020-01-31"
    memory.update(past["id"], expiration_date=None)
    assert texts(memory.get_all(filters=PRIYA)) == {"a fresh tea", "an old tea"}
    assert (memory.get(past["id"]) or {"expiration_date": ""})["expiration_date"] is None


def test_who_said_it_and_whose_it_is(memory: Memory) -> None:
    named = [{"role": "user", "content": "I like tea", "name": "Priya"}]
    for infer in (True, False):
        (added,) = memory.add(named, agent_id="a", infer=infer, metadata={"user_id": "bob"})["results"]
        one = memory.get(added["id"])
        assert one is not None
        assert (one["role"], one["actor_id"], one["agent_id"]) == ("user", "Priya", "a")
        assert "user_id" not in one
        assert (one["metadata"], one["score"]) == (None, None)
        memory.update(added["id"], metadata={"actor_id": "Bob"})
        change = memory.history(added["id"])[0]
        assert (change["event"], change["actor_id"], change["role"]) == ("ADD", "Priya", "user")
    assert texts(memory.search("tea", filters={"agent_id": "a", "actor_id": "Priya", "role": "user"})) == {
        "I like tea"
    }
    assert texts(memory.search("tea", filters={"agent_id": "a", "actor_id": "Bob"})) == set()


def test_a_repeated_message(memory: Memory) -> None:
    for _ in range(2):
        memory.add("yes", user_id="priya", run_id="r")
    assert len(memory.get_all(filters=PRIYA)["results"]) == 1
    for _ in range(2):
        memory.add("yes", user_id="priya", run_id="r", infer=False)
    assert len(memory.get_all(filters=PRIYA)["results"]) == 3


def test_the_scores_of_the_legs(memory: Memory) -> None:
    memory.add("I like tea", user_id="priya")
    (found,) = memory.search("tea", filters=PRIYA, explain=True, threshold=0.01)["results"]
    assert found["score_details"]["final_score"] == found["score"]
    assert found["score_details"]["threshold"] == 0.01
    assert found["score_details"]["bm25_score"] > 0


def test_one_namespace_does_not_reach_into_another(dsn: str, memory: Memory) -> None:
    with Memory(dsn, namespace="other") as other:
        (theirs,) = other.add("their tea", user_id="priya")["results"]
        assert memory.get(theirs["id"]) is None
        assert memory.history(theirs["id"]) == []
        with pytest.raises(ValueError, match="not found"):
            memory.delete(theirs["id"])
        assert memory.get_all(filters=PRIYA) == {"results": []}
        assert texts(other.get_all(filters=PRIYA)) == {"their tea"}


def test_the_same_with_await(dsn: str) -> None:
    async def script() -> dict[str, Any]:
        async with AsyncMemory(dsn) as memory:
            await memory.add("I like tea", user_id="priya")
            return await memory.search("tea", filters=PRIYA)

    assert texts(asyncio.run(script())) == {"I like tea"}


ALICE, EVE = "alice", "eve.v2"


def of_several(memory: Memory) -> None:
    for user in ("bob", ALICE, EVE):
        memory.add(f"{user} likes tea", user_id=user, metadata={"rating": len(user), "user_id": "bob"})


def test_two_conditions_on_one_field_hold_both(memory: Memory) -> None:
    of_several(memory)
    both = [BOB, {"user_id": ALICE}]
    for filters in (
        {"AND": both},
        {"AND": both[::-1]},
        {**BOB, "AND": [{"user_id": ALICE}]},
        {"AND": [{"AND": both}]},
    ):
        assert texts(memory.get_all(filters=filters)) == set()
        assert texts(memory.search("tea", filters=filters)) == set()
    ranges = {"AND": [{"user_id": ["bob", ALICE, EVE]}, {"rating": {"gt": 3}}, {"rating": {"lt": 6}}]}
    assert texts(memory.get_all(filters=ranges)) == {"alice likes tea"}


def test_no_filter_widens_the_ids_of_the_call(memory: Memory) -> None:
    of_several(memory)
    for widening in (
        {"user_id": "bob"}, {"user_id": "*"}, {"user_id": {"ne": "x"}}, {"user_id": ["bob", ALICE]}, {"user_id": {"gte": "a"}},
        {"AND": [{"user_id": "bob"}]}, {"user_id": {"nin": ["x"]}}, {"user_id": {"in": ["bob"]}},
    ):  # fmt: skip
        for asked in (
            memory.get_all(filters=widening, user_id=ALICE),
            memory.search("tea", filters=widening, user_id=ALICE),
        ):
            assert texts(asked) <= {"alice likes tea"}, widening
    for foreign in ({"$or": [{"user_id": "bob"}, {}]}, {"OR": [BOB]}, {"NOT": [BOB]}):
        with pytest.raises(ValueError, match="equivalent"):
            memory.get_all(filters=foreign, user_id=ALICE)
    nobody: dict[str, Any]
    for nobody in (
        {"user_id": "*"},
        {"user_id": {"ne": "bob"}},
        {"user_id": {"nin": []}},
        {"user_id": {}},
        {"user_id": None},
        {"AND": []},
    ):
        with pytest.raises(ValueError, match="user_id"):
            memory.get_all(filters=nobody)
    assert texts(memory.get_all(filters={"user_id": EVE})) == {"eve.v2 likes tea"}
    assert texts(memory.get_all(filters={"user_id": "eve"})) == set()


def test_runs_of_different_owners_are_different_conversations(memory: Memory) -> None:
    owners: list[dict[str, Any]] = [
        {"user_id": "a", "run_id": "r"}, {"agent_id": "a", "run_id": "r"}, {"user_id": "a/b", "run_id": "r"},
        {"user_id": "a", "agent_id": "b", "run_id": "r"}, {"user_id": "a", "run_id": "b/r"}, {"run_id": "a/r"},
    ]  # fmt: skip
    for ids in owners:
        assert len(memory.add("yes", **ids)["results"]) == 1, ids


def test_delete_all_erases_one_owner_and_nobody_else(memory: Memory, dsn: str) -> None:
    memory.delete_all(user_id="nobody")
    of_several(memory)
    (gone,) = memory.get_all(filters={"user_id": EVE})["results"]
    memory.delete(gone["id"])
    memory.delete_all(user_id=EVE)
    memory.delete_all(user_id="eve")
    for blank in ({}, {"user_id": ""}, {"user_id": " "}, {"run_id": None}):
        with pytest.raises(ValueError, match=r"user_id|blank"):
            memory.delete_all(**blank)
    with psycopg.connect(dsn) as conn:
        assert {row[0] for row in conn.execute("SELECT content FROM pgrecall.memories")} == {
            "bob likes tea",
            "alice likes tea",
        }
