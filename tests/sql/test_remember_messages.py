"""remember_messages(): a conversation handed over again and again is stored once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from psycopg.types.json import Jsonb

from support.memories import call, rows, scalar, stored

if TYPE_CHECKING:
    from psycopg import Connection

TALK = [
    {"role": "system", "content": "You are helpful."},
    {"role": "user", "content": "Where shall we go?", "name": "Priya", "created_at": "2026-03-01T10:00:00Z"},
    {"role": "assistant", "content": [{"type": "text", "text": "To Goa,"}, {"type": "image_url", "image_url": {}}, "or Kochi."]},
    {"role": "assistant", "content": None, "tool_calls": []},
    {"role": "tool", "content": "42"},
    {"role": "user", "content": "ok"},
    {"role": "user", "content": "ok"},
]  # fmt: skip


def hand_over(
    conn: Connection[Any], messages: object, session: str | None = "talk", **options: object
) -> list[Any]:
    return rows(conn, "remember_messages", Jsonb(messages), session, **options)


def said(conn: Connection[Any], session: str = "talk") -> list[tuple[int, str, str]]:
    query = 'SELECT "position", speaker, content FROM pgrecall.memories WHERE session = %s ORDER BY "position", id'
    return conn.execute(query, (session,)).fetchall()


@pytest.mark.rollback
def test_a_growing_conversation_is_stored_once(conn: Connection[Any]) -> None:
    ids: dict[int, int] = {}
    for length in range(len(TALK) + 1):
        for place, number, is_new in hand_over(conn, TALK[:length], metadata={"thread": 1}, tags=["talk"]):
            assert is_new == (place not in ids)
            assert ids.setdefault(place, number) == number
    assert sorted(ids) == [2, 3, 6, 7]
    assert said(conn) == [
        (1, "Priya", "Where shall we go?"),
        (2, "assistant", "To Goa,\nor Kochi."),
        (3, "user", "ok"),
        (4, "user", "ok"),
    ]
    first = stored(conn, ids[2])
    assert first["occurred_at"].isoformat() == "2026-03-01T10:00:00+00:00"
    assert (first["metadata"], first["tags"]) == ({"thread": 1}, ["talk"])


@pytest.mark.rollback
@pytest.mark.parametrize("nothing", ["", " \n", "\u200b", "\ufeff\u00a0", "\x07"])
def test_a_message_that_shows_nothing_is_left_out(conn: Connection[Any], nothing: str) -> None:
    talk = [{"role": "user", "content": text} for text in ("one", nothing, "two")]
    for is_new in (True, False):
        assert [row[::2] for row in hand_over(conn, talk)] == [(1, is_new), (3, is_new)]


@pytest.mark.rollback
def test_a_message_has_its_own_metadata_and_validity(conn: Connection[Any]) -> None:
    own = {"metadata": {"role": "user", "thread": 2}, "valid_to": "2999-01-01T00:00:00Z"}
    said = [
        {"role": "user", "content": "one", **own},
        {"role": "user", "content": "two", "metadata": None, "valid_to": None},
    ]
    first, second = (
        stored(conn, number) for _, number, _ in hand_over(conn, said, metadata={"thread": 1, "a": 1})
    )
    assert first["metadata"] == {"role": "user", "thread": 2, "a": 1}
    assert first["valid_to"].isoformat() == "2999-01-01T00:00:00+00:00"
    assert (second["metadata"], second["valid_to"]) == ({"thread": 1, "a": 1}, None)
    for wrong in ({"metadata": [1]}, {"metadata": "x"}, {"valid_to": 7}):
        with pytest.raises(psycopg.errors.InvalidParameterValue, match="message 1"), conn.transaction():
            hand_over(conn, [{"role": "user", "content": "x", **wrong}])


@pytest.mark.rollback
def test_a_message_may_state_its_origin_and_a_tool_is_never_trusted_more(conn: Connection[Any]) -> None:
    messages = [
        {"role": role, "content": f"{role} {origin}", **({} if origin is None else {"origin": origin})}
        for role, origin in (
            ("user", None), ("human", "web"), ("assistant", None), ("assistant", "tool"), ("tool", None), ("tool", "tool"),
            ("tool", "web"), ("tool", "user"), ("function", "agent"), ("system", "user"), ("developer", "user"),
        )
    ]  # fmt: skip
    for is_new in (True, False):
        assert [row[2] for row in hand_over(conn, messages)] == [is_new] * 8
    query = 'SELECT content, origin::text FROM pgrecall.memories ORDER BY "position"'
    assert dict(conn.execute(query).fetchall()) == {
        "user None": "user", "human web": "web", "assistant None": "agent", "assistant tool": "tool",
        "tool tool": "tool", "tool web": "web", "tool user": "tool", "function agent": "tool",
    }  # fmt: skip


@pytest.mark.rollback
def test_an_unknown_origin_is_not_quoted(conn: Connection[Any]) -> None:
    with pytest.raises(psycopg.errors.InvalidParameterValue, match="message 2") as caught:
        hand_over(conn, [TALK[1], {"role": "tool", "content": "x", "origin": "quartz"}])
    assert "quartz" not in str(caught.value)
    assert "web, tool" in str(caught.value.diag.message_hint)


@pytest.mark.rollback
def test_only_the_last_messages_continue_the_session(conn: Connection[Any]) -> None:
    hand_over(conn, TALK[:3])
    (known, new) = hand_over(conn, [TALK[2], {"role": "user", "content": "Kochi then"}])
    assert (known[2], new[2]) == (False, True)
    assert said(conn)[-1] == (3, "user", "Kochi then")
    hand_over(conn, TALK[:3], "another")
    assert len(said(conn, "another")) == 2


@pytest.mark.rollback
def test_a_forgotten_message_does_not_come_back(conn: Connection[Any]) -> None:
    ((_, number, _),) = hand_over(conn, [{"role": "user", "content": "my pin is 1234"}])
    rows(conn, "forget", number)
    assert hand_over(conn, [{"role": "user", "content": "my pin is 1234"}]) == [(1, number, False)]
    assert stored(conn, number)["deleted_at"] is not None


@pytest.mark.rollback
@pytest.mark.parametrize(
    "wrong",
    [{}, "text", None, [1], [{"content": "x"}], [{"role": 1, "content": "x"}], [{"role": "user", "content": 1}],
     [{"role": "user", "content": "x", "name": 1}], [{"role": "user", "content": "x", "origin": 1}],
     [{"role": "tool", "content": "x", "origin": ""}], [{"role": "user", "content": "x", "created_at": 1}],
     [{"role": "user", "content": "x", "created_at": "yesterday-ish"}], [TALK[1], {"role": "user", "content": {}}],
     *([TALK[1], {"role": "user", "content": "x", "created_at": time}]
       for time in ("infinity", "-infinity", "290000-01-01", "0044-03-15 BC", "", "yesterday", "now", "TODAY 10:00", "tomorrow"))],
    ids=str,
)  # fmt: skip
def test_what_it_refuses_leaves_nothing(conn: Connection[Any], wrong: object) -> None:
    with pytest.raises(psycopg.Error) as caught, conn.transaction():
        hand_over(conn, wrong)
    assert caught.value.sqlstate == "22023", caught.value
    assert caught.value.diag.message_hint
    assert scalar(conn, "SELECT count(*) FROM pgrecall.memories") == 0


@pytest.mark.rollback
def test_a_session_and_a_namespace_are_needed(conn: Connection[Any]) -> None:
    for session in (None, ""):
        with pytest.raises(psycopg.Error) as caught, conn.transaction():
            hand_over(conn, TALK, session)
        assert caught.value.sqlstate == "22023"
    with pytest.raises(psycopg.Error) as caught, conn.transaction():
        hand_over(conn, TALK, namespace="nowhere")
    assert caught.value.sqlstate == "42704"
    assert hand_over(conn, [], namespace="nowhere") == []
    assert len(hand_over(conn, TALK, namespace="there", create_namespace=True)) == 4


def test_two_at_once_store_one_conversation(dsn: str) -> None:
    talk = [{"role": "user", "content": f"message {n}"} for n in range(50)]

    def store(_: int) -> list[int]:
        with psycopg.connect(dsn, autocommit=True) as connection:
            return [number for _, number, _ in hand_over(connection, talk)]

    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(store, range(8)))
    assert all(answer == answers[0] for answer in answers)
    with psycopg.connect(dsn) as connection:
        assert [place for place, _, _ in said(connection)] == list(range(1, 51))


def user(content: str, **fields: object) -> dict[str, object]:
    return {"role": "user", "content": content, **fields}


def assistant(content: str) -> dict[str, object]:
    return {"role": "assistant", "content": content}


@pytest.mark.rollback
def test_the_same_words_at_another_time_are_another_message(conn: Connection[Any]) -> None:
    days = [user("I took my tablet", created_at=f"2026-03-2{day}T08:00:00Z") for day in range(4)]
    for day in days:
        assert [is_new for _, _, is_new in hand_over(conn, [day])] == [True]
    for again in (days[1:2], days[:2], days, days[2:]):
        assert not any(is_new for _, _, is_new in hand_over(conn, again))
    # In another notation of the same moment; two at one moment in one list.
    assert hand_over(conn, [user("I took my tablet", created_at="2026-03-20T09:00:00+01:00")])[0][2] is False
    twice = [user("yes", created_at="2026-03-25T08:00:00Z")] * 2
    assert [row[2] for row in hand_over(conn, twice)] == [True, True]
    assert [row[2] for row in hand_over(conn, twice)] == [False, False]
    assert len(said(conn)) == 6


@pytest.mark.rollback
@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_turns_that_are_handed_over_alone_repeat_their_words(conn: Connection[Any], size: int) -> None:
    talk = [
        message
        for n in range(6)
        for message in (user("yes"), assistant(f"Question {n}?"), user("ok"), assistant("Noted."))
    ]
    for first in range(0, len(talk), size):
        assert all(is_new for _, _, is_new in hand_over(conn, talk[first : first + size]))
    assert [content for _, _, content in said(conn)] == [message["content"] for message in talk]


@pytest.mark.rollback
@pytest.mark.parametrize("window", [2, 3, 7, 100])
def test_a_growing_list_or_its_end_stores_what_is_new(conn: Connection[Any], window: int) -> None:
    talk = [
        message
        for n in range(8)
        for message in (user("yes"), assistant(f"Question {n % 3}?"), user(f"answer {n % 2}"))
    ]
    for length in range(1, len(talk) + 1):
        found = hand_over(conn, talk[max(0, length - window) : length])
        assert [row[2] for row in found] == [False] * (len(found) - 1) + [True]
        assert not any(row[2] for row in hand_over(conn, talk[max(0, length - window) : length]))
    assert [content for _, _, content in said(conn)] == [message["content"] for message in talk]


@pytest.mark.rollback
def test_an_edited_turn_is_stored_beside_the_old_one(conn: Connection[Any]) -> None:
    talk = [user("Where to?"), assistant("To Goa."), user("By train"), assistant("Booked.")]
    hand_over(conn, talk)
    edited = [*talk[:2], user("By bus"), talk[3]]
    assert [row[2] for row in hand_over(conn, edited)] == [False, False, True, True]
    shortened = [*talk[:2], user("By boat")]
    assert [row[2] for row in hand_over(conn, shortened)] == [False, False, True]
    for again in (shortened, edited, talk):
        assert not any(row[2] for row in hand_over(conn, again))
    assert [row[2] for row in hand_over(conn, [*shortened, assistant("Ahoy")])] == [False, False, False, True]
    assert len(said(conn)) == 8


@pytest.mark.rollback
def test_a_message_that_is_known_draws_no_id_and_writes_nothing(conn: Connection[Any]) -> None:
    talk = [message for n in range(200) for message in (user(f"I ate apple {n}"), assistant("Noted."))]
    hand_over(conn, talk)
    before = scalar(conn, "SELECT last_value FROM pgrecall.memories_id_seq")
    hand_over(conn, talk)
    assert scalar(conn, "SELECT last_value FROM pgrecall.memories_id_seq") == before
    # The WAL of this session: others write to the server too.
    query = "EXPLAIN (ANALYZE, WAL, FORMAT JSON) SELECT * FROM remember_messages(%s, 'talk')"
    [([plan],)] = conn.execute(query, [Jsonb([*talk, user("And a pear")])]).fetchall()
    assert scalar(conn, "SELECT last_value FROM pgrecall.memories_id_seq") == before + 1
    assert 0 < plan["Plan"]["WAL Bytes"] < 100_000


def test_calls_at_once_store_each_message_once(dsn: str) -> None:
    talk = [message for n in range(12) for message in (user("yes"), assistant(f"Question {n}?"))]
    dated = [user("yes", created_at=f"2026-03-01T10:00:{n:02}Z") for n in range(24)]

    def store(worker: int) -> list[bool]:
        with psycopg.connect(dsn, autocommit=True) as connection:
            hand_over(connection, dated[worker:], "dated")
            return [is_new for length in (8, 16, 24) for _, _, is_new in hand_over(connection, talk[:length])]

    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(store, range(4)))
    with psycopg.connect(dsn) as connection:
        assert [content for _, _, content in said(connection)] == [message["content"] for message in talk]
        assert len(said(connection, "dated")) == 24
    assert sum(map(sum, answers)) == 24


def test_who_may_only_read_is_told_so(conn: psycopg.Connection[Any], dsn: str) -> None:
    """Nobody can lock what he may not write: to wait for it would have no end."""
    talk = [{"role": "user", "content": text} for text in ("one", "two")]
    rows(conn, "remember_messages", Jsonb(talk), "talk")
    role = f"talk_reader_{conn.info.backend_pid}"
    conn.execute(f"CREATE ROLE {role} LOGIN IN ROLE pgrecall_writer".encode())
    try:
        call(conn, "pgrecall.grant_namespace", role, "default", "read")
        with psycopg.connect(make_conninfo(dsn, user=role), autocommit=True) as reader:
            reader.execute("SET statement_timeout = '20s'")
            assert [row[2] for row in rows(reader, "remember_messages", Jsonb(talk), "talk")] == [False] * 2
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                rows(reader, "remember_messages", Jsonb([{"role": "user", "content": "three"}]), "talk")
    finally:
        call(conn, "pgrecall.revoke_namespace", role, "default")
        conn.execute(f"DROP ROLE {role}".encode())
