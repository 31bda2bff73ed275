"""What the roles may do with the concept graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from support.extraction import claimed, complete, fact, mention, time, wrong
from support.memories import call, concepts, remember, rows, share
from support.roles import denied, role

if TYPE_CHECKING:
    from psycopg import Connection


def test_the_embedder_reads_and_resolves_and_no_more(conn: Connection[Any]) -> None:
    remember(conn, "secret", is_sensitive=True)
    number, failing = remember(conn, "open", tags=["Acme"]), remember(conn, "failing")
    with role(conn, "pgrecall_embedder"):
        rest, row = claimed(conn)
        assert (row[0], rest[0]) == (number, failing)
        read = {
            "memory_id": row[0],
            "ticket": row[1],
            "mentions": [mention("Acme Inc", "ORG"), mention("Jane", "PERSON")],
            "times": [time("2024-01-01", "2024-01-02")],
            "facts": [fact("Jane", "works at", "Acme Inc")],
        }
        assert complete(conn, [read]) == 1
        call(conn, "pgrecall.fail_extraction", "text", failing, rest[1], "x")
        assert call(conn, "pgrecall.release_extractions", "00000000-0000-0000-0000-000000000007") == 0
        assert call(conn, "pgrecall.resolve_concepts") == 3
        denied(
            conn,
            "SELECT pgrecall.split_concept(1)",
            "SELECT pgrecall.add_alias(1, 'x')",
            "SELECT pgrecall.remove_alias(1, 'x')",
            "SELECT pgrecall.reextract()",
            "SELECT pgrecall.set_entity_rules('X')",
            "SELECT * FROM pgrecall.concept_overview",
            "UPDATE pgrecall.memories SET title = 'x'",
        )
    assert concepts(conn, number) == ["acme inc", "jane"] or concepts(conn, number) == ["acme", "jane"]
    assert wrong(conn) == {}


def test_a_writer_merges_and_splits(conn: Connection[Any]) -> None:
    share(conn)
    with role(conn, "pgrecall_writer"):
        remember(conn, tags=["ann", "bob"])
        ids = [call(conn, "pgrecall.find_concept", name) for name in ("ann", "bob")]
        call(conn, "pgrecall.split_concept", call(conn, "pgrecall.merge_concepts", *ids))
        call(conn, "pgrecall.add_alias", ids[1], "cem")
        assert call(conn, "pgrecall.remove_alias", ids[1], "cem") is True
        denied(conn, "SELECT pgrecall.complete_extractions('text', 'v', '[]')")
        denied(conn, "SELECT * FROM pgrecall.claim_extractions(gen_random_uuid())")
    assert wrong(conn) == {}


def test_a_memory_that_mentions_a_concept_in_several_ways_counts_once(conn: Connection[Any]) -> None:
    numbers = [
        remember(conn, f"bob {number}", tags=["bob"], expanded_keywords=["bob"]) for number in range(6)
    ]
    concept = call(conn, "pgrecall.find_concept", "bob")
    listed = rows(conn, "pgrecall.memories_of_concept", concept, 6)
    assert sorted(listed) == numbers
    assert len(rows(conn, "pgrecall.memories_of_concept", concept, 4)) == 4
    assert len(rows(conn, "pgrecall.memories_of_concept", concept, 2**31 - 1)) == 6


def test_a_reader_looks_and_changes_nothing(conn: Connection[Any]) -> None:
    remember(conn, tags=["ann", "bob"])
    share(conn)
    with role(conn, "pgrecall_reader"):
        (a, b) = (call(conn, "pgrecall.find_concept", name) for name in ("ann", "bob"))
        assert [row[0] for row in rows(conn, "pgrecall.concept_neighbours", a)] == [b]
        assert [row[1] for row in rows(conn, "pgrecall.list_concepts")] == ["ann", "bob"]
        assert rows(conn, "pgrecall.show_concept", a)[0][2] == "ann"
        assert len(rows(conn, "pgrecall.memories_of_concept", a)) == 1
        denied(
            conn,
            f"SELECT pgrecall.merge_concepts({a}, {b})",
            f"SELECT pgrecall.add_alias({a}, 'x')",
            "SELECT pgrecall.split_concept(1)",
            "SELECT pgrecall.resolve_concepts()",
            "SELECT pgrecall.embed_concepts('{}', '{}')",
            "SELECT * FROM pgrecall.concept_overview",
            "SELECT * FROM pgrecall.llm_answers",
        )
