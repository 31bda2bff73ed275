"""bm25_leg() gives what an exhaustive BM25, computed here from the words of every memory, gives."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from support.bm25 import (
    ALL,
    ENOUGH,
    RARE,
    VOCABULARY,
    Exhaustive,
    assert_exact,
    best,
    leg,
    memories,
    queries,
    texts,
)
from support.memories import call, remember, remember_many, rows, scalar, share
from support.postings import fold, noted, problems

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from psycopg import Connection


def without_folding(conn: Connection[Any], action: Callable[[], object]) -> None:
    """Under repeatable read nothing is posted: all that changes is noted."""
    with conn.transaction():
        conn.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        action()


def edit(conn: Connection[Any], chance: random.Random) -> None:
    ids = [number for (number,) in conn.execute("SELECT id FROM pgrecall.memories ORDER BY id")]
    chosen = chance.sample(ids, 60)
    for number, text in zip(chosen[:30], texts(chance, 30), strict=True):
        call(conn, "update_memory", number, content=text, tags=chance.sample(VOCABULARY, 2))
    for number in chosen[30:45]:
        call(conn, "forget", number)
    conn.execute("DELETE FROM pgrecall.memories WHERE id = ANY (%s)", (chosen[45:],))


@pytest.mark.parametrize(
    "state", ["pending_postings", "posted", "mixed", "edited", "folded after edits", "rebuilt"]
)
def test_is_bm25_exactly(conn: Connection[Any], state: str) -> None:
    chance = random.Random(state)
    if state == "pending_postings":
        without_folding(conn, lambda: remember_many(conn, memories(chance, 250)))
        assert len(noted(conn)) == 250
    else:
        remember_many(conn, memories(chance, 200))
        fold(conn)
        assert noted(conn) == []
    if state == "mixed":
        without_folding(conn, lambda: remember_many(conn, memories(chance, 100)))
        assert len(noted(conn)) == 100
    elif state != "pending_postings" and state != "posted":
        without_folding(conn, lambda: edit(conn, chance))
        assert len(noted(conn)) == 60
    if state == "folded after edits":
        fold(conn)
    elif state == "rebuilt":
        conn.execute("CALL pgrecall.rebuild_all_postings()")
    assert problems(conn) == {}

    exhaustive = Exhaustive.of(conn)
    for terms in queries(chance, 40):
        scores = exhaustive.scores(terms)
        assert_exact(conn, leg(conn, terms), scores, ALL)
        assert_exact(conn, leg(conn, terms, 7), scores, 7)
        assert_exact(conn, leg(conn, terms, at_most=2), exhaustive.scores(terms, 2), ALL)


def test_impacts_are_those_of_the_formula(conn: Connection[Any]) -> None:
    remember_many(conn, memories(random.Random(5), 30))
    exhaustive = Exhaustive.of(conn)
    query = """
        SELECT i.term, i.impact FROM pgrecall.memories m
        CROSS JOIN LATERAL _pgrecall.term_impacts(m.search_vector, _pgrecall.bm25_parameters()) i WHERE m.id = %s
    """
    for number in exhaustive.fields:
        assert dict(conn.execute(query, (number,)).fetchall()) == pytest.approx(
            exhaustive.impacts(number), abs=1e-6
        )


@pytest.fixture(scope="module")
def thousand_dsn(new_database: Callable[..., str], template: str) -> str:
    """1,000 memories posted by one statement: every list is in perfect order. Nobody changes them."""
    dsn = new_database(template)
    with psycopg.connect(dsn, autocommit=True) as conn:
        remember_many(conn, memories(random.Random(1), 1000))
        assert noted(conn) == []
    return dsn


@pytest.fixture
def thousand(thousand_dsn: str) -> Iterator[Connection[Any]]:
    with psycopg.connect(thousand_dsn, autocommit=True) as conn:
        yield conn


def test_a_small_budget_is_exact_with_at_most_one_common_word(thousand: Connection[Any]) -> None:
    """A block of 128 is the least that is read of a word. Of one common word its best are the best; those that hold a
    rare word are all known, and scored exactly."""
    exhaustive = Exhaustive.of(thousand)
    frequency = dict(thousand.execute("SELECT term, documents FROM pgrecall.term_stats").fetchall())
    rare = [term for term in RARE if 0 < frequency.get(term, 0) <= 10]
    common = [term for term in VOCABULARY if frequency.get(term, 0) > 128]
    assert len(rare) > 3
    assert len(common) > 10
    chance = random.Random(2)
    for _ in range(40):
        terms = [chance.choice(common), *chance.sample(rare, chance.randrange(3))]
        assert_exact(thousand, leg(thousand, terms, 10, 10), exhaustive.scores(terms), 10)


def test_a_small_budget_is_nearly_exact_with_several_common_words(thousand: Connection[Any]) -> None:
    """What is read decides who is looked at: a memory with several words, but none of them among its best 128, is not.

    Who is returned is scored exactly all the same. With the default budget of 500 the ten best are the true ones.
    """
    exhaustive = Exhaustive.of(thousand)
    agreement = {10: 0, 500: 0}
    count = 60
    asked = list(queries(random.Random(3), count, (3, 5)))
    for terms in asked:
        scores = exhaustive.scores(terms)
        for budget in agreement:
            found = leg(thousand, terms, 10, budget)
            assert len(found) == 10
            for number, _, score in found:
                assert score == pytest.approx(scores[number], abs=1e-6)
            assert [row[0] for row in found] == best({row[0]: row[2] for row in found}, 10)
            agreement[budget] += len({row[0] for row in found} & set(best(scores, 10)))
    assert agreement[10] / (10 * count) >= 0.9
    assert agreement[500] / (10 * count) >= 0.99


def test_a_list_in_many_small_pieces_is_read_to_its_end(conn: Connection[Any]) -> None:
    """A word that nearly all memories have lost leaves next to nothing in each of its blocks."""
    blocks, size = 40, 128
    remember_many(conn, [{"content": "balob"} for _ in range(blocks * size)])
    assert scalar(conn, "SELECT count(*) FROM pgrecall.postings WHERE term = 'balob'") == blocks
    without_folding(conn, lambda: conn.execute("DELETE FROM pgrecall.memories WHERE id %% %s <> 0", (size,)))
    fold(conn)
    assert problems(conn) == {}
    assert len(leg(conn, ["balob"], ALL, blocks)) == blocks


def test_how_postings_lie_in_blocks_changes_nothing(conn: Connection[Any]) -> None:
    """The best postings of a common word are the same ones from lists that overlap as from one in perfect order."""
    chance = random.Random(6)
    for _ in range(5):
        remember_many(conn, memories(chance, 300))  # at once, in blocks of their own
    without_folding(conn, lambda: edit(conn, chance))
    asked = list(queries(chance, 40, (1, 3, 5)))
    before = [leg(conn, terms, 10, budget) for terms in asked for budget in (10, 200)]
    overlapping = scalar(conn, "SELECT count(*) FROM pgrecall.postings")
    conn.execute("CALL pgrecall.rebuild_all_postings()")
    assert scalar(conn, "SELECT count(*) FROM pgrecall.postings") < overlapping / 2
    assert [leg(conn, terms, 10, budget) for terms in asked for budget in (10, 200)] == before


def test_scores_are_rounded_to_nine_places(conn: Connection[Any]) -> None:
    query = "SELECT _pgrecall.round_score(%s::double precision)"
    for score, rounded in (
        (0.0, 0.0),
        (1.0000000004, 1.0),
        (12.3456789016, 12.345678902),
        (99999.0000000014, 99999.000000001),
    ):
        assert scalar(conn, query, score) == rounded


def test_what_is_new_this_moment_is_found(conn: Connection[Any]) -> None:
    remember_many(conn, memories(random.Random(4), 300))
    with conn.transaction():
        number = remember(conn, "zuzka")
        assert [row[0] for row in leg(conn, ["zuzka"])] == [number]
        call(conn, "update_memory", number, content="vilma")
        assert leg(conn, ["zuzka"]) == []
        assert [row[0] for row in rows(conn, "recall", "vilma")] == [number]
        call(conn, "forget", number)
        assert leg(conn, ["vilma"]) == []


FILTERS = {
    "category": "categories => ARRAY['three']",
    "any tag": "tags_any => ARRAY['seldom', 'never']",
    "all tags": "tags_all => ARRAY['often', 'seldom']",
    "time": "since => '2025-03-05 10:00 UTC', until => '2025-03-05 10:05 UTC'",
    "metadata": """metadata_contains => '{"page": 7}'""",
    "all": "categories => ARRAY['many'], tags_any => ARRAY['seldom'], since => '2025-03-05 UTC'",
}


@pytest.fixture(scope="module")
def filtered_dsn(new_database: Callable[..., str], template: str) -> str:
    """3,000 memories with the same common words, posted, and a namespace of four beside them."""
    dsn = new_database(template)
    with psycopg.connect(dsn, autocommit=True) as conn:
        remember_many(
            conn,
            [
                {
                    "content": f"balob derud {VOCABULARY[place % len(VOCABULARY)]}",
                    "category": "three" if place % 1000 == 999 else "many",
                    "tags": ["often", "seldom"] if place % 600 == 100 else ["often"],
                    "metadata": {"page": 7} if place % 500 == 0 else {},
                    "occurred_at": f"2025-03-{place // 1440 + 4:02} {place // 60 % 24:02}:{place % 60:02}Z",
                }
                for place in range(3000)
            ],
        )
        remember_many(
            conn, [{"content": "balob derud"} for _ in range(4)], namespace="tiny", create_namespace=True
        )
        fold(conn)
        conn.execute("ANALYZE pgrecall.memories, pgrecall.postings, pgrecall.term_stats")
    return dsn


@pytest.fixture
def filtered(filtered_dsn: str) -> Iterator[Connection[Any]]:
    with psycopg.connect(filtered_dsn, autocommit=True) as conn:
        yield conn


@pytest.mark.parametrize("budget", ["10", "500", "100000"])
@pytest.mark.parametrize("name", sorted(FILTERS))
def test_filters_that_cut_deep_give_all_there_is(filtered: Connection[Any], name: str, budget: str) -> None:
    filtered.execute("SELECT set_config('pgrecall.bm25_max_postings', %s, false)", (budget,))
    filtered.execute("SET pgrecall.graph_weight = 0")
    filtered.execute("SET pgrecall.newer_first = off")
    matching = {
        number
        for (number,) in filtered.execute(
            f"SELECT id FROM recall('derud', k => 1000, {FILTERS[name]})".encode()
        )
    }
    scores = {n: s for n, s in Exhaustive.of(filtered).scores(["balob", "derud"]).items() if n in matching}
    assert 2 <= len(matching) <= 6
    counted = {
        "category": "category = 'three'",
        "any tag": "tags && ARRAY['seldom']",
        "all tags": "tags @> ARRAY['seldom']",
        "time": "occurred_at >= '2025-03-05 10:00 UTC' AND occurred_at < '2025-03-05 10:05 UTC'",
        "metadata": "metadata @> '{\"page\": 7}'",
        "all": "category = 'many' AND tags && ARRAY['seldom'] AND occurred_at >= '2025-03-05 UTC'",
    }[name]
    expected = filtered.execute(f"SELECT id FROM pgrecall.memories WHERE {counted}".encode()).fetchall()
    assert matching == {number for (number,) in expected}
    for k in (1, 2, 10):
        query = (
            f"SELECT id, lexical_rank, lexical_score FROM recall('balob derud', k => {k}, {FILTERS[name]})"
        )
        assert_exact(filtered, filtered.execute(query.encode()).fetchall(), scores, k)


def test_a_tiny_namespace_beside_a_large_one(filtered: Connection[Any]) -> None:
    scores = Exhaustive.of(filtered, "tiny").scores(["balob", "derud"])
    assert len(scores) == 4
    assert_exact(filtered, leg(filtered, ["balob", "derud"], 10, 10, namespace="tiny"), scores, 10)
    assert len(rows(filtered, "recall", "balob derud", None, 10, "tiny")) == 4


def test_superseded_memories_count_only_when_asked_for(conn: Connection[Any]) -> None:
    old = remember(conn, "balob derud")
    new = call(conn, "supersede", old, "balob kotap")
    assert [row[0] for row in leg(conn, ["balob"])] == [new]
    assert {row[0] for row in rows(conn, "recall", "balob", include_superseded=True)} == {old, new}


def test_what_is_required_as_well(thousand: Connection[Any]) -> None:
    terms = VOCABULARY[:2]
    query = "SELECT id FROM pgrecall.memories WHERE search_vector @@ %s::tsquery"
    for required in (f"{terms[0]} <-> {terms[1]}", f"{terms[0]} & !{terms[1]}"):
        matching = {number for (number,) in thousand.execute(query, (required,))}
        scores = {n: s for n, s in Exhaustive.of(thousand).scores(terms).items() if n in matching}
        assert 5 < len(scores) < 800
        for budget in (10, 500, ENOUGH):
            found = leg(thousand, terms, ALL, budget, required=required)
            assert_exact(thousand, found, scores, ALL)


def test_a_query_of_three_thousand_words(thousand: Connection[Any]) -> None:
    exhaustive = Exhaustive.of(thousand)
    terms = [*VOCABULARY, *(f"w{number:x}" for number in range(3000 - len(VOCABULARY)))]
    assert_exact(thousand, leg(thousand, terms, 10), exhaustive.scores(terms), 10)
    text = " ".join(terms)
    assert len(text) <= 16_384
    thousand.execute("SET pgrecall.graph_weight = 0")
    assert [row[0] for row in rows(thousand, "recall", text)] == best(exhaustive.scores(terms), 10)


def test_nothing_to_look_for(thousand: Connection[Any]) -> None:
    for query in ("unheard", "unheard of", "the and of", "!!! ???"):
        assert rows(thousand, "recall", query) == []
    for terms in (None, [], ["unheard"]):
        assert leg(thousand, terms) == []
    assert leg(thousand, VOCABULARY, namespace="nowhere") == []


def test_a_word_repeated_counts_once(thousand: Connection[Any]) -> None:
    once = rows(thousand, "recall", VOCABULARY[9])
    assert len(once) == 10
    assert rows(thousand, "recall", " ".join([VOCABULARY[9]] * 5)) == once


def test_odd_lexemes(conn: Connection[Any]) -> None:
    odd = [
        "it's",
        "back\\slash",
        "a'b\\'c",
        "two words",
        "& | ! ( ) : *",
        "'",
        "\\",
        "日本",
        "🦊",
        "a:*",
        "<->",
    ]
    for lexeme in odd:
        found = conn.execute(
            "SELECT _pgrecall.term_query(%s) = quote_literal(%s)::tsquery, array_to_tsvector(ARRAY[%s]) @@ _pgrecall.term_query(%s)",
            (lexeme, lexeme, lexeme, lexeme),
        ).fetchone()
        assert found is not None
        assert found[1], lexeme
    query = "SELECT array_to_tsvector(ARRAY[%s]) @@ _pgrecall.match_any_term(%s)"
    for lexeme in odd:
        assert scalar(conn, query, lexeme, odd)
    assert scalar(
        conn, "SELECT _pgrecall.match_any_term('{}') IS NULL AND _pgrecall.match_any_term(NULL) IS NULL"
    )


def test_a_field_without_weight_finds_nothing(conn: Connection[Any]) -> None:
    call(conn, "pgrecall.set_setting", "field_weight_c", "0")
    remember(conn, "derud", tags=["balob"])
    written = remember(conn, "balob derud")
    remember_many(conn, [{"content": "balob derud", "category": "kotap"} for _ in range(300)])
    # By the filter without postings, then from the postings.
    for required in ("'balob' & !'kotap'", None):
        found = leg(conn, ["balob"], 10, 10, required=required)
        assert found[0][0] == written
        assert None not in {score for _, _, score in found}
        assert len(found) == (1 if required else 10)
    fold(conn)
    assert_exact(conn, leg(conn, ["balob"]), Exhaustive.of(conn).scores(["balob"]), ALL)


def test_readers_under_row_level_security_see_the_same(thousand: Connection[Any]) -> None:
    asked = list(queries(random.Random(6), 5))
    owners = [leg(thousand, terms, 10, 100) for terms in asked]
    recalled = [rows(thousand, "recall", " ".join(terms)) for terms in asked]
    with thousand.transaction():
        share(thousand)
        call(thousand, "pgrecall.grant_namespace", "pgrecall_gate", "default")
        thousand.execute("SET LOCAL ROLE pgrecall_gate")
        assert thousand.execute("SELECT row_security_active('pgrecall.memories')").fetchone() == (True,)
        assert [leg(thousand, terms, 10, 100) for terms in asked] == owners
        thousand.execute("SET LOCAL ROLE pgrecall_reader")
        assert [rows(thousand, "recall", " ".join(terms)) for terms in asked] == recalled


@pytest.mark.parametrize("role", [None, "pgrecall_admin"])
def test_recall_goes_by_the_indexes(filtered: Connection[Any], role: str | None) -> None:
    with filtered.transaction():
        if role is not None:
            filtered.execute(f"SET LOCAL ROLE {role}".encode())
        # The walk of the graph leg has its own test, over more memories than are sooner read than looked up.
        filtered.execute("SET LOCAL pgrecall.graph_weight = 0")
        plan = "\n".join(rows(filtered, "pgrecall.recall_plan", "balob kotap"))
    assert "postings_term_key" in plan
    assert "Seq Scan on postings" not in plan
    assert "Seq Scan on memories" not in plan
