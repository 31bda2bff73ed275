"""An exhaustive BM25 to compare with, texts of words that are their own stems, and queries for them."""

from __future__ import annotations

import math
import struct
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from support.memories import call

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator

    from psycopg import Connection

ALL = 1000
"""A depth that holds every memory of most tests here."""
ENOUGH = 100_000
"""A budget that no list of postings exceeds."""
RARE = ["fazek", "fibon", "fulem", "fyrad", "fovid", "fenug", "fasob", "fidel"]
VOCABULARY = [
    f"{first}{middle}{last}" for first in ("b", "d", "g", "k", "m") for middle in ("alo", "eru", "imo", "ota", "uni") for last in ("b", "d", "k", "p", "t")
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Exhaustive:
    """BM25 of every memory of a namespace, by the formulas of term_impacts.sql and query_term_weights.sql."""

    fields: dict[int, list[tuple[str, list[str]]]]
    k1: float
    b: float
    pivot: float
    weights: dict[str, float]

    @classmethod
    def of(cls, conn: Connection[Any], namespace: str = "default") -> Exhaustive:
        query = """
            SELECT m.id, w.lexeme, w.weights FROM pgrecall.memories m CROSS JOIN LATERAL unnest(m.search_vector) w
            WHERE m.namespace_id = pgrecall.namespace_id(%s) AND m.deleted_at IS NULL
        """
        fields: dict[int, list[tuple[str, list[str]]]] = {}
        for number, lexeme, weights in conn.execute(query, (namespace,)):
            fields.setdefault(number, []).append((lexeme, weights))

        def setting(name: str) -> float:
            return float(call(conn, "pgrecall.stored_setting", name))

        return cls(
            fields,
            setting("bm25_k1"),
            setting("bm25_b"),
            setting("bm25_length_pivot"),
            {label: setting(f"field_weight_{label.lower()}") for label in "ABCD"},
        )

    def impacts(self, number: int) -> dict[str, float]:
        length = sum(len(weights) for _, weights in self.fields[number])
        norm = self.k1 * (1 - self.b + self.b * length / self.pivot)
        found = {}
        for lexeme, weights in self.fields[number]:
            tf = sum(self.weights[label] for label in weights)
            if tf > 0:
                (found[lexeme],) = struct.unpack("f", struct.pack("f", tf * (self.k1 + 1) / (tf + norm)))
        return found

    def scores(self, terms: list[str], at_most: int = 32) -> dict[int, float]:
        """Score of each memory that holds any of the rarest `at_most` terms."""
        impacts = {number: self.impacts(number) for number in self.fields}
        frequency = Counter(term for held in impacts.values() for term in held)
        counted = sorted((frequency[term], term) for term in set(terms) if frequency[term])[:at_most]
        idf = {term: math.log(1 + (len(impacts) - df + 0.5) / (df + 0.5)) for df, term in counted}
        found = {
            number: sum(weight * held[term] for term, weight in idf.items() if term in held)
            for number, held in impacts.items()
        }
        return {number: score for number, score in found.items() if score > 0}


def best(scores: dict[int, float], depth: int) -> list[int]:
    return sorted(scores, key=lambda number: (-round(scores[number], 9), number))[:depth]


def leg(
    conn: Connection[Any], terms: list[str] | None, depth: int = ALL, budget: int = ENOUGH, *, namespace: str = "default",
    required: str | None = None, conditions: str = "NULL", at_most: int = 32,
) -> list[tuple[int, int, float]]:  # fmt: skip
    """The leg for lexemes that are given, read as lexical_query() reads those of a query."""
    query = f"""
        SELECT l.id, l.rank, l.score
        FROM (
            SELECT pgrecall.namespace_id(%(namespace)s) AS namespace_id, array_agg(w.term ORDER BY w.documents, w.term) AS words,
                   array_agg(w.idf ORDER BY w.documents, w.term) AS idfs,
                   array_agg(_pgrecall.term_query(w.term)) FILTER (WHERE w.documents > %(budget)s) AS common
            FROM _pgrecall.query_term_weights(pgrecall.namespace_id(%(namespace)s), %(terms)s, %(at_most)s) w
        ) q
        CROSS JOIN LATERAL _pgrecall.bm25_leg(
            q.namespace_id,
            ROW('bm25', q.words, q.idfs, _pgrecall.match_any_term(q.words), q.common, %(required)s::tsquery, NULL, NULL, NULL, NULL,
                %(budget)s, NULL, NULL, _pgrecall.bm25_parameters(), NULL, NULL, NULL)::pgrecall.parsed_query,
            {conditions}, %(depth)s
        ) l
    """
    given = {
        "namespace": namespace, "terms": terms, "required": required, "depth": depth, "budget": budget, "at_most": at_most
    }  # fmt: skip
    return conn.execute(query.encode(), given).fetchall()


def assert_exact(
    conn: Connection[Any], found: list[tuple[int, int, float]], scores: dict[int, float], depth: int
) -> None:
    assert [number for number, _, _ in found] == best(scores, depth)
    assert [rank for _, rank, _ in found] == list(range(1, len(found) + 1))
    for number, _, score in found:
        assert score == pytest.approx(scores[number], abs=1e-6)


def texts(chance: random.Random, count: int) -> list[str]:
    """Texts of Zipf words, a few of them long, and in one of thirty a rare word."""
    return [
        " ".join(
            [
                VOCABULARY[int(len(VOCABULARY) ** chance.random()) - 1]
                for _ in range(chance.choice([3, 8, 15, 15, 30, 90]))
            ]
            + ([chance.choice(RARE)] if chance.random() < 1 / 30 else [])
        )
        for _ in range(count)
    ]


def memories(chance: random.Random, count: int) -> list[dict[str, Any]]:
    return [
        {
            "content": text,
            "title": chance.choice([None, "", *VOCABULARY[:20]]),
            "tags": chance.sample(VOCABULARY[:50], chance.randrange(3)),
            "category": chance.choice(VOCABULARY[:3]),
            "expanded_keywords": chance.sample(VOCABULARY, chance.randrange(2)),
        }
        for text in texts(chance, count)
    ]


def queries(chance: random.Random, count: int, words: tuple[int, ...] = (1, 2, 4, 8)) -> Iterator[list[str]]:
    """Lists of terms, common and rare ones, with an unknown one now and then."""
    for _ in range(count):
        picked = {
            VOCABULARY[int(len(VOCABULARY) ** chance.random()) - 1] for _ in range(chance.choice(words))
        }
        yield sorted(picked | chance.choice([set(), {chance.choice(RARE)}, {"unheard"}]))
