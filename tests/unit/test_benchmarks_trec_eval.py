"""The benchmark's figures against trec_eval itself: its own C code, given judgements and rankings directly.

Every committed results file is computed again from the rankings that are in it. Judgements that are not part of the
project are read from PGRECALL_DATA, else ../shared/data; where they are absent that file skips, unless
PGRECALL_REQUIRE_DATA=1 makes it a failure.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import pytrec_eval

from benchmarks.quality.datasets import Query
from benchmarks.quality.metrics import CUTOFFS, DEPTH, METRICS, evaluate
from benchmarks.results import read

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("PGRECALL_DATA", ROOT.parent / "shared" / "data"))
TOOL = DATA.parent / "tools" / "locomo-sessions"
FILES = sorted(path for path in (ROOT / "benchmarks" / "results").glob("*.json") if read(path) is not None)

Qrels = dict[str, dict[str, int]]


def trec_eval(qrels: Qrels, run: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
    """trec_eval's values by our names, for each judged query; one that is not in the run has found nothing."""
    wanted = {"recall." + ",".join(map(str, CUTOFFS)), "success." + ",".join(map(str, CUTOFFS)), "ndcg_cut.10", "recip_rank"}  # fmt: skip
    found = pytrec_eval.RelevanceEvaluator(qrels, wanted).evaluate(
        {id: dict(run.get(id, {})) for id in qrels}
    )
    values = {}
    for id, theirs in found.items():
        ours = {f"recall@{k}": theirs[f"recall_{k}"] for k in CUTOFFS}
        ours |= {f"any-hit@{k}": theirs[f"success_{k}"] for k in CUTOFFS}
        ours |= {f"all-hit@{k}": float(theirs[f"recall_{k}"] == 1) for k in CUTOFFS}
        values[id] = ours | {"ndcg@10": theirs["ndcg_cut_10"], "mrr": theirs["recip_rank"]}
    assert set(values) == set(qrels)
    assert all(set(one) == set(METRICS) for one in values.values())
    return values


def scored(ids: Sequence[str]) -> dict[str, float]:
    return {id: 1000.0 - place for place, id in enumerate(ids)}


def question(id: str, relevant: Iterable[str]) -> Query:
    return Query(id, id, "default", "all", frozenset(relevant))


def agree(queries: list[Query], rankings: dict[str, list[str]], run: dict[str, dict[str, float]]) -> None:
    theirs = trec_eval({query.id: dict.fromkeys(query.relevant, 1) for query in queries}, run)
    ours = evaluate(queries, rankings)
    for metric in METRICS:
        expected = [theirs[query.id][metric] for query in queries]
        assert ours[metric] == pytest.approx(expected, abs=1e-9), metric


def test_repeated_ids_and_rankings_of_any_length() -> None:
    chance = np.random.default_rng(3)
    ids = [f"d{number}" for number in range(40)]
    queries = [question(f"q{n}", chance.choice(ids, chance.integers(1, 30), replace=False)) for n in range(60)]  # fmt: skip
    # Drawn with repetition, from none to more than count: trec_eval gets each id once, at its first place.
    rankings = {query.id: [str(id) for id in chance.choice(ids, chance.integers(0, 45))] for query in queries}
    run = {name: scored(list(dict.fromkeys(found))[:DEPTH]) for name, found in rankings.items()}
    assert any(len(set(found)) < len(found) for found in rankings.values())
    assert [] in rankings.values()
    agree(queries, rankings, run)


def test_ties_are_broken_before_ranks_are_counted() -> None:
    """trec_eval puts the larger id first among equal scores; a ranking of ours has no ties left for it to break."""
    chance = np.random.default_rng(4)
    ids = [f"d{number:02}" for number in range(30)]
    queries = [question(f"q{n}", chance.choice(ids, 3, replace=False)) for n in range(40)]
    run = {query.id: {id: float(chance.integers(0, 4)) for id in chance.permutation(ids)} for query in queries}  # fmt: skip
    rankings = {
        name: sorted(sorted(scores, reverse=True), key=lambda id: -scores[id]) for name, scores in run.items()
    }
    # Cut where our rankings end; what trec_eval sorts behind that place does not count for MRR either.
    kept = {name: {id: run[name][id] for id in found[:DEPTH]} for name, found in rankings.items()}
    agree(queries, rankings, kept)


def test_queries_with_nothing_found_count_as_zero() -> None:
    queries = [question("found", ["a"]), question("empty", ["a"]), question("absent", ["a"])]
    agree(queries, {"found": ["a"], "empty": []}, {"found": {"a": 1.0}, "empty": {}})
    assert evaluate(queries, {"found": ["a"], "empty": []})["mrr"].mean() == pytest.approx(1 / 3)


@cache
def built_sets() -> Path:
    """Data sets made of LoCoMo's, with whole sessions as memories; none where there is no LoCoMo."""
    folder = Path(mkdtemp())
    if TOOL.exists():
        subprocess.run([sys.executable, TOOL, folder], check=True)
    return folder


def judgements(dataset: str) -> Qrels:
    folder = ROOT / "examples" / "sample" if dataset == "sample" else DATA / dataset
    if dataset in {"locomo-session", "locomo-mixed"}:
        folder = built_sets() / dataset
    path = folder / "qrels.jsonl"
    if not path.exists() and not os.environ.get("PGRECALL_REQUIRE_DATA"):
        pytest.skip(f"no evaluation data: there is no {path}")
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return {str(row["query_id"]): {str(id): 1 for id in row["relevant_ids"]} for row in rows}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_results_file_says_what_trec_eval_says_of_its_rankings(path: Path) -> None:
    results: dict[str, Any] = read(path) or {}
    qrels = judgements(results["dataset"])
    assert len(qrels) == results["data"]["queries"]
    # Those that were asked for; what `--ablate` adds has its means only.
    assert {"recall", "lexical", "dense"} <= set(results["rankings"]) <= set(results["systems"])
    for name, rankings in results["rankings"].items():
        assert set(qrels) <= set(rankings)
        depth = max(map(len, rankings.values()))  # what --rankings kept
        values = trec_eval(qrels, {id: scored(ids) for id, ids in rankings.items()})
        comparable = [
            f"{what}@{k}" for k in CUTOFFS if k <= depth for what in ("recall", "any-hit", "all-hit")
        ]
        comparable += ["ndcg@10"] if depth >= 10 else []
        comparable += ["mrr"] if depth >= DEPTH else []
        for metric in comparable:
            mean = np.mean([one[metric] for one in values.values()])
            # The file has six places.
            assert results["systems"][name]["overall"][metric] == pytest.approx(mean, abs=1e-6), (
                name,
                metric,
            )
