"""update_memory(): what is kept, what is cleared, and what goes with the old text or with secrecy."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from support.embedding_queue import jobs
from support.extraction import extract, fact, mention
from support.memories import call, concepts, contents, embed, refused, remember, stored, waits

if TYPE_CHECKING:
    from psycopg import Connection

pytestmark = pytest.mark.rollback

NOON = datetime(2024, 5, 17, 12, tzinfo=UTC)
EVERYTHING: dict[str, Any] = {
    "title": "title", "category": "category", "tags": ["tag"], "expanded_keywords": ["keyword"], "importance": 0.25,
    "metadata": {"a": {"b": None}}, "source": "source", "session": "session", "speaker": "speaker", "position": 1,
    "language": "simple", "is_sensitive": False, "occurred_at": NOON, "valid_from": NOON,
    "valid_to": NOON + timedelta(days=1),
}  # fmt: skip


def test_nothing_given_changes_nothing(conn: Connection[Any]) -> None:
    number = remember(conn, "content", external_id="e", **EVERYTHING)
    before = contents(conn)
    assert call(conn, "update_memory", number) is False
    assert call(conn, "update_memory", number, content="content", **EVERYTHING) is False
    assert call(conn, "update_memory", number, **dict.fromkeys(EVERYTHING)) is False
    assert contents(conn) == before


@pytest.mark.usefixtures("dsn")
def test_each_field_alone(conn: Connection[Any]) -> None:
    number = remember(conn, "content", external_id="e", **EVERYTHING)
    new: dict[str, Any] = {
        "content": "new", "title": "new", "category": "new", "tags": ["new"], "expanded_keywords": ["new"],
        "importance": 1.0, "metadata": {"new": True}, "source": "new", "session": "new", "speaker": "new",
        "position": 2, "language": "english", "is_sensitive": True, "occurred_at": NOON + timedelta(hours=1),
        "valid_from": NOON - timedelta(hours=1), "valid_to": NOON + timedelta(days=2),
    }  # fmt: skip
    derived = {"updated_at", "content_hash", "search_vector", "words"}
    for name, value in new.items():
        before = stored(conn, number)
        assert call(conn, "update_memory", number, **{name: value}) is True
        after = stored(conn, number)
        assert after[name] == value
        assert after["updated_at"] > before["updated_at"]
        assert {key for key in after if after[key] != before[key]} - derived == {name}


def test_empty_clears(conn: Connection[Any]) -> None:
    number = remember(conn, "content", **EVERYTHING)
    texts = ("title", "category", "source", "session", "speaker")
    call(
        conn, "update_memory", number, tags=[], expanded_keywords=[], metadata={}, **dict.fromkeys(texts, "")
    )
    found = stored(conn, number)
    assert {found[name] for name in texts} == {None}
    assert (found["tags"], found["expanded_keywords"], found["metadata"]) == ([], [], {})
    assert (found["words"], concepts(conn)) == ("'content':1A", [])


def test_what_is_refused(conn: Connection[Any]) -> None:
    number = remember(conn, "content", tags=["ann"], valid_from=NOON)
    refusals: list[tuple[dict[str, Any], str]] = [
        ({"content": ""}, "22023"),
        ({"content": " \n"}, "22023"),
        ({"content": "x" * 262_145}, "54000"),
        ({"title": "x" * 4097}, "54000"),
        ({"importance": 1.5}, "22023"),
        ({"importance": float("nan")}, "22023"),
        ({"language": "klingon"}, "42704"),
        ({"language": ""}, "42704"),
        ({"tags": [None]}, "22023"),
        ({"valid_to": NOON - timedelta(seconds=1)}, "22023"),
        ({"valid_to": NOON, "valid_from": NOON + timedelta(seconds=1)}, "22023"),
    ]
    for options, sqlstate in refusals:
        with refused(conn, sqlstate):
            call(conn, "update_memory", number, **options)


def test_unknown_and_forgotten_memories(conn: Connection[Any]) -> None:
    number = remember(conn)
    call(conn, "forget", number)
    for unknown in (number, number + 1, 0, -1, 2**62, None):
        with refused(conn, "P0002"):
            call(conn, "update_memory", unknown, content="new")


def test_new_text_empties_the_embedding_and_the_rest_does_not(conn: Connection[Any]) -> None:
    number = remember(conn, "content", title="title", tags=["ann"], expanded_keywords=["bob"])
    embed(conn, number)
    before = stored(conn, number)
    call(
        conn,
        "update_memory",
        number,
        tags=["cem"],
        expanded_keywords=["dan"],
        category="e",
        importance=1,
        metadata={"f": 1},
        language="simple",
    )
    after = stored(conn, number)
    assert after["words"] != before["words"]
    for name in ("content_hash", "embedding"):
        assert after[name] == before[name] is not None
    for change in ({"title": "new"}, {"content": "new"}, {"title": ""}):
        embed(conn, number) if stored(conn, number)["embedding"] is None else None
        before = stored(conn, number)
        call(conn, "update_memory", number, **change)
        after = stored(conn, number)
        assert after["content_hash"] != before["content_hash"]
        assert after["embedding"] is None


def test_new_keywords_empty_the_embedding_where_they_are_part_of_it(conn: Connection[Any]) -> None:
    conn.execute("SELECT pgrecall.set_setting('embed_keywords', 'on')")
    number = remember(conn, "content", expanded_keywords=["ann"], tags=["bob"])
    embed(conn, number)
    call(conn, "update_memory", number, tags=["cem"])
    assert stored(conn, number)["embedding"] is not None
    call(conn, "update_memory", number, expanded_keywords=["dan"])
    assert stored(conn, number)["embedding"] is None


def test_new_text_starts_afresh_in_the_queue(conn: Connection[Any]) -> None:
    number = remember(conn, "content")
    worker = "11111111-1111-4111-8111-111111111111"
    conn.execute("SELECT FROM pgrecall.claim(%s)", (worker,))
    conn.execute("SELECT pgrecall.fail(%s, %s, 'bad luck', '1 hour')", (worker, number))
    call(conn, "update_memory", number, tags=["ann"])
    assert conn.execute("SELECT memory_id FROM pgrecall.claim(%s)", (worker,)).fetchall() == []
    call(conn, "update_memory", number, content="new")
    assert jobs(conn) == []
    assert conn.execute("SELECT memory_id FROM pgrecall.claim(%s)", (worker,)).fetchall() == [(number,)]


def enrich(conn: Connection[Any], memory_id: int, name: str) -> None:
    """Read a memory as an embedder does: a name in its text, and what it says of it."""
    extract(
        conn,
        {memory_id: {"mentions": [mention(name)], "facts": [fact(name, f"{name} knows", f"{name} end")]}},
    )


def test_tags_replace_tags_only(conn: Connection[Any]) -> None:
    number = remember(conn, "content", tags=["ann", "bob"], expanded_keywords=["bob", "kim"])
    enrich(conn, number, "person")
    call(conn, "update_memory", number, tags=["ann", "cem"])
    assert concepts(conn, number) == ["ann", "bob", "cem", "kim", "person"]
    call(conn, "update_memory", number, expanded_keywords=[])
    assert concepts(conn) == ["ann", "cem", "person", "person end"]


def test_unchanged_tags_keep_their_mentions(conn: Connection[Any]) -> None:
    number = remember(conn, "content", tags=["ann", "bob"])
    query = "SELECT m.xmin FROM pgrecall.mentions m JOIN pgrecall.concepts c ON c.id = m.concept_id WHERE c.key = 'ann'"
    before = conn.execute(query).fetchall()
    call(conn, "update_memory", number, tags=["ann", "cem"])
    assert conn.execute(query).fetchall() == before


def test_canary_all_that_was_derived_goes_with_secrecy(conn: Connection[Any]) -> None:
    remember(conn, "other", tags=["shared"])
    number = remember(
        conn, "canary content", title="canary title", tags=["canary tag", "shared"], expanded_keywords=["canary word"],
        category="canary", metadata={"canary": 1},
    )  # fmt: skip
    enrich(conn, number, "canary person")
    embed(conn, number)
    worker = "11111111-1111-4111-8111-111111111111"
    conn.execute("UPDATE pgrecall.memories SET embedding = NULL")
    conn.execute("SELECT FROM pgrecall.claim(%s)", (worker,))
    conn.execute("SELECT pgrecall.fail(%s, %s, 'cannot embed canary')", (worker, number))
    leaks = {table for table, texts in contents(conn).items() if any("canary" in text for text in texts)}
    assert leaks == {
        "memories", "concepts", "concept_aliases", "relationships", "relationship_evidence", "jobs",
    }  # fmt: skip

    assert call(conn, "update_memory", number, is_sensitive=True)
    after = contents(conn)
    assert {table for table, texts in after.items() if any("canary" in text for text in texts)} == {
        "memories"
    }
    assert (concepts(conn), concepts(conn, number)) == (["shared"], [])
    assert (after["relationship_evidence"], after["jobs"][1:]) == ([], [])
    # A change of tags brings nothing back, and neither does a second flip; flipping back links the tags again.
    call(conn, "update_memory", number, tags=["canary again"])
    assert concepts(conn) == ["shared"]
    call(conn, "update_memory", number, is_sensitive=False)
    assert concepts(conn, number) == ["canary again", "canary word"]


def test_secrecy_empties_the_embedding(conn: Connection[Any]) -> None:
    number = remember(conn, "content")
    embed(conn, number)
    call(conn, "update_memory", number, is_sensitive=True)
    found = stored(conn, number)
    assert found["embedding"] is None


def test_shared_evidence_keeps_a_relationship(conn: Connection[Any]) -> None:
    one, two = remember(conn, "one"), remember(conn, "two")
    enrich(conn, one, "person")
    conn.execute(
        "INSERT INTO pgrecall.relationship_evidence (relationship_id, memory_id, label) "
        "SELECT id, %s, label FROM pgrecall.relationships",
        (two,),
    )
    call(conn, "update_memory", one, is_sensitive=True)
    assert concepts(conn) == ["person", "person end"]
    call(conn, "update_memory", two, is_sensitive=True)
    assert concepts(conn) == []


def test_two_sessions_hide_the_last_evidence(conn: Connection[Any], dsn: str) -> None:
    one, two = remember(conn, "one"), remember(conn, "two")
    enrich(conn, one, "person")
    conn.execute(
        "INSERT INTO pgrecall.relationship_evidence (relationship_id, memory_id, label) "
        "SELECT id, %s, label FROM pgrecall.relationships",
        (two,),
    )
    with psycopg.connect(dsn) as first:
        call(first, "update_memory", one, is_sensitive=True)
        second = waits(conn, lambda: call(conn, "update_memory", two, is_sensitive=True))
        first.commit()
        assert second() is True
    assert (concepts(conn), contents(conn)["relationships"]) == ([], [])


def test_two_sessions_revise_one_memory(conn: Connection[Any], dsn: str) -> None:
    number = remember(conn, "content", tags=["ann"])
    with psycopg.connect(dsn) as first:
        call(first, "update_memory", number, tags=["bob"])
        second = waits(conn, lambda: call(conn, "update_memory", number, content="new"))
        first.commit()
        assert second() is True
    found = stored(conn, number)
    assert (found["content"], found["tags"], concepts(conn)) == ("new", ["bob"], ["bob"])


@pytest.mark.parametrize("isolation", ["repeatable read", "serializable"])
def test_stricter_isolation_fails_rather_than_overwrite(
    conn: Connection[Any], dsn: str, isolation: str
) -> None:
    number = remember(conn, "content")
    with psycopg.connect(dsn) as first:
        first.execute(f"SET TRANSACTION ISOLATION LEVEL {isolation.upper()}")
        first.execute("SELECT FROM pgrecall.memories").fetchall()
        call(conn, "update_memory", number, content="new")
        with pytest.raises(psycopg.errors.SerializationFailure):
            call(first, "update_memory", number, title="title")
    assert (stored(conn, number)["content"], stored(conn, number)["title"]) == ("new", None)
