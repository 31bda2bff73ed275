"""The speed benchmark: the same memories and questions every time, honest percentiles, a whole run on a small corpus."""

from __future__ import annotations

import json
import math
import statistics
from collections import Counter
from dataclasses import asdict
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from benchmarks.cli import main as benchmarks
from benchmarks.speed import command
from benchmarks.speed.console import ratios, render
from benchmarks.speed.generator import CHUNK, LARGE, SPAN, START, TAGS, Corpus
from benchmarks.speed.hub import HUB
from benchmarks.speed.measure import BLOCK, FEWEST, WARM_UP, Latency, alternately, concurrent, one_by_one
from benchmarks.speed.mentions import mentions
from benchmarks.speed.questions import KINDS, NATURAL, Question, questions
from benchmarks.speed.run import CLIENTS, HEADLINE
from benchmarks.speed.storage import open_database
from benchmarks.speed.systems import FILTERS
from benchmarks.speed.words import FILLERS, names, vocabulary

if TYPE_CHECKING:
    from pathlib import Path

    from benchmarks.speed.measure import Call

ROWS = 1_500
DIMENSION = 64


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return Corpus(CHUNK + 2_000, DIMENSION)


def test_the_same_seed_makes_the_same_memories_in_whatever_order_chunks_are_made(corpus: Corpus) -> None:
    again = Corpus(corpus.rows, DIMENSION)
    last = again.chunk(1)
    assert last.memories == corpus.chunk(1).memories
    assert again.chunk(0).memories == corpus.chunk(0).memories
    np.testing.assert_array_equal(last.vectors, corpus.chunk(1).vectors)
    assert [len(corpus.chunk(index).memories) for index in range(corpus.chunks)] == [CHUNK, 2_000]


def test_another_seed_makes_other_memories(corpus: Corpus) -> None:
    other = Corpus(corpus.rows, DIMENSION, seed=43).chunk(0)
    assert other.memories[0].content != corpus.chunk(0).memories[0].content
    assert not np.allclose(other.vectors, corpus.chunk(0).vectors)


def test_memories_are_as_the_documentation_says(corpus: Corpus) -> None:
    memories = [memory for index in range(corpus.chunks) for memory in corpus.chunk(index).memories]
    large = [memory for memory in memories if memory.namespace == LARGE]
    assert len(large) == corpus.large == corpus.rows * 0.9
    assert {memory.namespace for memory in memories} <= set(corpus.namespaces)

    lengths = [len(memory.content.split()) for memory in memories]
    assert min(lengths) >= 10
    assert max(lengths) <= 61  # a name may come on top

    frequencies = Counter(word for memory in memories for word in set(memory.content_words))
    shares = [count / len(memories) for _, count in frequencies.most_common()]
    assert 0.03 < shares[0] < 0.3
    assert shares[0] > 2 * shares[100] > 20 * shares[5_000]

    tags = Counter(tag for memory in large for tag in memory.tags)
    for share, tag in TAGS.items():
        assert tags.pop(tag) == pytest.approx(len(large) * float(share.rstrip("%")) / 100, abs=1)
    degrees = [count for _, count in tags.most_common()]
    assert degrees[0] < 0.05 * len(large)
    assert degrees[0] > 20 * statistics.median(degrees)

    times = [memory.occurred_at for memory in memories]
    assert times == sorted(times)
    half = FILTERS["recall:time=50%"]["since"]
    assert sum(time >= half for time in times) == pytest.approx(len(memories) / 2, abs=1)
    assert times[0] == START
    assert times[-1] < START + SPAN


def test_mentions_are_as_the_documentation_says(corpus: Corpus) -> None:
    last = corpus.chunks - 1
    found = list(mentions(corpus, last, corpus.chunk(last)))
    assert found == list(mentions(Corpus(corpus.rows, DIMENSION), last, corpus.chunk(last)))
    memories = corpus.chunk(last).memories
    assert {id for _, id, _, _ in found} == {f"m{memory.number}" for memory in memories}
    assert {namespace for namespace, _, _, _ in found} <= set(corpus.namespaces)

    amounts = Counter(id for _, id, _ in {(space, id, name) for space, id, name, _ in found})
    assert 8.3 < statistics.mean(amounts.values()) < 9.7
    tenths = statistics.quantiles(amounts.values(), n=10)
    assert abs(tenths[0] - 4) <= 1
    assert abs(tenths[4] - 8) <= 1
    assert sum(about for *_, about in found) == len(memories)

    # Over all chunks: most concepts are of one memory, a few of a share of all of them.
    everything = {
        (id, name)
        for index in range(corpus.chunks)
        for _, id, name, _ in mentions(corpus, index, corpus.chunk(index))
    }
    degrees = Counter(Counter(name for _, name in everything).values())
    assert 0.8 < degrees[1] / degrees.total() < 0.9
    assert 0.02 < max(degrees) / corpus.rows < 0.12


def test_vectors_lie_in_clusters(corpus: Corpus) -> None:
    vectors = corpus.chunk(0).vectors
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-5)
    nearness = np.sort(vectors[:50] @ vectors.T, axis=1)
    assert nearness[:, -10].mean() > 0.6  # the tenth nearest, itself among them
    assert nearness[:, CHUNK // 2].mean() < 0.4  # just any other


def test_words_are_different_and_no_stop_words() -> None:
    words = vocabulary(30_000)
    assert len(set(words)) == 30_000
    assert not set(words) & set(FILLERS)
    assert not {name.lower() for name in names(125_000)} & set(words)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_questions_have_the_words_they_should(corpus: Corpus, kind: Any) -> None:
    ranks = {word: rank for rank, word in enumerate(corpus.words)}
    asked = questions(corpus, kind, 40)
    assert asked == questions(corpus, kind, 40)
    assert len(asked) == 40
    for question in asked:
        words = [word.rstrip("?") for word in question.text.split()]
        content = [word for word in words if word in ranks or word in corpus.names]
        assert len(content) <= kind.words
        if kind.frequency != "natural":
            assert len(content) == kind.words
            assert all((ranks[word] < 200) == (kind.frequency == "common") for word in content)
        assert len(json.loads(question.vector)) == DIMENSION


def test_percentiles_are_interpolated() -> None:
    assert Latency.of([5.0]) == Latency(5.0, 5.0, 5.0, 1)
    assert Latency.of([float(value) for value in range(101, 0, -1)]) == Latency(51.0, 96.0, 100.0, 101)
    assert Latency.of([1.0, 2.0]) == Latency(1.5, 1.95, 1.99, 2)
    with pytest.raises(ValueError, match="no times"):
        Latency.of([])


def test_ratios_are_time_through_time() -> None:
    systems = {name: {"p50": 2.0, "p95": 8.0} for name in HEADLINE}
    systems["floor"] = {"p50": 1.0, "p95": 4.0}
    assert ratios(systems)["recall / floor"] == {"p50": 2.0, "p95": 2.0}
    assert ratios(systems)["recall / baseline:naive"] == {"p50": 1.0, "p95": 1.0}


def test_warming_up_does_not_count_and_time_is_limited(conn: psycopg.Connection[Any]) -> None:
    asked = [Question(str(number), "") for number in range(WARM_UP + 50)]
    seen: list[str] = []

    def call(_: psycopg.Connection[Any], question: Question) -> object:
        seen.append(question.text)
        return None

    assert len(one_by_one(conn, call, asked, seconds=60)) == 50
    assert seen == [question.text for question in asked]
    assert len(one_by_one(conn, call, asked, seconds=0)) == FEWEST


def test_systems_take_turns_with_the_same_questions(conn: psycopg.Connection[Any]) -> None:
    asked = [Question(str(number), "") for number in range(WARM_UP + 2 * BLOCK)]
    seen: dict[str, list[str]] = {"a": [], "b": [], "before": []}
    order: list[str] = []

    def system(name: str) -> Call:
        def call(_: psycopg.Connection[Any], question: Question) -> object:
            seen[name].append(question.text)
            order.append(name)
            return None

        return call

    calls = {name: system(name) for name in ("a", "b")}
    times = alternately(
        conn, calls, asked, 60, before=lambda block: seen["before"].extend(one.text for one in block)
    )
    assert {name: len(one) for name, one in times.items()} == {"a": 2 * BLOCK, "b": 2 * BLOCK}
    assert seen["a"] == seen["b"] == seen["before"] == [question.text for question in asked]
    measured = order[2 * WARM_UP :]
    assert [name for name, _ in groupby(measured)] == ["a", "b", "a"]  # b goes first in the second block


def test_clients_ask_at_once_and_their_errors_are_raised(dsn: str) -> None:
    asked = [Question(str(number), "") for number in range(WARM_UP + 8)]
    backends: set[int] = set()

    def call(connection: psycopg.Connection[Any], question: Question) -> object:
        backends.add(connection.info.backend_pid)
        return connection.execute("SELECT pg_sleep(0.1)").fetchall()

    together = concurrent(dsn, call, asked, 4, seconds=60)
    assert len(backends) == 4
    assert 8 <= len(together.times) <= 32
    assert together.per_second > 15  # one after the other it would be less than 10

    def broken(connection: psycopg.Connection[Any], question: Question) -> object:
        return connection.execute("SELECT 1 / (1 - %s::integer / 12)", (question.text,)).fetchall()

    with pytest.raises(psycopg.errors.DivisionByZero):
        concurrent(dsn, broken, asked, 2, seconds=60)


def test_no_results_are_written_on_a_busy_machine(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "BUSY", -1.0)
    assert benchmarks(["speed", "--json", str(tmp_path / "speed.json")]) == 2
    assert "quiet machine" in capsys.readouterr().err


def test_a_whole_run(
    server_dsn: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # The other tests keep the machine busy.
    monkeypatch.setattr(command, "BUSY", math.inf)
    file = tmp_path / "speed.json"
    arguments = ["speed", "--rows", str(ROWS), "--dim", str(DIMENSION), "--queries", "10", "--seconds", "0.2"]
    arguments += ["--ingest", "200", "--dsn", server_dsn, "--json", str(file), "--check"]
    try:
        assert benchmarks(arguments) == 0
        result = json.loads(file.read_text(encoding="utf-8"))
        systems = result["rows"][str(ROWS)]
        assert set(systems) == set(HEADLINE)
        for one in systems.values():
            assert 0 < one["p50"] <= one["p95"] <= one["p99"]
            assert one["n"] >= FEWEST
        extras = result["extras"][str(ROWS)]
        assert set(FILTERS) | {"recall:cold", "recall:unprepared"} <= set(extras)
        assert {"leg:graph,hub", "recall:hub"} <= set(extras)
        assert {f"recall:clients={clients}" for clients in CLIENTS} <= set(extras)
        assert {f"recall:{kind.name}" for kind in KINDS if kind != NATURAL} <= set(extras)
        details = result["details"][str(ROWS)]
        assert details["indexes"]["unused"] == []
        assert any("postings_term_key" in line for line in details["indexes"]["plan"])
        assert details["load"]["rows_per_second"] > 0
        assert details["bytes_per_memory"]["memories"] > 2 * DIMENSION
        assert result["ingest"]["rows_per_second"] > 0
        assert result["settings"]["rrf_k"] == "10"
        assert result["server"]["settings"]["shared_buffers"]

        printed = capsys.readouterr()
        assert printed.out.startswith("Ratios")
        assert render(result) in printed.out
        assert "making" in printed.err

        with psycopg.connect(make_conninfo(server_dsn, dbname=f"bench_{ROWS}_{DIMENSION}")) as conn:
            row = conn.execute(
                "SELECT count(*), count(*) FILTER (WHERE embedding IS NOT NULL), "
                "count(*) FILTER (WHERE search_vector <> ''), "
                "(SELECT count(*) FROM pgrecall.mentions), (SELECT count(*) FROM pgrecall.namespaces), "
                "(SELECT count(*) FROM pgrecall.jobs WHERE kind IN ('text', 'llm', 'notes')), "
                "(SELECT count(*) FROM pgrecall.mentions WHERE is_about), "
                "(SELECT count(*) FROM pgrecall.concepts WHERE name = %s) FROM pgrecall.memories",
                (HUB,),
            ).fetchone()
            copies = conn.execute("SELECT FROM pg_database WHERE datname LIKE %s", ("bench%hub",)).fetchall()
        assert row is not None
        assert row[:3] == (ROWS, ROWS, ROWS)
        assert row[3] > 8 * ROWS
        assert row[4] > 5
        assert row[5:] == (0, ROWS, 0)  # nothing waits; a title each; the hub was in a copy, and that is gone
        assert copies == []

        said: list[str] = []
        again = Corpus(ROWS, DIMENSION)
        _, loading = open_database(server_dsn, again, fresh=False, build_memory=2**26, say=said.append)
        assert said == [f"bench_{ROWS}_{DIMENSION}: there already"]
        assert asdict(loading) == details["load"]
    finally:
        with psycopg.connect(server_dsn, autocommit=True) as conn:
            conn.execute(f"DROP DATABASE IF EXISTS bench_{ROWS}_{DIMENSION} WITH (FORCE)".encode())
