"""Profiles: settings that belong together, what beats them, and the two that stand for other pipelines."""

from __future__ import annotations

import math
import random
import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from support.bm25 import Exhaustive
from support.memories import call, refused, remember_many, scalar
from support.ranking import ids, recalled, scores, vector

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from psycopg import Connection

pytestmark = pytest.mark.rollback

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
TERMS = [
    "crane",
    "harbour",
    "night",
    "report",
    "tar",
    "oil",
    "fog",
    "hen",
    "owl",
    "wax",
    "rye",
    "elm",
    "ash",
    "yew",
    "fir",
]
CATEGORIES = ["fact", "person", "place", "relationship", "event"]


def in_force(conn: Connection[Any], name: str, arguments: dict[str, Any] | None = None) -> tuple[str, str]:
    query = "SELECT value, source FROM pgrecall.resolved_settings(%s) WHERE name = %s"
    value, source = conn.execute(query, (Jsonb(arguments), name)).fetchone() or ("", "")
    return value, source


# --- storing ---------------------------------------------------------------------------------------------------------


def test_what_beats_what(conn: Connection[Any]) -> None:
    call(conn, "pgrecall.set_profile", "mine", {"k": 7, "rrf_k": 42})
    assert in_force(conn, "k") == ("10", "default")
    call(conn, "pgrecall.set_setting", "k", "20")
    assert in_force(conn, "k") == ("20", "stored")
    call(conn, "pgrecall.set_setting", "profile", "mine")
    assert in_force(conn, "k") == ("7", "profile")
    assert in_force(conn, "profile") == ("mine", "stored")
    conn.execute("SET pgrecall.k = 8")
    assert in_force(conn, "k") == ("8", "parameter")
    assert in_force(conn, "k", {"k": 9}) == ("9", "argument")
    assert in_force(conn, "rrf_k", {"k": 9}) == ("42", "profile")
    conn.execute("SET pgrecall.k = ''")
    assert in_force(conn, "k", {"k": None}) == ("7", "profile")
    conn.execute("SET pgrecall.profile = 'default'")
    assert in_force(conn, "k") == ("20", "stored")
    assert in_force(conn, "k", {"profile": "mine"}) == ("7", "profile")
    assert in_force(conn, "k", {"profile": "voice"}) == ("5", "profile")


def test_the_order_shows_in_what_recall_returns(conn: Connection[Any]) -> None:
    remember_many(conn, [{"content": f"crane {n}"} for n in range(12)])
    call(conn, "pgrecall.set_profile", "mine", {"k": 7})
    call(conn, "pgrecall.set_setting", "k", "11")

    def count(**options: Any) -> int:
        return len(recalled(conn, "crane", **options))

    assert count() == 11
    assert count(profile="mine") == 7
    assert count(profile="mine", k=3) == 3
    assert count(profile="mine", settings={"k": 4}) == 4
    assert count(k=3, settings={"k": 4}) == 3
    conn.execute("SET pgrecall.k = 9")
    assert count(profile="mine") == 9
    conn.execute("RESET pgrecall.k")
    conn.execute("SET pgrecall.profile = 'mine'")
    assert count() == 7
    assert count(profile="default") == 11


def test_profiles_are_stored_replaced_and_removed(conn: Connection[Any]) -> None:
    built_in = dict(conn.execute("SELECT name, settings FROM pgrecall.profiles").fetchall())
    assert set(built_in) == {"default", "voice", "service"}
    call(conn, "pgrecall.set_profile", "voice", {"k": 3})
    call(conn, "pgrecall.set_profile", "a-b_1", {})
    found = dict(conn.execute("SELECT name, settings FROM pgrecall.profiles").fetchall())
    assert found == built_in | {"voice": {"k": 3}, "a-b_1": {}}
    for name in ("voice", "a-b_1", "other"):
        conn.execute("SELECT pgrecall.set_profile(%s, NULL)", (name,))
    assert dict(conn.execute("SELECT name, settings FROM pgrecall.profiles").fetchall()) == built_in


@pytest.mark.parametrize("name", [None, "", "Voice", "a b", "x" * 61, "ü", "a:b"])
def test_bad_names(conn: Connection[Any], name: str | None) -> None:
    with refused(conn, "22023"):
        call(conn, "pgrecall.set_profile", name, {"k": 3})


BAD_PROFILES = [
    ({"k": 0}, "22023"),
    ({"k": "many"}, "22023"),
    ({"half_life": "soon"}, "22023"),
    ({"fusion": "sum"}, "22023"),
    ({"profile": "voice"}, "22023"),
    ({"bm25_k1": 1}, "22023"),
    ({"namespace": "other"}, "22023"),
    ({"nothing": 1}, "22023"),
]


@pytest.mark.parametrize(("settings", "state"), BAD_PROFILES)
def test_bad_settings_in_a_profile(conn: Connection[Any], settings: dict[str, Any], state: str) -> None:
    with refused(conn, state):
        call(conn, "pgrecall.set_profile", "mine", settings)
    call(conn, "pgrecall.set_profile", "mine", {"k": 5})
    with refused(conn, state):
        conn.execute(
            "UPDATE pgrecall.settings SET value = %s::jsonb::text WHERE name = 'profile:mine'",
            (Jsonb(settings),),
        )


@pytest.mark.parametrize("value", ["[1]", "3", '"k"', "null"])
def test_a_profile_is_an_object(conn: Connection[Any], value: str) -> None:
    with refused(conn, "22023"):
        conn.execute("SELECT pgrecall.set_profile('mine', %s::jsonb)", (value,))


@pytest.mark.parametrize(
    ("name", "value"),
    [("k", "0"), ("k", "1e3"), ("strategy", "guess"), ("half_life", "30"), ("decay_floors", "x"), ("profile", "nobody's"), ("collapse_duplicates", "maybe")],
)  # fmt: skip
def test_whoever_writes_the_table_is_held_to_what_a_setting_accepts(
    conn: Connection[Any], name: str, value: str
) -> None:
    with refused(conn, "22023"):
        call(conn, "pgrecall.set_setting", name, value)
    with refused(conn, "22023"):
        conn.execute("INSERT INTO pgrecall.settings (name, value) VALUES (%s, %s)", (name, value))
    default = {"k": "5", "strategy": "auto", "half_life": "1 day", "decay_floors": "a=1", "profile": "voice"}
    call(conn, "pgrecall.set_setting", name, default.get(name, "on"))
    with refused(conn, "22023"):
        conn.execute("UPDATE pgrecall.settings SET value = %s WHERE name = %s", (value, name))


@pytest.mark.usefixtures("dsn")
def test_an_unknown_profile_is_refused_where_it_is_used(conn: Connection[Any]) -> None:
    for given in ("nobody's", "Voice", " voice"):
        with refused(conn, "22023"):
            recalled(conn, "crane", profile=given)
        conn.execute("SELECT set_config('pgrecall.profile', %s, false)", (given,))
        with pytest.raises(
            psycopg.errors.InvalidParameterValue, match=re.escape(f'profile cannot be "{given}"')
        ):
            recalled(conn, "crane")
        assert recalled(conn, "crane", profile="default") == []
        conn.execute("RESET pgrecall.profile")


# --- the pipelines ---------------------------------------------------------------------------------------------------


def spread(chance: random.Random) -> tuple[float, float, float]:
    return (chance.uniform(-1, 1), chance.uniform(-1, 1), chance.uniform(-1, 1))


@pytest.fixture(scope="module")
def corpus_dsn(new_database: Callable[..., str], template: str) -> str:
    """Some hundred memories of the last months, with vectors of three dimensions, categories and shared tags."""
    dsn = new_database(template)
    chance = random.Random(5)
    with psycopg.connect(dsn, autocommit=True) as conn:
        remember_many(
            conn,
            [
                {
                    "external_id": f"m{place}",
                    "content": " ".join(chance.choices(TERMS, k=chance.randrange(1, 9))),
                    "category": chance.choice(CATEGORIES),
                    "tags": [f"topic{chance.randrange(120)}"],
                    "importance": chance.randrange(101) / 100,
                    "occurred_at": (
                        NOW - timedelta(hours=chance.choice([3, 90, 160, 700, 2500]) * chance.random() * 1.3)
                    ).isoformat(),
                }
                for place in range(300)
            ],
        )
        for (number,) in conn.execute("SELECT id FROM pgrecall.memories ORDER BY id").fetchall():
            conn.execute(
                "UPDATE pgrecall.memories SET embedding = %s WHERE id = %s", (vector(*spread(chance)), number)
            )
        # Two of them are not embedded yet.
        conn.execute("UPDATE pgrecall.memories SET embedding = NULL WHERE external_id IN ('m7', 'm8')")
    return dsn


@pytest.fixture
def corpus(corpus_dsn: str) -> Iterator[Connection[Any]]:
    with psycopg.connect(corpus_dsn, autocommit=True) as conn:
        yield conn


class Voice:
    """The voice assistant's pipeline over the memories of the corpus, from scratch."""

    k = 5

    def __init__(self, conn: Connection[Any]) -> None:
        self.bm25 = Exhaustive.of(conn)
        self.weights = (1, 1)
        query = """
            SELECT id, category, occurred_at, embedding::real[], tsvector_to_array(search_vector), tags
            FROM pgrecall.memories
        """
        self.memories = {row[0]: row[1:] for row in conn.execute(query)}

    def leg(self, worth: dict[int, float], depth: int) -> list[int]:
        return sorted(worth, key=lambda n: (-round(worth[n], 9), n))[:depth]

    def fused(self, *legs: list[int]) -> dict[int, float]:
        found: dict[int, float] = {}
        for leg, weight in zip(legs, self.weights, strict=False):
            for place, number in enumerate(leg, 1):
                found[number] = found.get(number, 0) + weight / (60 + place)
        return found

    def drawn(self, worth: dict[int, float], lists: set[int]) -> dict[int, float]:
        """One step over shared tags: up to 0.95 of a seed, by 1.4 * 0.4 / sqrt(df) of the way."""
        holders: dict[str, list[int]] = {}
        for number, row in self.memories.items():
            for tag in row[4]:
                holders.setdefault(tag, []).append(number)
        links: dict[int, list[tuple[float, float]]] = {}
        for seed in self.leg(worth, 5):
            best: dict[int, float] = {}
            for tag in self.memories[seed][4]:
                if 2 <= len(holders[tag]) <= 50:
                    for other in holders[tag]:
                        if other != seed:
                            best[other] = max(
                                best.get(other, 0), min(1, 1.4 * 0.4 / math.sqrt(len(holders[tag])))
                            )
            for other, share in best.items():
                links.setdefault(other, []).append((share, 0.95 * worth[seed]))
        reach = {n: max(share * level for share, level in of) for n, of in links.items() if n not in lists}
        wanted = lists | set(self.leg(reach, self.k))
        return {
            number: max(
                [
                    worth.get(number, 0) + share * max(level - worth.get(number, 0), 0)
                    for share, level in links.get(number, [])
                ],
                default=worth.get(number, 0),
            )
            for number in wanted
        }

    def recall(self, words: list[str], query_vec: tuple[float, ...]) -> list[int]:
        recent = NOW - timedelta(hours=168)
        lexical = {n: s for n, s in self.bm25.scores(words).items() if self.memories[n][1] >= recent}

        def cosine(held: list[float]) -> float:
            return sum(p * q for p, q in zip(held, query_vec, strict=False)) / (
                math.hypot(*held) * math.hypot(*query_vec)
            )

        dense = {n: cosine(row[2]) for n, row in self.memories.items() if row[2] is not None}
        legs = [self.leg(lexical, 4 * self.k), self.leg(dense, 2 * self.k)]
        worth = self.fused(*legs)
        worth = self.drawn(worth, set(worth))
        for number in worth:
            category, happened, *_ = self.memories[number]
            floor = 0.3 if category in ("person", "place", "relationship") else 0
            worth[number] *= max(floor, 2 ** (-max((NOW - happened) / timedelta(days=30), 0)))
        pool = sorted(worth, key=lambda n: (-worth[n], -dense.get(n, -2), n))[:20]
        chosen: list[int] = []
        while len(chosen) < self.k:
            left = [n for n in pool if n not in chosen]
            value = {
                n: 0.7 * worth[n] / worth[pool[0]]
                - 0.3 * max((self.overlap(n, c) for c in chosen), default=0)
                for n in left
            }
            chosen.append(max(left, key=lambda n: value[n]))
        return chosen

    def overlap(self, one: int, other: int) -> float:
        first, second = set(self.memories[one][3]), set(self.memories[other][3])
        return len(first & second) / len(first | second)


def test_voice_is_the_voice_assistant_s_pipeline(corpus: Connection[Any]) -> None:
    voice = Voice(corpus)
    chance = random.Random(11)
    differ = 0
    for _ in range(40):
        words = chance.sample(TERMS, chance.randrange(1, 4))
        query_vec = spread(chance)
        asked = (" ".join(words), vector(*query_vec))
        found = recalled(corpus, *asked, profile="voice", reference_time=NOW)
        assert ids(found) == voice.recall(words, query_vec)
        differ += ids(found) != ids(recalled(corpus, *asked, k=5, reference_time=NOW))
    assert differ > 30


def test_voice_looks_back_168_hours_for_words_alone(corpus: Connection[Any]) -> None:
    settings = {"graph_weight": 0, "k": 100}
    for row in recalled(corpus, "crane fog", profile="voice", settings=settings, reference_time=NOW):
        assert NOW - row["occurred_at"] <= timedelta(hours=168)
    found = recalled(
        corpus, "crane fog", vector(1, 1, 1), profile="voice", settings=settings, reference_time=NOW
    )
    old = [row for row in found if NOW - row["occurred_at"] > timedelta(hours=168)]
    assert old
    assert {row["lexical_rank"] for row in old} == {None}


def test_service_is_the_older_service_s_order(corpus: Connection[Any]) -> None:
    """Every word before some of the words; 0.4 ts_rank + 0.6 importance within each; ties by id."""
    query = """
        SELECT id, ts_rank(search_vector, q), importance FROM pgrecall.memories, to_tsquery('english', %s) q
        WHERE search_vector @@ q
    """

    def tier(operator: str) -> dict[int, float]:
        found = corpus.execute(query, (operator.join(words),)).fetchall()
        return {number: 0.4 * rank + 0.6 * importance for number, rank, importance in found}

    chance = random.Random(13)
    split = 0
    for _ in range(25):
        words = chance.sample(TERMS, chance.randrange(1, 4))
        every, some = tier(" & "), tier(" | ")
        expected = sorted(every, key=lambda n: (-every[n], n))
        expected += sorted(some.keys() - every.keys(), key=lambda n: (-some[n], n))
        # A vector is not looked at.
        for query_vec in (None, vector(1)):
            found = recalled(corpus, " ".join(words), query_vec, profile="service", k=300)
            assert ids(found) == expected
            reported = {row["id"]: row["lexical_score"] for row in found}
            assert reported == pytest.approx({n: every.get(n, some[n]) for n in expected}, abs=1e-6)
        split += 0 < len(every) < len(expected) and min(every.values()) < max(some.values())
    assert split > 5


def test_service_by_importance(corpus: Connection[Any]) -> None:
    by_relevance = ids(recalled(corpus, "crane fog", profile="service", k=300))
    found = recalled(corpus, "crane fog", profile="service", k=300, sort_by="importance")
    assert {row["id"] for row in found} == set(by_relevance)
    keys = [(-row["importance"], by_relevance.index(row["id"])) for row in found]
    assert keys == sorted(keys)
    assert len({row["importance"] for row in found}) < len(found)


def test_the_default_profile_is_no_profile(corpus: Connection[Any]) -> None:
    for asked in (("crane fog", None), ("night", vector(1, 0.5))):
        found = recalled(corpus, *asked, profile="default")
        assert scores(found) == scores(recalled(corpus, *asked))
    assert (
        scalar(
            corpus,
            "SELECT count(*) FROM pgrecall.resolved_settings('{\"profile\": \"default\"}') WHERE source = 'profile'",
        )
        == 0
    )
