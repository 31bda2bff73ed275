"""Recall by words in an offline copy: what it finds, in which order, and that a query is data."""

from __future__ import annotations

import json
import sqlite3
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from benchmarks.quality.datasets import Dataset, Memory, Query
from benchmarks.systems.sqlite_fts5 import SqliteFts5
from pgrecall import InvalidInput, NeedsServer, NewMemory, NotFound, PgrecallError, TooLarge
from pgrecall.contrib.offline import OfflineClient
from pgrecall.contrib.offline.searching import query_words
from support.memories import remember, remember_many, rows
from support.offline import contents

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from psycopg import Connection

SAMPLE = Path(__file__).resolve().parents[2] / "examples" / "sample"


@pytest.fixture
def copy(dsn: str, tmp_path: Path) -> Iterator[OfflineClient]:
    with OfflineClient(tmp_path / "copy.db", dsn) as opened:
        yield opened


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "copy.db"


# -- what recall finds


@pytest.fixture(scope="module")
def sample() -> list[dict[str, Any]]:
    return [json.loads(line) for line in (SAMPLE / "corpus.jsonl").read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def questions() -> list[str]:
    lines = (SAMPLE / "queries.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["text"] for line in lines]


@pytest.fixture(scope="module")
def sampled(
    sample: list[dict[str, Any]],
    new_database: Callable[..., str],
    template: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[OfflineClient]:
    """A copy of the sample."""
    dsn = new_database(template)
    fields = set(NewMemory.__annotations__)
    with psycopg.connect(dsn, autocommit=True) as conn:
        remember_many(
            conn,
            [
                {name: value for name, value in memory.items() if name in fields}
                | {"external_id": memory["id"]}
                for memory in sample
            ],
        )
    with OfflineClient(tmp_path_factory.mktemp("offline") / "sample.db", dsn) as opened:
        opened.pull(include_sensitive=True)
        yield opened


def baseline(sample: list[dict[str, Any]]) -> SqliteFts5:
    """The older service over the same words; it knows text and tags alone."""
    system = SqliteFts5()
    system.index(
        Dataset(
            "sample", "pooled",
            tuple(
                Memory(
                    memory["id"],
                    "default",
                    "\n".join(
                        [memory.get("title", ""), memory["content"], *memory.get("expanded_keywords", ()), memory["category"]]
                    ),
                    NewMemory(content=memory["content"], tags=memory["tags"], importance=memory["importance"]),
                )
                for memory in sample
            ),
            (),
        )
    )  # fmt: skip
    return system


def test_the_order_is_that_of_the_older_service(
    sampled: OfflineClient, sample: list[dict[str, Any]], questions: list[str]
) -> None:
    older = baseline(sample)
    apart = 0
    for question in questions:
        expected = older.retrieve(Query(question, question, "default", "all", frozenset()), 10)
        found = sampled.recall(question)
        if found and found[0].lexical_score is None:
            apart += 1  # parts of words are found in any case here, there in that of ASCII letters alone
        else:
            assert [memory.external_id for memory in found] == expected, question
    assert apart <= len(questions) // 20


def test_every_word_before_some_words_before_parts_of_words(
    conn: Connection[Any], copy: OfflineClient
) -> None:
    remember(conn, "A blue teapot", importance=0.0)
    remember(conn, "Blue, blue, blue: nothing else but blue", importance=1.0)
    remember(conn, "Teapotlike things in the cellar")
    remember(conn, "東京で会議があった")
    copy.pull()
    assert contents(copy.recall("blue teapot"))[:2] == [
        "A blue teapot",
        "Blue, blue, blue: nothing else but blue",
    ]
    assert contents(copy.recall("eapotlike")) == ["Teapotlike things in the cellar"]
    assert contents(copy.recall("会議")) == ["東京で会議があった"]
    assert contents(copy.recall("nothing of the kind xyzzy", k=1)) == [
        "Blue, blue, blue: nothing else but blue"
    ]
    assert contents(copy.recall("xyzzy")) == []


def test_the_result_is_that_of_the_client(conn: Connection[Any], copy: OfflineClient) -> None:
    remember(
        conn, "Priya likes mountains", title="Priya", tags=["Priya"], metadata={"a": 1}, session="s", speaker="me",
        category="person", external_id="e", source="chat",
    )  # fmt: skip
    copy.pull()
    found = copy.recall("mountains")
    assert found.legs == ("lexical",)
    assert "offline copy" in str(found.notice)
    (memory,) = found
    with_server = rows(conn, "recall", "mountains")[0]
    assert (memory.id, memory.external_id, memory.title, memory.content) == with_server[:4]
    assert (memory.tags, memory.metadata, memory.category, memory.lexical_rank) == (
        ("Priya",),
        {"a": 1},
        "person",
        1,
    )
    assert (memory.speaker, memory.session, memory.source) == ("me", "s", "chat")
    assert memory.created_at.tzinfo is not None
    json.dumps(memory.as_dict())


FILTERS: list[dict[str, Any]] = [
    {"min_trust": "agent"},
    {"min_trust": "user"},
    {},
    {"tags_any": ["red", "nobody"]},
    {"tags_all": ["red", "hot"]},
    {"tags_all": []},
    {"categories": ["x"]},
    {"categories": []},
    {"metadata_contains": {"a": {"b": [1]}}},
    {"metadata_contains": {"flag": True}},
    {"metadata_contains": {"a": {}}},
    {"since": datetime(2020, 1, 2, tzinfo=UTC)},
    {"until": datetime(2020, 1, 2, tzinfo=UTC)},
    {
        "since": datetime(2020, 1, 1, tzinfo=UTC),
        "until": datetime(2020, 1, 2, tzinfo=UTC),
        "tags_any": ["red"],
    },
    {"sessions": ["s1", "s2"]},
    {"sessions": []},
    {"speakers": ["Priya"]},
    {"sources": ["mail"]},
    {"external_id_prefix": "doc/"},
    {"include_superseded": True},
    {"include_sensitive": False},
    {"include_superseded": True, "tags_any": ["red"]},
]


def test_the_filters_leave_what_those_of_the_server_leave(
    conn: Connection[Any], client: Any, copy: OfflineClient
) -> None:
    ids = remember_many(
        conn,
        [
            {
                "content": "thing one",
                "tags": ["red", "hot"],
                "category": "x",
                "session": "s1",
                "external_id": "doc/1",
                "occurred_at": "2020-01-01T00:00:00Z",
            },
            {
                "content": "thing two",
                "tags": ["red"],
                "metadata": {"a": {"b": [2, 1], "c": 0}, "flag": True},
                "speaker": "Priya",
            },
            {
                "content": "thing three",
                "metadata": {"a": {"b": 1}, "flag": 1},
                "occurred_at": "2020-01-02T00:00:00Z",
            },
            {"content": "thing four", "tags": ["red"], "is_sensitive": True},
            {"content": "thing five", "tags": ["hot"], "source": "mail"},
            {"content": "thing eight", "source": "mail", "expires_at": "2020-01-01T00:00:00Z"},
            {
                "content": "thing nine",
                "session": "s2",
                "external_id": "DOC/1",
                "expires_at": "2999-01-01T00:00:00Z",
            },
            {"content": "thing six", "tags": ["red"]},
        ],
    )
    between = datetime.now(UTC)
    rows(conn, "supersede", ids[4], "thing seven")
    rows(conn, "forget", ids[7])
    copy.pull(include_sensitive=True)
    for filters in [*FILTERS, {"as_of": between}, {"as_of": between - timedelta(days=1)}]:
        here, there = (
            {memory.content for memory in each.recall("thing", k=50, embed=False, **filters)}
            for each in (copy, client)
        )
        assert here == there, filters


def test_timeline(conn: Connection[Any], client: Any, copy: OfflineClient) -> None:
    for day, session in ((3, "b"), (1, "a"), (2, "a")):
        remember(conn, f"walk {day}", occurred_at=f"2025-01-0{day}T00:00:00Z", session=session)
    copy.pull()
    here, there = (
        [
            (one.content, one.gap, one.is_new_session, one.happened_at)
            for one in each.timeline("walk", embed=False)
        ]
        for each in (copy, client)
    )
    assert here == there
    assert [one[0] for one in here] == ["walk 1", "walk 2", "walk 3"]


# -- what is refused


@pytest.mark.parametrize(
    "options",
    [
        {"vector": [1.0]}, {"embed": True}, {"embed": "daemon"}, {"strategy": "vector"}, {"strategy": "hybrid"},
        {"timeframe": "last week"}, {"settings": {"rrf_k": 1}}, {"fusion": "rrf"}, {"profile": "voice"},
        {"min_score": 0.1}, {"sort_by": "recency"}, {"mmr_lambda": 0.5}, {"rerank": object()}, {"hnsw_ef_search": 10},
        {"collapse_duplicates": True}, {"metadata_where": {"a": 1}},
    ],
)  # fmt: skip
def test_what_needs_the_server_says_so(sampled: OfflineClient, options: dict[str, Any]) -> None:
    with pytest.raises(NeedsServer) as caught:
        sampled.recall("x", **options)
    assert caught.value.hint
    assert caught.value.sqlstate == "0A000"


def test_what_is_no_argument(sampled: OfflineClient) -> None:
    with pytest.raises(TypeError, match="colour"):
        sampled.recall("x", colour="red")
    for options in ({"k": 0}, {"k": 1001}, {"namespace": "another"}, {"tags_any": "red"}):
        with pytest.raises(InvalidInput):
            sampled.recall("x", **options)
    with pytest.raises(InvalidInput):
        sampled.recall("a\x00b")
    with pytest.raises(TooLarge):
        sampled.recall("x" * 20_000)
    with pytest.raises(NotFound):
        sampled.update(10**9, content="x")
    assert sampled.forget(10**9) is False


# -- a query is data


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=60))
@example('"')
@example("tea AND (pot OR NOT x) NEAR(a b, 2)")
@example("content:lake -title : x^2 *")
@example("{title content}: lake")
@example("'; DROP TABLE memories; --")
@example(" ".join(f"w{number}" for number in range(2500)))
@example("%_\\")
@example("_ __ ²")
@settings(max_examples=150)
def test_no_query_is_an_error_or_an_operator(sampled: OfflineClient, query: str) -> None:
    plain = " ".join(query_words(query))
    assert [memory.id for memory in sampled.recall(query)] == [memory.id for memory in sampled.recall(plain)]


@pytest.mark.parametrize(
    "written", ["{} AND {}", "{} NEAR {}", '"{} {}"', "{}* {}", "title:{} {}", "-{} {}", "NOT {} {}"]
)
def test_operators_of_fts5_are_words(conn: Connection[Any], copy: OfflineClient, written: str) -> None:
    remember(conn, "lake in the mountains")
    remember(conn, "lakeside house")
    copy.pull()
    assert contents(copy.recall(written.format("mountains", "lake")))[0] == "lake in the mountains"
    assert "lakeside house" not in contents(copy.recall("lake*"))


def test_errors_quote_no_memory(conn: Connection[Any], copy: OfflineClient, path: Path) -> None:
    remember(conn, "a secret of mine", external_id="e")
    copy.pull()
    with pytest.raises(PgrecallError) as caught:
        copy.remember("another secret", external_id="e")
    assert "secret" not in str(caught.value)
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        connection.execute("INSERT INTO words (words) VALUES ('integrity-check')")
    connection.close()
