"""Maximal marginal relevance and near-duplicates: which memories come back, in which order, and what hides which."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pytest

from support.memories import remember_many
from support.ranking import NORTH, at, ids, ranking, remember, scores, vector

if TYPE_CHECKING:
    from collections.abc import Callable

    from psycopg import Connection

pytestmark = pytest.mark.rollback


def marginal(worth: dict[int, float], alike: Callable[[int, int], float], share: float, k: int) -> list[int]:
    """Greedy MMR over memories that are given best first."""
    best = max(worth.values())
    left, chosen = list(worth), list[int]()
    while left and len(chosen) < k:
        value = {
            n: share * worth[n] / best - (1 - share) * max((alike(n, c) for c in chosen), default=0)
            for n in left
        }
        chosen.append(max(left, key=lambda n: value[n]))
        left.remove(chosen[-1])
    return chosen


def test_four_memories_by_hand(conn: Connection[Any]) -> None:
    """Cosines to the query .9, .8, .6 and .5; a and b are alike by .98, a and c by .54, a and d by .45."""
    a = remember(conn, "a", vector(0.9, math.sqrt(0.19)))
    b = remember(conn, "b", vector(0.8, 0.6))
    c = remember(conn, "c", vector(0.6, 0, 0.8))
    d = remember(conn, "d", vector(0.5, 0, 0, math.sqrt(0.75)))
    assert ids(ranking(conn, None, NORTH)) == [a, b, c, d]
    # After a: b .444 - .491 = -.046, c .333 - .270 = .063, d .278 - .225 = .053; after c: b as before, d .053.
    assert ids(ranking(conn, None, NORTH, mmr_lambda=0.5)) == [a, c, d, b]
    # After a: b .711 - .196 = .515, c .533 - .108 = .425, d .444 - .090 = .354.
    assert ids(ranking(conn, None, NORTH, mmr_lambda=0.8)) == [a, b, c, d]
    # After a: b .578 - .344 = .234, c .433 - .189 = .244, d .361 - .158 = .204; after c: b and d as before.
    assert ids(ranking(conn, None, NORTH, mmr_lambda=0.65)) == [a, c, b, d]
    found = ranking(conn, None, NORTH, mmr_lambda=0.5)
    assert scores(found) == scores(ranking(conn, None, NORTH))
    assert ids(ranking(conn, None, NORTH, mmr_lambda=0.5, k=2)) == [a, c]


@pytest.mark.parametrize("share", [0.0, 0.3, 0.7, 0.95])
def test_many_by_embeddings(conn: Connection[Any], share: float) -> None:
    places = [(math.cos(n * n), math.sin(n * n), (n % 5) / 3) for n in range(24)]
    numbers = [remember(conn, f"m{n}", vector(1 + x, y, z)) for n, (x, y, z) in enumerate(places)]
    unit = {}
    for number, (x, y, z) in zip(numbers, places, strict=True):
        length = math.hypot(1 + x, y, z) or 1
        unit[number] = ((1 + x) / length, y / length, z / length)

    def cosine(one: int, other: int) -> float:
        return sum(p * q for p, q in zip(unit[one], unit[other], strict=True))

    worth = scores(ranking(conn, None, NORTH, k=15))
    found = ids(ranking(conn, None, NORTH, mmr_lambda=share, mmr_pool=15, k=8))
    assert found == marginal(worth, cosine, share, 8)
    assert found != list(worth)[:8] or share == 0.95
    assert ids(ranking(conn, None, NORTH, mmr_lambda=share, mmr_pool=1, k=8)) == marginal(
        dict(list(worth.items())[:8]), cosine, share, 8
    )


def test_by_words(conn: Connection[Any]) -> None:
    """Likeness is Jaccard's: words in common by words in either. Vectors that say otherwise do not count."""
    texts = [
        "crane harbour night",
        "crane harbour night oil",
        "crane tar",
        "crane fog hen owl",
        "crane harbour",
    ]
    words = {}
    for place, text in enumerate(texts):
        words[remember(conn, text, at(0.9 - place / 10))] = set(text.split())

    def overlap(one: int, other: int) -> float:
        return len(words[one] & words[other]) / len(words[one] | words[other])

    worth = scores(ranking(conn, "crane", NORTH))
    for share in (0.3, 0.5, 0.7):
        by_words = ids(ranking(conn, "crane", NORTH, mmr_lambda=share, mmr_similarity="words"))
        assert by_words == marginal(worth, overlap, share, 5)
    assert by_words != ids(ranking(conn, "crane", NORTH, mmr_lambda=0.7))
    # Words are compared where a memory has no embedding.
    conn.execute("UPDATE pgrecall.memories SET embedding = NULL")
    assert ids(ranking(conn, "crane", None, mmr_lambda=0.5)) == marginal(
        scores(ranking(conn, "crane")), overlap, 0.5, 5
    )


def test_near_duplicates_are_hidden_behind_the_best_and_named(conn: Connection[Any]) -> None:
    best = remember(conn, "one", at(0.9))
    near = remember(conn, "two", vector(0.88, math.sqrt(1 - 0.88**2)))
    unlike = remember(conn, "three", vector(0.8, -0.6))
    same_text = [remember(conn, "tar") for _ in range(3)]
    plain = ranking(conn, "tar", NORTH)
    assert all(row["duplicates"] == [] for row in plain)
    assert set(ids(plain)) == {best, near, unlike, *same_text}
    found = ranking(conn, "tar", NORTH, collapse_duplicates="on")
    hidden = {row["id"]: row["duplicates"] for row in found}
    assert hidden == {same_text[0]: same_text[1:], best: [near], unlike: []}
    assert {n: s for n, s in scores(plain).items() if n in hidden} == scores(found)
    apart = ranking(conn, "tar", NORTH, collapse_duplicates="on", duplicate_similarity=0.9995)
    assert set(ids(apart)) == {best, near, unlike, same_text[0]}


@pytest.mark.parametrize(("cosine", "is_twin"), [(0.975, True), (0.965, False)])
def test_the_default_cosine_is_0_97(conn: Connection[Any], cosine: float, is_twin: bool) -> None:
    first = remember(conn, "one", NORTH)
    second = remember(conn, "two", at(cosine))
    found = ranking(conn, None, NORTH, collapse_duplicates="on")
    assert ids(found) == ([first] if is_twin else [first, second])
    assert found[0]["duplicates"] == ([second] if is_twin else [])


@pytest.mark.parametrize("lambda_", [1, 0.7])
def test_three_hundred_copies_leave_k_others(conn: Connection[Any], lambda_: float) -> None:
    copies = remember_many(conn, [{"content": "crane crane crane"} for _ in range(300)])
    conn.execute("UPDATE pgrecall.memories SET embedding = %s", (at(0.99),))
    others = [
        remember(conn, f"crane and {word}", vector(0.1, *[0.0] * place, 0.9))
        for place, word in enumerate(
            ["oil", "tar", "fog", "hen", "owl", "wax", "rye", "elm", "ash", "yew", "fir"], 1
        )
    ]
    for query, query_vec in (("crane", None), (None, NORTH), ("crane", NORTH)):
        found = ranking(conn, query, query_vec, collapse_duplicates="on", mmr_lambda=lambda_, k=10)
        assert len(found) == 10
        assert found[0]["id"] == copies[0]
        assert found[0]["duplicates"] == copies[1:]
        assert set(ids(found)) < {copies[0], *others}
        # All that there is: fewer than k only where no more say something else.
        everything = ranking(conn, query, query_vec, collapse_duplicates="on", mmr_lambda=lambda_, k=100)
        assert set(ids(everything)) == {copies[0], *others}
