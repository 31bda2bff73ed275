"""The languages of a namespace: which ones its memories came in, and queries in all of them."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from psycopg.types.json import Jsonb

from benchmarks.quality.bm25 import Bm25
from pgrecall.admin.migrate import migrate
from support.memories import call, remember, remember_many, rows, scalar, waits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from psycopg import Connection

DATA = Path(os.environ.get("PGRECALL_DATA", Path(__file__).parents[3] / "shared" / "data"))

if not DATA.exists() and os.environ.get("PGRECALL_REQUIRE_DATA"):
    raise FileNotFoundError(f"PGRECALL_REQUIRE_DATA is set and there is no {DATA}")


def languages(conn: Connection[Any], namespace: str = "default") -> list[str]:
    return list(scalar(conn, "SELECT languages FROM pgrecall.namespaces WHERE name = %s", namespace))


def read_in(conn: Connection[Any], namespace: str | None = "default") -> list[str]:
    return list(
        scalar(conn, "SELECT _pgrecall.query_languages(pgrecall.namespace_id(%s))::text[]", namespace)
    )


def recalled(conn: Connection[Any], query: str, **options: object) -> list[str]:
    return [row[3] for row in rows(conn, "recall", query, **options)]


# --- Which languages there are ---


def test_languages_in_the_order_of_their_appearance(conn: Connection[Any]) -> None:
    assert (languages(conn), read_in(conn)) == ([], ["english"])
    remember(conn, "Hunde", language="german")
    remember(conn, "perros", language="spanish")
    remember(conn, "more Hunde", language="german")
    assert (languages(conn), read_in(conn)) == (["german", "spanish"], ["english", "german", "spanish"])
    remember(conn, "dogs")
    assert languages(conn) == ["german", "spanish", "english"]
    assert read_in(conn) == ["english", "german", "spanish"]
    # Forgotten, they may come back.
    call(conn, "forget", scalar(conn, "SELECT min(id) FROM pgrecall.memories"))
    assert languages(conn) == ["german", "spanish", "english"]


def test_languages_of_a_namespace_are_its_own(conn: Connection[Any]) -> None:
    call(conn, "pgrecall.create_namespace", "haus", "german")
    remember(conn, "chiens", namespace="haus", language="french")
    remember(conn, "dogs")
    assert (languages(conn, "haus"), read_in(conn, "haus")) == (["french"], ["german", "french"])
    assert read_in(conn) == ["english"]
    assert read_in(conn, "nowhere") == ["simple"]
    conn.execute("SET pgrecall.namespace = 'haus'")
    assert read_in(conn, None) == ["german", "french"]


def test_every_way_to_write_is_seen(conn: Connection[Any]) -> None:
    for name in ("one", "two", "three"):
        call(conn, "pgrecall.create_namespace", name)
    many = [
        {"content": "a", "namespace": "two", "language": "dutch"},
        {"content": "b", "namespace": "one", "language": "simple"},
        {"content": "c", "namespace": "two", "language": "simple"},
        {"content": "d", "namespace": "one"},
    ]
    first, *_ = remember_many(conn, many)
    assert (languages(conn, "one"), languages(conn, "two")) == (["english", "simple"], ["dutch", "simple"])
    call(conn, "update_memory", first, language="danish")
    assert languages(conn, "two") == ["dutch", "simple", "danish"]
    conn.execute(
        "UPDATE pgrecall.memories SET namespace_id = pgrecall.namespace_id('three') WHERE id = %s", (first,)
    )
    assert languages(conn, "three") == ["danish"]
    new = call(conn, "supersede", first, "e")
    call(conn, "update_memory", new, language="finnish", content="f")
    assert languages(conn, "three") == ["danish", "finnish"]
    copy = "COPY pgrecall.memories (namespace_id, content, language, content_hash, search_vector) FROM STDIN"
    three = call(conn, "pgrecall.namespace_id", "three")
    with conn.cursor().copy(copy) as stream:
        stream.write_row((three, "g", "greek", "", ""))
    assert languages(conn, "three") == ["danish", "finnish", "greek"]


def test_a_memory_that_is_refused_leaves_no_language(conn: Connection[Any]) -> None:
    with pytest.raises(psycopg.errors.InvalidParameterValue):
        remember_many(conn, [{"content": "a", "language": "german"}, {"content": " "}])
    conn.execute("BEGIN")
    remember(conn, "a", language="french")
    conn.execute("ROLLBACK")
    assert languages(conn) == []


def test_two_names_of_one_configuration_are_one_language(conn: Connection[Any]) -> None:
    conn.execute('CREATE TEXT SEARCH CONFIGURATION public."My Words" (COPY = simple)')
    for name in ("pg_catalog.english", 'public."My Words"', "german", "pg_catalog.german"):
        remember(conn, "x", language=name)
    assert read_in(conn) == ["english", '"My Words"', "german"]
    assert len(recalled(conn, "x")) == 4


def test_known_languages_write_no_namespace(conn: Connection[Any], dsn: str) -> None:
    remember_many(conn, [{"content": "a", "language": "german"}, {"content": "b"}])
    before = scalar(conn, "SELECT xmin::text FROM pgrecall.namespaces WHERE name = 'default'")
    remember_many(conn, [{"content": "c", "language": "german"}, {"content": "d"}])
    conn.execute("UPDATE pgrecall.memories SET language = 'german'")
    assert scalar(conn, "SELECT xmin::text FROM pgrecall.namespaces WHERE name = 'default'") == before
    # Nor do they wait for somebody who does.
    with psycopg.connect(dsn) as other:
        remember(other, "e", language="french")
        conn.execute("SET lock_timeout = '2s'")
        remember(conn, "f", language="german")
        remember(conn, "g")


@pytest.fixture
def other(dsn: str) -> Iterator[Connection[Any]]:
    """A second session."""
    with psycopg.connect(dsn) as connection:
        yield connection


def test_two_sessions_bring_the_same_language(conn: Connection[Any], other: Connection[Any]) -> None:
    remember(other, "a", language="german")
    second = waits(conn, lambda: remember(conn, "b", language="german"))
    other.commit()
    second()
    assert languages(conn) == ["german"]
    remember(other, "a", language="french")
    second = waits(conn, lambda: remember(conn, "b", language="french"))
    other.rollback()
    second()
    assert languages(conn) == ["german", "french"]


def test_two_sessions_bring_languages_to_two_namespaces(
    conn: Connection[Any], other: Connection[Any]
) -> None:
    for name in ("one", "two"):
        call(conn, "pgrecall.create_namespace", name)

    def both(connection: Connection[Any], *order: str) -> None:
        remember_many(
            connection,
            [
                {"content": "x", "namespace": name, "language": language}
                for name in order
                for language in ("german", "french")
            ],
        )

    both(other, "one", "two")
    second = waits(conn, lambda: both(conn, "two", "one"))
    other.commit()
    second()
    assert languages(conn, "one") == languages(conn, "two") == ["french", "german"]


# --- Queries in all of them ---


def test_memories_of_several_languages_are_found_by_any_form(conn: Connection[Any]) -> None:
    texts = {
        "english": "We were running with the dogs",
        "german": "Die Häuser an der Straße waren schön",
        "french": "Elle a développé des idées",
        "russian": "Мы купили новые книги",
        "simple": "我们去北京大学",
    }
    for language, text in texts.items():
        remember(conn, text, language=language)
    for query, language in (
        ("who ran? a dog that runs", "english"),
        ("schönes Haus", "german"),
        ("strasse", "german"),
        ("développer une idée", "french"),
        ("developpe", "french"),
        ("новая книга", "russian"),
        ("大学", "simple"),
    ):
        assert recalled(conn, query)[0] == texts[language], query
    # A memory is read in its own language alone.
    number = remember(conn, "running", language="simple")
    assert "'running'" in scalar(
        conn, "SELECT search_vector::text FROM pgrecall.memories WHERE id = %s", number
    )
    assert recalled(conn, "running")[0] == "running"


def test_a_locale_that_knows_ascii_alone(server_dsn: str, conn: Connection[Any]) -> None:
    name = f"pgrecall_test_c_{os.getpid()}"
    with psycopg.connect(server_dsn, autocommit=True) as maintenance:
        form = "TEMPLATE template0 LOCALE_PROVIDER libc LC_COLLATE 'C' LC_CTYPE 'C'"
        maintenance.execute(f"CREATE DATABASE {name} {form}".encode())
        try:
            dsn = make_conninfo(server_dsn, dbname=name)
            migrate(dsn)
            with psycopg.connect(dsn, autocommit=True) as ascii_only:
                status = "SELECT status FROM pgrecall.health() WHERE check_name = 'locale'"
                assert (scalar(ascii_only, status), scalar(conn, status)) == ("warn", "ok")
                for text, query in (
                    ("Priya’s “new” café — red…", "priya new cafe red"),
                    ("我们去北京大学。", "北京"),
                    ("Łódź, Österreich, Ærø", "łódź osterreich aero"),
                    ("мы купили ёлку", "елку"),
                ):
                    remember(ascii_only, text, language="simple" if text[0] != "м" else "russian")
                    assert recalled(ascii_only, query) == [text], query
        finally:
            maintenance.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())


def test_stop_words_do_not_bring_the_few_of_another_language_first(conn: Connection[Any]) -> None:
    remember_many(conn, [{"content": f"Note {place} on the harbour of Oslo"} for place in range(20)])
    remember(conn, "What did you do in the end? I do not know what it was.", language="simple")
    remember(conn, "The ferry to Oslo leaves at nine")
    assert recalled(conn, "When did the ferry leave, and what did I do in Oslo?")[0].startswith("The ferry")


@pytest.mark.parametrize("mode", ["bm25", "ts_rank", "websearch", "prefix"])
def test_every_mode_reads_every_language(conn: Connection[Any], mode: str) -> None:
    conn.execute("SELECT set_config('pgrecall.lexical_mode', %s, false)", (mode,))
    german = "Die Häuser waren groß"
    remember(conn, german, language="german")
    remember(conn, "the houses were large")
    remember(conn, "東京都に住む", language="simple")
    assert recalled(conn, "Haus gross") == [german]
    assert recalled(conn, "house") == ["the houses were large"]
    assert recalled(conn, "京都") == ["東京都に住む"]


@pytest.mark.parametrize(
    ("name", "language"),
    [("xquad-de", "german"), ("xquad-es", "spanish"), ("xquad-ru", "russian"), ("xquad-zh", "simple")],
)
@pytest.mark.skipif(not DATA.exists(), reason=f"no evaluation data: there is no {DATA}")
def test_questions_find_their_paragraph(conn: Connection[Any], name: str, language: str) -> None:
    def read(file: str) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (DATA / name / file).read_text("utf-8").splitlines()]

    namespace = call(conn, "pgrecall.create_namespace", name, language)
    corpus = read("corpus.jsonl")
    ids = conn.execute(
        "SELECT remember_many(%s, %s)",
        (Jsonb([{key: row[key] for key in ("content", "title") if row.get(key)} for row in corpus]), name),
    ).fetchall()
    external = {number: row["id"] for (number,), row in zip(ids, corpus, strict=True)}
    relevant = {row["query_id"]: set(row["relevant_ids"]) for row in read("qrels.jsonl")}
    index = Bm25.read(conn, namespace)
    hits = 0
    questions = read("queries.jsonl")
    for question in questions:
        terms = scalar(
            conn,
            "SELECT _pgrecall.query_terms(_pgrecall.query_languages(pgrecall.namespace_id(%s)), %s)",
            name,
            question["text"],
        )
        hits += any(external[number] in relevant[question["query_id"]] for number, _ in index.top(terms, 10))
    assert hits / len(questions) >= 0.97
