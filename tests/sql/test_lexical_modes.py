"""The setting lexical_mode, the exact-phrase bonus, and the settings that BM25's postings are made with."""

from __future__ import annotations

import random
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from support.bm25 import ALL, Exhaustive, assert_exact, leg, memories, queries
from support.memories import call, refused, remember, remember_many, rows, scalar
from support.postings import assert_same_as_rebuilt, fold, noted, postings, problems

if TYPE_CHECKING:
    from collections.abc import Iterator

    from psycopg import Connection

pytestmark = pytest.mark.rollback

MODES = ["bm25", "ts_rank", "websearch", "prefix"]
STORED_ONLY = [
    "bm25_k1", "bm25_b", "bm25_length_pivot", "field_weight_a", "field_weight_b", "field_weight_c", "field_weight_d",
]  # fmt: skip


@contextmanager
def mode(conn: Connection[Any], name: str, **others: object) -> Iterator[None]:
    """The lexical leg alone, in one of its modes, for a transaction."""
    with conn.transaction():
        for setting, value in {"lexical_mode": name, "graph_weight": 0, "phrase_bonus": 0, **others}.items():
            conn.execute("SELECT set_config('pgrecall.' || %s, %s, true)", (setting, str(value)))
        yield


def recalled(conn: Connection[Any], query: str, **options: object) -> list[int]:
    return [row[0] for row in rows(conn, "recall", query, **options)]


@pytest.fixture
def harbour(conn: Connection[Any]) -> dict[str, int]:
    """A few memories by name."""
    contents = {
        "phrase": "the night shift at the harbour",
        "apart": "the night was long, and so was the shift of the crane in the harbour",
        "night": "a night without stars",
        "crane": "the crane stood still",
        "nightly": "nightly reports of the shifting sands",
    }
    return {name: remember(conn, content) for name, content in contents.items()}


# --- which modes there are -------------------------------------------------------------------------------------------


def test_bm25_is_the_default(conn: Connection[Any], harbour: dict[str, int]) -> None:
    query = "SELECT value, source, choices FROM pgrecall.settings_in_force WHERE name = 'lexical_mode'"
    assert conn.execute(query).fetchone() == ("bm25", "default", MODES)
    with mode(conn, "bm25"):
        chosen = recalled(conn, "stars crane")
    assert recalled(conn, "stars crane") == chosen


@pytest.mark.usefixtures("dsn")
@pytest.mark.parametrize("name", MODES)
def test_a_mode_is_set_for_a_transaction_or_stored(
    conn: Connection[Any], harbour: dict[str, int], name: str
) -> None:
    query = "SELECT id, lexical_score FROM recall('night -crane') ORDER BY lexical_rank"
    found = {}
    for other in MODES:
        with mode(conn, other):
            found[other] = conn.execute(query.encode()).fetchall()
    assert len({str(rows) for rows in found.values()}) == len(MODES)
    assert conn.execute(query.encode()).fetchall() == found["bm25"]
    call(conn, "pgrecall.set_setting", "lexical_mode", name)
    assert conn.execute(query.encode()).fetchall() == found[name]
    with mode(conn, "prefix"):
        assert conn.execute(query.encode()).fetchall() == found["prefix"]
    call(conn, "pgrecall.set_setting", "lexical_mode", None)
    assert conn.execute(query.encode()).fetchall() == found["bm25"]


@pytest.mark.parametrize("value", ["bm26", "BM25", " bm25", "0", "bm25,prefix"])
def test_other_modes_are_refused_with_those_there_are(conn: Connection[Any], value: str) -> None:
    remember(conn, "night")
    with refused(conn, "22023"):
        call(conn, "pgrecall.set_setting", "lexical_mode", value)
    conn.execute("SELECT set_config('pgrecall.lexical_mode', %s, false)", (value,))
    with pytest.raises(psycopg.errors.InvalidParameterValue) as caught:
        rows(conn, "recall", "night")
    assert "one of bm25, ts_rank, websearch, prefix" in str(caught.value.diag.message_hint)
    assert value in str(caught.value.diag.message_primary)
    conn.execute("SET pgrecall.lexical_mode = ''")
    assert len(rows(conn, "recall", "night")) == 1


# --- ts_rank: the older service --------------------------------------------------------------------------------------


def older_service(conn: Connection[Any], words: list[str], min_rank: float = 0) -> list[tuple[int, float]]:
    """Every word before some of them; 0.7 ts_rank + 0.3 importance within each; ties by id."""
    query = """
        SELECT id, 0.7 * ts_rank(search_vector, q) + 0.3 * importance AS score
        FROM pgrecall.memories, to_tsquery('english', %s) q
        WHERE search_vector @@ q AND deleted_at IS NULL AND ts_rank(search_vector, q) >= %s ORDER BY score DESC, id
    """
    every = conn.execute(query, (" & ".join(words), 0)).fetchall()
    some = conn.execute(query, (" | ".join(words), min_rank)).fetchall()
    first = {number for number, _ in every}
    return [*every, *(row for row in some if row[0] not in first)]


def test_ts_rank_gives_the_older_services_order(conn: Connection[Any]) -> None:
    chance = random.Random(7)
    words = ["crane", "night", "harbour", "report", "tea"]
    for number in range(120):
        content = " ".join(chance.choices([*words, "milk", "shift"], k=chance.randrange(1, 9)))
        tags = chance.sample(words, chance.randrange(2))
        made = remember(conn, content, tags=tags, importance=chance.randrange(11) / 10)
        if number % 20 == 0:
            call(conn, "forget", made)
    query = "SELECT id, lexical_score FROM recall(%s, k => 200)"
    for asked in (words[:2], words[1:4], words[4:]):
        for min_rank in (0, 0.05, 0.2):
            expected = older_service(conn, asked, min_rank)
            with mode(conn, "ts_rank", lexical_min_rank=min_rank):
                found = conn.execute(query, (" ".join(asked),)).fetchall()
            assert [number for number, _ in found] == [number for number, _ in expected]
            assert [score for _, score in found] == pytest.approx([score for _, score in expected], abs=1e-9)


def test_ts_rank_goes_broad_only_where_every_word_gives_too_few(conn: Connection[Any]) -> None:
    # Those with every word have the lower ts_rank and importance; they come first all the same.
    some = remember(conn, "crane crane crane", importance=1.0)
    every = [
        remember(conn, f"night over {'this ' * 5} old harbour, crane {place}", importance=0)
        for place in range(60)
    ]
    with mode(conn, "ts_rank"):
        assert recalled(conn, "crane night harbour", k=60) == every
        assert recalled(conn, "crane night harbour", k=61) == [*every, some]
    with mode(conn, "ts_rank", lexical_min_rank=1):
        assert recalled(conn, "crane night harbour", k=61) == every


# --- websearch, prefix -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ('"night shift"', {"phrase"}),
        ('"shift night"', set()),
        ("night shift", {"phrase", "apart", "nightly"}),
        ("night -shift", {"night"}),
        ('night -"night shift"', {"apart", "night", "nightly"}),
        ("crane or harbour", {"phrase", "apart", "crane"}),
        ('"night shift" or crane', {"phrase", "apart", "crane"}),
        ("night crane", {"apart"}),
        ('"night shift', {"phrase"}),
        ("-night", set()),
        ("the and", set()),
    ],
)  # fmt: skip
def test_websearch(conn: Connection[Any], harbour: dict[str, int], query: str, names: set[str]) -> None:
    for _ in ("noted", "posted"):
        with mode(conn, "websearch"):
            found = recalled(conn, query)
        assert set(found) == {harbour[name] for name in names}
        fold(conn)


def test_websearch_ranks_by_bm25(conn: Connection[Any], harbour: dict[str, int]) -> None:
    with mode(conn, "websearch"):
        found = conn.execute(
            "SELECT id, lexical_rank, lexical_score FROM recall('crane or harbour or night')"
        ).fetchall()
    assert len(found) == 5
    assert_exact(conn, found, Exhaustive.of(conn).scores(["crane", "harbour", "night"]), ALL)


def test_websearch_finds_all_there_is_behind_common_words(conn: Connection[Any]) -> None:
    """Phrases that few of many memories hold are looked for beyond what is read of the postings."""
    remember_many(conn, [{"content": f"shift by night {place}"} for place in range(700)])
    wanted = [remember(conn, f"{'much ' * 30} text before the night shift") for _ in range(4)]
    fold(conn)
    with mode(conn, "websearch", bm25_max_postings=10, leg_depth=10):
        assert recalled(conn, '"night shift"') == wanted
        assert recalled(conn, '"night shift" or "shift night" or "much text"') == wanted


def test_prefix(conn: Connection[Any], harbour: dict[str, int]) -> None:
    with mode(conn, "prefix"):
        assert set(recalled(conn, "nig")) == {
            harbour[name] for name in ("phrase", "apart", "night", "nightly")
        }
        assert recalled(conn, "nig cra") == [harbour["apart"]]
        assert recalled(conn, "night shifty") == []
        assert recalled(conn, "ight") == []
    with mode(conn, "bm25"):
        assert recalled(conn, "nig cra") == []


# --- the exact-phrase bonus ------------------------------------------------------------------------------------------


def unit(angle: float) -> str:
    """A vector that is the further from unit(0), the larger the angle."""
    return str([1.0, angle, *[0.0] * 382])


@pytest.mark.parametrize(("query", "holds_it"), [("night shift report", True), ("Night-shift REPORTS!", True), ("report night shift", False)])  # fmt: skip
def test_a_memory_that_holds_the_query_word_for_word_comes_first(
    conn: Connection[Any], query: str, holds_it: bool
) -> None:
    conn.execute("SET pgrecall.newer_first = off")
    others = [remember(conn, "a report about the shift of the night") for _ in range(6)]
    exact = remember(conn, "he wrote the night shift report there")
    for place, number in enumerate([*others, exact]):
        values = (unit(1 + place * 0.02), number)
        conn.execute("UPDATE pgrecall.memories SET embedding = %s WHERE id = %s", values)
    found = recalled(conn, query, query_vec=unit(0))
    assert (found[0] == exact) is holds_it
    with mode(conn, "bm25", phrase_bonus=0):
        without = recalled(conn, query, query_vec=unit(0))
        assert without[0] == others[0]
    # It gains a share of what it lacks to the highest score there can be: 1, or a first rank in both legs.
    for fusion, top in (("cc", 1), ("rrf", 2 / 21)):
        scores: list[dict[int, float]] = []
        for phrase_bonus in (0, 0.5):
            with mode(conn, "bm25", phrase_bonus=phrase_bonus, rrf_k=20, fusion=fusion):
                given = conn.execute("SELECT id, score FROM recall(%s, %s)", (query, unit(0))).fetchall()
            scores.append(dict(given))
        plain, raised = scores
        assert set(plain) == set(raised) == {*others, exact}
        for number, score in raised.items():
            gained = 0.5 * (top - plain[number]) if number == exact and holds_it else 0
            assert score - plain[number] == pytest.approx(gained, abs=1e-12)


# --- settings that postings are made with ----------------------------------------------------------------------------


def in_force(conn: Connection[Any], name: str) -> tuple[str, str]:
    query = "SELECT value, source FROM pgrecall.settings_in_force WHERE name = %s"
    found = conn.execute(query, (name,)).fetchone()
    assert found is not None
    return found[0], found[1]


@pytest.mark.usefixtures("dsn")
@pytest.mark.parametrize("name", STORED_ONLY)
def test_a_stored_only_setting_makes_postings_anew(conn: Connection[Any], name: str) -> None:
    chance = random.Random(name)
    call(conn, "pgrecall.create_namespace", "other")
    remember_many(conn, memories(chance, 130))
    remember_many(conn, memories(chance, 20), namespace="other")
    fold(conn)
    with conn.transaction():
        conn.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        remember_many(conn, memories(chance, 20))
    assert len(noted(conn)) == 20
    asked = list(queries(chance, 6))
    before = [leg(conn, terms) for terms in asked]
    blocks = "SELECT array_agg(block ORDER BY block) FROM pgrecall.postings"
    old = scalar(conn, blocks)

    # A session cannot change it, for better or worse.
    (default, source) = in_force(conn, name)
    assert source == "default"
    for value in ("7", "rubbish"):
        conn.execute("SELECT set_config('pgrecall.' || %s, %s, false)", (name, value))
        assert in_force(conn, name) == (default, "default")
        assert [leg(conn, terms) for terms in asked] == before
        assert len(rows(conn, "recall", " ".join(asked[0]))) > 0
    remember(conn, "written while the session says otherwise")
    fold(conn)
    assert problems(conn) == {}
    call(conn, "pgrecall.set_setting", name, default)
    assert in_force(conn, name) == (default, "stored")
    assert set(old) & set(scalar(conn, blocks))  # the same value: nothing was rebuilt

    value = "0.5" if name != "bm25_length_pivot" else "10"
    with conn.transaction(force_rollback=True):
        call(conn, "pgrecall.set_setting", name, value)
    assert problems(conn) == {}
    call(conn, "pgrecall.set_setting", name, value)
    assert in_force(conn, name) == (value, "stored")
    assert problems(conn) == {}
    exhaustive = Exhaustive.of(conn)
    after = [leg(conn, terms) for terms in asked]
    for terms, found in zip(asked, after, strict=True):
        assert_exact(conn, found, exhaustive.scores(terms), ALL)
    assert after != before
    posted = postings(conn)
    assert_same_as_rebuilt(conn)
    assert postings(conn) == posted
    call(conn, "pgrecall.set_setting", name, None)
    assert in_force(conn, name) == (default, "default")
    assert problems(conn) == {}


def test_a_stored_only_setting_waits_for_nobody(conn: Connection[Any], dsn: str) -> None:
    many = [{"content": f"crane {place}"} for place in range(300)]
    remember_many(conn, many)
    with psycopg.connect(dsn, autocommit=True) as other:
        with other.transaction():
            remember_many(other, many)
            with refused(conn, "55006"):
                call(conn, "pgrecall.set_setting", "bm25_k1", "2")
            assert in_force(conn, "bm25_k1") == ("1.2", "default")
        # A writer who has noted a memory and not committed yet does not block the sweep.
        with other.transaction():
            other.execute("UPDATE pgrecall.memories SET content = 'night' WHERE id % 100 = 0")
            call(conn, "pgrecall.set_setting", "bm25_k1", "2")
    assert problems(conn) == {}
    assert_same_as_rebuilt(conn)


@pytest.mark.usefixtures("dsn")
def test_a_stored_only_setting_needs_read_committed(conn: Connection[Any]) -> None:
    remember(conn, "crane")
    with refused(conn, "55006"), conn.transaction():
        conn.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        call(conn, "pgrecall.set_setting", "bm25_b", "0.1")
