"""What holds of recall whatever the memories, the query and the settings are."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from psycopg.types.range import TimestamptzRange

from support.memories import remember_many
from support.ranking import ids, recalled, vector

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from psycopg import Connection

Memory = dict[str, Any]

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
WORDS = ["crane", "harbour", "night", "report"]
small = settings(max_examples=40)
"""Every example is the same in every run; a server answers each several times."""

vectors = st.tuples(*[st.integers(-3, 3)] * 3).filter(any)
memories = st.fixed_dictionaries(
    {
        "content": st.lists(st.sampled_from([*WORDS, "tar", "fog"]), min_size=1, max_size=5).map(" ".join),
        "vector": st.one_of(st.none(), vectors),
        "category": st.sampled_from(["fact", "person", "event"]),
        "tags": st.lists(st.sampled_from(["a", "b", "c"]), max_size=2, unique=True),
        "importance": st.integers(0, 4).map(lambda n: n / 4),
        "age": st.integers(0, 90),
        "session": st.sampled_from([None, "s", "t"]),
        "position": st.integers(0, 4),
        "is_sensitive": st.sampled_from([False, False, True]),
        "is_superseded": st.sampled_from([False, False, False, True]),
    }
)
corpora = st.lists(memories, min_size=1, max_size=14)
queries = st.lists(st.sampled_from([*WORDS, "unheard"]), min_size=1, max_size=3, unique=True).map(" ".join)
fusions = st.sampled_from(["cc", "rrf"])
priors = st.fixed_dictionaries(
    {},
    optional={
        "graph_weight": st.sampled_from([0, 0.2, 1]),
        "session_share": st.sampled_from([0, 0.4, 0.9]),
        "phrase_bonus": st.sampled_from([0, 0.3]),
        "half_life": st.just("20 days"),
        "importance_weight": st.sampled_from([0.3, 1]),
        "entity_boost": st.just(1.5),
        "factor_importance": st.just(0.5),
        "leg_depth": st.sampled_from([1, 3, 50]),
        "lexical_mode": st.sampled_from(["bm25", "ts_rank", "websearch", "prefix"]),
    },
)
filters = st.fixed_dictionaries(
    {},
    optional={
        "categories": st.lists(st.sampled_from(["fact", "person"]), max_size=2),
        "tags_any": st.lists(st.sampled_from(["a", "b"]), min_size=1, max_size=2),
        "tags_all": st.lists(st.sampled_from(["a", "b"]), min_size=1, max_size=2),
        "since": st.integers(10, 80).map(lambda days: NOW - timedelta(days=days)),
        "until": st.integers(10, 80).map(lambda days: NOW - timedelta(days=days)),
        "include_superseded": st.booleans(),
        "include_sensitive": st.booleans(),
        "timeframe": st.tuples(st.integers(40, 90), st.integers(0, 39)),
        "as_of": st.integers(0, 90).map(lambda days: NOW - timedelta(days=days)),
    },
)


@pytest.fixture(scope="module")
def dsn_of_module(new_database: Callable[..., str], template: str) -> str:
    return new_database(template)


@pytest.fixture
def db(dsn_of_module: str) -> Iterator[Connection[Any]]:
    with psycopg.connect(dsn_of_module, autocommit=True) as conn:
        yield conn


def store(conn: Connection[Any], corpus: list[Memory], order: list[int] | None = None) -> None:
    """Make these the only memories, `m0`, `m1` and so on, stored in this order; created when they happened."""
    conn.execute("DELETE FROM pgrecall.memories")
    conn.execute("DELETE FROM pgrecall.concepts")
    chosen = order or list(range(len(corpus)))
    columns = ("content", "category", "tags", "importance", "session", "position", "is_sensitive")
    numbers = remember_many(
        conn,
        [
            {
                **{name: corpus[place][name] for name in columns},
                "external_id": f"m{place}",
                "occurred_at": (NOW - timedelta(days=corpus[place]["age"])).isoformat(),
            }
            for place in chosen
        ],
    )
    for number, place in zip(numbers, chosen, strict=True):
        memory = corpus[place]
        known = memory["vector"] is not None and not memory["is_sensitive"]
        conn.execute(
            """
            UPDATE pgrecall.memories
            SET embedding = %s, created_at = occurred_at,
                superseded_by = CASE WHEN %s THEN %s END, superseded_at = CASE WHEN %s THEN occurred_at + interval '7 days' END
            WHERE id = %s
            """,
            (
                vector(*memory["vector"]) if known else None,
                is_superseded(corpus, place),
                numbers[chosen.index(0)],
                is_superseded(corpus, place),
                number,
            ),
        )


def is_superseded(corpus: list[Memory], place: int) -> bool:
    return place > 0 and corpus[place]["is_superseded"]


def matching(corpus: list[Memory], wanted: dict[str, Any]) -> set[str]:
    """Names of the memories that a filter leaves, by the words of recall()'s header."""

    def fits(place: int, memory: Memory) -> bool:
        happened = NOW - timedelta(days=memory["age"])
        ended = happened + timedelta(days=7) if is_superseded(corpus, place) else None
        as_of = wanted.get("as_of")
        first, last = wanted.get("timeframe", (None, None))
        return (
            ("categories" not in wanted or memory["category"] in wanted["categories"])
            and ("tags_any" not in wanted or bool({*memory["tags"]} & {*wanted["tags_any"]}))
            and ("tags_all" not in wanted or {*memory["tags"]} >= {*wanted["tags_all"]})
            and ("since" not in wanted or happened >= wanted["since"])
            and ("until" not in wanted or happened < wanted["until"])
            and (first is None or NOW - timedelta(days=first) <= happened < NOW - timedelta(days=last))
            and (wanted.get("include_sensitive", True) or not memory["is_sensitive"])
            and (as_of is None or happened <= as_of)
            and (
                ended is None
                or wanted.get("include_superseded", False)
                or (as_of is not None and ended > as_of)
            )
        )

    return {f"m{place}" for place, memory in enumerate(corpus) if fits(place, memory)}


def arguments(wanted: dict[str, Any]) -> dict[str, Any]:
    """The filter as recall() takes it."""
    given = dict(wanted)
    if "timeframe" in given:
        first, last = given["timeframe"]
        given["timeframe"] = TimestamptzRange(NOW - timedelta(days=first), NOW - timedelta(days=last))
    return given


def names(found: list[dict[str, Any]]) -> list[str]:
    return [row["external_id"] for row in found]


# --- order -----------------------------------------------------------------------------------------------------------


@small
@given(corpora, queries, vectors, fusions, priors, st.randoms(use_true_random=False))
def test_the_order_in_which_memories_were_stored_changes_nothing(
    db: Connection[Any], corpus: list[Memory], query: str, query_vec: tuple[int, ...], fusion: str, prior: dict[str, Any], chance: Any
) -> None:  # fmt: skip
    """But for ties, which go by id: scores are the same, and so is the order of those that differ."""
    # Who is among the first few of equals goes by id: nobody is left out here.
    prior = prior | {"leg_depth": 50, "graph_seeds": 100, "session_seeds": 100}
    order = list(range(len(corpus)))
    chance.shuffle(order)
    answers = []
    for arrangement in (None, order):
        store(db, corpus, arrangement)
        found = recalled(
            db, query, vector(*query_vec), k=50, fusion=fusion, settings=prior, reference_time=NOW
        )
        answers.append({row["external_id"]: row for row in found})
    first, second = answers
    assert set(first) == set(second)
    tied = fusion == "rrf" or prior.get("lexical_mode") in ("ts_rank", "prefix")
    for name, row in first.items():
        assert second[name]["lexical_score"] == pytest.approx(row["lexical_score"])
        assert second[name]["similarity"] == row["similarity"]
        if not tied:
            assert second[name]["score"] == pytest.approx(row["score"], abs=1e-9)
    if not tied:
        for one, other in itertools.combinations(first, 2):
            if first[one]["score"] > first[other]["score"] + 1e-9:
                assert list(second).index(one) < list(second).index(other)


@small
@given(corpora, queries, vectors, fusions, st.integers(0, 13), st.sampled_from([0.25, 0.5, 1]))
def test_raising_a_similarity_never_lowers_a_place(
    db: Connection[Any], corpus: list[Memory], query: str, query_vec: tuple[int, ...], fusion: str, chosen: int, share: float
) -> None:  # fmt: skip
    """Who is moved towards the query, with the same words, comes no later than before."""
    place = chosen % len(corpus)
    before_vector = corpus[place]["vector"]
    corpus = [memory | {"is_sensitive": False, "is_superseded": False} for memory in corpus]
    if before_vector is None:
        return
    store(db, corpus)
    options: dict[str, Any] = {
        "k": 50,
        "fusion": fusion,
        "settings": {"session_share": 0, "graph_weight": 0},
    }
    before = names(recalled(db, query, vector(*query_vec), **options))
    moved = [
        (1 - share) * own / sum(map(abs, before_vector)) + share * target / sum(map(abs, query_vec))
        for own, target in zip(before_vector, query_vec, strict=True)
    ]
    if not any(moved):
        return
    values = (vector(*moved), f"m{place}")
    db.execute("UPDATE pgrecall.memories SET embedding = %s WHERE external_id = %s", values)
    after = names(recalled(db, query, vector(*query_vec), **options))
    assert after.index(f"m{place}") <= before.index(f"m{place}")


def test_a_memory_that_has_no_vector_is_not_lifted_past_one_that_comes_nearer(
    db: Connection[Any],
) -> None:
    """It counts as near as the others on average, but cosines below 0 are 0 there as well."""
    embedded: dict[str, Any] = dict.fromkeys(("tags", "session"), None) | {
        "category": "fact",
        "importance": 0.5,
        "age": 0,
        "position": 0,
    }
    corpus = [
        {
            **embedded,
            "tags": [],
            "is_sensitive": False,
            "is_superseded": False,
            "content": content,
            "vector": place,
        }
        for content, place in (
            ("crane", (-9, 4, 0)),
            ("crane tar fog harbour night report", None),
            ("tar", (1, 0, 0)),
        )
    ]
    places = []
    for first in ((-9, 4, 0), (-1, 10, 0), (0, 1, 0), (1, 10, 0), (1, 0, 0)):
        corpus[0]["vector"] = first
        store(db, corpus)
        found = names(recalled(db, "crane", vector(1), settings={"dense_weight": 0.3}))
        places.append(found.index("m0"))
    assert places == sorted(places, reverse=True)
    assert places[-1] == 0 < places[0]


@small
@given(corpora, queries, st.one_of(st.none(), vectors), fusions, priors, st.sampled_from(["relevance", "importance", "recency"]))  # fmt: skip
def test_fewer_are_the_first_of_more(
    db: Connection[Any], corpus: list[Memory], query: str, query_vec: tuple[int, ...] | None, fusion: str, prior: dict[str, Any], sort_by: str
) -> None:  # fmt: skip
    """At fixed pools, which are those of at least 20 memories."""
    store(db, corpus)
    fixed = prior | {"leg_depth": 20}
    asked: tuple[str, str | None] = (query, None if query_vec is None else vector(*query_vec))
    options: dict[str, Any] = {"fusion": fusion, "sort_by": sort_by, "settings": fixed, "reference_time": NOW}
    whole = recalled(db, *asked, k=20, **options)
    for k in (1, 2, 3, 7, len(corpus) + 1):
        assert recalled(db, *asked, k=k, **options) == whole[:k]


# --- filters and how many --------------------------------------------------------------------------------------------


def found_by(corpus: list[Memory], query: str, query_vec: object, strategy: str) -> set[str]:
    """Names of the memories that the words or the vector of a strategy find."""
    words = {f"m{n}" for n, memory in enumerate(corpus) if {*query.split()} & {*memory["content"].split()}}
    embedded = {
        f"m{n}"
        for n, memory in enumerate(corpus)
        if memory["vector"] is not None and not memory["is_sensitive"]
    }
    legs = {
        "vector": embedded,
        "fulltext": words,
        "prefilter": words,
        "hybrid": words | (embedded if query_vec is not None else set()),
    }
    return legs[strategy]


@small
@given(
    corpora, queries, st.one_of(st.none(), vectors), filters, st.integers(1, 8), st.sampled_from(["hybrid", "vector", "fulltext", "prefilter", "auto"]),
    priors.map(lambda prior: {name: value for name, value in prior.items() if name not in ("lexical_mode", "graph_weight", "session_share")}),
    fusions, st.sampled_from([1.0, 0.5])
)  # fmt: skip
def test_filters_cost_no_results(
    db: Connection[Any], corpus: list[Memory], query: str, query_vec: tuple[int, ...] | None, wanted: dict[str, Any],
    k: int, strategy: str, prior: dict[str, Any], fusion: str, mmr_lambda: float,
) -> None:  # fmt: skip
    """Every row fits the filter; there are k of them, or all that the legs of the strategy can find."""
    if strategy == "vector" and query_vec is None:
        query_vec = (1, 0, 0)
    store(db, corpus)
    fitting = matching(corpus, wanted)
    exactly = prior | {"graph_weight": 0, "session_share": 0}
    asked: tuple[str, str | None] = (query, None if query_vec is None else vector(*query_vec))
    options: dict[str, Any] = {
        "strategy": strategy, "fusion": fusion, "mmr_lambda": mmr_lambda, "reference_time": NOW, **arguments(wanted)
    }  # fmt: skip
    found = names(recalled(db, *asked, k=k, settings=exactly, **options))
    assert len(found) == len(set(found))
    possible = fitting & found_by(corpus, query, query_vec, "hybrid" if strategy == "auto" else strategy)
    assert set(found) <= possible
    assert len(found) == min(k, len(possible))

    # With neighbours and the graph there may be more, never fewer, and they fit as well.
    more = names(recalled(db, *asked, k=k, settings=prior, **options))
    assert set(more) <= fitting
    assert len(more) >= len(found)


@small
@given(corpora, queries, vectors, filters, priors, fusions)
def test_filtered_results_are_a_subset(
    db: Connection[Any], corpus: list[Memory], query: str, query_vec: tuple[int, ...], wanted: dict[str, Any], prior: dict[str, Any], fusion: str
) -> None:  # fmt: skip
    """With k at least the number of matches; both with the same view of what is superseded."""
    store(db, corpus)
    # The walk of the graph starts elsewhere under a filter, and so do neighbours.
    alone = prior | {"graph_weight": 0, "session_share": 0}
    view = {
        name: value for name, value in arguments(wanted).items() if name in ("as_of", "include_superseded")
    }
    options: dict[str, Any] = {"k": 50, "fusion": fusion, "settings": alone, "reference_time": NOW}
    asked: tuple[str, str | None] = (query, vector(*query_vec))
    whole = names(recalled(db, *asked, **(options | view)))
    part = names(recalled(db, *asked, **(options | arguments(wanted))))
    assert set(part) <= set(whole)
    assert set(part) == set(whole) & matching(corpus, wanted)


@small
@given(corpora, queries, vectors, st.integers(1, 6), st.floats(-0.9, 0.9).map(lambda x: round(x, 3)), st.floats(0, 0.8).map(lambda x: round(x, 3)), fusions)  # fmt: skip
def test_thresholds_and_duplicates_alone_make_fewer(
    db: Connection[Any], corpus: list[Memory], query: str, query_vec: tuple[int, ...], k: int, similarity: float, score: float, fusion: str
) -> None:  # fmt: skip
    store(db, corpus)
    asked: tuple[str, str | None] = (query, vector(*query_vec))
    options: dict[str, Any] = {"fusion": fusion, "settings": {"leg_depth": 50}, "reference_time": NOW}
    whole = recalled(db, *asked, k=50, **options)
    for name, least in (("similarity", similarity), ("score", score)):
        passing = [row for row in whole if row[name] is not None and row[name] >= least]
        found = recalled(db, *asked, k=k, **(options | {f"min_{name}": least}))
        assert ids(found) == ids(passing)[:k]

    collapsed = recalled(db, *asked, k=k, collapse_duplicates=True, **options)
    everything = recalled(db, *asked, k=50, collapse_duplicates=True, **options)
    assert ids(collapsed) == ids(everything)[:k]
    hidden = [number for row in everything for number in row["duplicates"]]
    assert sorted([*ids(everything), *hidden]) == sorted(ids(whole))
    texts = [row["content"] for row in everything]
    assert len(texts) == len(set(texts))
