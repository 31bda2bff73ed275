"""The graph benchmark: its fusion, PageRank and counts against sums done by hand, and a whole run."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from benchmarks.cli import main
from benchmarks.quality.datasets import Query
from benchmarks.quality.extractions import ExtractionCache
from benchmarks.quality.graph.challenger import CHALLENGERS, WALK
from benchmarks.quality.graph.entering import entering
from benchmarks.quality.graph.fusion import Parts, fuse
from benchmarks.quality.graph.pagerank import ABOUT, MENTIONED, Bipartite, Start
from benchmarks.quality.graph.settings import PREFIX, VALUES
from benchmarks.quality.graph.tracing import Found, Trace
from pgrecall_extract.base import Document
from support.dataset import CORPUS, QRELS, QUERIES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path


# The fusion


def parts(
    number: int,
    base: float,
    *,
    lent: float = 0,
    phrase: float = 0,
    similarity: float = 0.5,
    candidate: bool = True,
) -> Parts:
    return Parts(number, base, lent, phrase, 1.0, similarity, candidate)


def test_scores_are_taken_apart_and_put_together_again() -> None:
    # 0.5; a neighbour lends 0.4 of the 0.5 that it lacks; the phrase gives 0.25 of the 0.3 that it lacks then.
    found = Parts.of(7, 0.5, 0.2, 0.075, 1.0, 0.9, None, True)
    assert found.lent == pytest.approx(0.4)
    assert found.phrase == pytest.approx(0.25)
    assert found.similarity == -1
    assert found.fused(0.0) == pytest.approx(0.775 * 0.9)
    # The graph raises it to the first place.
    base = 0.55
    near = base + 0.4 * (1 - base)
    assert found.fused(0.05) == pytest.approx((near + 0.25 * (1 - near)) * 0.9)


def test_memories_are_ranked_by_score_then_similarity_then_id() -> None:
    memories = [
        parts(1, 0.5, similarity=0.2), parts(2, 0.5, similarity=0.3), parts(3, 0.5, similarity=0.2),
        parts(4, 0.4), parts(5, 0.9, candidate=False), parts(6, 0.3, candidate=False),
    ]  # fmt: skip
    nothing: frozenset[int] = frozenset()
    assert fuse(memories, {}, nothing) == [2, 1, 3, 4]
    assert fuse(memories, {4: 0.2}, nothing) == [4, 2, 1, 3]
    # What only the graph brings is there if its list has it.
    assert fuse(memories, {6: 0.5}, frozenset({6})) == [6, 2, 1, 3, 4]


# PageRank


def test_pagerank_is_the_solution_of_its_equation() -> None:
    edges = [(1, 10, True), (2, 10, False), (2, 11, True), (3, 11, False), (4, 11, False), (5, 12, True)]
    graph = Bipartite([5, 4, 3, 2, 1], edges)
    start = Start({1: 1.0, 3: 0.5}, [11, 12, 99])
    for damping in (0.5, 0.85):
        found = graph.scores([start, Start({5: 1.0}, [])], damping)
        expected = solved(damping, start={1: 1.0, 3: 0.5}, concept=3**-0.5)
        np.testing.assert_allclose(found[0], expected / expected.max(), atol=1e-6)
        # Concept 12 has one memory: nothing leads away from it.
        np.testing.assert_allclose(found[1], [0, 0, 0, 0, 1], atol=1e-6)


def test_arriving_walks_leave_out_those_that_begin() -> None:
    graph = Bipartite([1, 2, 3], [(1, 10, True), (2, 10, True)])
    (begun,) = graph.scores([Start({1: 1.0}, [])], 0.5)
    (arrived,) = graph.scores([Start({1: 1.0}, [])], 0.5, arriving=True)
    assert begun[0] == 1
    assert arrived[0] == arrived[1] == 1  # over the concept they go back as often as on
    assert begun[2] == arrived[2] == 0
    assert graph.scores([Start({}, [])], 0.5).max() == 0


def solved(damping: float, start: dict[int, float], concept: float) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Scores of memories 1 to 5 over concepts 10 (two memories) and 11 (three), by solving the linear equations."""
    weights = np.zeros((7, 7))
    strengths = {
        (0, 5): ABOUT / 2**0.5, (1, 5): MENTIONED / 2**0.5,
        (1, 6): ABOUT / 3**0.5, (2, 6): MENTIONED / 3**0.5, (3, 6): MENTIONED / 3**0.5,
    }  # fmt: skip
    for (memory, about), strength in strengths.items():
        weights[memory, about] = weights[about, memory] = strength
    step = weights / np.maximum(weights.sum(axis=0), 1e-9)
    restart = np.zeros(7)
    for memory, weight in start.items():
        restart[memory - 1] = weight
    # Concept 12 is named as well: its share of the restart is lost, since it leads nowhere.
    restart[6] = concept
    whole: np.ndarray[Any, np.dtype[np.float64]] = np.linalg.solve(
        np.eye(7) - damping * step, (1 - damping) * restart
    )
    return whole[:5]


# What only the graph found


def ranking(ids: Iterable[str], alone: Sequence[str] = ()) -> tuple[Found, ...]:
    return tuple(Found(ord(id), id, 1.0, id in alone) for id in ids)


def test_entering_memories_are_counted_against_those_that_gave_way() -> None:
    queries = [
        Query("q1", "?", "default", "all", frozenset({"a", "x"})),
        Query("q2", "?", "default", "all", frozenset({"c"}), frozenset({"z"})),
        Query("q3", "?", "default", "all", frozenset({"a"})),
    ]
    traces = {
        # x is relevant and pushes out c; b and a change places.
        "q1": Trace(ranking("xba", alone="x"), ranking("abc")),
        # y is not, and pushes out the relevant c; z is excluded.
        "q2": Trace(ranking("zaby", alone="yz"), ranking("zabc")),
        # Nothing comes by the graph alone.
        "q3": Trace(ranking("bca"), ranking("abc")),
    }
    found = entering(queries, traces, 3, seed=1)
    assert found.pop("net_ci95") == [-1, 1]
    assert found == {
        "k": 3, "questions": 3,
        "share_entered": pytest.approx(2 / 3, abs=1e-6), "share_relevant_entered": pytest.approx(1 / 3, abs=1e-6),
        "entered": 2, "relevant": 1, "precision": 0.5,
        "pushed_out": 2, "pushed_out_relevant": 1, "pushed_out_precision": 0.5,
        "net": 0.0,
    }  # fmt: skip
    nothing = entering(queries[2:], traces, 3, seed=1, resamples=200)
    assert (nothing["entered"], nothing["precision"], nothing["pushed_out"]) == (0, None, 0)


# What was read


def test_what_was_read_is_kept_by_version_and_text(tmp_path: Path) -> None:
    said = datetime(2024, 1, 2, tzinfo=UTC)
    cache = ExtractionCache(tmp_path / "sub" / "cache.sqlite")
    document = Document(1, "Ada plants trees.", None, "Ada", said)
    cache.put("1", [(document, {"mentions": [{"name": "Ada"}]})])
    # Another id is another memory of the same text.
    same = Document(2, "Ada plants trees.", None, "Ada", said, namespace_id=9)
    assert ExtractionCache(tmp_path / "sub" / "cache.sqlite").get("1", [same]) == {
        2: {"mentions": [{"name": "Ada"}]}
    }
    assert cache.get("2", [document]) == {}
    for other in (
        Document(1, "Ada plants trees!", None, "Ada", said),
        Document(1, "Ada plants trees.", "Ada", None, said),
        Document(1, "Ada plants trees.", None, "Ada", said.replace(day=3)),
        Document(1, "Ada plants trees.", None, "Ada", said, language="german"),
    ):
        assert cache.get("1", [other]) == {}


# A whole run


def test_a_whole_run(
    tmp_path: Path,
    public_dir: Path,
    server_dsn: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("PGRECALL_DSN", server_dsn)
    for name, rows in {"corpus": CORPUS, "queries": QUERIES, "qrels": QRELS}.items():
        (tmp_path / f"{name}.jsonl").write_text(
            "".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8"
        )
    out = tmp_path / "out.json"
    command = ["graph", "--data", str(tmp_path), "--cache", str(public_dir / "cache"), "--json", str(out)]
    assert main(command) == 0
    printed = capsys.readouterr()
    results = json.loads(out.read_text(encoding="utf-8"))
    assert results["kind"] == "graph"
    assert "tractor" not in out.read_text(encoding="utf-8")
    assert "memories that only the graph found" in printed.out

    # Every memory was read, but the sensitive one; Ostley and Ben Carrow are concepts.
    read = results["extraction"]
    assert (read["read"], read["unread"]) == (len(CORPUS) - 1, 0)
    assert read["mentions"] > read["concepts"] > 2
    assert read["version"]

    assert set(results["systems"]) == {"recall", "recall:graph_weight=0", "dense"}
    strata = {one["stratum"] for one in results["comparisons"]}
    assert strata == {None, "one", "two"}
    assert len(results["comparisons"]) == 3 * 3 * 4  # pairs, strata, metrics

    # A memory about violins is far from a question about lights: at rank 50 or more, so it counts or not, but ranks do.
    beyond = results["far"]
    assert beyond["questions"] == (1 if beyond["memories"] else 0)
    assert [one["k"] for one in results["entering"]] == [5, 10]
    assert all(one["questions"] == len(QUERIES) for one in results["entering"])

    # The formula outside the database is the one in it: recall's order comes out.
    challenged = results["pagerank"]
    assert challenged["reproduced"] == {"@10": 1.0, "@20": 1.0}
    assert challenged["edges"] > 5
    assert [one["name"] for one in challenged["candidates"]] == [WALK, *CHALLENGERS]
    walk, *others = challenged["candidates"]
    assert walk["overall"] == {
        metric: results["systems"]["recall"]["overall"][metric] for metric in walk["overall"]
    }
    assert not walk["against_walk"]
    assert all(len(one["against_walk"]) == len(one["best_against_walk"]) == 4 for one in others)

    sweeps = results["sweeps"]
    assert (sweeps["tuning_queries"], sweeps["reporting_queries"]) == (2, 2)
    in_force = {name for name in results["settings"] if name.startswith(PREFIX)}
    assert {row["option"] for row in sweeps["options"]} == in_force & set(VALUES)
    assert set(sweeps["not_tried"]) == in_force - set(VALUES)
    (weights,) = [row for row in sweeps["options"] if row["option"] == "graph_weight"]
    none = next(one for one in weights["values"] if one["value"] == "0")
    plain = results["systems"]["recall:graph_weight=0"]["overall"]["recall@10"]
    assert (none["tuning"]["recall@10"] + none["reporting"]["recall@10"]) / 2 == pytest.approx(
        plain, abs=1e-5
    )

    # Again, from the cache: the same figures, and nothing is read again.
    assert main(command) == 0
    assert "new texts" not in capsys.readouterr().err
    again = json.loads(out.read_text(encoding="utf-8"))
    assert again["comparisons"] == results["comparisons"]
    assert again["extraction"] == read
