"""What a score is made of: every step of rank_memories() against values computed here."""

from __future__ import annotations

import json
import math
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from support.ranking import NORTH, at, ids, ranking, recalled, remember, scores

if TYPE_CHECKING:
    from psycopg import Connection

pytestmark = pytest.mark.rollback

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
QUERY = "harbour crane report"


def bm25(conn: Connection[Any], query: str = QUERY) -> dict[int, float]:
    """BM25 of every memory, by the words of plain English that are their own stems: k1 1.2, b 0.75, pivot 72."""
    words = query.split()
    texts = dict(conn.execute("SELECT id, content FROM pgrecall.memories").fetchall())
    idf = {}
    for word in words:
        df = sum(word in text.split() for text in texts.values())
        idf[word] = math.log(1 + (len(texts) - df + 0.5) / (df + 0.5)) if df else 0
    found = {}
    for number, text in texts.items():
        length = len(text.split())
        norm = 1.2 * (1 - 0.75 + 0.75 * length / 72)
        found[number] = sum(
            idf[word] * text.split().count(word) * 2.2 / (text.split().count(word) + norm) for word in words
        )
    return found


def mass(conn: Connection[Any], query: str = QUERY) -> float:
    """What a memory of usual length scores that holds every word once; words that nobody holds count as rare."""
    texts = [text.split() for (text,) in conn.execute("SELECT content FROM pgrecall.memories")]
    total = 0.0
    for word in query.split():
        df = sum(word in text for text in texts)
        total += math.log(1 + (len(texts) - (df or 1) + 0.5) / ((df or 1) + 0.5))
    return total


@pytest.fixture
def yard(conn: Connection[Any]) -> dict[str, int]:
    return {
        "all": remember(conn, "harbour crane report", at(0.2)),
        "two": remember(conn, "harbour crane", at(0.9)),
        "one": remember(conn, "crane night", at(0.5)),
        "near": remember(conn, "a wet dog", at(0.95)),
        "opposite": remember(conn, "crane wax", at(-0.8)),
        "pending": remember(conn, "report night"),
    }


# --- fusion ----------------------------------------------------------------------------------------------------------


def test_reciprocal_ranks(conn: Connection[Any], yard: dict[str, int]) -> None:
    lexical = bm25(conn)
    by_words = sorted((n for n in lexical if lexical[n] > 0), key=lambda n: (-lexical[n], n))
    by_vector = [yard[name] for name in ("near", "two", "one", "all", "opposite")]
    found = scores(ranking(conn, QUERY, NORTH, fusion="rrf", rrf_k=7, lexical_weight=1.5, dense_weight=0.25))
    assert found == pytest.approx(
        {
            number: (1.5 / (8 + by_words.index(number)) if number in by_words else 0)
            + (0.25 / (8 + by_vector.index(number)) if number in by_vector else 0)
            for number in yard.values()
        },
        abs=1e-12,
    )


@pytest.mark.parametrize("coverage", [0, 0.5, 2])
def test_convex_combination(conn: Connection[Any], yard: dict[str, int], coverage: float) -> None:
    """Cosines below 0 count as 0; who has no embedding has the average of what those who have count."""
    lexical = bm25(conn)
    full = max(*lexical.values(), coverage * mass(conn))
    assert (full > max(lexical.values())) is (coverage == 2)
    cosine = {"all": 0.2, "two": 0.9, "one": 0.5, "near": 0.95, "opposite": -0.8}
    cosine["pending"] = sum(max(one, 0) for one in cosine.values()) / 5
    found = ranking(conn, QUERY, NORTH, fusion="cc", cc_alpha=0.7, lexical_coverage=coverage)
    assert scores(found) == pytest.approx(
        {number: 0.3 * lexical[number] / full + 0.7 * max(cosine[name], 0) for name, number in yard.items()},
        abs=2e-3,  # halfvec
    )
    # Exactly, from the scores that the rows themselves report.
    average = sum(max(row["similarity"] or 0, 0) for row in found) / 5
    for row in found:
        assert (row["lexical_score"] or 0) == pytest.approx(lexical[row["id"]], abs=1e-6)
        similarity = average if row["similarity"] is None else row["similarity"]
        expected = 0.3 * (row["lexical_score"] or 0) / full + 0.7 * max(similarity, 0)
        assert row["score"] == pytest.approx(expected, abs=1e-6)


def test_words_that_nobody_knows_make_the_best_match_count_less(
    conn: Connection[Any], yard: dict[str, int]
) -> None:
    query = "crane zyxwv uvwxy vwxyz"
    lexical = bm25(conn, query)
    full = 0.5 * mass(conn, query)
    assert full > max(lexical.values())
    found = scores(ranking(conn, query, None, fusion="cc", lexical_coverage=0.5))
    assert found == pytest.approx({n: s / full for n, s in lexical.items() if s > 0}, abs=1e-6)
    assert set(found) == {yard[name] for name in ("all", "two", "one", "opposite")}


def test_a_leg_that_takes_no_part_leaves_its_share_to_the_others(
    conn: Connection[Any], yard: dict[str, int]
) -> None:
    lexical = bm25(conn)
    full = max(*lexical.values(), 0.5 * mass(conn))
    found = scores(ranking(conn, QUERY, None, fusion="cc", graph_weight=0.2))
    assert found == pytest.approx({n: s / full for n, s in lexical.items() if s > 0}, abs=1e-6)
    for query in ("zyxwv", None):
        found = scores(ranking(conn, query, NORTH, fusion="cc", graph_weight=0.2))
        # A query of unknown words is one that the lexical leg takes no part in.
        assert found[yard["near"]] == pytest.approx(0.95, abs=1e-3)
        assert found[yard["opposite"]] == 0


def test_a_concept_draws_a_memory_up_to_what_it_is_linked_with(conn: Connection[Any]) -> None:
    seed = remember(conn, "sloop", at(0.6), tags=["anemone"])
    linked = remember(conn, "a wet dog", at(0.3), tags=["anemone"])
    asked = {"graph_weight": 1.2, "graph_mention": 0.5, "graph_decay": 0.9, "cc_alpha": 0.6}
    by_id = {row["id"]: row for row in ranking(conn, "sloop", NORTH, fusion="cc", **asked)}
    top, own = by_id[seed]["score"], 0.6 * by_id[linked]["similarity"]
    share = 1.2 * 0.5 / math.sqrt(2)  # two memories mention it
    assert by_id[linked]["graph_score"] == pytest.approx(share * 0.9 * top, abs=1e-9)
    assert by_id[linked]["score"] == pytest.approx(own + share * (0.9 * top - own), abs=1e-9)
    conn.execute("UPDATE pgrecall.mentions SET is_about = true WHERE memory_id = %s", (linked,))
    by_id = {row["id"]: row for row in ranking(conn, "sloop", NORTH, fusion="cc", **asked)}
    assert by_id[linked]["score"] == pytest.approx(own + 2 * share * (0.9 * top - own), abs=1e-9)
    by_id = {
        row["id"]: row for row in ranking(conn, "sloop", NORTH, fusion="cc", **asked | {"graph_weight": 9})
    }
    assert by_id[linked]["score"] == pytest.approx(
        0.9 * top, abs=1e-9
    )  # as near as a hop lets it come, and no nearer
    assert by_id[seed]["score"] == pytest.approx(top, abs=1e-9)
    found = ranking(conn, "sloop", NORTH, fusion="rrf", rrf_k=10, **asked)
    row = next(row for row in found if row["id"] == linked)
    assert row["score"] == pytest.approx(1 / 12 + 2 * share * (0.9 * 2 / 11 - 1 / 12), abs=1e-12)


def test_what_the_query_names_draws_to_the_best_what_is_about_it(conn: Connection[Any]) -> None:
    best = remember(conn, "sloop for sale", at(0.8))
    named = remember(conn, "a wet dog", at(0.1), tags=["anemone"])
    asked = {"graph_weight": 0.5, "graph_decay": 0.9, "cc_alpha": 0.6, "lexical_coverage": 0}
    by_id = {row["id"]: row for row in ranking(conn, "sloop anemone", NORTH, fusion="cc", **asked)}
    most = max(row["lexical_score"] for row in by_id.values())
    own = 0.4 * by_id[named]["lexical_score"] / most + 0.6 * by_id[named]["similarity"]
    assert by_id[named]["score"] == pytest.approx(own, abs=1e-9)  # its words have been counted
    assert by_id[named]["graph_rank"] is None
    conn.execute("UPDATE pgrecall.mentions SET is_about = true WHERE memory_id = %s", (named,))
    by_id = {row["id"]: row for row in ranking(conn, "sloop anemone", NORTH, fusion="cc", **asked)}
    level = 0.9 * by_id[best]["score"]
    assert by_id[named]["score"] == pytest.approx(own + 0.5 * (level - own), abs=1e-9)
    assert by_id[best]["graph_rank"] is None


# --- neighbours and phrases ------------------------------------------------------------------------------------------


def test_a_hit_raises_its_neighbours_toward_its_score(conn: Connection[Any]) -> None:
    """Two places either way; the best of several neighbours counts."""
    numbers = [
        remember(conn, content, session="s", position=place)
        for place, content in enumerate(
            ["dog", "cat", "harbour crane", "wet", "harbour oil oil", "fog", "tar", "hen"]
        )
    ]
    other = remember(conn, "owl", session="t", position=3)
    plain = scores(ranking(conn, "harbour crane", None, fusion="cc", k=20))
    assert set(plain) == {numbers[2], numbers[4]}
    first, second = plain[numbers[2]], plain[numbers[4]]
    assert first == 1
    assert 0 < second < 1
    share = 0.4
    found = scores(ranking(conn, "harbour crane", None, fusion="cc", session_share=share, k=20))
    assert other not in found
    assert found == pytest.approx(
        {
            numbers[0]: share * first,
            numbers[1]: share * first,
            numbers[2]: 1,
            numbers[3]: share * first,
            numbers[4]: second + share * (first - second),
            numbers[5]: share * second,
            numbers[6]: share * second,
        },
        abs=1e-9,
    )
    one = scores(
        ranking(conn, "harbour crane", None, fusion="cc", session_share=share, session_seeds=1, k=20)
    )
    assert set(one) == set(numbers[:5])
    assert one[numbers[3]] == pytest.approx(share, abs=1e-9)
    top = 1 / 11
    ranked = scores(ranking(conn, "harbour crane", None, fusion="rrf", session_share=share, k=20))
    assert ranked[numbers[0]] == pytest.approx(share * top, abs=1e-12)
    assert ranked[numbers[4]] == pytest.approx(1 / 12 + share * (top - 1 / 12), abs=1e-12)
    assert ranked[numbers[5]] == pytest.approx(share / 12, abs=1e-12)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        (" ".join(f"w{number}q" for number in range(100)), 1),
        (
            " ".join(f"w{number}q" for number in range(400)),
            900 / sum(len(f"w{number}q ") for number in range(400)),
        ),
        (" ".join(f"wort{number}" for number in range(1000)), 0.114),
        ("слово" * 30 + " " + " ".join(f"кошка{number}" for number in range(90)), 1),  # two bytes a letter
        ("我们明天上午去看房子" * 25, 1),  # 250 characters, more n-grams
        ("我们明天上午去看房子" * 60, 0.5),
        ("เราจะไปดูบ้านพรุ่งนี้เช้า" * 10, 1),
    ],
)
def test_neighbours_count_less_for_a_long_memory(conn: Connection[Any], text: str, part: float) -> None:
    remember(conn, "harbour crane", session="s", position=0)
    long = remember(conn, text, session="s", position=1)
    share = 0.4
    found = scores(ranking(conn, "harbour crane", None, fusion="cc", session_share=share, k=20))
    assert found[long] == pytest.approx(share * part, rel=0.02)


@pytest.mark.parametrize("place", [-(2**31), 2**31 - 1])
def test_the_largest_positions_have_neighbours_too(conn: Connection[Any], place: int) -> None:
    inward = 1 if place < 0 else -1
    hit = remember(conn, "harbour", session="s", position=place)
    beside = remember(conn, "owl", session="s", position=place + inward)
    assert ids(recalled(conn, "harbour")) == [hit, beside]


def test_the_query_word_for_word_gains_a_share_of_what_is_missing(conn: Connection[Any]) -> None:
    exact = remember(conn, "the harbour crane of old", at(0.5))
    apart = remember(conn, "crane of the old harbour", at(0.5))
    plain = scores(ranking(conn, "harbour crane", NORTH, fusion="cc"))
    found = scores(ranking(conn, "harbour crane", NORTH, fusion="cc", phrase_bonus=0.3))
    assert found[apart] == plain[apart]
    assert found[exact] == pytest.approx(plain[exact] + 0.3 * (1 - plain[exact]), abs=1e-12)


# --- priors ----------------------------------------------------------------------------------------------------------


def aged(conn: Connection[Any], days: float, **options: Any) -> int:
    return remember(conn, "crane", occurred_at=NOW - timedelta(days=days), **options)


def test_decay(conn: Connection[Any]) -> None:
    expected = {aged(conn, days): 2 ** (-days / 30) for days in (0, 30, 60, 120)}
    assert list(expected.values()) == [1, 0.5, 0.25, 0.0625]
    expected[aged(conn, -10)] = 1
    expected[aged(conn, 700_000)] = 0
    expected[aged(conn, 120, category="person")] = 0.3
    expected[aged(conn, 30, category="person")] = 0.5
    expected[aged(conn, 120, category="fact")] = 0.0625
    found = scores(ranking(conn, "crane", half_life="30 days", reference_time=NOW, k=20))
    # Titles and categories are words too: against the score without decay.
    plain = scores(ranking(conn, "crane", k=20))
    assert found == pytest.approx({n: plain[n] * factor for n, factor in expected.items()}, abs=1e-9)
    floors: dict[str, Any] = {"half_life": "30 days", "decay_floor": 0.1, "decay_floors": "fact=0.8, place=1"}
    found = scores(ranking(conn, "crane", **floors, reference_time=NOW, k=20))
    for category, factor in (("person", 0.1), ("fact", 0.8)):
        (number,) = conn.execute(
            "SELECT id FROM pgrecall.memories WHERE category = %s AND occurred_at < %s",
            (category, NOW - timedelta(days=100)),
        ).fetchone() or (0,)
        assert found[number] == pytest.approx(plain[number] * factor, abs=1e-9)


def test_age_counts_from_now_and_from_when_it_was_stored_if_nothing_else_is_known(
    conn: Connection[Any],
) -> None:
    old = remember(conn, "crane")
    conn.execute("UPDATE pgrecall.memories SET created_at = now() - interval '10 days' WHERE id = %s", (old,))
    (row,) = ranking(conn, "crane", half_life="10 days")
    assert row["score"] == pytest.approx(0.5, abs=1e-4)


def test_importance_multiplies(conn: Connection[Any]) -> None:
    numbers = {remember(conn, "crane", importance=weight): weight for weight in (0, 0.25, 1)}
    for weight in (0, 0.4, 1):
        found = scores(ranking(conn, "crane", importance_weight=weight))
        assert found == pytest.approx(
            {number: 1 - weight + weight * importance for number, importance in numbers.items()}, abs=1e-9
        )


def test_factors(conn: Connection[Any]) -> None:
    """Relevance, importance and recency, weighted: (r + 2 i + 3 a) / 6, with a halved in ten days."""
    numbers = [aged(conn, 20, importance=0.9), aged(conn, 10, importance=0.1), aged(conn, 0, importance=0.5)]
    weights: dict[str, Any] = {
        "factor_relevance": 1,
        "factor_importance": 2,
        "factor_recency": 3,
        "recency_half_life": "10 days",
    }
    for fusion, top in (("cc", 1.0), ("rrf", 1 / 11)):
        relevance = scores(ranking(conn, "crane", fusion=fusion))
        found = scores(ranking(conn, "crane", fusion=fusion, reference_time=NOW, **weights))
        assert found == pytest.approx(
            {
                number: (relevance[number] + top * (2 * importance + 3 * recency)) / 6
                for number, importance, recency in zip(numbers, (0.9, 0.1, 0.5), (0.25, 0.5, 1), strict=True)
            },
            abs=1e-7,  # importance is a real
        )


def test_named_concepts_boost(conn: Connection[Any]) -> None:
    named = remember(conn, "the crane of Priya", tags=["Priya", "everywhere"])
    others = [remember(conn, f"crane {n}", tags=["everywhere"]) for n in range(12)]
    query = "crane priya"
    plain = scores(ranking(conn, query, k=20))
    found = scores(ranking(conn, query, k=20, entity_boost=1.5))
    assert found[named] == pytest.approx(1.5 * plain[named], abs=1e-12)
    assert [found[number] for number in others] == [plain[number] for number in others]


def test_thresholds(conn: Connection[Any], yard: dict[str, int]) -> None:
    found = ranking(conn, QUERY, NORTH)
    for name, least in (("min_similarity", 0.4), ("min_score", 0.45)):
        column = name.removeprefix("min_")
        expected = [r["id"] for r in found if r[column] is not None and r[column] >= least]
        assert 0 < len(expected) < len(found)
        assert ids(ranking(conn, QUERY, NORTH, **{name: least})) == expected
    # Without a vector there is nothing to be similar to.
    assert len(ranking(conn, QUERY, None, min_similarity=0.4)) == 5


def test_sort_by(conn: Connection[Any]) -> None:
    words = ["crane", "crane crane", "crane by night", "crane", "crane crane"]
    importance = [0.5, 0.9, 0.5, 0.5, 0.1]
    days = [1, 2, 3, 1, 0]
    numbers = [
        aged(conn, day, title=text, importance=weight)
        for day, text, weight in zip(days, words, importance, strict=True)
    ]
    score = scores(ranking(conn, "crane"))
    assert score[numbers[0]] == score[numbers[3]] != score[numbers[2]]
    for order, key in (("importance", importance), ("recency", [-day for day in days])):
        expected = sorted(numbers, key=lambda n: (-key[numbers.index(n)], -score[n], n))
        assert ids(ranking(conn, "crane", sort_by=order)) == expected
        assert scores(ranking(conn, "crane", sort_by=order)) == score


def test_infinite_times_are_ages_like_any_other(conn: Connection[Any]) -> None:
    never, always = (remember(conn, "crane") for _ in range(2))
    # As rows may be that are older than the constraint.
    conn.execute("ALTER TABLE pgrecall.memories DROP CONSTRAINT memories_times")
    for number, time in ((never, "infinity"), (always, "-infinity")):
        conn.execute("UPDATE pgrecall.memories SET occurred_at = %s WHERE id = %s", (time, number))
    now = aged(conn, 0)
    query = "SELECT id, score FROM recall('crane', settings => %s, reference_time => %s)"
    settings = json.dumps({"half_life": "30 days", "factor_recency": 1})
    found = dict(conn.execute(query, (settings, NOW)).fetchall())
    assert found[never] == pytest.approx(found[now])
    assert found[always] == pytest.approx(0, abs=1e-200)
    for moment in ("infinity", "-infinity"):
        assert len(conn.execute(query, (settings, moment)).fetchall()) == 3
