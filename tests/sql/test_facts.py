"""What store_facts() makes of what memories state: evidence, periods, contradictions, labels; in whatever order."""

from __future__ import annotations

import itertools
import random
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from support.facts import day, fact, forget_facts, lives, namespace_of, read, relationships, spans, told
from support.memories import call, concepts, contents, remember, remember_many, rows, scalar

if TYPE_CHECKING:
    from psycopg import Connection

pytestmark = pytest.mark.rollback


def one(conn: Connection[Any]) -> dict[str, Any]:
    (found,) = relationships(conn)
    return found


# --- Evidence ---


def test_a_fact_has_its_memory_as_evidence(conn: Connection[Any]) -> None:
    memory = told(conn, "Ana knows Bo", fact("Ana", "knows", "Bo"))
    found = one(conn)
    assert (found["subject"], found["label"], found["object"]) == ("Ana", "knows", "Bo")
    assert (found["evidence"], found["weight"]) == ([memory], 0.8)
    assert (found["valid_from"], found["valid_to"], found["superseded_at"]) == (None, None, None)


def test_the_same_again_is_more_evidence(conn: Connection[Any]) -> None:
    memories = [told(conn, f"{place}", fact("Ana", "Knows ", "Bo", confidence=0.5)) for place in range(3)]
    found = one(conn)
    assert (found["evidence"], found["label"]) == (memories, "knows")
    assert found["weight"] == pytest.approx(1 - 0.5**3)


def test_two_readings_of_one_memory_are_one_witness(conn: Connection[Any]) -> None:
    memory = told(conn, "x", fact("Ana", "knows", "Bo", confidence=0.5))
    read(conn, memory, fact("Ana", "knows", "Bo", confidence=0.6, source="pattern"))
    assert one(conn)["weight"] == pytest.approx(0.6)


def test_certain_evidence_weighs_all(conn: Connection[Any]) -> None:
    told(conn, "x", fact("Ana", "knows", "Bo", confidence=1))
    told(conn, "y", fact("Ana", "knows", "Bo", confidence=7))
    assert one(conn)["weight"] == 1


def test_a_fact_without_a_confidence_is_certain(conn: Connection[Any]) -> None:
    said = fact("Ana", "knows", "Bo")
    del said["confidence"]
    told(conn, "x", said)
    assert one(conn)["weight"] == 1
    told(conn, "y", fact("Ana", "visited", "Rome", confidence=0))
    assert call(conn, "recall_briefing", "Ana visited").count("visited Rome") == 0


def test_reading_again_changes_nothing(conn: Connection[Any]) -> None:
    facts = [lives("Ana", "Oslo"), fact("Ana", "knows", "Bo", valid_from=day(2), valid_to=day(4))]
    memory = told(conn, "x", *facts)
    told(conn, "y", lives("Ana", "Rome"))
    before = contents(conn)
    read(conn, memory, *facts)
    assert contents(conn) == before


def test_what_is_no_fact_is_left_out(conn: Connection[Any]) -> None:
    told(
        conn,
        "x",
        fact("Ana", "is", "ana"),
        fact("Ana", " ", "Bo"),
        fact("Ana", "x" * 201, "Bo"),
        fact("...", "knows", "Bo"),
    )
    assert relationships(conn) == []


def test_memories_without_facts_need_no_lock(conn: Connection[Any], dsn: str) -> None:
    free = (
        "SELECT count(*) FROM (SELECT FROM pgrecall.locks l WHERE l.name = 'facts' FOR UPDATE SKIP LOCKED) f"
    )
    with conn.transaction(), psycopg.connect(dsn) as other:
        read(conn, remember(conn))
        assert scalar(other, free) == 1
        other.rollback()
        told(conn, "x", lives("Ana", "Oslo"))
        assert scalar(other, free) == 0


def test_namespaces_do_not_meet(conn: Connection[Any]) -> None:
    told(conn, "x", lives("Ana", "Oslo"), namespace="one", create_namespace=True)
    told(conn, "y", lives("Ana", "Rome"), namespace="two", create_namespace=True)
    assert [(place, end) for place, _, end in spans(conn)] == [("Oslo", None), ("Rome", None)]


# --- Periods ---


def test_the_tightest_period_that_is_consistent(conn: Connection[Any]) -> None:
    told(conn, "a", fact("Ana", "works at", "Acme", valid_from=day(1, year=2020)))
    told(conn, "b", fact("Ana", "works at", "Acme", valid_from=day(3, year=2020)))
    told(conn, "c", fact("Ana", "works at", "Acme", valid_to=day(1, year=2030)))
    told(conn, "d", fact("Ana", "works at", "Acme"))
    told(conn, "e", fact("Ana", "works at", "Acme", valid_to=day(6, year=2029)))
    assert spans(conn) == [("Acme", day(3, year=2020), day(6, year=2029))]


def test_what_held_before_it_is_said_to_begin_has_no_begin(conn: Connection[Any]) -> None:
    told(conn, "a", fact("Ana", "works at", "Acme"), occurred_at=day(1))
    told(conn, "b", fact("Ana", "works at", "Acme", valid_from=day(3)), occurred_at=day(4))
    assert spans(conn) == [("Acme", None, None)]


def test_what_held_twice_is_two_relationships(conn: Connection[Any]) -> None:
    first, second = (day(1, year=2010), day(1, year=2012)), (day(1, year=2015), day(1, year=2018))
    memory = told(
        conn,
        "a",
        fact("Ana", "works at", "Acme", valid_from=second[0], valid_to=second[1]),
        fact("Ana", "works at", "Acme", valid_from=first[0], valid_to=first[1]),
    )
    assert sorted(spans(conn)) == [("Acme", *first), ("Acme", *second)]
    told(conn, "b", fact("Ana", "works at", "Acme"), occurred_at=day(1))
    assert ("Acme", None, None) in spans(conn)
    assert len(spans(conn)) == 3
    forget_facts(conn, memory)
    assert spans(conn) == [("Acme", None, None)]


def test_an_end_before_the_begin_is_none(conn: Connection[Any]) -> None:
    told(conn, "a", fact("Ana", "works at", "Acme", valid_from=day(3), valid_to=day(2)))
    assert spans(conn) == [("Acme", day(3), None)]


# --- Contradiction ---


@pytest.mark.usefixtures("dsn")
def test_a_new_object_ends_the_old_one(conn: Connection[Any]) -> None:
    told(conn, "a", lives("Ana", "Oslo"), occurred_at=day(1))
    second = told(conn, "b", lives("Ana", "Rome"), occurred_at=day(3))
    oslo, rome = relationships(conn)
    assert (oslo["valid_to"], oslo["superseded_by"]) == (day(3), "Ana lives in Rome")
    query = "SELECT created_at FROM pgrecall.memories WHERE id = %s"
    assert oslo["superseded_at"] == scalar(conn, query, second) == rome["recorded_at"]
    assert (rome["valid_to"], rome["superseded_at"], rome["superseded_by"]) == (None, None, None)


def test_it_ends_when_the_new_one_begins_if_that_is_said(conn: Connection[Any]) -> None:
    told(conn, "a", lives("Ana", "Oslo"), occurred_at=day(1))
    told(conn, "b", lives("Ana", "Rome", valid_from=day(6)), occurred_at=day(3))
    assert spans(conn) == [("Oslo", None, day(6)), ("Rome", day(6), None)]


def test_what_is_not_exclusive_contradicts_nothing(conn: Connection[Any]) -> None:
    told(conn, "a", fact("Ana", "likes", "tea"), lives("Bo", "Oslo"), occurred_at=day(1))
    told(conn, "b", fact("Ana", "likes", "milk"), fact("Bo", "lives in", "Rome"), occurred_at=day(3))
    assert {end for _, _, end in spans(conn)} == {None}


def test_other_subjects_and_labels_are_not_ended(conn: Connection[Any]) -> None:
    told(
        conn,
        "a",
        lives("Bo", "Oslo"),
        fact("Ana", "was born in", "Oslo", is_exclusive=True),
        occurred_at=day(1),
    )
    told(conn, "b", lives("Ana", "Rome"), occurred_at=day(3))
    assert {end for _, _, end in spans(conn)} == {None}


@pytest.mark.usefixtures("dsn")
def test_late_news_ends_itself(conn: Connection[Any]) -> None:
    told(conn, "a", lives("Ana", "Rome"), occurred_at=day(3))
    late = told(conn, "b", lives("Ana", "Oslo"), occurred_at=day(1))
    rome, oslo = relationships(conn)
    assert rome["valid_to"] is None
    assert (oslo["valid_to"], oslo["superseded_by"]) == (day(3), "Ana lives in Rome")
    query = "SELECT created_at FROM pgrecall.memories WHERE id = %s"
    assert oslo["superseded_at"] == oslo["recorded_at"] == scalar(conn, query, late)


@pytest.mark.usefixtures("dsn")
def test_coming_back_is_another_period(conn: Connection[Any]) -> None:
    told(conn, "a", lives("Ana", "Oslo"), occurred_at=day(1))
    away = told(conn, "b", lives("Ana", "Rome"), occurred_at=day(3))
    told(conn, "c", lives("Ana", "Oslo"), occurred_at=day(5))
    assert spans(conn) == [("Oslo", None, day(3)), ("Rome", None, day(5)), ("Oslo", None, None)]
    forget_facts(conn, away)
    assert spans(conn) == [("Oslo", None, None)]


def test_an_end_that_was_said_is_no_contradiction(conn: Connection[Any]) -> None:
    told(conn, "a", lives("Ana", "Oslo", valid_from=day(1), valid_to=day(2)))
    told(conn, "b", lives("Ana", "Rome", valid_from=day(4)))
    assert [(row["valid_to"], row["superseded_at"]) for row in relationships(conn)] == [
        (day(2), None),
        (None, None),
    ]


@pytest.mark.usefixtures("dsn")
def test_what_only_says_when_it_ended_ends_nothing(conn: Connection[Any]) -> None:
    told(conn, "a", lives("Ana", "Rome"), occurred_at=day(1))
    told(conn, "b", lives("Ana", "Oslo", valid_to=day(3)), occurred_at=day(5))
    assert spans(conn) == [("Rome", None, None), ("Oslo", None, day(3))]


def test_one_memory_does_not_contradict_itself(conn: Connection[Any]) -> None:
    told(conn, "a", lives("Ana", "Oslo"), lives("Ana", "Rome"), occurred_at=day(1))
    assert {end for _, _, end in spans(conn)} == {None}
    told(conn, "b", lives("Ana", "Paris"), occurred_at=day(2))
    assert sorted(spans(conn)) == [("Oslo", None, day(2)), ("Paris", None, None), ("Rome", None, day(2))]


def test_one_memory_may_tell_a_story(conn: Connection[Any]) -> None:
    told(conn, "a", lives("Ana", "Rome", valid_from=day(5)), lives("Ana", "Oslo", valid_from=day(1)))
    assert sorted(spans(conn)) == [("Oslo", day(1), day(5)), ("Rome", day(5), None)]


def test_of_the_same_moment_the_later_memory_counts(conn: Connection[Any]) -> None:
    told(conn, "a", lives("Ana", "Oslo"), occurred_at=day(1))
    told(conn, "b", lives("Ana", "Rome"), occurred_at=day(1))
    assert spans(conn) == [("Oslo", None, day(1)), ("Rome", None, None)]


# --- Evidence that goes ---


def test_without_what_contradicted_it_it_holds_again(conn: Connection[Any]) -> None:
    told(conn, "a", lives("Ana", "Oslo"), occurred_at=day(1))
    before = relationships(conn)
    second = told(conn, "b", lives("Ana", "Rome"), occurred_at=day(3))
    call(conn, "forget", second)
    assert relationships(conn) == before
    assert concepts(conn) == ["ana", "oslo"]


def test_without_the_middle_one_the_last_one_ends_it(conn: Connection[Any]) -> None:
    told(conn, "a", lives("Ana", "Oslo"), occurred_at=day(1))
    middle = told(conn, "b", lives("Ana", "Rome"), occurred_at=day(3))
    told(conn, "c", lives("Ana", "Paris"), occurred_at=day(5))
    forget_facts(conn, middle)
    assert spans(conn) == [("Oslo", None, day(5)), ("Paris", None, None)]


def test_weight_and_period_are_of_the_evidence_that_is_left(conn: Connection[Any]) -> None:
    first = told(conn, "a", fact("Ana", "knows", "Bo", confidence=0.5, valid_from=day(3)))
    second = told(conn, "b", fact("Ana", "knows", "Bo", confidence=0.6, valid_to=day(9)))
    assert one(conn)["weight"] == pytest.approx(0.8)
    forget_facts(conn, first)
    assert one(conn)["weight"] == pytest.approx(0.6)
    assert spans(conn) == [("Bo", None, day(9))]
    forget_facts(conn, second)
    assert relationships(conn) == []


@pytest.mark.parametrize("change", [{"is_sensitive": True}, {"content": "another text"}])
def test_a_memory_that_changes_is_no_evidence(conn: Connection[Any], change: dict[str, Any]) -> None:
    told(conn, "a", lives("Ana", "Oslo"), occurred_at=day(1))
    second = told(conn, "b", lives("Ana", "Rome"), occurred_at=day(3))
    call(conn, "update_memory", second, **change)
    assert spans(conn) == [("Oslo", None, None)]


def test_only_what_one_reader_has_read(conn: Connection[Any]) -> None:
    memory = told(conn, "a", fact("Ana", "knows", "Bo"), fact("Ana", "knows", "Cy", source="pattern"))
    rows(conn, "_pgrecall.remove_evidence", [memory], "pattern")
    assert [place for place, _, _ in spans(conn)] == ["Bo"]


# --- Any order ---

STORY = [
    (day(1), [lives("Ana", "Oslo", confidence=0.5), fact("Ana", "likes", "tea")]),
    (day(2), [lives("Ana", "Oslo", confidence=0.7), fact("Ana", "likes", "milk", valid_to=day(5))]),
    (day(4), [lives("Ana", "Rome"), fact("Ana", "likes", "milk", valid_from=day(2, 10))]),
    (day(6), [lives("Ana", "Oslo", valid_from=day(5)), fact("Ana", "likes", "milk", valid_from=day(5, 20))]),
    (day(7), [lives("Ana", "Paris", valid_to=day(9)), fact("Ana", "likes", "tea", valid_from=day(3))]),
    (day(8), [fact("Ana", "lives in", "Rome"), lives("Bo", "Rome"), lives("Ana", "Kyiv", valid_from=day(12))]),
]  # fmt: skip


def test_any_order_gives_the_same(conn: Connection[Any]) -> None:
    memories = [remember(conn, f"{place}", occurred_at=moment) for place, (moment, _) in enumerate(STORY)]
    expected = None
    orders = list(itertools.permutations(range(len(STORY))))
    for order in [tuple(range(len(STORY))), *random.Random(42).sample(orders, 60)]:
        for place in order:
            read(conn, memories[place], *STORY[place][1])
        found = relationships(conn)
        expected = expected or found
        assert found == expected, order
        forget_facts(conn, *memories)
        assert relationships(conn) == []
    assert expected is not None
    homes = [
        (row["object"], row["valid_from"], row["valid_to"]) for row in expected if row["label"] == "lives in"
    ]
    assert sorted(homes, key=str) == sorted(
        [
            ("Oslo", None, day(4)),
            ("Rome", None, day(5)),
            ("Oslo", day(5), day(12)),
            ("Rome", None, day(12)),
            ("Paris", None, day(9)),
            ("Rome", None, None),
            ("Kyiv", day(12), None),
        ],
        key=str,
    )


def test_evidence_that_comes_and_goes_leaves_what_the_rest_makes(conn: Connection[Any]) -> None:
    chance = random.Random(42)
    memories = [remember(conn, f"{place}", occurred_at=moment) for place, (moment, _) in enumerate(STORY)]
    stored: set[int] = set()
    for _ in range(40):
        place = chance.randrange(len(STORY))
        if place in stored:
            forget_facts(conn, memories[place])
        else:
            read(conn, memories[place], *STORY[place][1])
        stored ^= {place}
        found = relationships(conn)
        with conn.transaction() as savepoint:
            forget_facts(conn, *memories)
            for other in sorted(stored):
                read(conn, memories[other], *STORY[other][1])
            assert relationships(conn) == found
            raise psycopg.Rollback(savepoint)


# --- Labels ---


def decide(conn: Connection[Any], alias: str, label: str, **fields: object) -> int:
    return int(call(conn, "pgrecall.set_relation_label", 1, alias, label, **fields))


def labels(conn: Connection[Any]) -> list[tuple[str, str]]:
    return [(row["label"], row["object"]) for row in relationships(conn)]


def test_a_label_that_is_decided_on_is_used(conn: Connection[Any]) -> None:
    assert decide(conn, "Employed  By", "works at") == 0
    told(conn, "a", fact("Ana", "employed by", "Acme"))
    assert labels(conn) == [("works at", "Acme")]


def test_relabelling_merges_and_is_taken_back(conn: Connection[Any]) -> None:
    told(conn, "a", fact("Ana", "works at", "Acme", confidence=0.5))
    told(conn, "b", fact("Ana", "employed by", "Acme", confidence=0.5), fact("Bo", "employed by", "Acme"))
    before = relationships(conn)
    assert decide(conn, "employed by", "works at", method="llm", similarity=0.7) == 2
    assert labels(conn) == [("works at", "Acme")] * 2
    assert relationships(conn)[0]["weight"] == pytest.approx(0.75)
    assert decide(conn, "employed by", "works at") == 0
    assert decide(conn, "employed by", "employed by") == 2
    assert relationships(conn) == before


def test_relabelling_finds_contradictions(conn: Connection[Any]) -> None:
    told(conn, "a", lives("Ana", "Oslo"), occurred_at=day(1))
    told(conn, "b", fact("Ana", "resides in", "Rome", is_exclusive=True), occurred_at=day(3))
    decide(conn, "resides in", "lives in")
    assert spans(conn) == [("Oslo", None, day(3)), ("Rome", None, None)]
    decide(conn, "resides in", "resides in")
    assert {end for _, _, end in spans(conn)} == {None}


def test_labels_are_followed(conn: Connection[Any]) -> None:
    told(conn, "x", *(fact("Ana", label, label.upper()) for label in "abc"))
    decide(conn, "a", "b")
    decide(conn, "b", "c")
    assert {label for label, _ in labels(conn)} == {"c"}
    decide(conn, "b", "b")
    assert sorted(labels(conn)) == [("b", "A"), ("b", "B"), ("c", "C")]


def test_labels_do_not_go_round(conn: Connection[Any]) -> None:
    told(conn, "x", fact("Ana", "a", "A"), fact("Ana", "b", "B"))
    decide(conn, "a", "b")
    decide(conn, "b", "a")
    assert {label for label, _ in labels(conn)} == {"b"}
    told(conn, "y", fact("Ana", "a", "C"))
    assert {label for label, _ in labels(conn)} == {"b"}


def test_known_and_unknown_labels(conn: Connection[Any]) -> None:
    told(
        conn,
        "x",
        *(fact("Ana", "a", name) for name in ("A", "B")),
        fact("Ana", "b", "B"),
        fact("Ana", "c", "C"),
    )
    assert rows(conn, "pgrecall.unresolved_labels", 1) == [("a", 2), ("b", 1), ("c", 1)]
    assert rows(conn, "pgrecall.resolved_labels", 1) == []
    decide(conn, "a", "a")
    decide(conn, "b", "a")
    assert rows(conn, "pgrecall.unresolved_labels", 1) == [("c", 1)]
    assert rows(conn, "pgrecall.resolved_labels", 1) == [("a", 2)]  # of B both were stated
    assert rows(conn, "pgrecall.resolved_labels", 2) == []


@pytest.mark.parametrize(
    "arguments", [("", "b"), ("a", " "), ("a", "b" * 201), ("a", "b", "guess"), ("a", "b", None)]
)
def test_bad_decisions_are_refused(conn: Connection[Any], arguments: tuple[Any, ...]) -> None:
    with pytest.raises(psycopg.errors.InvalidParameterValue) as caught:
        rows(conn, "pgrecall.set_relation_label", 1, *arguments)
    assert caught.value.diag.message_hint


@pytest.mark.parametrize("namespace", [999, -1, 0, None])
def test_a_decision_in_no_namespace_is_refused(conn: Connection[Any], namespace: int | None) -> None:
    with pytest.raises(psycopg.errors.UndefinedObject, match="there is no namespace") as caught:
        rows(conn, "pgrecall.set_relation_label", namespace, "a", "b")
    assert caught.value.diag.message_hint


# --- Names ---


def move(conn: Connection[Any], alias: str, key: str) -> None:
    """Give a name to another concept, as a merge does, and settle what is stated of either."""
    conn.execute(
        """
        UPDATE pgrecall.concept_aliases SET concept_id = (SELECT c.id FROM pgrecall.concepts c WHERE c.key = %s) WHERE alias = %s
        """,
        (key, alias),
    )
    conn.execute("SELECT _pgrecall.refresh_relationships(array_agg(id)) FROM pgrecall.relationships")


def test_merged_names_are_one_object_and_split_again(conn: Connection[Any]) -> None:
    told(conn, "a", lives("Ana", "New York"), occurred_at=day(1))
    told(conn, "b", lives("Ana", "NYC"), occurred_at=day(3))
    told(conn, "c", lives("Anna", "Rome"), occurred_at=day(5))
    before = relationships(conn)
    move(conn, "nyc", "new york")
    assert {end for _, _, end in spans(conn)} == {None}
    move(conn, "anna", "ana")
    assert [end for _, _, end in spans(conn)] == [day(5), day(5), None]
    move(conn, "anna", "anna")
    move(conn, "nyc", "nyc")
    assert relationships(conn) == before


# --- Through the queue ---


def test_the_embedder_stores_facts(conn: Connection[Any]) -> None:
    memories = remember_many(conn, [{"content": "Ana lives in Oslo"}, {"content": "Ana lives in Rome"}])
    home = namespace_of(conn, memories[0])
    conn.execute("SET ROLE pgrecall_embedder")
    claimed = rows(conn, "pgrecall.claim_extractions", "00000000-0000-0000-0000-000000000001")
    found = [
        {"memory_id": row[0], "ticket": row[1], "mentions": [], "times": [],
         "facts": [lives("Ana", row[4].split()[-1], source="pattern")]}
        for row in claimed
    ]  # fmt: skip
    assert call(conn, "pgrecall.complete_extractions", "text", "1", Jsonb(found)) == 2
    assert call(conn, "pgrecall.set_relation_label", home, "lives in", "lives in") == 0
    conn.execute("RESET ROLE")
    assert [(place, end is None) for place, _, end in spans(conn)] == [("Oslo", False), ("Rome", True)]
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        conn.execute("SET ROLE pgrecall_writer; SELECT _pgrecall.store_facts('[]')")
