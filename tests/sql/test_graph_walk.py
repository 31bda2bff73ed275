"""The walk of the graph leg gives what a plain walk in Python gives, to the bit, on random graphs."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Sequence

    from psycopg import Connection

MEMORIES = 24
CONCEPTS = 14
Mention = tuple[int, int, str, bool]
"""Memory, concept, source, and whether the memory is about the concept."""


@dataclass(frozen=True, slots=True)
class Caps:
    """The settings of a walk, as graph_walk takes them."""

    depth: int
    concepts: int
    hops: int
    decay: float
    df_max: int
    weight: float
    mention: float


mentions = st.lists(
    st.tuples(
        st.integers(0, MEMORIES - 1),
        st.integers(0, CONCEPTS - 1),
        st.sampled_from(["tag", "phrase"]),
        st.booleans(),
    ),
    min_size=30,
    max_size=70,
    unique_by=lambda mention: mention[:3],
)
seeds = st.lists(
    st.tuples(st.integers(0, MEMORIES - 1), st.sampled_from([0.1, 1 / 3, 0.7, 0.9])),
    max_size=4,
    unique_by=lambda seed: seed[0],
)
caps = st.builds(
    Caps,
    depth=st.sampled_from([50, 4, 0]),
    concepts=st.sampled_from([20, 2, 1]),
    hops=st.just(3),
    decay=st.sampled_from([0.95, 0.3, 1.0]),
    df_max=st.sampled_from([50, 4, 2]),
    weight=st.sampled_from([0.7, 1.4]),
    mention=st.sampled_from([0.4, 0.0]),
)


def step(graph: Sequence[Mention], memory: int, limits: Caps) -> dict[int, float]:
    """The memories that share concepts with one, with the largest share of each."""
    own: dict[int, bool] = defaultdict(bool)
    for one, concept, _, is_about in graph:
        if one == memory:
            own[concept] |= is_about
    shares: dict[int, float] = defaultdict(float)
    for concept in sorted(own, key=lambda concept: (own[concept], concept), reverse=True)[: limits.concepts]:
        theirs = sorted(((about, one) for one, named, _, about in graph if named == concept), reverse=True)
        theirs = theirs[: limits.df_max + 1]
        df = len(theirs)
        for is_about, neighbour in theirs:
            if df >= 2 and (df <= limits.df_max or is_about) and neighbour != memory:
                share = min(1.0, limits.weight / math.sqrt(df) * (1.0 if is_about else limits.mention))
                shares[neighbour] = max(shares[neighbour], share)
    return shares


def walk(
    graph: Sequence[Mention],
    starts: Sequence[tuple[int, float]],
    known: set[int],
    hidden: set[int],
    limits: Caps,
) -> set[tuple[int, float, float]]:
    """The walk, link by link: memory, share and level."""
    links: list[tuple[int, float, float]] = []
    frontier, visited = list(starts), set[int]()
    for _ in range(limits.hops):
        visited |= {memory for memory, _ in frontier}
        found = [
            (neighbour, share, limits.decay * level)
            for memory, level in frontier
            for neighbour, share in step(graph, memory, limits).items()
        ]
        links += found
        best: dict[int, float] = {}
        for memory, share, level in found:
            if memory not in visited:
                best[memory] = max(best.get(memory, 0.0), share * level)
        frontier = sorted(best.items(), key=lambda one: (-one[1], one[0]))[: len(starts)]
    reach: dict[int, float] = {}
    for memory, share, level in links:
        if memory not in known | hidden:
            reach[memory] = max(reach.get(memory, 0.0), share * level)
    listed = sorted(reach, key=lambda memory: (-reach[memory], memory))[: limits.depth]
    shares: dict[tuple[int, float], float] = {}
    for memory, share, level in links:
        if memory in known.union(listed):
            shares[memory, level] = max(shares.get((memory, level), 0.0), share)
    return {(memory, share, level) for (memory, level), share in shares.items()}


@pytest.fixture
def numbered(conn: Connection[Any]) -> Connection[Any]:
    """A database with memories and concepts numbered from 0, and no mentions."""
    conn.execute("SELECT pgrecall.create_namespace('walk')")
    conn.execute(
        "INSERT INTO pgrecall.memories (id, namespace_id, content, language) OVERRIDING SYSTEM VALUE "
        "SELECT i, pgrecall.namespace_id('walk'), 'memory ' || i, 'english' FROM generate_series(0, %s) i",
        (MEMORIES - 1,),
    )
    conn.execute(
        "INSERT INTO pgrecall.concepts (id, namespace_id, name, key) OVERRIDING SYSTEM VALUE "
        "SELECT i, pgrecall.namespace_id('walk'), 'c' || i, 'c' || i FROM generate_series(0, %s) i",
        (CONCEPTS - 1,),
    )
    conn.execute(
        "INSERT INTO pgrecall.concept_aliases (namespace_id, alias, concept_id, name) "
        "SELECT namespace_id, key, id, name FROM pgrecall.concepts"
    )
    return conn


def walked(
    conn: Connection[Any], starts: Sequence[tuple[int, float]], known: set[int], limits: Caps
) -> list[tuple[int, float, float]]:
    """What graph_walk returns; memories that are superseded are hidden."""
    return conn.execute(
        "SELECT id, share, level FROM _pgrecall.graph_walk("
        "pgrecall.namespace_id('walk'), %s::bigint[], %s::double precision[], NULL, %s::bigint[], "
        "%s, %s, %s, %s, %s, %s, %s)",
        (
            [memory for memory, _ in starts] or None,
            [level for _, level in starts] or None,
            sorted(known),
            limits.depth,
            limits.concepts,
            limits.hops,
            limits.decay,
            limits.df_max,
            limits.weight,
            limits.mention,
        ),
    ).fetchall()


@settings(max_examples=60)
@given(
    graph=mentions,
    starts=seeds,
    known=st.sets(st.integers(0, MEMORIES - 1), max_size=4),
    hidden=st.sets(st.integers(0, MEMORIES - 1), max_size=4),
    limits=caps,
)
def test_walks_as_the_reference_does(
    numbered: Connection[Any],
    graph: list[Mention],
    starts: list[tuple[int, float]],
    known: set[int],
    hidden: set[int],
    limits: Caps,
) -> None:
    with numbered.transaction(force_rollback=True):
        with numbered.cursor() as cursor:
            cursor.executemany(
                "INSERT INTO pgrecall.mentions (namespace_id, memory_id, concept_id, alias_id, source, is_about) "
                "SELECT a.namespace_id, %s, a.concept_id, a.id, %s, %s "
                "FROM pgrecall.concept_aliases a WHERE a.concept_id = %s",
                [(memory, source, about, concept) for memory, concept, source, about in graph],
            )
        numbered.execute(
            "UPDATE pgrecall.memories SET deleted_at = now() WHERE id = ANY (%s)", (sorted(hidden),)
        )
        # What forgetting a memory does to its mentions is not the walk's matter.
        stored = numbered.execute(
            "SELECT memory_id, concept_id, source, is_about FROM pgrecall.mentions"
        ).fetchall()
        for hops in range(4):
            capped = replace(limits, hops=hops)
            assert sorted(walked(numbered, starts, known, capped)) == sorted(
                walk(stored, starts, known, hidden, capped)
            )


@pytest.mark.parametrize("hops", [0, 1, 2, 3])
def test_reaches_one_memory_further_with_every_hop(numbered: Connection[Any], hops: int) -> None:
    """A chain: concept n is shared by memories n and n + 1."""
    numbered.execute(
        "INSERT INTO pgrecall.mentions (namespace_id, memory_id, concept_id, alias_id, source, is_about) "
        "SELECT a.namespace_id, a.concept_id + side, a.concept_id, a.id, 'tag', true "
        "FROM pgrecall.concept_aliases a CROSS JOIN generate_series(0, 1) side WHERE a.concept_id < 5"
    )
    levels: dict[int, float] = {}
    for memory, _, level in walked(numbered, [(0, 1.0)], set(), Caps(50, 20, hops, 0.5, 50, 1.4, 0.4)):
        levels[memory] = max(levels.get(memory, 0.0), level)
    levels.pop(0, None)  # the second step leads back to the seed
    share = 1.4 / math.sqrt(2)
    assert levels == pytest.approx({n: 0.5 * (0.5 * share) ** (n - 1) for n in range(1, hops + 1)})
