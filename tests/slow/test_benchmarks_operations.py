"""What is measured for operators: whole runs over few memories, and the report of them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from benchmarks.cli import main as benchmarks
from benchmarks.operations import scale as scale_steps
from benchmarks.operations.accuracy import DEPTH, exact, nearest, shared
from benchmarks.operations.ef_search import Build, build_index
from benchmarks.operations.scale import STEPS
from benchmarks.operations.sizing import KINDS, SIZES
from benchmarks.operations.texts import pooled
from benchmarks.report import operations
from benchmarks.report.places import NoFigures, fill, without
from benchmarks.report.scale import RENDERED, scale
from benchmarks.speed.questions import Question
from pgrecall.server import EmbeddedServer
from support.memories import remember_many

if TYPE_CHECKING:
    from pathlib import Path

    from psycopg import Connection

DIMENSION = 32
FEW = ["--queries", "5", "--seconds", "0.1"]


@pytest.fixture(scope="module")
def measured(server_dsn: str, tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, dict[str, Any]]]:
    """The results file of each command."""
    folder = tmp_path_factory.mktemp("results")
    commands = {
        "aging": ["--rows", "200", "--changes", "300", "--dim", str(DIMENSION), "--queries", "5"],
        "sizing": ["--rows", "300", "--dims", f"{DIMENSION},64", "--live", "70"],
        "ef-search": ["--rows", "400", "--dim", str(DIMENSION), "--ef", "10,100", "--builds", "8/32", *FEW],
    }  # fmt: skip
    found = []
    for name, options in commands.items():
        file = folder / f"{name}.json"
        assert benchmarks([name, *options, "--dsn", server_dsn, "--json", str(file)]) == 0
        found.append((name, json.loads(file.read_text(encoding="utf-8"))))
    with psycopg.connect(server_dsn) as conn:
        left = conn.execute("SELECT datname FROM pg_database WHERE datname LIKE 'bench_%'").fetchall()
    assert left == []
    return found


def test_aging(measured: list[tuple[str, dict[str, Any]]]) -> None:
    result = dict(measured)["aging"]
    assert set(result["stages"]) == {"young", "aged", "renewed"}
    for stage in result["stages"].values():
        assert stage["overlap_with_exact"] == 1
        assert stage["megabytes"]["postings"] > 0
    assert result["answers_changed_by_renewal"]["words"] == 0


def test_sizing(measured: list[tuple[str, dict[str, Any]]]) -> None:
    sizes = dict(measured)["sizing"]["sizes"]
    assert [(one["memories"], one["dim"]) for one in sizes] == [(300, DIMENSION), (300, 64)]
    for one in sizes:
        assert set(one["bytes_per_memory"]) == set(KINDS)
        assert one["total_per_memory"] == pytest.approx(sum(one["bytes_per_memory"].values()), abs=1)
        assert one["bytes_per_memory"]["hnsw"] > 2 * one["dim"]
        costs = one["costs"]
        assert {name: cost["memories"] for name, cost in costs.items()} == {
            "hnsw_build": 300, "postings_rebuild": 270, "remember_many": 70, "embeddings_written": 70,
        }  # fmt: skip
        assert all(cost["ms_per_memory"] > 0 for cost in costs.values())
        assert costs["embeddings_written"]["wal_per_memory"] > 2 * one["dim"]


def test_scale(public_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scale_steps, "TENANT_ROWS", 700)
    # The caches of the whole machine would be dropped, for all that runs on it.
    dropped = tmp_path / "drop_caches"
    monkeypatch.setattr(scale_steps, "_CACHES", dropped)
    file = tmp_path / "scale.json"
    few = ["--rows", "3000", "--dim", str(DIMENSION), "--queries", "5", "--shared-buffers", "64MB"]
    command = ["scale", *few, "--folder", str(public_dir / "scale"), "--json", str(file)]
    try:
        assert benchmarks(command) == 0
        first = json.loads(file.read_text(encoding="utf-8"))
        # A second run goes on where the first ended: nothing is left but to bring the code up to date.
        assert benchmarks(command) == 0
    finally:
        EmbeddedServer(public_dir / "scale").down()
    steps = json.loads(file.read_text(encoding="utf-8"))["steps"]
    assert {name: steps[name] for name in first["steps"]} == first["steps"]
    assert set(steps) - set(first["steps"]) == {"upgrade"}
    assert steps["vacuum"]["bytes_per_memory"]["memories_embedding_idx"] > DIMENSION
    assert steps["tenant"]["remember_many_per_second"] > 0
    assert steps["cold"]["caches_dropped"]
    assert dropped.read_text() == "3"
    assert steps["updates"]["updates"] > 0
    assert steps["dump"]["bytes"] > 100_000
    assert steps["restore"]["seconds"] > steps["restore"]["migrate_seconds"] > 0
    assert all(one["recall_beside"]["n"] > 0 for name, one in steps.items() if name in ("dump", "rebuild"))
    assert "by tenth" in scale(json.loads(file.read_text(encoding="utf-8")))
    assert set(RENDERED) == set(STEPS)


def test_every_byte_is_counted_once(conn: Connection[Any]) -> None:
    remember_many(conn, [{"content": f"memory {number} " * 2000} for number in range(20)])
    kinds: dict[str, int] = dict(conn.execute(SIZES).fetchall())
    (total,) = conn.execute(
        "SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class c "
        "WHERE c.relnamespace = 'pgrecall'::regnamespace AND c.relkind = 'r'"
    ).fetchone() or (0,)
    assert sum(kinds.values()) == total
    assert set(kinds) == set(KINDS)


def test_ef_search(measured: list[tuple[str, dict[str, Any]]]) -> None:
    found = dict(measured)["ef-search"]
    corpus = found["corpora"]["synthetic"]
    assert corpus["memories"] == 360
    assert [one["ef_search"] for one in corpus["curve"]] == [10, 100]
    assert {one["iterative_scan"] for one in corpus["filtered"]} == {"off", "relaxed_order", "strict_order"}
    for one in (*corpus["curve"], *corpus["modes"], *corpus["filtered"]):
        # So small a namespace is searched exactly.
        assert one["dense leg"]["recall@50"] == one["recall"]["same@10"] == 1
        assert 0 < one["returned"] <= DEPTH
        assert 0 < one["recall"]["p50"] <= one["recall"]["p95"]
    assert found["build"]["m"] == 16
    (other,) = found["builds"]
    assert (other["m"], other["ef_construction"]) == (8, 32)
    assert "recall" not in other["curve"][0]


def test_the_index_is_asked_and_what_it_misses_is_seen(conn: Connection[Any]) -> None:
    conn.execute(
        "INSERT INTO pgrecall.memories (namespace_id, content, language, content_hash, search_vector, embedding) "
        "SELECT pgrecall.create_namespace('n'), 'memory ' || i, 'english', '', '', "
        "array_agg(sin(i * j))::real[]::vector::halfvec "
        "FROM generate_series(1, 400) i, generate_series(1, 384) j GROUP BY i"
    )
    (number, vector) = conn.execute(
        "SELECT namespace_id, embedding::text FROM pgrecall.memories ORDER BY id LIMIT 1"
    ).fetchone() or (0, "")
    question = Question("which", vector)
    best = exact(conn, "n", [question])
    assert len(best["which"]) == DEPTH
    conn.execute("SET enable_seqscan = off")
    conn.execute("SET enable_sort = off")
    conn.execute("SET hnsw.ef_search = 1")
    conn.execute("SET hnsw.iterative_scan = off")
    few = nearest(conn, number, question)
    assert 0 < len(few) < DEPTH
    assert shared({"which": few}, best, DEPTH) < 1
    conn.execute("SET hnsw.ef_search = 400")
    assert shared({"which": nearest(conn, number, question)}, best, DEPTH) > 0.9
    assert nearest(conn, number, question, ["nobody has it"]) == []
    built = build_index(conn, Build(8, 32), 64)
    assert built["bytes_per_memory"] > 0
    options = conn.execute(
        "SELECT reloptions FROM pg_class WHERE oid = 'pgrecall.memories_embedding_idx'::regclass"
    ).fetchone()
    assert options == (["m=8", "ef_construction=32"],)


def test_shares() -> None:
    answers = {"a": [1, 2, 3], "b": [9], "c": [5]}
    best = {"a": [1, 3, 7], "b": [9, 8], "c": []}
    assert shared(answers, best, 2) == 0.5  # 1 of 2, 1 of 2; c has no answer
    assert shared({"b": [9]}, {"b": [9]}, 10) == 1


def test_data_sets_are_pooled(tmp_path: Path) -> None:
    for name in ("one", "two"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "corpus.jsonl").write_text(
            '{"id": "a", "content": "of ' + name + '", "external_id": "x"}\n'
        )
        (folder / "queries.jsonl").write_text('{"query_id": "q", "text": "what of ' + name + '?"}\n')
        (folder / "qrels.jsonl").write_text('{"query_id": "q", "relevant_ids": ["a"]}\n')
    both = pooled([tmp_path / "one", tmp_path / "two"], 9, 42)
    assert [memory.id for memory in both.memories] == ["one/a", "two/a"]
    assert [memory.fields.external_id for memory in both.memories] == [None, None]
    assert {query.text for query in both.queries} == {"what of one?", "what of two?"}
    assert len(pooled([tmp_path / "one", tmp_path / "two"], 1, 42).queries) == 1


def test_the_report(measured: list[tuple[str, dict[str, Any]]]) -> None:
    plots: dict[str, Any] = {}
    page = "\n".join(operations.render(measured, plots))
    assert "200 memories of" in page
    assert "| `postings`, MB |" in page
    assert set(plots) == {"benchmarks/ef-search.png"}
    made = operations.blocks(measured)
    assert "| memories × dimensions | 300 × 32 | 300 × 64 |" in made["sizing"]
    assert made["sizing"] in page
    assert "| 360 synthetic | 10 | 1.000 |" in made["ef-search"]
    assert "m = 8, ef_construction = 32: built in" in page
    assert all(text == "Not measured yet.\n" for text in operations.blocks([]).values())
    assert operations.render([], {}) == []
    with pytest.raises(ValueError, match=r"sizing\.json has format 0"):
        operations.blocks([("sizing", dict(measured)["sizing"] | {"format": 0})])


def test_the_plot_is_drawn(measured: list[tuple[str, dict[str, Any]]], tmp_path: Path) -> None:
    plots: dict[str, Any] = {}
    operations.render(measured, plots)
    file = tmp_path / "plot.png"
    plots["benchmarks/ef-search.png"].write(file)
    assert 1_000 < file.stat().st_size < 40_000


def test_figures_go_into_their_places() -> None:
    page = "# A\n<!-- figures: sizing, written by `make bench-report` -->\nold 1.5\n<!-- /figures -->\nThe end.\n"
    filled = fill("a.md", page, {"sizing": "| new |\n", "other": "x"})
    assert "| new |" in filled
    assert "old" not in filled
    assert fill("a.md", filled, {"sizing": "| new |\n"}) == filled
    assert without(filled) == "# A\nThe end.\n"
    with pytest.raises(NoFigures, match=r"a\.md has a place for figures that nothing makes: sizing"):
        fill("a.md", page, {"other": "x"})


def test_a_server_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    gone = make_conninfo(host="127.0.0.1", port=1, connect_timeout=2)
    assert benchmarks(["sizing", "--rows", "10", "--dims", "8", "--dsn", gone]) == 2
    assert capsys.readouterr().err.startswith("error: ")
