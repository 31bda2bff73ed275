"""The setting expand: what other names of concepts add to a query, and what they never do."""

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING, Any

import pytest

from support.expansion import LIMIT, added, explained, found, named
from support.memories import call, refused, remember, remember_many, rows, scalar

if TYPE_CHECKING:
    from psycopg import Connection

pytestmark = pytest.mark.rollback

WORDS_ONLY: dict[str, Any] = {"graph_weight": 0, "phrase_bonus": 0, "session_share": 0}
"""Settings by which the lexical leg alone ranks."""


def test_another_name_finds_what_the_query_does_not_say(conn: Connection[Any]) -> None:
    named(conn, "Bombay", "Mumbai")
    wanted = remember(conn, "The flat in Mumbai has two rooms")
    query = "a flat near Bombay harbour"
    only: dict[str, Any] = {**WORDS_ONLY, "min_score": 0.0}
    remember(conn, "something about lunch")
    row = explained(conn, query, ids=[wanted], **only)[wanted]
    assert row["added_terms"] == ["mumbai"]
    assert 0 < row["expansion_score"] < row["lexical_score"]
    plain = explained(conn, query, "off", ids=[wanted], **only)[wanted]
    assert (plain["added_terms"], plain["expansion_score"]) == (None, None)
    assert row["lexical_score"] == pytest.approx(plain["lexical_score"] + row["expansion_score"])
    other = remember(conn, "Mumbai in July")
    assert other in found(conn, query, **only)
    assert other not in found(conn, query, "off", **only)
    assert explained(conn, query, ids=[other], **only)[other]["lexical_score"] == pytest.approx(
        explained(conn, query, ids=[other], **only)[other]["expansion_score"]
    )


def test_off_is_the_default_and_adds_nothing(conn: Connection[Any]) -> None:
    named(conn, "Bombay", "Mumbai")
    remember(conn, "Mumbai in July")
    assert added(conn, "Bombay", "off") is None
    everything = conn.execute("SELECT r::text FROM recall('Bombay') r").fetchall()
    assert (
        everything
        == conn.execute(
            "SELECT r::text FROM recall('Bombay', settings => '{\"expand\": \"off\"}') r"
        ).fetchall()
    )
    assert len(everything) == 1


@pytest.mark.usefixtures("dsn")
def test_it_is_a_setting_like_any_other(conn: Connection[Any]) -> None:
    named(conn, "Bombay", "Mumbai")
    other = remember(conn, "Mumbai in July")
    for function in ("recall", "recall_explain", "recall_timeline"):
        query = f"SELECT id FROM {function}('Bombay') WHERE id = %s"
        assert conn.execute(query.encode(), (other,)).fetchall() == []
        with conn.transaction():
            conn.execute("SET LOCAL pgrecall.expand = 'aliases'")
            assert conn.execute(query.encode(), (other,)).fetchall() == [(other,)]
    rows(conn, "pgrecall.set_setting", "expand", "aliases")
    assert conn.execute("SELECT id FROM recall('Bombay') WHERE id = %s", (other,)).fetchall() == [(other,)]
    for name, value in (("expand", "synonyms"), ("expansion_weight", "1.1"), ("expansion_cache_size", "0")):
        with refused(conn, "22023"):
            rows(conn, "pgrecall.set_setting", name, value)
    with refused(conn, "22023"):
        found(conn, "Bombay", expansion_cache_age="1 day")


@pytest.mark.parametrize(
    "query",
    [
        '"Bombay harbour"', "Bombay v1.2", "Bombay /etc/hosts", "get_bombay Bombay", "Bombay AB-12",
        "see #12 about Bombay", "Bombay " * 200,
    ],
)  # fmt: skip
def test_what_is_meant_to_the_letter_is_left_as_it_is(conn: Connection[Any], query: str) -> None:
    named(conn, "Bombay", "Mumbai")
    remember(conn, "Mumbai in July")
    assert scalar(conn, "SELECT pgrecall.is_expandable(%s)", query) is False
    assert added(conn, query, graph_weight=1) is None


def test_where_nothing_can_be_added(conn: Connection[Any]) -> None:
    named(conn, "Bombay", "Mumbai")
    remember(conn, "Mumbai in July")
    vector = str([1.0] * 384)
    for settings in (
        {"lexical_mode": "websearch"}, {"lexical_mode": "ts_rank"}, {"lexical_mode": "prefix"}, {"expansion_weight": 0},
    ):  # fmt: skip
        assert added(conn, "Bombay", **settings) is None
    assert added(conn, "Bombay") == ["mumbai"]
    for query, strategy in (("", "hybrid"), ("Bombay", "vector"), (None, "hybrid")):
        found = conn.execute(
            """
            SELECT bool_and(added_terms IS NULL) FROM recall_explain(%s, %s, ids => '{1}', strategy => %s,
                                                                     settings => '{"expand": "aliases"}')
            """,
            (query, vector, strategy),
        ).fetchone()
        assert found == (True,)
    assert [scalar(conn, "SELECT pgrecall.is_expandable(%s)", text) for text in ("", " ?! ", None, "é")] == [
        False, False, False, True,
    ]  # fmt: skip


def test_five_terms_at_most_of_each_concept_in_turn(conn: Connection[Any]) -> None:
    named(conn, "Bombay", *(f"bombay name {number}" for number in range(8)))
    named(conn, "Peking", "Beijing", "Beiping")
    remember(conn, "Peking and Peking again", tags=["Peking"])
    remember_many(conn, [{"content": f"Bombay name {number}, Beijing, Beiping"} for number in range(3)])
    terms = added(conn, "Bombay or Peking")
    assert terms is not None
    assert len(terms) == LIMIT
    # The rarer concept first; short names before long ones.
    assert terms == ["bombay name 0", "beijing", "bombay name 1", "beiping", "bombay name 2"]
    assert {tuple(added(conn, "Bombay or Peking") or ()) for _ in range(5)} == {tuple(terms)}
    # What the query says already is not added.
    assert added(conn, "Bombay, Peking or Beijing") == [
        "bombay name 0", "beiping", "bombay name 1", "bombay name 2", "bombay name 3",
    ]  # fmt: skip


def test_a_term_of_several_words_counts_as_one(conn: Connection[Any]) -> None:
    named(conn, "NYC", "New York City")
    only_city = remember(conn, "The city council met again on monday")
    all_three = remember(conn, "In New York City it rained all day long")
    rows_found = explained(conn, "weather in NYC", ids=[only_city, all_three], **WORDS_ONLY)
    assert rows_found[all_three]["expansion_score"] > 2.5 * rows_found[only_city]["expansion_score"] > 0


def test_what_a_name_shares_with_the_query_is_not_added_again(conn: Connection[Any]) -> None:
    named(conn, "York", "York City")
    memory = remember(conn, "York is far")
    row = explained(conn, "York", ids=[memory], **WORDS_ONLY)[memory]
    assert row["added_terms"] == ["york city"]
    assert row["expansion_score"] is None  # no memory has the rest of it
    plain = explained(conn, "York", "off", ids=[memory], **WORDS_ONLY)[memory]
    assert row["lexical_score"] == plain["lexical_score"]


def test_common_words_of_the_query_stay_exact(conn: Connection[Any]) -> None:
    """Words with more memories than the postings' budget come last, whoever they are of."""
    named(conn, "Bombay", "Mumbai rain")
    remember_many(conn, [{"content": f"rain over the harbour, day {number}"} for number in range(60)])
    target = remember(conn, "harbour and rain in Mumbai, Bombay of old")
    rows(conn, "pgrecall.flush_pending_postings")
    wide = explained(conn, "harbour Bombay", ids=[target], **WORDS_ONLY)
    narrow = explained(
        conn, "harbour Bombay", ids=[target], bm25_max_postings=10, leg_depth=2, k=2, **WORDS_ONLY
    )
    assert narrow[target]["lexical_score"] == wide[target]["lexical_score"]
    assert narrow[target]["lexical_rank"] == wide[target]["lexical_rank"] == 1


def test_who_holds_the_querys_words_comes_before_who_holds_the_added(conn: Connection[Any]) -> None:
    """Whatever the names and however rare: of the same length, and each word once."""
    chance = random.Random(3)
    common = [f"common{number}" for number in range(4)]
    filler = [f"filler{number}" for number in range(20)]
    remember_many(
        conn,
        [{"content": " ".join([*chance.sample(common, 2), *chance.sample(filler, 4)])} for _ in range(80)],
    )
    for number in range(25):
        concept = f"concept{number}"
        aliases = [f"other{number}x{place}" for place in range(5)]
        words = [concept, *chance.sample(common, chance.randint(0, 3))]
        length = 12
        named(conn, concept, *aliases, content=f"{concept} is tagged")
        right = remember(conn, " ".join([*words, *chance.choices(filler, k=length - len(words))]))
        wrong = remember(conn, " ".join([*aliases, *chance.choices(filler, k=length - len(aliases))]))
        weight = chance.choice((0.1, 0.3, 0.6, 0.99))
        said = explained(
            conn, " ".join(words), ids=[right, wrong], expansion_weight=weight, leg_depth=1000, **WORDS_ONLY
        )
        assert said[wrong]["expansion_score"] == said[wrong]["lexical_score"] > 0
        assert said[wrong]["lexical_score"] <= weight * said[right]["lexical_score"] + 1e-6
        assert said[right]["candidate_rank"] < said[wrong]["candidate_rank"]
        assert said[right]["score"] > said[wrong]["score"]


def test_no_memory_loses_by_what_is_added(conn: Connection[Any]) -> None:
    """The best by the query's own words keeps the full lexical part, and no other has less than without."""
    chance = random.Random(11)
    words = [f"word{number}" for number in range(30)]
    texts = [" ".join(chance.choices(words, k=chance.randint(2, 25))) for _ in range(120)]
    ids = remember_many(conn, [{"content": text} for text in texts])
    for number in range(0, 30, 3):
        named(
            conn,
            words[number],
            *(f"{word} {number}x{place}" for place, word in enumerate(chance.sample(words, 3))),
        )
    gained = 0
    for _ in range(15):
        query = " ".join(chance.sample(words, 3))
        settings: dict[str, Any] = {"expansion_weight": chance.choice((0.3, 1)), "leg_depth": 1000, "k": 200}
        plain = explained(conn, query, "off", ids=ids, **settings)
        wider = explained(conn, query, ids=ids, **settings)
        best = max(plain.values(), key=lambda row: row["lexical_score"] or 0)["id"]
        assert wider[best]["lexical_part"] == plain[best]["lexical_part"]
        for number, row in wider.items():
            assert row["lexical_part"] >= plain[number]["lexical_part"] - 1e-9
            gained += row["lexical_part"] > plain[number]["lexical_part"] + 1e-9
    assert gained > 0


def test_the_exact_words_win_in_the_whole_ranking(conn: Connection[Any]) -> None:
    named(conn, "Bombay", "Mumbai", "Bom Bahia", "Mumbadevi")
    exact = remember(conn, "Bombay harbour at night")
    others = remember_many(
        conn, [{"content": f"Mumbai Mumbai Mumbadevi bom bahia {number}"} for number in range(30)]
    )
    for fusion in ("cc", "rrf"):
        order = found(conn, "Bombay harbour at night", fusion=fusion, k=40)
        assert order[0] == exact
        assert set(order) >= set(others[:10])


def test_unknown_words_make_added_ones_no_surer(conn: Connection[Any]) -> None:
    """Where the namespace knows none of the query's words, what is added counts as the little that it is."""
    memory = remember(conn, "Mumbai in July")
    remember_many(conn, [{"content": f"lunch number {number}"} for number in range(20)])
    concept = call(conn, "pgrecall.find_concept", "Bombay")
    assert concept is None
    tagged = remember(conn, "x", tags=["Bombay"])
    rows(conn, "pgrecall.add_alias", call(conn, "pgrecall.find_concept", "Bombay"), "Mumbai")
    conn.execute("UPDATE pgrecall.memories SET deleted_at = now() WHERE id = %s", (tagged,))
    conn.execute("DELETE FROM pgrecall.memories WHERE id = %s", (tagged,))
    reading = """
        SELECT (r).words, (r).idfs[1] <= 0.3 * (r).max_bm25 FROM (
            SELECT _pgrecall.expand_parsed_query(1, '{english}', 'Bombay', _pgrecall.parse_query(
                1, '{english}', 'Bombay', 50, _pgrecall.effective_settings()), '{Mumbai}', 0.3, 32) AS r
        ) w
    """
    assert conn.execute(reading).fetchone() == (["mumbai"], True)
    assert memory > 0


def test_no_more_added_words_count_than_the_setting_allows(conn: Connection[Any]) -> None:
    named(conn, "Bombay", "Mumbai", "Momoi")
    remember_many(conn, [{"content": text} for text in ("Mumbai in July", "Mumbai in May", "Momoi by night")])
    found = """
        SELECT count(*) FROM recall('Bombay', settings => jsonb_build_object(
            'expand', 'aliases', 'graph_weight', 0, 'bm25_max_terms', %s::integer
        ))
    """
    assert [scalar(conn, found, most) for most in (32, 1)] == [4, 2]  # the concept's, and the rarer's


def test_stop_words_alone_are_not_expanded(conn: Connection[Any]) -> None:
    concept = named(conn, "The Who", "Detours")
    remember(conn, "Detours everywhere")
    row = explained(conn, "the", ids=[concept], **WORDS_ONLY)[concept]
    assert row["lexical_score"] is None


def test_the_plans_are_those_of_a_plain_recall(conn: Connection[Any]) -> None:
    named(conn, "Bombay", "Mumbai")
    remember_many(
        conn, [{"content": f"Bombay and Mumbai, day {number}", "tags": ["Bombay"]} for number in range(300)]
    )
    conn.execute("ANALYZE")
    with conn.transaction():
        conn.execute("SET LOCAL pgrecall.expand = 'aliases'")
        conn.execute("SET LOCAL enable_seqscan = off")
        plan = "\n".join(
            line for (line,) in conn.execute("SELECT plan FROM pgrecall.recall_plan('Bombay harbour')")
        )
    assert "postings_term_key" in plan
    assert "mentions_concept_idx" in plan
    # Both the query's word and the added one were looked up.
    assert re.search(r"postings_term_key.*loops=2", plan), plan


def test_no_alias_comes_from_another_namespace(conn: Connection[Any]) -> None:
    named(conn, "Bombay", "Mumbai")
    remember(conn, "Bombay is here as well", namespace="other", create_namespace=True, tags=["Bombay"])
    said = conn.execute(
        "SELECT DISTINCT added_terms FROM recall_explain('Bombay', namespace => 'other', settings => '{\"expand\": \"aliases\"}')"
    ).fetchall()
    assert said == [(None,)]
