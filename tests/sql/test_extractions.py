"""The queue of memories that are to be read, and the storing of what was read in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

import psycopg
import pytest

from support.extraction import (
    VERSION,
    WORKER,
    claimed,
    complete,
    extract,
    fact,
    holders,
    mention,
    names,
    partition,
    time,
    wrong,
)  # fmt: skip
from support.memories import call, concepts, embed, refused, remember, remember_many, scalar

if TYPE_CHECKING:
    from collections.abc import Iterator

    from psycopg import Connection

pytestmark = pytest.mark.rollback

OTHER = UUID(int=8)


@pytest.fixture
def other(dsn: str) -> Iterator[Connection[Any]]:
    """A second session."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        yield connection


def item(row: Any, **read: object) -> dict[str, Any]:
    return {"memory_id": row[0], "ticket": row[1], **read}


def test_the_newest_comes_first_with_what_reading_needs(conn: Connection[Any]) -> None:
    old = remember(conn, "old", title="T", speaker="Jane", occurred_at="2020-01-02 03:04+00")
    new = remember(conn, "new")
    first, second = claimed(conn)
    assert (first[0], second[0]) == (new, old)
    assert first[1] != second[1]
    assert second[3:6] == ("T", "old", "Jane")
    assert (second[6].year, second[7]) == (2020, "english")
    assert first[6] is not None


def test_a_lease_keeps_others_off_until_it_ends(conn: Connection[Any]) -> None:
    number = remember(conn)
    ((_, ticket, *_),) = claimed(conn)
    assert claimed(conn, OTHER) == []
    conn.execute("UPDATE pgrecall.jobs SET lease_expires_at = now() - interval '1 s'")
    ((again, later, *_),) = claimed(conn, OTHER)
    assert (again, later != ticket) == (number, True)
    # The first worker is late: what it read counts no more, nor does its failure.
    assert complete(conn, [{"memory_id": number, "ticket": ticket, "mentions": [mention("late")]}]) == 0
    call(conn, "pgrecall.fail_extraction", "text", number, ticket, "late")
    # The lost lease counts.
    assert scalar(conn, "SELECT attempts FROM pgrecall.jobs") == 1
    assert complete(conn, [{"memory_id": number, "ticket": later, "mentions": [mention("Right")]}]) == 1
    assert concepts(conn) == ["right"]


def test_who_claims_at_the_same_time_gets_others(conn: Connection[Any], other: Connection[Any]) -> None:
    ids = [remember(conn) for _ in range(4)]
    with conn.transaction():
        mine = [row[0] for row in claimed(conn, batch=2)]
        other.execute("SET lock_timeout = '1s'")
        theirs = [row[0] for row in claimed(other, OTHER, batch=4)]
    assert (mine, theirs) == (ids[:1:-1], ids[1::-1])


def test_released_memories_are_free_at_once(conn: Connection[Any]) -> None:
    number = remember(conn)
    claimed(conn)
    assert call(conn, "pgrecall.release_extractions", OTHER) == 0
    assert call(conn, "pgrecall.release_extractions", WORKER) == 1
    assert [row[0] for row in claimed(conn, OTHER)] == [number]


def test_what_was_read_is_stored_once(conn: Connection[Any]) -> None:
    number = remember(conn, "Jane met Bob", tags=["friends"])
    (row,) = claimed(conn)
    read = item(
        row,
        mentions=[mention("Jane", "PERSON", is_about=True), mention("Bob", "PERSON", start=9, end=12)],
        times=[time("2024-01-01T00:00Z", "2024-01-02T00:00Z")],
        facts=[fact("Jane", "met", "Bob")],
    )
    assert complete(conn, [read]) == 1
    assert complete(conn, [read]) == 0
    assert claimed(conn) == []
    assert names(conn, number) == [("bob", "spacy"), ("friends", "tag"), ("jane", "spacy")]
    query = """
        SELECT m.is_about, m.type FROM pgrecall.mentions m
        JOIN pgrecall.concept_aliases a ON a.concept_id = m.concept_id AND a.id = m.alias_id
        WHERE a.alias IN ('jane', 'bob') ORDER BY a.alias
    """
    assert conn.execute(query).fetchall() == [(False, "PERSON"), (True, "PERSON")]
    assert scalar(conn, "SELECT source FROM pgrecall.temporal_refs") == "pattern"
    assert scalar(conn, "SELECT label FROM pgrecall.relationships") == "met"
    assert conn.execute("SELECT version FROM pgrecall.extractions").fetchall() == [(VERSION,)]
    assert conn.execute("SELECT FROM pgrecall.jobs").fetchall() == []
    assert wrong(conn) == {}


@pytest.mark.parametrize(
    "change",
    [{"content": "new"}, {"title": "new"}, {"speaker": "new"}, {"occurred_at": "2020-01-01"}, {"language": "german"}],
)  # fmt: skip
def test_an_edit_voids_what_was_read_before_it(conn: Connection[Any], change: dict[str, Any]) -> None:
    number = remember(conn, "old")
    (row,) = claimed(conn)
    call(conn, "update_memory", number, **change)
    assert complete(conn, [item(row, mentions=[mention("Old")])]) == 0
    assert concepts(conn) == []
    (again,) = claimed(conn)
    assert complete(conn, [item(again, mentions=[mention("New")])]) == 1
    assert concepts(conn) == ["new"]
    assert claimed(conn) == []


def test_an_edit_takes_what_the_old_text_said_with_it(conn: Connection[Any]) -> None:
    number = remember(conn, "old", tags=["tag"])
    extract(conn, {number: {"mentions": [mention("Old")], "facts": [fact("Old", "is", "Older")]}})
    call(conn, "update_memory", number, content="new")
    assert concepts(conn) == ["tag"]
    assert wrong(conn) == {}


def test_an_edit_under_way_counts_as_done(conn: Connection[Any], other: Connection[Any]) -> None:
    number, bystander = remember(conn, "old"), remember(conn, "beside")
    read = [item(row, mentions=[mention(row[4])]) for row in claimed(conn)]
    with conn.transaction():
        call(conn, "update_memory", number, content="new")
        assert complete(other, read) == 1
    assert (concepts(conn, number), concepts(conn, bystander)) == ([], ["beside"])
    assert [row[0] for row in claimed(conn)] == [number]


def test_what_changes_no_text_voids_nothing(conn: Connection[Any]) -> None:
    number = remember(conn, "old")
    (row,) = claimed(conn)
    call(conn, "update_memory", number, importance=0.9, tags=["ann"])
    embed(conn, number)
    assert complete(conn, [item(row, mentions=[mention("Old")])]) == 1
    call(conn, "update_memory", number, importance=0.1, tags=["bob"])
    assert claimed(conn) == []
    assert concepts(conn) == ["bob", "old"]


def test_reading_again_replaces_what_was_read(conn: Connection[Any]) -> None:
    one, two = remember(conn, "one"), remember(conn, "two")
    extract(conn, {one: {"mentions": [mention("A"), mention("B")], "facts": [fact("A", "knows", "B")]}})
    call(conn, "update_memory", two, content="two!")
    assert call(conn, "pgrecall.reextract", version=VERSION) == 0
    assert call(conn, "pgrecall.reextract", version="v2") == 1
    assert call(conn, "pgrecall.reextract") == 0
    assert concepts(conn, one) == ["a", "b"]
    extract(conn, {one: {"mentions": [mention("B"), mention("C")]}, two: {"mentions": [mention("B")]}})
    assert concepts(conn) == ["b", "c"]
    assert scalar(conn, "SELECT count(*) FROM pgrecall.relationships") == 0
    assert call(conn, "pgrecall.reextract") == 2
    assert wrong(conn) == {}


def test_failures_wait_and_end_after_five(conn: Connection[Any]) -> None:
    number = remember(conn)
    for attempt in range(1, 6):
        ((_, ticket, *_),) = claimed(conn)
        call(conn, "pgrecall.fail_extraction", "text", number, ticket, "x" * 1000)
        assert claimed(conn) == []
        query = "SELECT attempts, length(last_error), failed_at IS NOT NULL FROM pgrecall.jobs"
        assert conn.execute(query).fetchall() == [(attempt, 500, attempt == 5)]
        conn.execute("UPDATE pgrecall.jobs SET next_attempt_at = now() WHERE failed_at IS NULL")
    assert claimed(conn) == []
    assert call(conn, "pgrecall.reextract") == 1
    assert len(claimed(conn)) == 1


def test_an_edit_revives_what_was_given_up(conn: Connection[Any]) -> None:
    number = remember(conn)
    conn.execute("UPDATE pgrecall.jobs SET attempts = 5, failed_at = now()")
    assert claimed(conn) == []
    call(conn, "update_memory", number, content="readable")
    assert len(claimed(conn)) == 1


GOOD = {
    "mentions": [mention("Good")],
    "times": [time("2024-01-01", "2024-01-02")],
    "facts": [fact("Good", "is", "X")],
}
BAD: list[dict[str, Any]] = [
    {"mentions": {}},
    {"mentions": ["canary"]},
    {"mentions": [mention("x", confidence="canary")]},
    {"mentions": [mention("x", confidence=1e300)]},
    {"mentions": [mention("x", confidence=1e-50)]},
    {"times": [time("2024-01-01", "2024-01-02", confidence=1e-320)]},
    {"facts": [fact("a", "is", "b", confidence=-1e-50)]},
    {"mentions": [mention("x", start="canary")]},
    {"mentions": [mention("x", end=1.5)]},
    {"mentions": [mention("x", end=99999999999)]},
    {"mentions": [mention("x", is_about="canary")]},
    {"mentions": [mention("x", "canary")]},
    {"mentions": [mention("x", source="tag")]},
    {"mentions": [mention("x", source=None)]},
    {"mentions": [mention("x", source=["canary"])]},
    {"mentions": [{**mention("x"), "name": 7}]},
    {"mentions": [{"type": "PERSON", "source": "spacy"}]},
    {"times": "canary"},
    {"times": [time("canary", "2024-01-02")]},
    {"times": [time("2024-02-31", "2024-03-02")]},
    {"times": [{**time("2024-01-01", "2024-01-02"), "to_at": 5}]},
    {"times": [time("2024-01-01", "2024-01-02", granularity=5)]},
    {"facts": [[]]},
    {"facts": [fact("a", "", "b")]},
    {"facts": [{**fact("a", "is", "b"), "object": None}]},
    {"facts": [fact("a", "is", "b", valid_from="canary")]},
    {"facts": [fact("a", "is", "b", valid_from="2024-01-02", valid_to="2024-01-01")]},
    {"facts": [fact("a", "is", "b", statement={"canary": 1})]},
]


def test_one_bad_value_and_nothing_is_stored(conn: Connection[Any]) -> None:
    remember_many(conn, [{"content": "one"}, {"content": "two"}])
    one, two = claimed(conn)
    for bad in BAD:
        with refused(conn, "22023"):
            complete(conn, [item(one, **GOOD), item(two, **bad)])
        with pytest.raises(psycopg.Error, match="item 0") as caught:
            complete(conn, [item(two, **bad)])
        assert "canary" not in str(caught.value)
    # Nothing is lost either: both can still be stored.
    assert complete(conn, [item(one, **GOOD), item(two)]) == 2


def test_items_that_are_none(conn: Connection[Any]) -> None:
    ids = ["canary", 1.5, -1, 10**30, None, [1], True]
    for read in ("canary", 5, None, *({"memory_id": bad, "ticket": 1} for bad in ids), {"memory_id": 1}):
        with refused(conn, "22023"):
            complete(conn, [read])


def test_arguments_that_are_refused(conn: Connection[Any]) -> None:
    remember(conn)
    (row,) = claimed(conn)
    with refused(conn, "22023"):
        complete(conn, [item(row)], enricher="canary")
    with refused(conn, "22023"):
        complete(conn, [item(row), item(row)])
    with refused(conn, "22023"):
        call(conn, "pgrecall.complete_extractions", "text", VERSION, {"memory_id": 1})
    assert complete(conn, []) == 0
    assert complete(conn, [{"memory_id": 10**12, "ticket": 1}]) == 0


def test_what_is_too_long_is_left_out(conn: Connection[Any]) -> None:
    number = remember(conn)
    found = [mention("x" * 201), mention("\ufdfa" * 12), mention("..."), mention(""), mention("y" * 200)]
    facts = [fact("x" * 201, "is", "short"), fact("Same", "is", "same")]
    assert extract(conn, {number: {"mentions": found, "facts": facts}}) == 1
    assert concepts(conn) == ["y" * 200]
    assert wrong(conn) == {}


def test_keywords_of_an_extractor_are_not_those_of_a_memory(conn: Connection[Any]) -> None:
    number = remember(conn, "text", expanded_keywords=["Rust"])
    extract(conn, {number: {"mentions": [mention("Rust", source="listed"), mention("Go", source="listed")]}})
    assert names(conn, number) == [("go", "listed"), ("rust", "keyword"), ("rust", "listed")]
    call(conn, "update_memory", number, tags=["xia"])
    assert names(conn, number) == [("go", "listed"), ("rust", "keyword"), ("rust", "listed"), ("xia", "tag")]


def test_two_memories_that_name_the_same_share_a_concept(conn: Connection[Any]) -> None:
    one, two = remember(conn, "one"), remember(conn, "two", tags=["ACME corp"])
    extract(
        conn,
        {one: {"mentions": [mention("Acme Corp", "ORG")]}, two: {"mentions": [mention("acme  CORP", "ORG")]}},
    )
    assert concepts(conn) == concepts(conn, one) == concepts(conn, two) == ["acme corp"]
    assert names(conn, two) == [("acme corp", "spacy"), ("acme corp", "tag")]


def kind(conn: Connection[Any]) -> tuple[Any, ...]:
    found = conn.execute(
        "SELECT type, round(type_confidence::numeric, 2)::float FROM pgrecall.concepts"
    ).fetchall()
    ((type_, confidence),) = found
    return type_, confidence


def test_the_surest_mention_says_what_a_concept_is(conn: Connection[Any]) -> None:
    said = [
        ("CONCEPT", 0.9),
        ("PLACE", 0.0),
        ("PERSON", 0.5),
        ("PLACE", 0.4),
        ("ORG", 0.8),
        ("CONCEPT", 1.0),
        ("PERSON", 0.8),
    ]
    kinds = []
    for type_, confidence in said:
        extract(conn, {remember(conn, "x"): {"mentions": [mention("Mercury", type_, confidence)]}})
        kinds.append(kind(conn))
    assert kinds == [
        ("CONCEPT", 0), ("PLACE", 0), ("PERSON", 0.5), ("PERSON", 0.5), ("ORG", 0.8), ("ORG", 0.8), ("ORG", 0.8),
    ]  # fmt: skip


def test_names_go_with_their_last_mention(conn: Connection[Any]) -> None:
    one, two = remember(conn, "one"), remember(conn, "two")
    extract(conn, {one: {"mentions": [mention("A"), mention("B")]}, two: {"mentions": [mention("B")]}})
    call(conn, "forget", one)
    assert concepts(conn) == ["b"]
    call(conn, "forget", two)
    assert concepts(conn) == []
    assert wrong(conn) == {}


def test_a_concept_lives_on_under_another_name(conn: Connection[Any]) -> None:
    one, two = remember(conn, tags=["Big Apple"]), remember(conn, tags=["New York"])
    call(
        conn,
        "pgrecall.merge_concepts",
        call(conn, "pgrecall.find_concept", "new york"),
        call(conn, "pgrecall.find_concept", "big apple"),
    )
    conn.execute(
        "UPDATE pgrecall.concepts SET resolved_at = now(), embedding = array_fill(0.5::real, ARRAY[384])::halfvec"
    )
    call(conn, "forget", one)
    query = "SELECT key, name, embedding IS NULL, resolved_at IS NULL FROM pgrecall.concepts"
    assert conn.execute(query).fetchall() == [("new york", "New York", True, True)]
    assert partition(conn) == [["new york"]]
    call(conn, "forget", two)
    assert partition(conn) == []


def test_a_language_model_reads_after_the_text_was(conn: Connection[Any]) -> None:
    call(conn, "pgrecall.set_setting", "extract_llm", "on")
    number = remember(conn, "text")
    assert claimed(conn, enricher="llm") == []
    extract(conn, {number: {"mentions": [mention("A")], "facts": [fact("A", "likes", "B")]}})
    (row,) = claimed(conn, enricher="llm")
    read = item(row, mentions=[mention("C", source="llm")], facts=[fact("A", "hates", "C", source="llm")])
    assert complete(conn, [read], "llm", "gpt") == 1
    assert concepts(conn) == ["a", "b", "c"]
    assert scalar(conn, "SELECT array_agg(label ORDER BY label) FROM pgrecall.relationships") == [
        "hates",
        "likes",
    ]
    # What one enricher reads again leaves what the other has read.
    call(conn, "pgrecall.reextract")
    extract(conn, {})
    assert concepts(conn) == ["a", "c"]
    call(conn, "update_memory", number, content="new")
    assert concepts(conn) == []
    assert claimed(conn, enricher="llm") == []
    assert wrong(conn) == {}


CANARY = "Quetzalcoatlus"
MAY_HOLD = {"memories", "memory_changes", "postings", "term_stats", "pending_postings"}


@pytest.mark.parametrize("end", ["update", "forget", "edit"])
def test_nothing_is_left_of_what_is_made_sensitive(conn: Connection[Any], end: str) -> None:
    other = remember(conn, "a memory beside it", tags=["zoo"])
    number = remember(
        conn, f"{CANARY} was seen", title=f"The {CANARY}", tags=[f"{CANARY} tag", "zoo"], speaker=f"{CANARY} speaker",
        expanded_keywords=[f"{CANARY} keyword"],
    )  # fmt: skip
    found = [mention(CANARY, "PERSON", is_about=True), mention(f"{CANARY} Inc", "ORG"), mention("Zoo")]
    facts = [
        fact(CANARY, "lives in", "Zoo", statement=f"{CANARY} lives in a zoo"),
        fact("Zoo", f"has {CANARY}", "Zoo bar"),
    ]
    extract(conn, {number: {"mentions": found, "facts": facts}, other: {"mentions": [mention("Zoo")]}})
    zoo, tag = (call(conn, "pgrecall.find_concept", name) for name in ("zoo", f"{CANARY} tag"))
    call(conn, "pgrecall.merge_concepts", tag, zoo)
    keyword = call(conn, "pgrecall.find_concept", f"{CANARY} keyword")
    call(conn, "pgrecall.split_concept", call(conn, "pgrecall.merge_concepts", keyword, zoo))
    conn.execute(
        "INSERT INTO pgrecall.llm_answers VALUES ('k', %s, now(), '{\"said\": \"Quetzalcoatlus\"}')",
        (number,),
    )
    assert {
        "concept_aliases",
        "concepts",
        "concept_merges",
        "relationships",
        "relationship_evidence",
    } <= holders(conn, CANARY)
    if end == "update":
        call(conn, "update_memory", number, is_sensitive=True)
    elif end == "forget":
        call(conn, "forget", number)
    else:
        call(conn, "update_memory", number, content="x", title="", tags=[], speaker="x", expanded_keywords=[])
    assert holders(conn, CANARY) <= MAY_HOLD
    assert concepts(conn) == ["zoo"]
    assert wrong(conn) == {}


def test_a_sensitive_memory_is_never_handed_out(conn: Connection[Any]) -> None:
    secret = remember(conn, "x", is_sensitive=True)
    call(conn, "forget", remember(conn, "y"))
    late = remember(conn, "z")
    (row,) = claimed(conn)
    assert row[0] == late
    call(conn, "update_memory", late, is_sensitive=True)
    assert complete(conn, [item(row, mentions=[mention("Z")])]) == 0
    assert concepts(conn) == []
    assert call(conn, "pgrecall.reextract") == 0
    call(conn, "update_memory", secret, is_sensitive=False)
    assert [again[0] for again in claimed(conn)] == [secret]


def session_settings(conn: Connection[Any]) -> tuple[str, ...]:
    names_ = ("lock_timeout", "enable_seqscan", "enable_bitmapscan", "plan_cache_mode")
    return tuple(scalar(conn, f"SHOW {name}") for name in names_)


def test_the_settings_of_the_session_are_back_afterwards(
    conn: Connection[Any], other: Connection[Any]
) -> None:
    one, two = remember(conn, "one", tags=["ann"]), remember(conn, "two", tags=["bob"])
    conn.execute("SET lock_timeout = '7s'")
    before = session_settings(conn)
    assert before == ("7s", "on", "on", "auto")
    rows_ = {row[0]: row for row in claimed(conn)}
    assert complete(conn, [item(rows_[one], mentions=[mention("Jane Miller")])]) == 1
    assert session_settings(conn) == before

    with conn.transaction():
        conn.execute("SET LOCAL lock_timeout = '6s'")
        within = session_settings(conn)
        assert complete(conn, [item(rows_[two], mentions=[mention("Jane Millar")])]) == 1
        assert session_settings(conn) == within
        with pytest.raises(psycopg.errors.InvalidParameterValue), conn.transaction():
            complete(conn, [item(rows_[two], mentions=[{}])])
        assert session_settings(conn) == within
        call(conn, "pgrecall.resolve_concepts")
        call(conn, "forget", two)
        assert session_settings(conn) == within == ("6s", *before[1:])
    assert session_settings(conn) == before

    call(conn, "pgrecall.reextract")
    (row,) = claimed(conn)
    with other.transaction():
        call(other, "_pgrecall.lock_aliases_exclusive", scalar(other, "SELECT id FROM pgrecall.namespaces"))
        assert session_settings(other) == ("0", *before[1:])
        assert complete(conn, [item(row, mentions=[mention("Jane Miller")])]) == 0
        assert session_settings(conn) == before
    conn.execute("UPDATE pgrecall.jobs SET next_attempt_at = NULL")
    (row,) = claimed(conn)
    assert complete(conn, [item(row, mentions=[mention("Jane Miller")])]) == 1
    assert session_settings(conn) == before


def test_a_wrong_type_goes_when_another_version_no_longer_says_it(conn: Connection[Any]) -> None:
    one, two = remember(conn, "one", tags=["mercury"]), remember(conn, "two")
    extract(conn, {one: {"mentions": [mention("Mercury", "PERSON", 0.85)]}})
    extract(conn, {two: {"mentions": [mention("Mercury", "PLACE", 0.6)]}})
    assert kind(conn) == ("PERSON", 0.85)
    call(conn, "pgrecall.reextract")
    extract(conn, {one: {"mentions": [mention("Mercury", "CONCEPT", 0.5)]}, two: {"mentions": []}})
    assert kind(conn) == ("CONCEPT", 0)


def test_another_version_leaves_the_type_to_the_other_mentions(conn: Connection[Any]) -> None:
    one, two = remember(conn, "one"), remember(conn, "two")
    extract(conn, {two: {"mentions": [mention("Mercury", "PLACE", 0.6)]}})
    call(conn, "pgrecall.reextract")
    said = {"mentions": [mention("Mercury", "PERSON", 0.85)]}
    extract(conn, {one: said, two: {"mentions": [mention("Mercury", "PLACE", 0.6)]}})
    call(conn, "pgrecall.reextract")
    extract(conn, {one: said, two: {"mentions": [mention("Mercury", "PLACE", 0.6)]}})
    assert kind(conn) == ("PERSON", 0.85)
    call(conn, "pgrecall.reextract")
    extract(conn, {one: {"mentions": []}, two: {"mentions": [mention("Mercury", "PLACE", 0.6)]}})
    assert kind(conn) == ("PLACE", 0.6)
