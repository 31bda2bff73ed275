"""Questions, settings and filters at their edges: nothing fails, nothing is lost, and no order but the one asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from support.facts import fact, told
from support.judging import judge, measured
from support.memories import call, remember, remember_many, rows, scalar
from support.ranking import ids, ranking, recalled, vector

if TYPE_CHECKING:
    from psycopg import Connection

pytestmark = pytest.mark.rollback


def stored(conn: Connection[Any], *contents: str, **fields: object) -> list[int]:
    return remember_many(conn, [{"content": content, **fields} for content in contents])


# --- Pronouns and the confidence ---


@pytest.mark.parametrize(
    "question",
    ["what about you, me and I", "you, me, your and my", "I and you and we", "me", "we or our or us"],
)
def test_a_question_of_pronouns_has_a_confidence(conn: Connection[Any], question: str) -> None:
    stored(conn, "you told me", "you gave me what I took", "call me", "text me later", "our rain", "snow")
    for row in recalled(conn, question):
        assert 0 <= row["confidence"] < 0.2
        rows(conn, "recall_explain", question)


def test_another_language_in_the_namespace_takes_no_confidence(conn: Connection[Any]) -> None:
    question = "Where did I leave my keys?"
    best, *_ = stored(
        conn, "I left my keys in the blue drawer", "you and me and our plan", "we like tea", "rain"
    )
    [alone, *_] = recalled(conn, question)
    stored(conn, "Der Regen fällt", language="german")
    [beside, *_] = recalled(conn, question)
    assert alone["id"] == beside["id"] == best
    assert beside["confidence"] == pytest.approx(alone["confidence"], abs=0.15)


# --- Long questions ---


def test_words_beyond_the_limit_are_not_taken_for_rare(conn: Connection[Any]) -> None:
    words = [f"word{number}" for number in range(8)]
    stored(conn, " ".join(words), *(f"{word} alone" for word in words for _ in range(4)))
    query = """
        SELECT (p).max_bm25, (SELECT sum(i) FROM unnest((p).idfs) i), cardinality((p).words) FROM (
            SELECT _pgrecall.parse_query(1, '{english}', %s, 50, _pgrecall.effective_settings(
                jsonb_build_object('bm25_max_terms', %s::integer))) p
        ) x
    """
    for limit in (4, 7, 8):
        highest, known, count = conn.execute(query, (" ".join(words), limit)).fetchone() or (0, 0, 0)
        assert (count, highest) == (limit, pytest.approx(known))
    highest, known, count = conn.execute(query, (" ".join([*words, "unheard"]), 32)).fetchone() or (0, 0, 0)
    assert highest > known


# --- Filters and modes ---


def test_what_is_over_is_not_found_by_looking_back(conn: Connection[Any]) -> None:
    conn.execute("SELECT remember('The door code is 4711', valid_to => now() - interval '1 hour')")
    valid = remember(conn, "The door code is 4712")
    for settings in ({}, {"lexical_lookback": "7 days"}, {"profile": "voice"}):
        assert ids(recalled(conn, "door code", settings=settings)) == [valid], settings


def test_excluded_words_weigh_nothing(conn: Connection[Any]) -> None:
    wanted, _ = stored(conn, "the parser of dates", "the deprecated parser")
    plain = ranking(conn, "parser", lexical_mode="websearch", lexical_coverage=1)
    for question in ("parser -deprecated", 'parser -"deprecated parser"', "parser -unheard -deprecated"):
        [row] = ranking(conn, question, lexical_mode="websearch", lexical_coverage=1)
        assert row["id"] == wanted
        assert row["score"] == pytest.approx(next(one["score"] for one in plain if one["id"] == wanted))


@pytest.mark.parametrize("alpha", [0, 0.3, 1])
def test_a_strategy_of_one_leg_needs_no_share(conn: Connection[Any], alpha: float) -> None:
    memory = remember(conn, "tea at four")
    call(
        conn,
        "pgrecall.complete",
        "00000000-0000-0000-0000-000000000000",
        [memory],
        [scalar(conn, "SELECT content_hash FROM pgrecall.memories WHERE id = %s", memory)],
        [vector(1)],
    )
    for strategy in ("fulltext", "vector"):
        assert ids(recalled(conn, "tea", vector(1), settings={"strategy": strategy, "cc_alpha": alpha})) == [
            memory
        ]


@pytest.mark.parametrize("sort_by", ["recency", "importance"])
def test_diversity_does_not_undo_another_order(conn: Connection[Any], sort_by: str) -> None:
    made = [
        remember(
            conn,
            f"tea {'kettle cup saucer milk ' * number}",
            created_at=f"2026-01-{10 + number}",
            importance=number / 10,
        )
        for number in range(6)
    ]
    for settings in (
        {"mmr_lambda": 0.3},
        {"mmr_lambda": 0},
        {"profile": "voice", "lexical_lookback": "", "k": 10},
    ):
        assert ids(recalled(conn, "tea", sort_by=sort_by, settings=settings)) == made[::-1]


# --- Times, expansions, related concepts ---


@pytest.mark.parametrize(
    "question",
    [
        "Hi,\nlast week: the parser",
        "(last week) the parser",
        "the parser\tlast week",
        '"last week" the parser',
    ],
)
def test_a_time_after_any_sign_is_read(conn: Connection[Any], question: str) -> None:
    remember(conn, "the parser works")
    found = rows(conn, "recall_explain", question, reference_time="2026-05-13T12:00Z")
    columns = [column.name for column in conn.execute("SELECT * FROM recall_explain('x')").description or ()]
    assert found[0][columns.index("question_period")] is not None


@pytest.mark.parametrize("question", ["ما هو الطلب ٤٧١٢", "ऑर्डर ४७१२ कहाँ है", "order ４７１２?"])
def test_an_expansion_is_found_by_digits_of_any_script(conn: Connection[Any], question: str) -> None:
    remember(conn, "invoice of May")
    rows(conn, "pgrecall.cache_expansion", question, ["invoice"])
    found = rows(conn, "recall", question, settings='{"expand": "llm"}')
    assert len(found) == 1


def test_the_newest_relations_of_a_concept_count(conn: Connection[Any]) -> None:
    for number in range(55):
        told(conn, f"old {number}", fact("Ana", "led", f"Team{number}", valid_to="2020-01-01T00:00:00Z"))
    told(conn, "new", fact("Ana", "leads", "Apollo"))
    ana = call(conn, "pgrecall.find_concept", "Ana")
    query = "SELECT c.name FROM _pgrecall.related_concepts(%s, NULL) r JOIN pgrecall.concepts c ON c.id = r.related_id"
    assert conn.execute(query, (ana,)).fetchall() == [("Apollo",)]


# --- Measuring ---


def test_judged_queries_of_a_namespace_are_asked_there(conn: Connection[Any]) -> None:
    memory = remember(conn, "tea at four")
    judge(conn, "q1", [memory], query="tea")
    before = measured(conn)
    rows(conn, "pgrecall.create_namespace", "team")
    conn.execute("SET pgrecall.namespaces = '{team}'")
    assert measured(conn) == before


def test_no_filter_is_unfiltered(conn: Connection[Any]) -> None:
    assert scalar(conn, "SELECT _pgrecall.is_unfiltered(NULL)") is True


@pytest.mark.parametrize(
    ("stored_as", "names"),
    [
        ("{me,team}", ["me", "team"]),
        (' { me , "a b" } ', ["me", "a b"]),
        ("{my team,b}", ["my team", "b"]),
        (r'{"a\"b",c}', ['a"b', "c"]),
        (r"{a\,b}", ["a,b"]),
        ('{"NULL", nullable, not null, \\NULL}', ["NULL", "nullable", "not null"]),
        ("{}", []),
    ],
)
def test_namespaces_of_the_setting(conn: Connection[Any], stored_as: str, names: list[str]) -> None:
    conn.execute("SELECT set_config('pgrecall.namespaces', %s, true)", (stored_as,))
    assert scalar(conn, "SELECT _pgrecall.asked_namespaces(NULL, NULL)") == names
    conn.execute("SELECT set_config('pgrecall.namespaces', '', true)")
    conn.execute("SELECT pgrecall.set_setting('namespaces', %s)", (stored_as,))
    assert scalar(conn, "SELECT _pgrecall.asked_namespaces(NULL, NULL)") == names
