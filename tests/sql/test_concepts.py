"""Concepts of tags and expanded keywords: their names, their mentions, and writers that make or remove the same ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from support.memories import call, concepts, contents, remember, remember_many, scalar, waits

if TYPE_CHECKING:
    from psycopg import Connection

pytestmark = pytest.mark.rollback

NORMALISED = [
    ("Project X", "project x"),
    ("  Project \t\n X  ", "project x"),
    ("project-x", "project x"),
    ("project_x", "project x"),
    ("project\u2013x\u2014y", "project x y"),
    ("C++", "c++"),
    ("c++17", "c++17"),
    ("g++ 4.", "g++ 4"),
    ("C", "c"),
    ("C#", "c#"),
    ("F# / .NET", "f# .net"),
    ("Node.js", "node.js"),
    ("v1.2.3", "v1.2.3"),
    ("etc.", "etc"),
    ("#urgent", "urgent"),
    ("+1", "1"),
    ("O'Brien", "o brien"),
    ("GRÖSSE", "grösse"),
    ("Gro\u0308ße", "größe"),
    ("ＦＵＬＬ　ｗｉｄｔｈ", "full width"),
    ("ﬁnance", "finance"),
    ("Ångström", "ångström"),
    ("ÉCOLE", "école"),
    ("МОСКВА", "москва"),
    ("東京タワー", "東京タワー"),
    ("x²", "x2"),
    ("ข้าว", "ข้าว"),
    ("ป่า", "ป่า"),
    ("ເຂົ້າ", "ເຂົ້າ"),
    ("ဆေး", "ဆေး"),
    ("ဆေးရုံ", "ဆေးရုံ"),
    ("ភ្នំពេញ", "ភ្នំពេញ"),
    ("हिन्दी", "हिन्दी"),
    ("বাংলাদেশ্", "বাংলাদেশ্"),
    ("தமிழ்-நாடு", "தமிழ் நாடு"),
    ("ไก่+ข้าว", "ไก่+ข้าว"),
    ("Acme™", "acme"),
    ("Globex℠ Inc", "globex inc"),
    ("школа №5", "школа 5"),
    ("🙂", ""),
    ("...", ""),
    ("+++", ""),
    ("", ""),
]


def test_normalised_names(conn: Connection[Any]) -> None:
    assert [(name, call(conn, "pgrecall.normalize_name", name)) for name, _ in NORMALISED] == NORMALISED


@pytest.mark.parametrize(
    "names",
    [
        ("ข้าว", "ข่าว", "ขาว"),  # rice, news, white
        ("ป่า", "ป้า"),  # forest, aunt
        ("เก่า", "เก้า"),  # old, nine
        ("ເຂົ້າ", "ເຂົາ"),  # rice, he
        ("ဆေး", "ဆေ"),
        ("कल", "कल्"),
    ],
)
def test_signs_make_other_words(conn: Connection[Any], names: tuple[str, ...]) -> None:
    for name in names:
        remember(conn, f"about {name}", tags=[name])
    while call(conn, "pgrecall.resolve_concepts"):
        pass
    assert len({call(conn, "pgrecall.find_concept", name) for name in names}) == len(names)


def test_normalising_twice_changes_nothing(conn: Connection[Any]) -> None:
    for name in ("F# / .NET", "a.+b", "a+.b", ".a.", "a..b", "#.a#", "a #b", "C++.", "+#+a", "ǅ", "ΌΔΟΣ"):
        once = call(conn, "pgrecall.normalize_name", name)
        assert call(conn, "pgrecall.normalize_name", once) == once


def test_mentions_of_tags_and_keywords(conn: Connection[Any]) -> None:
    number = remember(
        conn, tags=["Node.js", "node.JS", "", "  ", "🙂"], expanded_keywords=["NODE.JS", "runtime"]
    )
    assert concepts(conn) == concepts(conn, number) == ["node.js", "runtime"]
    query = """
        SELECT c.key, c.name, c.type, a.alias, m.source::text, m.confidence
        FROM pgrecall.mentions m JOIN pgrecall.concepts c ON c.id = m.concept_id
        JOIN pgrecall.concept_aliases a ON a.concept_id = c.id AND a.namespace_id = c.namespace_id ORDER BY 1, 5
    """
    found = conn.execute(query).fetchall()
    assert [(row[0], *row[2:]) for row in found] == [
        ("node.js", "CONCEPT", "node.js", "keyword", 1),
        ("node.js", "CONCEPT", "node.js", "tag", 1),
        ("runtime", "CONCEPT", "runtime", "keyword", 1),
    ]
    assert {row[1] for row in found[:2]} <= {"Node.js", "node.JS", "NODE.JS"}


def test_names_that_are_too_long_link_nothing(conn: Connection[Any]) -> None:
    # One ligature of the last name becomes 18 letters: what counts is the length of the key as well.
    names = ["x" * 200, "y" * 201, "\ufdfa" * 12]
    number = remember(conn, tags=names)
    assert concepts(conn, number) == ["x" * 200]


def test_sensitive_and_forgotten_memories_name_nothing(conn: Connection[Any]) -> None:
    remember(conn, tags=["secret"], is_sensitive=True)
    call(conn, "forget", remember(conn, tags=["gone"], external_id="e"))
    call(conn, "update_memory", remember(conn, is_sensitive=True), tags=["secret too"])
    conn.execute("UPDATE pgrecall.memories SET tags = ARRAY['gone too'] WHERE deleted_at IS NOT NULL")
    assert concepts(conn) == []


def test_deleting_a_memory_deletes_its_mentions(conn: Connection[Any]) -> None:
    remember(conn, tags=["ann"])
    conn.execute("DELETE FROM pgrecall.memories")
    assert contents(conn)["mentions"] == []


COLUMNS = "namespace_id, content, tags, expanded_keywords, language"


def test_bulk_loads_are_linked(conn: Connection[Any]) -> None:
    with conn.cursor().copy(f"COPY pgrecall.memories ({COLUMNS}) FROM STDIN") as copy:
        copy.set_types(["int4", "text", "text[]", "text[]", "text"])
        for place in range(5000):
            tags = [f"Tag {place % 500}", f"Own {place}", "hub"]
            copy.write_row((1, f"memory {place} about things", tags, [f"word {place % 50}"], "english"))
    # Looked up in indexes, also while the tables have no statistics: scans would read millions of rows.
    conn.execute("SELECT pg_stat_force_next_flush()")
    query = "SELECT sum(seq_tup_read) FROM pg_stat_user_tables WHERE schemaname = 'pgrecall' AND relname <> 'memories'"
    assert scalar(conn, query) < 50_000
    query = """
        SELECT (SELECT count(*) FROM pgrecall.concepts), (SELECT count(*) FROM pgrecall.mentions),
               (SELECT count(*) FROM pgrecall.concept_aliases), count(*), count(DISTINCT content_hash),
               count(*) FILTER (WHERE search_vector @@ 'thing')
        FROM pgrecall.memories
    """
    assert conn.execute(query).fetchone() == (5551, 20_000, 5551, 5000, 5000, 5000)
    query = """
        SELECT count(*) FROM pgrecall.memories m WHERE ARRAY['hub', 'own ' || (substring(content from '[0-9]+'))] <@ ARRAY(
            SELECT c.key FROM pgrecall.mentions x JOIN pgrecall.concepts c ON c.id = x.concept_id WHERE x.memory_id = m.id)
    """
    assert conn.execute(query).fetchone() == (5000,)


def test_two_sessions_make_the_same_concepts(conn: Connection[Any], dsn: str) -> None:
    with psycopg.connect(dsn) as first:
        one = remember(first, tags=["ann", "zoe"])
        second = waits(conn, lambda: remember(conn, tags=["zoe", "mia", "ann"]))
        first.commit()
        two = second()
    assert (concepts(conn), concepts(conn, one), concepts(conn, two)) == (
        ["ann", "mia", "zoe"],
        ["ann", "zoe"],
        ["ann", "mia", "zoe"],
    )
    with psycopg.connect(dsn) as first:
        remember(first, tags=["bob"])
        second = waits(conn, lambda: remember(conn, tags=["bob"]))
        first.rollback()
        assert concepts(conn, second()) == ["bob"]


def test_large_batches_with_the_same_concepts_do_not_deadlock(conn: Connection[Any], dsn: str) -> None:
    memories = [{"content": "x", "tags": [f"tag {place}"]} for place in range(3000)]
    with psycopg.connect(dsn) as first:
        remember_many(first, memories)
        second = waits(conn, lambda: remember_many(conn, memories[::-1]))
        first.commit()
        second()
    assert conn.execute("SELECT count(*), count(DISTINCT concept_id) FROM pgrecall.mentions").fetchone() == (
        6000,
        3000,
    )


def test_a_new_mention_saves_a_concept(conn: Connection[Any], dsn: str) -> None:
    old = remember(conn, tags=["ann"])
    with psycopg.connect(dsn) as first:
        new = remember(first, tags=["ann"])
        second = waits(conn, lambda: call(conn, "forget", old))
        first.commit()
        assert second() is True
    assert concepts(conn) == concepts(conn, new) == ["ann"]


def test_a_new_mention_that_is_rolled_back_saves_nothing(conn: Connection[Any], dsn: str) -> None:
    old = remember(conn, tags=["ann"])
    with psycopg.connect(dsn) as first:
        remember(first, tags=["ann"])
        second = waits(conn, lambda: call(conn, "forget", old))
        first.rollback()
        assert second() is True
    assert concepts(conn) == []


def test_a_concept_that_has_just_been_removed_is_made_again(conn: Connection[Any], dsn: str) -> None:
    old = remember(conn, tags=["ann", "bob"])
    with psycopg.connect(dsn) as first:
        call(first, "forget", old)
        second = waits(conn, lambda: remember(conn, tags=["ann", "bob", "cem"]))
        first.commit()
        new = second()
    assert concepts(conn) == concepts(conn, new) == ["ann", "bob", "cem"]


def test_two_sessions_swap_their_tags(conn: Connection[Any], dsn: str) -> None:
    one, two = remember(conn, tags=["ann"]), remember(conn, tags=["bob"])
    with psycopg.connect(dsn) as first:
        call(first, "update_memory", one, tags=["bob"])
        second = waits(conn, lambda: call(conn, "update_memory", two, tags=["ann"]))
        first.commit()
        assert second() is True
    assert (concepts(conn), concepts(conn, one), concepts(conn, two)) == (["ann", "bob"], ["bob"], ["ann"])


def test_unlinking_a_shared_concept_keeps_nobody_waiting(conn: Connection[Any], dsn: str) -> None:
    old = remember(conn, tags=["hub"])
    remember(conn, tags=["hub"])
    with psycopg.connect(dsn) as first:
        call(first, "forget", old)
        conn.execute("SET lock_timeout = '1s'")
        number = remember(conn, tags=["hub"])
    assert concepts(conn, number) == ["hub"]


@pytest.mark.parametrize("name", ["a", "C", "r", "7", " x ", "é", "#1"])
def test_a_single_letter_names_nothing_and_stays_a_tag(conn: Connection[Any], name: str) -> None:
    number = remember(conn, "content", tags=[name, "tea"], expanded_keywords=[name])
    assert concepts(conn, number) == ["tea"]
    assert scalar(conn, "SELECT count(*) FROM pgrecall.memories WHERE %s = ANY (tags)", name) == 1


@pytest.mark.parametrize("name", ["茶", "猫", "あ", "차", "c++", "c#", "go"])
def test_a_word_of_one_character_and_a_name_of_two_are_concepts(conn: Connection[Any], name: str) -> None:
    assert concepts(conn, remember(conn, "content", tags=[name])) == [name]
