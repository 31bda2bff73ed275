"""The comparison of layouts: a whole run on a small corpus, and every layout's answers against exhaustive BM25."""

from __future__ import annotations

import itertools
import json
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from benchmarks.cli import main as benchmarks
from benchmarks.layouts.console import render
from benchmarks.layouts.ingest import STAGES, Work
from benchmarks.layouts.prototypes import BASELINE, LAYOUTS
from benchmarks.layouts.searching import BUDGETS, DEPTH, KINDS, NEARLY, Reference, Target, ask
from benchmarks.layouts.storage import clone, settle, template
from benchmarks.layouts.times import Times
from benchmarks.speed.generator import Corpus
from benchmarks.speed.questions import questions

if TYPE_CHECKING:
    from pathlib import Path

ROWS = 500
DIMENSION = 64
COMPARED = [layout for layout in LAYOUTS if layout != BASELINE]


def databases(server_dsn: str) -> list[str]:
    with psycopg.connect(server_dsn, autocommit=True) as conn:
        rows = conn.execute("SELECT datname FROM pg_database WHERE datname LIKE 'bench_layouts%'").fetchall()
    return [name for (name,) in rows]


def test_every_layout_gives_the_list_of_exhaustive_bm25_before_and_after_changes(server_dsn: str) -> None:
    corpus, more = Corpus(ROWS, DIMENSION), Corpus(120, 1, 43)
    asked = [question for kind in KINDS for question in questions(corpus, kind, 12)]
    with template(server_dsn, {*corpus.namespaces, *more.namespaces}, DIMENSION) as (source, dsn):
        with psycopg.connect(dsn, autocommit=True) as conn:
            target = Target.read(conn)
            namespaces: dict[str, int] = dict(
                conn.execute("SELECT name, id FROM pgrecall.namespaces").fetchall()
            )
        work = Work.of(corpus, more, namespaces, many=100, written_back=50, changed=40)
        with ExitStack() as stack:
            connections = {
                layout: stack.enter_context(clone(server_dsn, source, layout)) for layout in LAYOUTS
            }

            def compare() -> None:
                reference = Reference(connections[BASELINE], target, asked)
                for layout in COMPARED:
                    connection = connections[layout]
                    for question in asked:
                        found = ask(connection, layout, target, question, BUDGETS[0])
                        best = reference.best(question, DEPTH)
                        assert [score for _, score in found] == pytest.approx(
                            [score for _, score in best], rel=NEARLY
                        ), (
                            layout.name,
                            question.text,
                        )
                        # Equal scores may come in another order: what is above the last of them is the same.
                        certain = {id for id, score in best if score > best[-1][1] * (1 + NEARLY)}
                        assert certain <= {id for id, _ in found}

            for layout, connection in connections.items():
                for turn, _ in work.turns["copy"]:
                    turn(connection)
                settle(connection, layout)
            compare()
            for layout, connection in connections.items():
                for turn, _ in itertools.chain(*(work.turns[stage] for stage in STAGES[1:])):
                    turn(connection)
                connection.execute("DELETE FROM pgrecall.memories WHERE id BETWEEN 200 AND 230")
                settle(connection, layout)
            compare()
            for layout, connection in connections.items():
                row = connection.execute(
                    "SELECT count(*), count(*) FILTER (WHERE embedding IS NOT NULL), count(*) FILTER (WHERE deleted_at IS NOT NULL), "
                    "count(*) FILTER (WHERE content LIKE '%% revised.') FROM pgrecall.memories"
                ).fetchone()
                # 40 of the 50 embeddings are those of the texts that were revised afterwards.
                assert row == (ROWS + 120 - 31, 10, 40, 40), layout.name


def test_speed_is_time_of_the_baseline_through_time() -> None:
    times = Times()
    rows = COMPARED[0]
    for turn, seconds in enumerate((2.0, 1.0, 3.0)):
        times.add(100, {BASELINE.name: seconds, rows.name: seconds * (3, 2, 2)[turn]})
    times.add_left(rows, 3.5)
    found = times.summary()
    assert found["memories"] == 300
    assert found["layouts"][BASELINE.name] == {
        "seconds": [2.0, 1.0, 3.0], "left_seconds": 0, "per_second": 50.0, "speed": 1.0, "speed_settled": 1.0,
    }  # fmt: skip
    assert found["layouts"][rows.name]["per_second"] == round(100 / 6, 1)
    assert found["layouts"][rows.name]["speed"] == 0.5  # half as fast in two turns, a third in one
    assert found["layouts"][rows.name]["speed_settled"] == 0.4  # 14 seconds and 3.5


def test_a_whole_run(server_dsn: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "layouts.json"
    arguments = ["layouts", "--rows", str(ROWS), "--dim", str(DIMENSION), "--queries", "10"]
    arguments += [
        "--seconds",
        "0.2",
        "--many",
        "100",
        "--singles",
        "20",
        "--write-back",
        "50",
        "--changes",
        "40",
    ]
    assert benchmarks([*arguments, "--dsn", server_dsn, "--json", str(file)]) == 0
    assert databases(server_dsn) == []
    result: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))

    assert result["kind"] == "layouts"
    assert {"machine", "git", "bundle", "server", "generator", "load_average", "measured_at"} <= set(result)
    names = [layout.name for layout in LAYOUTS]
    assert list(result["layouts"]) == names
    assert list(result["work"]) == list(STAGES)
    assert [one["memories"] for one in result["work"].values()] == [ROWS, 100, 20, 50, 40, 40]
    for stage in result["work"].values():
        assert set(stage["layouts"]) == set(names)
        for one in stage["layouts"].values():
            assert len(one["seconds"]) == 1
            assert one["per_second"] == pytest.approx(stage["memories"] / one["seconds"][0], rel=0.01)
            assert one["speed_settled"] <= one["speed"]

    sizes = result["bytes_per_memory"]
    assert sizes["table"]["embedded_heap"] > sizes["table"]["heap"]
    assert set(sizes["layouts"]) == set(names) - {BASELINE.name}
    for one in sizes["layouts"].values():
        assert one["total"] == pytest.approx(sum(one["parts"].values()), rel=0.01)
        assert one["growth"] > one["embedded_growth"] > 1

    compared = {layout.name for layout in COMPARED}
    assert list(result["queries"]) == [kind.name for kind in KINDS]
    for found in result["queries"].values():
        assert list(found) == [BASELINE.name, *map(str, BUDGETS)]
        for budget in map(str, BUDGETS):
            assert {name: one["agreement"] for name, one in found[budget].items()} == dict.fromkeys(
                compared, 1
            )
            assert all(0 < one["p50"] <= one["p95"] for one in found[budget].values())
    assert set(result["queries_unsettled"][KINDS[0].name][str(BUDGETS[0])]) == compared
    assert result["agreement_changed"] == dict.fromkeys(compared, 1)

    printed = capsys.readouterr()
    assert render(result) in printed.out
    assert printed.err.startswith("copy")


def test_a_server_that_is_not_there_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert benchmarks(["layouts", "--dsn", "host=/nowhere dbname=none"]) == 2
    assert "error" in capsys.readouterr().err
