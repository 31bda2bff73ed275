"""recall_explain(): why a memory is not returned, each reason really brought about, and what it tells nobody."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg import sql
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

from pgrecall import InvalidInput, TooLarge
from pgrecall.query.legs import LEGS
from support.memories import call, remember, share

if TYPE_CHECKING:
    from psycopg import Connection

    from pgrecall import Client

pytestmark = pytest.mark.rollback

DIMENSION = 384
MARCH = datetime(2026, 3, 1, tzinfo=UTC)
APRIL = datetime(2026, 4, 1, tzinfo=UTC)
NOWHERE = 10**12


def unit(*places: int) -> str:
    """A vector with ones at some places, as text."""
    return str([1 if place in places else 0 for place in range(DIMENSION)])


def embedded(conn: Connection[Any], content: str, vector: str, **options: object) -> int:
    number = remember(conn, content, **options)
    conn.execute("UPDATE pgrecall.memories SET embedding = %s WHERE id = %s", (vector, number))
    return number


def explain(conn: Connection[Any], query: str, *ids: int, **options: Any) -> list[dict[str, Any]]:
    """What recall_explain says; without ids, of the returned memories."""
    if ids:
        options["ids"] = list(ids)
    options = {name: Jsonb(value) if isinstance(value, dict) else value for name, value in options.items()}
    named = [sql.SQL("{} => {}").format(sql.Identifier(name), sql.Placeholder(name)) for name in options]
    statement = sql.SQL("SELECT * FROM recall_explain({})").format(
        sql.SQL(", ").join([sql.SQL("%(asked)s"), *named])
    )
    return conn.cursor(row_factory=dict_row).execute(statement, {"asked": query, **options}).fetchall()


def returned(conn: Connection[Any], query: str) -> list[int]:
    return [number for (number,) in conn.execute("SELECT id FROM recall(%s)", (query,))]


def reason(conn: Connection[Any], query: str, number: int, **options: Any) -> str | None:
    (row,) = explain(conn, query, number, **options)
    assert (row["reason"] is None) == (row["place"] is not None)
    return None if row["reason"] is None else str(row["reason"])


# -- what is returned, and in which order


def test_without_ids_it_explains_what_recall_returns(conn: Connection[Any]) -> None:
    for place in range(5):
        remember(conn, f"tea {'and tea ' * place}number {place}")
    recalled = conn.execute("SELECT id, score FROM recall('tea', k => 3)").fetchall()
    explained = explain(conn, "tea", k=3)
    assert [(row["id"], row["score"]) for row in explained] == recalled
    assert [row["place"] for row in explained] == [1, 2, 3]
    assert {row["reason"] for row in explained} == {None}


def test_those_asked_for_come_by_place_then_by_id_each_once(conn: Connection[Any]) -> None:
    coffee = remember(conn, "coffee")
    good = remember(conn, "tea tea")
    better = remember(conn, "tea, green tea", title="tea")
    rows = explain(conn, "tea", NOWHERE, good, coffee, good, better)
    assert [row["id"] for row in rows] == [*returned(conn, "tea"), coffee, NOWHERE]
    assert {good, better} == set(returned(conn, "tea"))
    assert explain(conn, "tea", ids=[]) == []


def test_an_id_that_is_null_is_none(conn: Connection[Any]) -> None:
    number = remember(conn, "tea")
    assert [row["id"] for row in explain(conn, "tea", ids=[None, number])] == [number]


@pytest.mark.usefixtures("dsn")
def test_more_than_a_thousand_are_refused(conn: Connection[Any]) -> None:
    with pytest.raises(psycopg.Error) as caught:
        explain(conn, "tea", *range(1, 1002))
    assert caught.value.sqlstate == "54000"
    assert caught.value.diag.message_hint
    assert len(explain(conn, "tea", *range(1, 1001))) == 1000


# -- the reasons


def test_a_memory_that_is_not_there_or_elsewhere(conn: Connection[Any]) -> None:
    here = remember(conn, "tea")
    elsewhere = remember(
        conn, "tea among spies", title="spies", tags=["spy"], namespace="them", create_namespace=True
    )
    none, other = explain(conn, "tea among spies", NOWHERE, elsewhere)[::-1]
    assert (none["reason"], other["reason"]) == ("no such memory", "in another namespace")
    told = {"id", "reason", "is_candidate", "chosen_strategy", "settings_in_force"}
    for row in (none, other):
        assert {name for name, value in row.items() if value is not None} == told
        assert row["is_candidate"] is False
    # What is said of it does not depend on what it says.
    other_query = explain(conn, "coffee", elsewhere)[0]
    assert other_query == other
    call(conn, "forget", elsewhere)
    assert explain(conn, "tea", elsewhere)[0] == other
    assert reason(conn, "tea", here, namespace="nowhere at all") == "in another namespace"


def test_row_level_security_makes_it_no_such_memory(conn: Connection[Any]) -> None:
    mine = remember(conn, "tea")
    hidden = remember(conn, "tea of theirs", namespace="theirs", create_namespace=True)
    share(conn)
    conn.execute("SET ROLE pgrecall_reader")
    for namespace in ("default", "theirs"):
        assert reason(conn, "tea", hidden, namespace=namespace) == "no such memory"
    assert reason(conn, "tea", mine) is None


def test_forgotten(conn: Connection[Any]) -> None:
    number = remember(conn, "tea", title="a cup")
    call(conn, "forget", number)
    (row,) = explain(conn, "tea", number)
    assert row["reason"] == "forgotten"
    assert (row["title"], row["content"]) == (None, None)


def test_superseded_names_the_successor(conn: Connection[Any]) -> None:
    number = remember(conn, "tea at four", created_at=MARCH)
    successor = call(conn, "supersede", number, "tea at five")
    assert reason(conn, "tea", number) == f"superseded by {successor}"
    assert reason(conn, "tea", number, include_superseded=True) is None
    assert reason(conn, "tea", number, as_of=APRIL) is None
    assert reason(conn, "tea", successor, as_of=APRIL) == "filtered by as_of: recorded later"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"categories": ["food"]}, "filtered by categories"),
        ({"tags_any": ["Goa"]}, "filtered by tags_any"),
        ({"tags_all": ["cup", "Goa"]}, "filtered by tags_all"),
        ({"metadata_contains": {"a": 2}}, "filtered by metadata_contains"),
        ({"since": APRIL}, "filtered by since"),
        ({"until": MARCH}, "filtered by until"),
        ({"timeframe": "[2026-05-01, 2026-06-01)"}, "filtered by timeframe"),
        ({"timeframe": "empty"}, "filtered by timeframe"),
        ({"as_of": MARCH}, "filtered by as_of: recorded later"),
        ({"include_sensitive": False}, "filtered by include_sensitive"),
        ({"categories": ["food"], "tags_any": ["Goa"]}, "filtered by categories"),
        ({"include_sensitive": False, "categories": ["food"]}, "filtered by include_sensitive"),
    ],
)
def test_filtered_names_the_first_filter(conn: Connection[Any], given: dict[str, Any], expected: str) -> None:
    options = {
        "category": "drink",
        "tags": ["cup"],
        "metadata": {"a": 1},
        "occurred_at": MARCH,
    }
    number = remember(conn, "tea", is_sensitive="include_sensitive" in given, **options)
    assert reason(conn, "tea", number) is None
    (row,) = explain(conn, "tea", number, **given)
    assert (row["reason"], row["is_candidate"]) == (expected, False)
    assert row["lexical_score"] > 0, "the score that it would have"
    assert row["content"] == (None if "include_sensitive" in given else "tea")
    assert conn.execute("SELECT id FROM recall('tea')").fetchall() == [(number,)]


def test_no_leg_found_it_and_why_not(conn: Connection[Any]) -> None:
    near = embedded(conn, "green tea", unit(1))
    pending = remember(conn, "a bicycle")
    sensitive = remember(conn, "a secret bicycle", is_sensitive=True)
    far = embedded(conn, "a motorcycle", unit(2))
    conn.execute("SET pgrecall.dense_exact_rows = 0")
    alone = {"k": 1, "settings": {"leg_depth": 1}}
    words, concepts = "it holds no query word", "no concept links to it"
    for number, vector in (
        (pending, "it is not embedded yet"),
        (sensitive, "it is sensitive and never embedded"),
    ):
        expected = f"found by no leg: {words}; {vector}; {concepts}"
        assert reason(conn, "tea", number, query_vec=unit(1)) == expected
    depth = "others are nearer to the vector (the dense leg's depth)"
    assert (
        reason(conn, "tea", far, query_vec=unit(1), **alone)
        == f"found by no leg: {words}; {depth}; {concepts}"
    )
    assert reason(conn, "tea", near, query_vec=unit(1), **alone) is None
    assert reason(conn, "tea", far) == f"found by no leg: {words}; no vector was given; {concepts}"
    assert reason(conn, "zyx", far) == (
        f"found by no leg: no memory holds a query word; no vector was given; {concepts}"
    )
    assert reason(conn, "tea", far, strategy="fulltext") == f"found by no leg: {words}"
    vectors = {"strategy": "vector", "query_vec": unit(1)}
    assert reason(conn, "tea", pending, **vectors) == "found by no leg: it is not embedded yet"
    assert reason(conn, "tea", far, strategy="prefilter", query_vec=unit(1)) == f"found by no leg: {words}"
    off = {f"{leg}_weight": 0 for leg in LEGS}
    assert reason(conn, "tea", near, settings=off) == "found by no leg: all legs are off"


def test_the_words_rank_beyond_the_depth(conn: Connection[Any]) -> None:
    better, worse = remember(conn, "tea tea tea"), remember(conn, f"tea {'and milk ' * 20}")
    alone = {"k": 1, "strategy": "fulltext", "settings": {"leg_depth": 1}}
    expected = "found by no leg: others match the words better (the lexical leg's depth)"
    (row,) = explain(conn, "tea", worse, **alone)
    assert (row["reason"], row["is_candidate"], row["candidate_rank"]) == (expected, False, None)
    (best,) = explain(conn, "tea", better, **alone)
    assert best["score"] > row["score"] > 0, "the score it would have"
    prefilter = {"strategy": "prefilter", "query_vec": unit(1), "settings": {"prefilter_depth": 1}}
    assert reason(conn, "tea", worse, k=1, **prefilter) == expected


def test_older_than_the_lookback_or_not_matching_in_the_mode(conn: Connection[Any]) -> None:
    old = remember(conn, "tea time", occurred_at=MARCH)
    words = {"strategy": "fulltext", "reference_time": MARCH + timedelta(days=8)}
    assert reason(conn, "tea", old, settings={"lexical_lookback": "9 days"}, **words) is None
    expected = "found by no leg: it is older than lexical_lookback"
    assert reason(conn, "tea", old, settings={"lexical_lookback": "7 days"}, **words) == expected
    expected = "found by no leg: its words do not match in lexical_mode websearch"
    assert (
        reason(conn, "tea -time", old, settings={"lexical_mode": "websearch"}, strategy="fulltext")
        == expected
    )


def test_below_a_threshold(conn: Connection[Any]) -> None:
    near, far = embedded(conn, "green tea", unit(1)), embedded(conn, "black tea", unit(1, 2))
    pending = remember(conn, "tea leaves")
    asked = {"query_vec": unit(1), "min_similarity": 0.9}
    assert reason(conn, "tea", near, **asked) is None
    said, given = str(reason(conn, "tea", far, **asked)).rsplit(" ", 1)
    assert said == "below min_similarity 0.9: its similarity is"
    assert float(given) == pytest.approx(2**-0.5, abs=1e-3)
    assert reason(conn, "tea", pending, **asked) == "below min_similarity 0.9: it has no embedding"
    scores = {row["id"]: row["score"] for row in explain(conn, "tea", query_vec=unit(1))}
    between = (scores[near] + scores[far]) / 2
    (row,) = explain(conn, "tea", far, query_vec=unit(1), min_score=between)
    assert str(row["reason"]).startswith("below min_score ")
    assert (row["is_candidate"], row["candidate_rank"]) == (True, None)
    assert row["score"] == pytest.approx(scores[far])


def test_hidden_behind_a_duplicate(conn: Connection[Any]) -> None:
    first, second = remember(conn, "green tea"), remember(conn, "green tea")
    assert reason(conn, "tea", second) is None
    behind, hidden = explain(conn, "tea", first, second, collapse_duplicates=True)
    assert behind["duplicates"] == [second]
    assert (hidden["reason"], hidden["place"]) == (f"hidden behind duplicate {first}", None)
    assert hidden["candidate_rank"] == 2


def test_below_the_cut_by_score_and_by_importance(conn: Connection[Any]) -> None:
    numbers = [
        # None of them is a newer statement that goes first.
        remember(
            conn, f"tea {'and milk ' * place}", importance=place / 10, occurred_at=f"{2024 - place}-01-01"
        )
        for place in range(4)
    ]
    best, *_, last = returned(conn, "tea")
    (top,) = explain(conn, "tea", best)
    (row,) = explain(conn, "tea", last, k=2)
    assert row["candidate_rank"] == 4
    second = explain(conn, "tea", k=2)[-1]["score"]
    text = str(row["reason"])
    assert text.startswith("below the cut: place 4, the last returned has score ")
    assert float(text.rsplit(" ", 1)[1]) == pytest.approx(second, abs=1e-8)
    assert top["score"] > second > row["score"]
    by_importance = {"k": 2, "sort_by": "importance"}
    assert (
        reason(conn, "tea", numbers[0], **by_importance)
        == "below the cut: place 4 by importance, 2 were returned"
    )


def test_pushed_down_by_mmr(conn: Connection[Any]) -> None:
    embedded(conn, "tea tea tea", unit(1))
    alike, other = embedded(conn, "tea tea", unit(1)), embedded(conn, "a cup of tea", unit(1, 2, 3))
    asked = {"query_vec": unit(1), "k": 2}
    assert reason(conn, "tea", alike, **asked) is None
    assert reason(conn, "tea", alike, mmr_lambda=0.3, **asked) == "pushed down by MMR: place 2 without it"
    (row,) = explain(conn, "tea", other, mmr_lambda=0.3, **asked)
    assert (row["place"], row["candidate_rank"]) == (2, 3)
    assert row["mmr_penalty"] == pytest.approx(0.7 * 3**-0.5, abs=1e-3)


# -- what the settings must not be


def test_factors_that_are_all_zero_are_refused(conn: Connection[Any]) -> None:
    remember(conn, "tea")
    with pytest.raises(psycopg.Error) as caught:
        conn.execute("""SELECT * FROM recall('tea', settings => '{"factor_relevance": 0}')""")
    assert caught.value.sqlstate == "22023"
    assert caught.value.diag.message_hint


# -- who may, and the client


def test_a_reader_may_explain_where_nothing_can_be_written(conn: Connection[Any]) -> None:
    number = embedded(conn, "tea", unit(1), tags=["cup"], session="s", position=1)
    duplicate = remember(conn, "tea", session="s", position=2)
    share(conn)
    conn.execute("SET ROLE pgrecall_reader")
    conn.execute("SET default_transaction_read_only = on")
    rows = explain(
        conn, "tea", number, duplicate, NOWHERE, query_vec=unit(1), mmr_lambda=0.5, collapse_duplicates=True
    )
    assert [row["place"] is not None for row in rows] == [True, False, False]


def test_the_client_gives_every_column(client: Client) -> None:
    number = client.remember("tea is green", title="tea")
    other = client.remember("a bicycle")
    result = client.explain("tea", ids=[other, number, NOWHERE], embed=False, namespace="default")
    assert (result.query, result.notice, len(result)) == ("tea", None, 3)
    found, absent, nothing = result
    assert (found.id, found.place, found.reason, found.title) == (number, 1, None, "tea")
    assert found.score == client.recall("tea", embed=False)[0].score
    assert found.settings_in_force["k"] == 10
    assert absent.reason is not None
    assert absent.reason.startswith("found by no leg")
    assert (nothing.score, nothing.duplicates) == (None, ())
    assert found.as_dict()["duplicates"] == []
    assert result[0:2] == (found, absent)
    assert client.explain("tea", k=1, embed=False, fusion="rrf")[0].settings_in_force["fusion"] == "rrf"


def test_the_client_refuses_what_are_no_ids(shared: Client) -> None:
    for ids in ("12", 12, ["12"], [True], [2**63]):
        with pytest.raises(InvalidInput):
            shared.explain("tea", ids=ids)  # type: ignore[arg-type]
    with pytest.raises(TooLarge):
        shared.explain("tea", ids=range(1001), embed=False)
