"""What must hold of the concept graph when things go badly: traces, races, names made to break what prints them."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from pgrecall_extract.entities.gazetteer import EntityRules, Gazetteer
from pgrecall_extract.errors import InvalidRules
from support.extraction import claimed, complete, extract, fact, holders, wrong
from support.extractor import mentions_of, read_all, without_spacy
from support.memories import call, refused, remember, rows, scalar, share

if TYPE_CHECKING:
    from psycopg import Connection

SECRET = "Quibblesnark"
OWN_TABLES = {"memories", "memory_changes", "postings", "term_stats", "pending_postings"}


def labels(conn: Connection[Any]) -> list[tuple[str, str]]:
    return conn.execute("SELECT alias, label FROM pgrecall.relation_labels ORDER BY 1").fetchall()


def hide(conn: Connection[Any], memory: int, how: str) -> None:
    if how == "forget":
        call(conn, "forget", memory)
    else:
        call(
            conn,
            "update_memory",
            memory,
            **({"is_sensitive": True} if how == "flag" else {"content": "other"}),
        )


@pytest.mark.parametrize("how", ["flag", "forget", "edit"])
def test_a_label_goes_with_the_last_memory_that_states_it(conn: Connection[Any], how: str) -> None:
    memory, other = remember(conn, f"{SECRET}"), remember(conn, "bob and carol")
    call(conn, "pgrecall.set_relation_label", 1, f"was {SECRET} by", f"was {SECRET} by", "llm")
    call(conn, "pgrecall.set_relation_label", 1, "adores", f"was {SECRET} by", "llm")
    call(conn, "pgrecall.set_relation_label", 1, "loves", f"was {SECRET} by", "embedding", 0.9)
    call(conn, "pgrecall.set_relation_label", 1, "sings to", "sings for", "rule")
    extract(
        conn,
        {
            memory: {"facts": [fact("ann", f"was {SECRET} by", "bob"), fact("ann", "sings to", "bob")]},
            other: {"facts": [fact("bob", "adores", "carol"), fact("bob", "loves", "dan")]},
        },
    )
    assert "relation_labels" in holders(conn, SECRET)
    with conn.transaction():
        share(conn)
        conn.execute("SET LOCAL ROLE pgrecall_writer")
        hide(conn, memory, how)
    assert holders(conn, SECRET) <= OWN_TABLES
    assert labels(conn) == [("adores", "adores"), ("loves", "adores"), ("sings to", "sings for")]
    query = "SELECT a.alias, label FROM pgrecall.relationships r JOIN pgrecall.concept_aliases a ON a.id = r.target_alias_id ORDER BY 1"
    assert conn.execute(query).fetchall() == [("carol", "adores"), ("dan", "adores")]
    assert wrong(conn) == {}


def test_what_is_handed_to_a_language_model_at_the_last_moment_is_taken_back(
    conn: Connection[Any], dsn: str
) -> None:
    conn.execute("SELECT pgrecall.set_setting('extract_llm', 'on')")
    memory = remember(conn, "ann knows bob")
    [row] = claimed(conn)
    with psycopg.connect(dsn) as reading, ThreadPoolExecutor(1) as pool:
        assert complete(reading, [{"memory_id": row[0], "ticket": row[1]}]) == 1
        flagged = pool.submit(lambda: call(conn, "update_memory", memory, is_sensitive=True))
        time.sleep(0.2)
        reading.commit()
        flagged.result(timeout=60)
    assert scalar(conn, "SELECT count(*) FROM pgrecall.extractions") == 0
    assert wrong(conn) == {}


@pytest.mark.parametrize("value", [SECRET, 5, [SECRET]])
def test_a_refusal_of_a_fact_quotes_nothing(conn: Connection[Any], value: object) -> None:
    remember(conn, "text")
    [row] = claimed(conn)
    with pytest.raises(psycopg.errors.InvalidParameterValue) as caught:
        complete(
            conn,
            [{"memory_id": row[0], "ticket": row[1], "facts": [fact("a", "b", "c", is_exclusive=value)]}],
        )
    assert "facts 0: is_exclusive is no boolean" in str(caught.value)
    assert SECRET not in f"{caught.value}{caught.value.diag.context}"


def rules(conn: Connection[Any]) -> list[tuple[Any, ...]]:
    return conn.execute("SELECT type, keywords, patterns FROM pgrecall.entity_rules ORDER BY 1").fetchall()


def test_rules_without_a_list_and_with_blank_keywords(conn: Connection[Any]) -> None:
    conn.execute("SELECT pgrecall.set_entity_rules('PART', NULL, '{x.}')")
    assert rules(conn) == [("PART", [], ["x."])]
    with pytest.raises(psycopg.errors.InvalidParameterValue):
        conn.execute("SELECT pgrecall.set_entity_rules('PART', '{\"  \"}')")
    conn.execute("SELECT pgrecall.set_entity_rules('PART', NULL, NULL)")
    assert rules(conn) == []


def test_too_many_patterns_together_stop_no_reading(conn: Connection[Any], dsn: str) -> None:
    without_spacy(conn)
    for kind in ("FIRST", "SECOND", "THIRD"):
        many = [f"{kind.lower()}{number}" for number in range(100)]
        conn.execute(
            "SELECT pgrecall.set_entity_rules(%s, %s, %s, %s)",
            [kind, [f"the {kind}"], many, None if kind == "FIRST" else "default"],
        )
    memory = remember(conn, "here is first7, second8 and third9")
    assert read_all(dsn)["read"] == 1
    assert mentions_of(conn, memory) == {"first7", "second8"}


def test_what_is_wrong_with_a_pattern_does_not_quote_it() -> None:
    with pytest.raises(InvalidRules, match="unknown group name at position") as caught:
        Gazetteer([EntityRules("X", (), (f"(?P={SECRET})",))])
    assert SECRET not in f"{caught.value}{caught.value.hint}"


def test_what_one_memory_closed_and_stated_again_holds_once_it_is_forgotten(conn: Connection[Any]) -> None:
    first, second = remember(conn, "once"), remember(conn, "since")
    away = fact("ann", "lives in", "goa", is_exclusive=True, valid_from="2021-01-01")
    back = [
        fact("ann", "lives in", "bergen", is_exclusive=True, valid_from=f"{year}-01-01")
        for year in (2020, 2022)
    ]
    extract(conn, {first: {"facts": [back[0]]}, second: {"facts": [away, back[1]]}})
    query = "SELECT a.alias, valid_from::date::text, valid_to::date::text FROM pgrecall.relationships r JOIN pgrecall.concept_aliases a ON a.id = r.target_alias_id ORDER BY 2"
    assert conn.execute(query).fetchall() == [
        ("bergen", "2020-01-01", "2021-01-01"), ("goa", "2021-01-01", "2022-01-01"), ("bergen", "2022-01-01", None),
    ]  # fmt: skip
    call(conn, "forget", second)
    assert conn.execute(query).fetchall() == [("bergen", "2020-01-01", None)]
    assert wrong(conn) == {}


def test_a_label_taken_back_parts_what_it_had_closed(conn: Connection[Any]) -> None:
    first, second = remember(conn, "once"), remember(conn, "since")
    lived = fact("ann", "lives in", "bergen", is_exclusive=True, valid_from="2020-01-01")
    moved = [
        fact("ann", "resides in", place, is_exclusive=True, valid_from=f"{year}-01-01")
        for place, year in (("goa", 2021), ("bergen", 2022))
    ]
    extract(conn, {first: {"facts": [lived]}, second: {"facts": moved}})
    query = "SELECT label, a.alias, valid_to::date::text FROM pgrecall.relationships r JOIN pgrecall.concept_aliases a ON a.id = r.target_alias_id ORDER BY 1, 2"
    before = conn.execute(query).fetchall()
    assert call(conn, "pgrecall.set_relation_label", 1, "resides in", "lives in") == 2
    assert call(conn, "pgrecall.set_relation_label", 1, "resides in", "resides in") == 2
    assert conn.execute(query).fetchall() == before
    assert wrong(conn) == {}


@pytest.mark.parametrize("what", ["merge", "split"])
def test_who_writes_is_not_stopped_by_a_merge_that_waits_for_it(
    conn: Connection[Any], dsn: str, what: str
) -> None:
    memory = remember(conn, "ann knows bob", tags=["ada", "ben"])
    extract(conn, {memory: {"facts": [fact("ann", "knows", "bob")]}})
    ids = [call(conn, "pgrecall.find_concept", name) for name in ("ada", "ben")]
    if what == "split":
        ids = [call(conn, "pgrecall.merge_concepts", *ids)]
    with psycopg.connect(dsn) as writer, ThreadPoolExecutor(1) as pool:
        remember(writer, "more", tags=["cyd"])
        moving = pool.submit(lambda: call(conn, f"pgrecall.{what}_concept{'s' * (what == 'merge')}", *ids))
        mover = conn.info.backend_pid
        waiting = f"SELECT count(*) FROM pg_locks WHERE pid = {mover} AND locktype IN ('transactionid', 'tuple') AND NOT granted"
        while scalar(writer, waiting) == 0:
            time.sleep(0.01)
        writer.execute("SET LOCAL lock_timeout = '5s'")
        call(writer, "forget", memory)
        writer.rollback()
        assert moving.result(timeout=60) > 0
    assert wrong(conn) == {}


@pytest.mark.parametrize("similarity", [1.1, -1e308, float("nan"), float("inf")])
def test_a_similarity_is_a_cosine(conn: Connection[Any], similarity: float) -> None:
    with refused(conn, "22023"):
        call(conn, "pgrecall.set_relation_label", 1, "owns", "has", "embedding", similarity)


@pytest.mark.parametrize(
    ("similarity", "kept"), [(1e-300, 0), (-1e-40, 0), (0.5, 0.5), (1.0000001, 1), (-1, -1), (None, None)]
)
def test_a_similarity_of_any_size_is_kept(
    conn: Connection[Any], similarity: float | None, kept: float | None
) -> None:
    call(conn, "pgrecall.set_relation_label", 1, "owns", "has", "embedding", similarity)
    assert scalar(conn, "SELECT similarity FROM pgrecall.relation_labels WHERE alias = 'owns'") == kept


def test_a_label_that_led_to_another_is_led_past(conn: Connection[Any]) -> None:
    memory, other = remember(conn, "one"), remember(conn, "two")
    for alias, label, method in (("owns", "has", "llm"), ("has", "keeps", "llm"), ("buys", "has", "rule")):
        call(conn, "pgrecall.set_relation_label", 1, alias, label, method)
    extract(
        conn,
        {
            memory: {"facts": [fact("ann", "has", "dog")]},
            other: {"facts": [fact("bob", "owns", "cat"), fact("bob", "buys", "hen")]},
        },
    )
    call(conn, "forget", memory)
    assert labels(conn) == [("buys", "keeps"), ("owns", "keeps")]
    query = "SELECT a.alias, label FROM pgrecall.relationships r JOIN pgrecall.concept_aliases a ON a.id = r.target_alias_id ORDER BY 1"
    assert conn.execute(query).fetchall() == [("cat", "keeps"), ("hen", "keeps")]


def test_what_has_ended_or_not_begun_is_no_tie(conn: Connection[Any]) -> None:
    memories = [remember(conn, f"{place}") for place in range(3)]
    spans = [{"valid_to": "2020-01-01"}, {"valid_from": "2999-01-01"}, {"valid_to": "2999-01-01"}]
    extract(
        conn,
        {
            memory: {"facts": [fact("ann", "rents", f"flat {place}", **spans[place])]}
            for place, memory in enumerate(memories)
        },
    )
    found = rows(conn, "pgrecall.concept_neighbours", call(conn, "pgrecall.find_concept", "ann"))
    assert [(row[1], row[5]) for row in found] == [("flat 2", ["> rents"])]
