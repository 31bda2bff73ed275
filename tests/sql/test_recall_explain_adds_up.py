"""recall_explain() of 1,000 random recalls: every score adds up, and the ranking is recall()'s own."""

from __future__ import annotations

import random
import re
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg import sql
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

from pgrecall.query.legs import BOOSTS, LEGS
from support.memories import call, remember_many

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from psycopg import Connection

DIMENSION = 384
ROUNDS = 1000
MEMORIES = 160
NOW = datetime(2026, 6, 1, tzinfo=UTC)
WORDS = [
    "tea", "milk", "cup", "harbour", "crane", "shift", "night", "report", "boat", "bicycle", "wheel",
    "garden", "rose", "rain", "winter", "train", "ticket", "station", "Priya", "Goa", "Kerala", "beach",
    "house", "deposit", "friday", "meeting", "budget", "plan", "server", "backup", "v17.2",
    "get_user_name",
]  # fmt: skip
KEPT = ["rose in the garden", "night report", "tea", "Priya and the train"]
CATEGORIES = ("person", "place", "decision", "note")


@pytest.fixture(scope="module")
def corpus(new_database: Callable[..., str], template: str) -> Iterator[Connection[Any]]:
    """Memories with sessions, tags, categories, dates, near-duplicates; sensitive, pending, superseded ones."""
    chance = random.Random(1)
    with psycopg.connect(new_database(template), autocommit=True) as conn:
        texts: list[str] = []
        memories = []
        for number in range(MEMORIES):
            fresh = " ".join(chance.choices(WORDS, k=chance.randint(3, 14)))
            texts.append(chance.choice(texts) if number % 11 == 10 else fresh)
            memories.append(
                {
                    "content": texts[-1],
                    "tags": chance.sample(WORDS, chance.randint(0, 2)),
                    "category": chance.choice(CATEGORIES),
                    "importance": chance.randint(0, 10) / 10,
                    "occurred_at": (NOW - timedelta(days=chance.randint(-5, 400))).isoformat(),
                    "created_at": (NOW - timedelta(days=chance.randint(0, 90))).isoformat(),
                    "is_sensitive": number % 7 == 3,
                    "speaker": ("Priya", "Goa", None)[number % 3],
                    **({"session": f"s{number // 9}", "position": number % 9} if number % 4 else {}),
                }
            )
        ids = remember_many(conn, memories)
        for number in ids[::5]:
            conn.execute(
                "UPDATE pgrecall.memories SET embedding = %s WHERE id = %s AND NOT is_sensitive",
                (vector(chance), number),
            )
        conn.execute(
            """
            UPDATE pgrecall.memories m SET embedding = o.embedding
            FROM pgrecall.memories o
            WHERE o.id = m.id - 1 AND o.embedding IS NOT NULL AND NOT m.is_sensitive
            """
        )
        call(conn, "forget", ids[12])
        call(conn, "supersede", ids[20], "tea with Priya")
        # Other names, and what a language model may have said of some questions.
        for name, other in (("tea", "green leaf"), ("Goa", "harbour town"), ("boat", "small ship")):
            concept = call(conn, "pgrecall.find_concept", name)
            conn.execute("SELECT pgrecall.add_alias(%s, %s)", (concept, other))
        for query in KEPT:
            terms, names = chance.sample(WORDS[:-2], 3), chance.sample(WORDS[:-2], 2)
            conn.execute("SELECT pgrecall.cache_expansion(%s, %s, %s)", (query, terms, names))
        conn.execute("SELECT _pgrecall.refresh_background(namespace_id, 1) FROM pgrecall.memories LIMIT 1")
        conn.execute("ANALYZE pgrecall.memories")
        conn.execute("SET default_transaction_read_only = on")
        yield conn


def vector(chance: random.Random) -> str:
    """A vector near one of three directions, as text."""
    direction = chance.randrange(3)
    return str([(place % 3 == direction) + chance.random() for place in range(DIMENSION)])


def asked(chance: random.Random) -> dict[str, Any]:
    """The arguments of a random recall."""
    words = chance.choices([*WORDS, "unheard"], k=chance.randint(1, 8))
    arguments: dict[str, Any] = {
        "query": chance.choice(KEPT) if chance.random() < 0.2 else " ".join(words),
        "k": chance.choice((1, 3, 10, 40)),
        "reference_time": NOW,
    }
    if chance.random() < 0.6:
        arguments["query_vec"] = vector(chance)
    strategies = ["hybrid", "hybrid", "hybrid", "auto", "fulltext", "prefilter"]
    options: dict[str, tuple[Any, ...]] = {
        "strategy": (*strategies, "vector") if "query_vec" in arguments else (*strategies,),
        "fusion": ("cc", "rrf"),
        "sort_by": ("relevance", "importance", "recency"),
        "profile": ("default", "voice", "service"),
        "min_similarity": (-0.5, 0.5),
        "min_score": (0.001, 0.3),
        "mmr_lambda": (0.3, 0.7),
        "collapse_duplicates": (True, False),
        "categories": (["person", "place"], ["note"]),
        "tags_any": (WORDS[:12],),
        "since": (NOW - timedelta(days=200),),
        "as_of": (NOW - timedelta(days=30),),
        "include_superseded": (True,),
        "include_sensitive": (False,),
    }
    settings: dict[str, tuple[Any, ...]] = {
        "lexical_weight": (0, 0.7, 3),
        "dense_weight": (0, 0.7, 3),
        "graph_weight": (0, 1),
        "cc_alpha": (0, 0.3, 1),
        "rrf_k": (1, 60),
        "lexical_coverage": (0, 1.5),
        "lexical_mode": ("bm25", "ts_rank", "websearch", "prefix"),
        "phrase_bonus": (0, 1),
        "session_share": (0, 0.99),
        "leg_depth": (3, 20),
        "lexical_pool": (2,),
        "lexical_lookback": ("30 days",),
        "graph_hops": (0, 1),
        "factor_relevance": (0.5, 3),
        "factor_importance": (0.5, 2),
        "factor_recency": (0.5, 2),
        "recency_half_life": ("3 days",),
        "importance_weight": (0.3, 1),
        "half_life": ("10 days", "2 years"),
        "decay_floor": (0.2,),
        "entity_boost": (1, 4),
        "other_speaker_factor": (0.2, 1),
        "dense_deviations": (0, 2),
        "mmr_similarity": ("words",),
        "duplicate_similarity": (0.8,),
        "expand": ("aliases", "llm"),
        "expansion_weight": (0, 1),
    }
    arguments |= {name: chance.choice(values) for name, values in options.items() if chance.random() < 0.2}
    chosen = {name: chance.choice(values) for name, values in settings.items() if chance.random() < 0.25}
    return {**arguments, "settings": Jsonb(chosen)}


def rows(conn: Connection[Any], function: str, arguments: dict[str, Any]) -> list[dict[str, Any]]:
    named = [sql.SQL("{} => {}").format(sql.Identifier(name), sql.Placeholder(name)) for name in arguments]
    statement = sql.SQL("SELECT * FROM {}({})").format(sql.Identifier(function), sql.SQL(", ").join(named))
    return conn.cursor(row_factory=dict_row).execute(statement, arguments).fetchall()


def evaluated(arithmetic: str) -> tuple[float, float]:
    """What the two sides of 'dense 0.6 * 0.5 = 0.3' come to, its words left out."""
    left, right = re.sub(r"[a-z]+", "", arithmetic).split("=")
    assert re.fullmatch(r"[-\d.+*/() ]+", left), arithmetic
    return eval(left), float(right)  # noqa: S307 - nothing but numbers and signs


def assert_adds_up(row: dict[str, Any]) -> None:
    """The parts of an explanation make its score, in numbers and as it is written out."""
    parts = [row[f"{name}_part"] for name in (*LEGS, *BOOSTS)]
    assert sum(parts) == pytest.approx(row["relevance"], abs=1e-6)
    assert row["relevance"] <= row["top"] + 1e-6
    settings = row["settings_in_force"]
    weights = [settings[f"factor_{name}"] for name in ("relevance", "importance", "recency")]
    combined = (
        weights[0] * row["relevance"]
        + row["top"] * (weights[1] * row["importance"] + weights[2] * row["recency"])
    ) / sum(weights)
    assert combined == pytest.approx(row["combined"], abs=1e-6)
    score = (
        combined
        * row["importance_factor"]
        * row["decay_factor"]
        * row["entity_factor"]
        * row["speaker_factor"]
        * row["newer_factor"]
    )
    assert score == pytest.approx(row["score"], abs=1e-6)
    if row["expansion_score"] is not None:
        assert row["added_terms"]
        assert -1e-9 <= row["expansion_score"] <= row["lexical_score"] + 1e-6
    left, right = evaluated(row["arithmetic"])
    assert left == pytest.approx(row["score"], abs=1e-6), row["arithmetic"]
    assert right == pytest.approx(row["score"], abs=1e-6), row["arithmetic"]


@pytest.mark.slow
def test_every_score_adds_up_and_the_ranking_is_recalls(corpus: Connection[Any]) -> None:
    chance = random.Random(5)
    seen: Counter[str] = Counter()
    for number in range(ROUNDS):
        arguments = asked(chance)
        recalled = rows(corpus, "recall", arguments)
        others = chance.sample(range(1, MEMORIES + 3), 4) if number % 2 else []
        ids = {"ids": [*others, *(row["id"] for row in recalled)]} if others else {}
        explained = rows(corpus, "recall_explain", {**arguments, **ids})

        returned = [row for row in explained if row["place"] is not None]
        same = ("id", "score", *(f"{leg}_rank" for leg in LEGS), "duplicates", "chosen_strategy")
        assert [[row[name] for name in same] for row in returned] == [
            [row[name] for name in same] for row in recalled
        ], arguments
        assert [row["place"] for row in returned] == list(range(1, len(recalled) + 1))
        assert len(explained) == len({*others, *(row["id"] for row in recalled)})
        for row in explained:
            assert (row["reason"] is None) == (row["place"] is not None)
            if row["arithmetic"] is not None:
                assert_adds_up(row)
            seen.update(name for name, value in row.items() if name.endswith("_part") and value)
            seen.update(
                name for name, value in row.items() if name.endswith("_factor") and value not in {1, None}
            )
            seen.update(name for name in ("mmr_penalty", "duplicates", "expansion_score") if row[name])
            seen.update([re.split(r":| behind| \d", row["reason"] or "returned")[0]])

    # That none of it went by unseen.
    assert {
        *(f"{leg}_part" for leg in LEGS), "session_part", "phrase_part", "importance_factor", "decay_factor",
        "entity_factor", "speaker_factor", "mmr_penalty", "duplicates", "expansion_score", "returned", "no such memory",
        "forgotten", "superseded by", "filtered by as_of", "filtered by categories", "found by no leg", "below min_similarity",
        "below min_score", "hidden", "below the cut", "pushed down by MMR",
    } <= set(seen), seen  # fmt: skip
