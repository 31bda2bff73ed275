"""Namespaces: which one a call works in, how they are made, and what they default."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg

from support.memories import call, contents, refused, remember, stored, waits

if TYPE_CHECKING:
    from psycopg import Connection


def namespace_of(conn: Connection[Any], **options: Any) -> str:
    return str(stored(conn, remember(conn, **options))["namespace"])


def test_argument_then_parameter_then_setting_then_default(conn: Connection[Any]) -> None:
    for name in ("argument", "parameter", "setting"):
        conn.execute("SELECT pgrecall.create_namespace(%s)", (name,))
    assert namespace_of(conn) == "default"
    conn.execute("SELECT pgrecall.set_setting('namespace', 'setting')")
    assert namespace_of(conn) == "setting"
    conn.execute("SET pgrecall.namespace = 'parameter'")
    assert namespace_of(conn) == "parameter"
    assert namespace_of(conn, namespace="argument") == "argument"
    conn.execute("SET pgrecall.namespace = ''")
    assert namespace_of(conn) == "setting"
    conn.execute("SET pgrecall.namespace = 'nowhere'")
    with refused(conn, "42704"):
        remember(conn)
    assert call(conn, "pgrecall.namespace_id") is None


def test_create_namespace_finds_or_makes(conn: Connection[Any]) -> None:
    number = call(conn, "pgrecall.create_namespace", "here", "german")
    before = contents(conn)
    assert call(conn, "pgrecall.create_namespace", "here") == number
    assert call(conn, "pgrecall.create_namespace", "here", "french") == number
    assert call(conn, "pgrecall.namespace_id", "here") == number
    assert contents(conn) == before


def test_names_are_taken_as_they_are(conn: Connection[Any]) -> None:
    names = ["n" * 200, "Größe", "größe", "a/b:c", " padded ", "'; DROP TABLE memories; --"]
    ids = {call(conn, "pgrecall.create_namespace", name) for name in names}
    assert len(ids) == len(names)
    for name in names:
        assert namespace_of(conn, namespace=name) == name


def test_bad_names_and_languages_are_refused(conn: Connection[Any]) -> None:
    for name in (None, "", " \t", "n" * 201):
        with refused(conn, "22023"):
            call(conn, "pgrecall.create_namespace", name)
    with refused(conn, "42704"):
        call(conn, "pgrecall.create_namespace", "here", "klingon")
    # Only asked for, it is made; a memory that is refused takes it back.
    with refused(conn, "22023"):
        remember(conn, "x", importance=2, namespace="new", create_namespace=True)


def test_language_of_a_namespace_is_that_of_its_memories(conn: Connection[Any]) -> None:
    call(conn, "pgrecall.create_namespace", "here", "german")
    german = stored(conn, remember(conn, "Hunde", namespace="here"))
    assert (german["language"], german["words"]) == ("german", "'hund':1A")
    english = stored(conn, remember(conn, "Hunde", namespace="here", language="english"))
    assert (english["language"], english["words"]) == ("english", "'hund':1A")
    assert (
        stored(conn, remember(conn, "dogs", namespace="new", create_namespace=True))["language"] == "english"
    )


def test_concepts_do_not_cross_namespaces(conn: Connection[Any]) -> None:
    for name in ("one", "two"):
        remember(conn, "x", tags=["tag"], namespace=name, create_namespace=True)
    assert len(contents(conn)["concepts"]) == 2
    # A memory that moves takes its tags along.
    conn.execute("UPDATE pgrecall.memories SET namespace_id = pgrecall.namespace_id('default')")
    query = "SELECT n.name, count(m.*) FROM pgrecall.concepts c JOIN pgrecall.namespaces n ON n.id = c.namespace_id "
    query += "LEFT JOIN pgrecall.mentions m ON m.concept_id = c.id AND m.namespace_id = n.id GROUP BY 1"
    assert conn.execute(query).fetchall() == [("default", 2)]


def test_two_sessions_make_the_same_namespace(conn: Connection[Any], dsn: str) -> None:
    with psycopg.connect(dsn) as first:
        number = call(first, "pgrecall.create_namespace", "new")
        second = waits(conn, lambda: call(conn, "pgrecall.create_namespace", "new"))
        first.commit()
        assert second() == number
    with psycopg.connect(dsn) as first:
        remember(first, "one", namespace="newer", create_namespace=True)
        third = waits(conn, lambda: remember(conn, "two", namespace="newer", create_namespace=True))
        first.rollback()
        assert stored(conn, third())["namespace"] == "newer"
