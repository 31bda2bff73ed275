"""Concepts that are taken for one, split again, and given names by hand."""

from __future__ import annotations

import itertools
import random
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.extraction import extract, fact, mention, names, partition, wrong
from support.memories import call, concepts, refused, remember, rows, scalar, share, waits

if TYPE_CHECKING:
    from psycopg import Connection

pytestmark = pytest.mark.rollback


def find(conn: Connection[Any], name: str) -> int:
    number = call(conn, "pgrecall.find_concept", name)
    assert number is not None
    return int(number)


def merge(conn: Connection[Any], one: str, into: str, **options: object) -> int:
    return int(call(conn, "pgrecall.merge_concepts", find(conn, one), find(conn, into), **options))


def split(conn: Connection[Any], number: int) -> int:
    return int(call(conn, "pgrecall.split_concept", number))


def test_a_merge_takes_everything_along_and_a_split_gives_it_back(conn: Connection[Any]) -> None:
    one, two = remember(conn, "one"), remember(conn, "two")
    extract(conn, {
        one: {"mentions": [mention("NYC", "PLACE", 0.6)], "facts": [fact("NYC", "is in", "America")]},
        two: {"mentions": [mention("New York", "PROJECT", 0.5)], "facts": [fact("New York", "called", "NYC")]},
    })  # fmt: skip
    before = partition(conn)
    edges = """
        SELECT s.key, r.label, t.key FROM pgrecall.relationships r
        JOIN pgrecall.concepts s ON s.id = r.source_id JOIN pgrecall.concepts t ON t.id = r.target_id ORDER BY r.label
    """
    stated = conn.execute(edges.encode()).fetchall()
    number = merge(conn, "NYC", "new york", similarity=0.5)
    assert partition(conn) == [["america"], ["new york", "nyc"]]
    assert find(conn, "nyc") == find(conn, "New York")
    assert concepts(conn, one) == ["new york"]
    assert conn.execute(edges.encode()).fetchall() == [
        ("new york", "called", "new york"),
        ("new york", "is in", "america"),
    ]
    query = "SELECT type, type_confidence::numeric FROM pgrecall.concepts WHERE key = 'new york'"
    assert [row[0] for row in conn.execute(query)] == ["PLACE"]
    # What is mentioned from now on by either name is of the one concept.
    assert concepts(conn, remember(conn, tags=["nyc"])) == ["new york"]
    made = split(conn, number)
    assert made == find(conn, "nyc") != find(conn, "new york")
    assert partition(conn) == before
    assert conn.execute(edges.encode()).fetchall() == stated
    query = "SELECT key, name, type FROM pgrecall.concepts WHERE key IN ('nyc', 'new york') ORDER BY key"
    assert conn.execute(query).fetchall() == [("new york", "New York", "PROJECT"), ("nyc", "NYC", "PLACE")]
    assert wrong(conn) == {}


def test_a_split_is_a_decision(conn: Connection[Any]) -> None:
    remember(conn, tags=["ann", "bob", "cem"])
    split(conn, merge(conn, "ann", "bob", method="spelling"))
    for one, other in (("ann", "bob"), ("bob", "ann")):
        with refused(conn, "55000"):
            merge(conn, one, other, method="name")
    # It holds for what the two have become part of.
    merge(conn, "bob", "cem")
    with refused(conn, "55000"):
        merge(conn, "ann", "cem", method="llm")
    number = merge(conn, "ann", "cem")
    assert partition(conn) == [["ann", "bob", "cem"]]
    split(conn, number)
    assert partition(conn) == [["ann"], ["bob", "cem"]]
    assert wrong(conn) == {}


def test_merges_that_are_refused(conn: Connection[Any]) -> None:
    remember(conn, tags=["ann", "bob"])
    remember(conn, tags=["ann"], namespace="other", create_namespace=True)
    a, b = find(conn, "ann"), find(conn, "bob")
    elsewhere = call(conn, "pgrecall.find_concept", "ann", "other")
    for sqlstate, arguments in (
        ("22023", (a, a)), ("22023", (a, elsewhere)), ("22023", (a, b, "magic")), ("42704", (a, 10**12)), ("42704", (10**12, a)),
    ):  # fmt: skip
        with refused(conn, sqlstate):
            call(conn, "pgrecall.merge_concepts", *arguments)
    number = merge(conn, "ann", "bob")
    split(conn, number)
    for gone in (number, 10**12):
        with refused(conn, "42704"):
            split(conn, gone)


def test_nested_merges_split_in_any_order(conn: Connection[Any]) -> None:
    remember(conn, tags=["ann", "bob", "cem"])
    for order in itertools.permutations(range(2)):
        numbers = [merge(conn, "ann", "bob"), merge(conn, "bob", "cem")]
        assert partition(conn) == [["ann", "bob", "cem"]]
        for place in order:
            split(conn, numbers[place])
            assert wrong(conn) == {}
        assert partition(conn) == [["ann"], ["bob"], ["cem"]]


NAMES = [f"name {letter}" for letter in "abcdefg"]


@settings(max_examples=25)
@given(seed=st.integers(0, 2**32), steps=st.lists(st.integers(0, 9), max_size=25))
def test_splitting_everything_gives_back_what_there_was(
    conn: Connection[Any], seed: int, steps: list[int]
) -> None:
    chance = random.Random(seed)
    with conn.transaction(force_rollback=True):
        remember(conn, tags=NAMES)
        before = partition(conn)
        active = "SELECT g.id FROM pgrecall.concept_merges g WHERE g.split_at IS NULL ORDER BY g.id"
        for step in steps:
            merges = [number for (number,) in conn.execute(active)]
            everything = sorted({find(conn, name) for name in NAMES})
            if step > 3 and len(everything) > 1:
                call(conn, "pgrecall.merge_concepts", *chance.sample(everything, 2))
            elif merges:
                split(conn, chance.choice(merges))
            assert wrong(conn) == {}
        while merges := [number for (number,) in conn.execute(active)]:
            split(conn, chance.choice(merges))
        assert partition(conn) == before
        assert wrong(conn) == {}


@settings(max_examples=25)
@given(seed=st.integers(0, 2**32), steps=st.lists(st.integers(0, 9), max_size=30))
def test_names_that_come_and_go_leave_merges_true(conn: Connection[Any], seed: int, steps: list[int]) -> None:
    chance = random.Random(seed)
    with conn.transaction(force_rollback=True):
        memories = [remember(conn, tags=chance.sample(NAMES, 2)) for _ in range(5)]
        for step in steps:
            merges = [
                row[0]
                for row in conn.execute("SELECT g.id FROM pgrecall.concept_merges g WHERE g.split_at IS NULL")
            ]
            there = [row[0] for row in conn.execute("SELECT c.id FROM pgrecall.concepts c ORDER BY c.id")]
            if step > 5 and len(there) > 1:
                call(conn, "pgrecall.merge_concepts", *chance.sample(there, 2))
            elif step > 3 and merges:
                split(conn, chance.choice(sorted(merges)))
            elif there:
                call(
                    conn,
                    "update_memory",
                    chance.choice(memories),
                    tags=chance.sample(NAMES, chance.randrange(4)),
                )
            assert wrong(conn) == {}


def test_names_given_by_hand(conn: Connection[Any]) -> None:
    number = remember(conn, tags=["New York"])
    concept = find(conn, "new york")
    call(conn, "pgrecall.add_alias", concept, "Big Apple")
    call(conn, "pgrecall.add_alias", concept, "NEW YORK")
    assert find(conn, "big apple") == concept
    call(conn, "forget", number)
    assert partition(conn) == [["big apple", "new york"]]
    assert call(conn, "pgrecall.remove_alias", concept, "new york") is True
    assert conn.execute("SELECT key, name FROM pgrecall.concepts").fetchall() == [("big apple", "Big Apple")]
    later = remember(conn, tags=["big apple"])
    assert names(conn, later) == [("big apple", "tag")]
    assert call(conn, "pgrecall.remove_alias", concept, "Big Apple") is False
    assert wrong(conn) == {}
    call(conn, "forget", later)
    assert concepts(conn) == []


def test_names_that_are_refused(conn: Connection[Any]) -> None:
    remember(conn, tags=["ann", "bob"])
    a = find(conn, "ann")
    for sqlstate, name in (
        ("23505", "Bob"),
        ("22023", "..."),
        ("22023", "x" * 201),
        ("22023", "\ufdfa" * 12),
        ("22023", None),
    ):
        with refused(conn, sqlstate):
            call(conn, "pgrecall.add_alias", a, name)
    for name in ("ann", "bob", "cem", None):
        with refused(conn, "22023"):
            call(conn, "pgrecall.remove_alias", a, name)
    with refused(conn, "42704"):
        call(conn, "pgrecall.add_alias", 10**12, "x")


def test_the_overview_counts_what_is_there(conn: Connection[Any]) -> None:
    one = remember(conn, "one", occurred_at="2020-01-01 00:00Z", tags=["nyc"])
    two = remember(conn, "two", occurred_at="2021-01-01 00:00Z")
    extract(conn, {
        one: {"mentions": [mention("NYC", "PLACE"), mention("NYC", "PLACE", source="gazetteer")]},
        two: {"mentions": [mention("New York", "PLACE", is_about=True)]},
    })  # fmt: skip
    number = merge(conn, "nyc", "new york", method="llm")
    with conn.transaction():
        share(conn)
        conn.execute("SET LOCAL ROLE pgrecall_reader")
        query = "SELECT namespace, name, type, aliases, mentions, about, first_seen, last_seen, merged FROM pgrecall.show_concept(%s)"
        (found,) = conn.execute(query.encode(), (call(conn, "pgrecall.find_concept", "nyc"),)).fetchall()
    assert found[:6] == ("default", "New York", "PLACE", ["new york", "nyc"], 2, 1)
    assert (found[6].year, found[7].year) == (2020, 2021)
    assert found[8] == [{"merge_id": number, "name": "nyc", "method": "llm", "similarity": None}]


def test_neighbours_share_memories_or_relationships(conn: Connection[Any]) -> None:
    for place in range(4):
        remember(conn, f"{place}", tags=["hub", "ann", *(["bob"] if place < 2 else [])])
    for _ in range(20):
        remember(conn, tags=["hub"])
    number = remember(conn, "facts")
    extract(conn, {number: {"facts": [fact("Ann", "owns", "Car"), fact("Dealer", "sold to", "Ann")]}})
    with conn.transaction():
        share(conn)
        conn.execute("SET LOCAL ROLE pgrecall_reader")
        found = rows(conn, "pgrecall.concept_neighbours", find(conn, "ann"))
        assert len(rows(conn, "pgrecall.concept_neighbours", find(conn, "ann"), 2)) == 2
    assert {row[1]: (row[3], row[5]) for row in found} == {
        "hub": (4, []), "bob": (2, []), "Car": (0, ["> owns"]), "Dealer": (0, ["< sold to"]),
    }  # fmt: skip
    order = [row[1] for row in found if not row[5]]
    assert order == ["bob", "hub"], "what is mentioned everywhere does not lead"


def test_a_concept_is_found_by_any_name_in_its_namespace(conn: Connection[Any]) -> None:
    remember(conn, tags=["Node.js"])
    remember(conn, tags=["Node.js"], namespace="other", create_namespace=True)
    found = {call(conn, "pgrecall.find_concept", "node.JS", name) for name in (None, "default", "other")}
    assert len(found) == 2
    assert call(conn, "pgrecall.find_concept", "node") is None
    assert call(conn, "pgrecall.find_concept", "node.js", "nowhere") is None


@pytest.mark.parametrize("at_once", [True, False])
def test_who_merges_waits_for_who_writes(conn: Connection[Any], dsn: str, at_once: bool) -> None:
    remember(conn, tags=["ann", "bob"])
    with psycopg.connect(dsn) as writer:
        number = remember(writer, tags=["bob", "ann"])
        if at_once:
            merging = waits(conn, lambda: merge(conn, "ann", "bob"))
            writer.commit()
            merging()
            assert concepts(conn, number) == ["bob"]
        else:
            with pytest.raises(psycopg.errors.LockNotAvailable) as caught:
                merge(conn, "ann", "bob")
            assert caught.value.diag.message_hint
            writer.commit()
    assert scalar(conn, "SELECT count(*) FROM pgrecall.mentions") == 4
    assert wrong(conn) == {}
