"""Two calls that need the same rows, names or namespace: one waits for the other, and neither ends in a deadlock.

Each test stops a call where it holds one thing and needs another, and then lets a second call ask for both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from support.memories import call, concepts, remember, remember_many, rows, scalar, waits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from psycopg import Connection


@pytest.fixture
def other(dsn: str) -> Iterator[Connection[Any]]:
    with psycopg.connect(dsn, autocommit=True) as connection:
        yield connection


def test_an_erasure_beside_a_memory_of_the_same_names(
    conn: Connection[Any], other: Connection[Any], dsn: str
) -> None:
    doomed = remember(conn, "Both of them went to the sea", tags=["anna", "zoe"])
    remember(conn, "Anna stayed", tags=["anna"])
    call(conn, "pgrecall.set_page", "about-user")
    with psycopg.connect(dsn, autocommit=True) as third:
        with conn.transaction():
            # The erasure waits for this line when it has released the names.
            conn.execute("SELECT FROM pgrecall.page_lines WHERE memory_id = %s FOR KEY SHARE", (doomed,))
            erased = waits(other, lambda: rows(other, "erase", doomed))
            stored = waits(third, lambda: remember(third, "They came back", tags=["anna", "zoe"]))
        assert len(erased()) == 1
        new = stored()
    found = conn.execute(
        "SELECT array_agg(a.alias ORDER BY a.alias) FROM pgrecall.mentions m"
        " JOIN pgrecall.concept_aliases a ON a.concept_id = m.concept_id WHERE m.memory_id = %s",
        (new,),
    ).fetchone()
    assert found == (["anna", "zoe"],)


def test_a_namespace_is_erased_beside_a_change_of_a_memory(
    conn: Connection[Any], other: Connection[Any]
) -> None:
    call(conn, "pgrecall.create_namespace", "gone")
    number = remember(conn, "Anna went to the sea", namespace="gone", tags=["sea"])
    remember(conn, "Zoe went to the sea", namespace="gone", tags=["beach"])
    with conn.transaction():
        call(conn, "update_memory", number, importance=0.9)
        erased = waits(other, lambda: rows(other, "erase_namespace", "gone"))
        call(conn, "update_memory", number, tags=["beach"])
    assert len(erased()) == 1


@pytest.mark.parametrize(("act", "options"), [("forget", {}), ("update_memory", {"content": "I moved"})])
def test_a_message_changes_beside_a_change_of_its_note(
    conn: Connection[Any], other: Connection[Any], act: str, options: dict[str, Any]
) -> None:
    message = remember(conn, "I moved to Kochi", tags=["kochi"])
    note = remember(conn, "The user lives in Kochi", tags=["kochi"])
    remember(conn, "Kochi is by the sea", tags=["kochi"])
    conn.execute(
        "INSERT INTO pgrecall.note_evidence (note_id, memory_id, is_stated) VALUES (%s, %s, true)",
        (note, message),
    )
    with conn.transaction():
        call(conn, "update_memory", note, importance=0.9)
        changed = waits(other, lambda: call(other, act, message, **options))
        call(conn, "update_memory", note, tags=["kerala"])
    assert changed()


def test_a_batch_of_old_and_new_memories_beside_a_change_of_an_old_one(
    conn: Connection[Any], other: Connection[Any]
) -> None:
    (old,) = remember_many(conn, [{"content": "one", "external_id": "old", "tags": ["beach"]}])
    batch = [
        {"content": "two", "external_id": "new", "tags": ["sea"]},
        {"content": "one, corrected", "external_id": "old", "tags": ["beach"]},
    ]
    with conn.transaction():
        conn.execute("SELECT FROM pgrecall.memories WHERE id = %s FOR NO KEY UPDATE", (old,))
        stored = waits(other, lambda: remember_many(other, batch, on_conflict="update"))
        call(conn, "update_memory", old, tags=["sea"])
    assert stored()[1] == old
    assert scalar(conn, "SELECT tags FROM pgrecall.memories WHERE id = %s", old) == ["beach"]


@pytest.mark.parametrize("way", ["remember_many", "import_rows"])
def test_a_batch_beside_changes_in_the_order_of_names(
    conn: Connection[Any], other: Connection[Any], way: str
) -> None:
    def given(tags: list[str], mark: str) -> list[dict[str, Any]]:
        return [
            {"content": f"{tag} {mark}", "external_id": f"{n}", "tags": [tag]} for n, tag in enumerate(tags)
        ]

    def store(connection: Connection[Any], memories: list[dict[str, Any]], mark: str) -> None:
        if way == "remember_many":
            remember_many(connection, memories, on_conflict="update")
            return
        lines = [
            {"memory": one, "import": {"kind": "k", "id": one["external_id"], "fingerprint": mark}}
            for one in memories
        ]
        rows(connection, "pgrecall.import_rows", Jsonb(lines))

    store(conn, given(["mm", "zz", "aa"], "1"), "1")
    first, second = remember(conn, "aa", tags=["aa"]), remember(conn, "zz", tags=["zz"])
    with conn.transaction():
        call(conn, "update_memory", first, tags=["other"])
        stored = waits(other, lambda: store(other, given(["mm", "yy", "yy"], "2"), "2"))
        call(conn, "update_memory", second, tags=["other"])
    stored()
    assert scalar(conn, "SELECT count(*) FROM pgrecall.memories WHERE tags = '{yy}'") == 2


def test_calls_that_continue_a_session_take_turns(conn: Connection[Any], other: Connection[Any]) -> None:
    talk = [{"role": "user", "content": text} for text in ("one", "two", "three", "four", "five")]
    rows(conn, "remember_messages", Jsonb(talk[:3]), "talk")
    with conn.transaction():
        rows(conn, "remember_messages", Jsonb(talk[3:4]), "talk")
        stored = waits(other, lambda: rows(other, "remember_messages", Jsonb(talk[4:]), "talk"))
    stored()
    assert [row[2] for row in rows(conn, "remember_messages", Jsonb(talk), "talk")] == [False] * 5
    positions = scalar(
        conn, 'SELECT array_agg("position" || \' \' || content ORDER BY "position") FROM pgrecall.memories'
    )
    assert positions == ["1 one", "2 two", "3 three", "4 four", "5 five"]


def test_a_third_call_waits_for_the_second_that_continues_a_session(
    conn: Connection[Any], other: Connection[Any], dsn: str
) -> None:
    """The second waited with the lock of a message that was the last no more."""
    texts = ("one", "two", "three", "four", "five")

    def hand_over(connection: Connection[Any], text: str) -> Any:
        return rows(connection, "remember_messages", Jsonb([{"role": "user", "content": text}]), "talk")

    hand_over(conn, "one")
    with psycopg.connect(dsn, autocommit=True) as third, psycopg.connect(dsn, autocommit=True) as fourth:
        for one in (other, third):
            one.execute("BEGIN")
        with conn.transaction():
            hand_over(conn, "two")
            second = waits(other, lambda: hand_over(other, "three"))
        second()
        last = waits(third, lambda: hand_over(third, "four"))
        other.execute("COMMIT")
        last()
        very_last = waits(fourth, lambda: hand_over(fourth, "five"))
        third.execute("COMMIT")
        very_last()
    assert scalar(conn, 'SELECT array_agg(content ORDER BY "position") FROM pgrecall.memories') == [*texts]
    assert scalar(conn, 'SELECT array_agg("position" ORDER BY "position") FROM pgrecall.memories') == [
        *range(1, 6)
    ]


def test_an_older_snapshot_continues_a_session_that_an_embedder_writes_to(
    conn: Connection[Any], other: Connection[Any]
) -> None:
    talk = [{"role": "user", "content": text} for text in ("one", "two")]
    rows(conn, "remember_messages", Jsonb(talk[:1]), "talk")
    with conn.transaction():
        conn.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        scalar(conn, "SELECT count(*) FROM pgrecall.memories")
        other.execute("UPDATE pgrecall.memories SET updated_at = now()")
        assert [row[2] for row in rows(conn, "remember_messages", Jsonb(talk), "talk")] == [False, True]


def test_a_setting_that_clears_all_embeddings_beside_changes(
    conn: Connection[Any], other: Connection[Any]
) -> None:
    first, second = (remember(conn, text) for text in ("one", "two"))
    call(conn, "update_memory", first, importance=0.9)  # in the heap it is behind the second now
    with conn.transaction():
        call(conn, "update_memory", first, importance=0.8)
        changed = waits(other, lambda: call(other, "pgrecall.set_setting", "embed_keywords", "on"))
        call(conn, "update_memory", second, importance=0.8)
    changed()


def test_a_grant_beside_a_renaming_has_the_new_name(conn: Connection[Any], other: Connection[Any]) -> None:
    call(conn, "pgrecall.create_namespace", "before")
    with conn.transaction():
        call(conn, "pgrecall.rename_namespace", "before", "after")
        granted = waits(
            other, lambda: call(other, "pgrecall.grant_namespace", "pgrecall_reader", "before", "read")
        )
    granted()
    assert scalar(conn, "SELECT array_agg(namespace) FROM pgrecall.grants") == ["after"]


@pytest.mark.parametrize(
    ("function", "before", "first", "second", "table"),
    [
        ("set_retention", ["default", "1 day"], ["default", "2 days"], ["default", "3 days"], "retention"),
        ("set_entity_rules", ["PROJECT", ["one"]], ["PROJECT", ["two"]], ["PROJECT", ["three"]], "entity_rules"),
    ],
)  # fmt: skip
def test_the_later_of_two_changes_of_a_rule_counts(
    conn: Connection[Any], other: Connection[Any], function: str, before: list[Any], first: list[Any],
    second: list[Any], table: str,
) -> None:  # fmt: skip
    call(conn, f"pgrecall.{function}", *before)
    with conn.transaction():
        call(conn, f"pgrecall.{function}", *first)
        changed = waits(other, lambda: call(other, f"pgrecall.{function}", *second))
    changed()
    said = scalar(conn, f"SELECT string_agg(t::text, ' ') FROM pgrecall.{table} t")
    assert "3 days" in said or "three" in said


def test_a_name_that_comes_while_concepts_are_compared_is_compared_later(
    conn: Connection[Any], other: Connection[Any]
) -> None:
    # The pair has the comparison wait for the names, when it has read the other concept.
    remember(conn, "Two of one kind", tags=["decision", "decisions"])
    remember(conn, "Another", tags=["sea"])
    concept = scalar(conn, "SELECT c.id FROM pgrecall.concepts c WHERE c.key = 'sea'")
    with conn.transaction():
        conn.execute("SELECT pgrecall.add_alias(%s, 'ocean')", (concept,))
        compared = waits(other, lambda: call(other, "pgrecall.resolve_concepts"))
    assert compared() == 3
    unresolved = "SELECT array_agg(c.key) FROM pgrecall.concepts c WHERE c.resolved_at IS NULL"
    assert scalar(conn, unresolved) == ["sea"]
    assert call(conn, "pgrecall.resolve_concepts") == 1
    assert scalar(conn, unresolved) is None


def test_a_concept_that_an_open_transaction_changes_does_not_keep_the_comparison_busy(
    conn: Connection[Any], other: Connection[Any]
) -> None:
    remember(conn, "One", tags=["sea"])
    concept = scalar(conn, "SELECT c.id FROM pgrecall.concepts c WHERE c.key = 'sea'")
    with conn.transaction():
        conn.execute("SELECT pgrecall.add_alias(%s, 'ocean')", (concept,))
        assert call(other, "pgrecall.resolve_concepts") == 0
        remember(other, "Another", tags=["harbour"], namespace="elsewhere", create_namespace=True)
        assert call(other, "pgrecall.resolve_concepts") == 1
        assert call(other, "pgrecall.resolve_concepts") == 0
    assert call(other, "pgrecall.resolve_concepts") == 1
    assert call(other, "pgrecall.resolve_concepts") == 0


@pytest.mark.parametrize("way", ["remember_many", "import_rows", "update_memory"])
def test_changes_that_bring_a_language_beside_new_memories(
    conn: Connection[Any], other: Connection[Any], way: str
) -> None:
    def store(connection: Connection[Any], mark: str, **options: object) -> list[Any]:
        memories = [{"content": f"{n} {mark}", "external_id": n, **options} for n in ("one", "two")]
        if way != "import_rows":
            return remember_many(connection, memories, on_conflict="update")
        lines = [
            {"memory": m, "import": {"kind": "k", "id": m["external_id"], "fingerprint": mark}}
            for m in memories
        ]
        return [number for _, number, _ in rows(connection, "pgrecall.import_rows", Jsonb(lines))]

    message, note = store(conn, "1", tags=["beach"])
    conn.execute(
        "INSERT INTO pgrecall.note_evidence (note_id, memory_id, is_stated) VALUES (%s, %s, true)",
        (note, message),
    )

    def change() -> None:
        if way == "update_memory":
            call(other, way, message, content="eins", language="german")
        else:
            store(other, "2", tags=["sea"], language="german")

    with conn.transaction():
        remember(conn, "Ein Tag am Meer", language="german")
        changed = waits(other, change)
        remember(conn, "On the beach", tags=["beach"])
    changed()
    assert scalar(conn, "SELECT language FROM pgrecall.memories WHERE id = %s", message) == "german"


@pytest.mark.parametrize("way", ["remember_many", "import_rows"])
def test_batches_of_new_names_in_another_order(
    conn: Connection[Any], other: Connection[Any], way: str
) -> None:
    def store(connection: Connection[Any], tags: list[str], mark: str) -> None:
        memories = [
            {"content": f"{n} {mark}", "external_id": f"{n}", "tags": [tag]} for n, tag in enumerate(tags)
        ]
        if way == "remember_many":
            remember_many(connection, memories, on_conflict="update")
            return
        lines = [
            {"memory": m, "import": {"kind": "k", "id": m["external_id"], "fingerprint": mark}}
            for m in memories
        ]
        rows(connection, "pgrecall.import_rows", Jsonb(lines))

    store(conn, ["old", "old"], "1")
    first, second = remember(conn, "one"), remember(conn, "two")
    with conn.transaction():
        call(conn, "update_memory", first, tags=["aa"])
        stored = waits(other, lambda: store(other, ["zz", "aa", "mm"], "2"))
        call(conn, "update_memory", second, tags=["zz"])
    stored()
    assert scalar(conn, "SELECT array_agg(c.key ORDER BY c.key) FROM pgrecall.concepts c") == [
        "aa",
        "mm",
        "zz",
    ]


def test_a_batch_that_restores_memories_beside_new_names(
    conn: Connection[Any], other: Connection[Any]
) -> None:
    tagged = [{"content": n, "external_id": n, "tags": [n]} for n in ("zz", "aa")]
    for number in remember_many(conn, tagged):
        call(conn, "forget", number)
    first, second = remember(conn, "one"), remember(conn, "two")
    batch = [{"content": n, "external_id": n} for n in ("zz", "aa")]
    with conn.transaction():
        call(conn, "update_memory", first, tags=["aa"])
        stored = waits(other, lambda: remember_many(other, batch, on_conflict="update"))
        call(conn, "update_memory", second, tags=["zz"])
    assert [concepts(conn, number) for number in stored()] == [["zz"], ["aa"]]


def test_a_name_that_a_batch_does_not_come_to_is_not_kept(conn: Connection[Any]) -> None:
    remember_many(conn, [{"content": n, "external_id": n} for n in ("one", "two")])
    call(conn, "update_memory", scalar(conn, "SELECT min(id) FROM pgrecall.memories"), is_sensitive=True)
    batch = [
        {"content": "one", "external_id": "one", "tags": ["hidden"]},
        {"content": "two", "external_id": "two", "tags": ["before"]},
        {"content": "two", "external_id": "two", "tags": ["after"]},
        {"content": "three", "external_id": "three", "tags": ["after"]},
    ]
    remember_many(conn, batch, on_conflict="update")
    assert scalar(conn, "SELECT array_agg(c.key ORDER BY c.key) FROM pgrecall.concepts c") == ["after"]
    assert scalar(conn, "SELECT count(*) FROM pgrecall.mentions") == 2


@pytest.mark.parametrize("way", ["remember_many", "import_rows"])
@pytest.mark.parametrize("language", ["english", "german"])
def test_a_new_memory_beside_a_batch_with_its_external_id_and_name(
    conn: Connection[Any], other: Connection[Any], dsn: str, way: str, language: str
) -> None:
    def store(connection: Connection[Any], memories: list[dict[str, Any]], mark: str) -> list[int]:
        if way == "remember_many":
            return remember_many(connection, memories, on_conflict="update")
        lines = [
            {"memory": m, "import": {"kind": "k", "id": m["external_id"], "fingerprint": mark}}
            for m in memories
        ]
        return [number for _, number, _ in rows(connection, "pgrecall.import_rows", Jsonb(lines))]

    (old,) = store(conn, [{"content": "one", "external_id": "old", "tags": ["sea"]}], "1")
    batch = [
        {"content": "one, corrected", "external_id": "old", "tags": ["new"]},
        {"content": "two", "external_id": "two", "tags": ["new"], "language": language},
    ]
    with psycopg.connect(dsn, autocommit=True) as third:
        with conn.transaction():
            # The new memory has its external id, and waits for the first of its names.
            conn.execute("SELECT FROM pgrecall.concept_aliases WHERE alias = 'sea' FOR UPDATE")
            made = waits(
                other,
                lambda: remember(
                    other, "two", external_id="two", tags=["alpha", "new", "sea"], language=language
                ),
            )
            changed = waits(third, lambda: store(third, batch, "2"))
        new = made()
        if way == "import_rows":
            with pytest.raises(psycopg.errors.UniqueViolation, match="another session"):
                changed()
        else:
            assert changed() == [old, new]
            assert scalar(conn, "SELECT tags FROM pgrecall.memories WHERE id = %s", new) == ["new"]


def test_a_batch_links_its_new_memories_as_they_are_stored(conn: Connection[Any]) -> None:
    key = "AKIA" + "QWERTYUIOPASDFGH"
    call(conn, "pgrecall.set_setting", "secrets", "redact")
    remember_many(conn, [{"content": "one", "external_id": "one", "tags": ["sea"]}])
    batch = [
        {"content": "one", "external_id": "one", "tags": ["beach"]},
        {
            "content": "two",
            "external_id": "two",
            "tags": ["beach", f"key {key}"],
            "expanded_keywords": ["Porto"],
        },
        {"content": "three", "external_id": "three", "tags": ["hidden"], "is_sensitive": True},
        {"content": "four", "external_id": "two", "tags": ["beach", "Ghent"]},
    ]
    ids = remember_many(conn, batch, on_conflict="update")
    assert concepts(conn) == ["beach", "ghent", "porto"]
    assert concepts(conn, ids[1]) == ["beach", "ghent", "porto"]
    remember_many(conn, [{"content": "five", "external_id": "one"}, batch[1]], on_conflict="update")
    linked = concepts(conn, ids[1])
    assert len(linked) == 3
    assert key.lower() not in " ".join(linked)
    # What comes after the batch is linked as ever.
    assert concepts(conn, remember(conn, "six", tags=["sea"])) == ["sea"]
