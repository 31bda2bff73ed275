"""Exhaustive BM25, the yardstick of the lexical leg: hand-computed scores, and the quality system made of it."""

from __future__ import annotations

import json
from math import log
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from benchmarks.cli import main
from benchmarks.quality.bm25 import Bm25, Postings

if TYPE_CHECKING:
    from pathlib import Path

    import psycopg

# Words of the three memories: 2, 4 and 6, so that 4 is the average.
TEXTS = ("Apple pie.", "Pears, plums, grapes, melons.", "Apples and apples: rice, rice, bread, wine!")
IDS = (10, 20, 30)
# idf: 2 of 3 memories hold "apple", 1 holds "pear".
APPLE, PEAR = log(1 + 1.5 / 2.5), log(1 + 2.5 / 1.5)
# The document's part, with k1 1.2 and b 0.75: tf 1 in 2 words, 1 in 4, 2 in 6.
SHORT, ORDINARY, LONG = 2.2 / 1.75, 2.2 / 2.2, 4.4 / 3.65


def postings(*pairs: tuple[int, int]) -> Postings:
    return Postings(np.array([place for place, _ in pairs]), np.array([count for _, count in pairs]))


@pytest.fixture
def index() -> Bm25:
    return Bm25(IDS, (2, 4, 6), {"appl": postings((0, 1), (2, 2)), "pear": postings((1, 1))})


def test_scores_are_those_computed_by_hand(index: Bm25) -> None:
    assert round(APPLE * SHORT, 6) == 0.590862
    np.testing.assert_allclose(index.scores(["appl"]), [APPLE * SHORT, 0, APPLE * LONG])
    np.testing.assert_allclose(
        index.scores(["appl", "pear", "appl", "quinc"]), [APPLE * SHORT, PEAR * ORDINARY, APPLE * LONG]
    )
    assert [id for id, _ in index.top(["pear", "appl"], 10)] == [20, 10, 30]
    assert [id for id, _ in index.top(["pear", "appl"], 2)] == [20, 10]
    assert index.top(["quinc"], 10) == []
    assert index.score_of(["pear"], [30, 20, 99, 5]) == [0, pytest.approx(PEAR), 0, 0]


def test_another_pivot_makes_other_lengths_ordinary() -> None:
    index = Bm25(IDS, (2, 4, 6), {"appl": postings((0, 1), (2, 2))}, pivot=2)
    assert index.scores(["appl"])[0] == pytest.approx(APPLE)


def test_equal_scores_are_ordered_by_id() -> None:
    index = Bm25((3, 5, 8, 9), (1, 1, 1, 1), {"a": postings((0, 1), (2, 1), (3, 1)), "b": postings((1, 1))})
    assert [id for id, _ in index.top(["a"], 2)] == [3, 8]
    assert [id for id, _ in index.top(["a", "b"], 4)] == [5, 3, 8, 9]


def test_memories_without_a_word_have_no_scores() -> None:
    assert Bm25((1, 2), (0, 0), {}).top(["a"], 5) == []


def test_lexemes_are_read_of_live_memories_of_the_namespace(conn: psycopg.Connection[Any]) -> None:
    for text in TEXTS:
        conn.execute("SELECT remember(%s)", (text,))
    conn.execute("SELECT remember('Apples.', namespace => 'other', create_namespace => true)")
    conn.execute("SELECT forget(remember('Apple juice.'))")
    (namespace_id,) = conn.execute("SELECT pgrecall.namespace_id('default')").fetchone() or (0,)
    (ids,) = conn.execute(
        "SELECT array_agg(id ORDER BY id) FROM pgrecall.memories WHERE content = ANY (%s)", (list(TEXTS),)
    ).fetchone() or ([],)
    for terms in (None, ["appl", "pear"]):
        index = Bm25.read(conn, namespace_id, terms)
        found = index.top(["appl", "pear"], 10)
        assert [id for id, _ in found] == [ids[1], ids[0], ids[2]]
        assert [score for _, score in found] == pytest.approx([PEAR * ORDINARY, APPLE * SHORT, APPLE * LONG])
    assert Bm25.read(conn, namespace_id, ["pear"]).top(["appl"], 10) == []


def test_the_system_ranks_as_computed_by_hand(
    tmp_path: Path, public_dir: Path, server_dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = [{"id": f"m{place}", "content": text, "team": "a"} for place, text in enumerate(TEXTS)]
    corpus.append({"id": "other", "content": "Apples.", "team": "b"})
    files: dict[str, list[dict[str, Any]]] = {
        "corpus": corpus,
        "queries": [
            {"query_id": "both", "text": "Is it an apple, apples or a pear?", "team": "a"},
            {"query_id": "none", "text": "Is it the?", "team": "a"},
        ],
        "qrels": [{"query_id": "both", "relevant_ids": ["m1"]}, {"query_id": "none", "relevant_ids": ["m0"]}],
    }
    for name, rows in files.items():
        (tmp_path / f"{name}.jsonl").write_text(
            "".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8"
        )
    monkeypatch.setenv("PGRECALL_DSN", server_dsn)
    out = tmp_path / "out.json"
    command = [
        "quality",
        "--data",
        str(tmp_path),
        "--scope",
        "field:team",
        "--cache",
        str(public_dir / "cache"),
    ]
    assert main([*command, "--systems", "lexical,bm25-exhaustive,bm25s", "--json", str(out)]) == 0
    results = json.loads(out.read_text(encoding="utf-8"))
    assert results["not_run"] == {}
    rankings = results["rankings"]["bm25-exhaustive"]
    assert rankings["both"] == ["m1", "m0", "m2"]
    assert rankings.get("none", []) == []
    assert set(results["rankings"]["lexical"]["both"]) == {"m0", "m1", "m2"}
