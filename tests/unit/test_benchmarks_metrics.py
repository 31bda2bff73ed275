"""The quality benchmark's arithmetic: metrics by hand and by trec_eval, significance on known data."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
import pytrec_eval

from benchmarks.quality.ablations import halves, same
from benchmarks.quality.bootstrap import compare, interval
from benchmarks.quality.datasets import Dataset, Query
from benchmarks.quality.metrics import HEADLINE, METRICS, evaluate, means, unique
from benchmarks.quality.reliability.scoring import area_under_curve, calibration_error
from benchmarks.quality.resources import Resources
from benchmarks.quality.run import Outcome, Run

if TYPE_CHECKING:
    from pathlib import Path


def question(id: str, relevant: set[str], stratum: str = "all", *, generated: bool = False) -> Query:
    return Query(id, id, "default", stratum, frozenset(relevant), generated=generated)


# Metrics, by hand


def test_metrics_by_hand() -> None:
    queries = [question("two", {"a", "b"}), question("one", {"c"}), question("none", {"d"})]
    rankings = {"two": ["x", "a", "y", "z", "v", "b"], "one": ["c"]}
    values = evaluate(queries, rankings)
    assert list(values) == list(METRICS)
    expected = {
        "recall@1": [0, 1, 0],
        "recall@2": [0.5, 1, 0],
        "recall@5": [0.5, 1, 0],
        "recall@10": [1, 1, 0],
        "recall@20": [1, 1, 0],
        "mrr": [1 / 2, 1, 0],
        "any-hit@1": [0, 1, 0],
        "any-hit@2": [1, 1, 0],
        "all-hit@5": [0, 1, 0],
        "all-hit@10": [1, 1, 0],
        # Gains at places 2 and 6 over the ideal: places 1 and 2.
        "ndcg@10": [(1 / math.log2(3) + 1 / math.log2(7)) / (1 + 1 / math.log2(3)), 1, 0],
    }
    for name, numbers in expected.items():
        assert values[name] == pytest.approx(numbers), name
    assert means(values)["mrr"] == pytest.approx(0.5)
    assert means(values, np.array([True, False, False]))["recall@5"] == 0.5


def test_a_repeated_id_counts_once_and_ranks_are_as_given() -> None:
    assert unique(["a", "b", "a", "c"], 3) == ["a", "b", "c"]
    # Ids that sort the other way round: no order but the ranking's may count.
    queries = [question("q", {"9"})]
    assert evaluate(queries, {"q": ["5", "5", "5", "9"]})["recall@2"] == pytest.approx([1])
    assert evaluate(queries, {"q": ["9", "1"]})["mrr"] == pytest.approx([1])
    assert evaluate(queries, {"q": ["1", "9"]})["mrr"] == pytest.approx([0.5])
    deep = [f"x{place}" for place in range(20)] + ["9"]
    assert evaluate(queries, {"q": deep})["mrr"] == pytest.approx([0])


def test_metrics_are_those_of_trec_eval() -> None:
    chance = np.random.default_rng(11)
    ids = [str(number) for number in range(60)]
    queries = [
        question(f"q{n}", set(chance.choice(ids, chance.integers(1, 7), replace=False))) for n in range(40)
    ]
    rankings = {query.id: [str(id) for id in chance.permutation(ids)[:20]] for query in queries}
    names = {"recall_5": "recall@5", "recall_20": "recall@20", "ndcg_cut_10": "ndcg@10", "recip_rank": "mrr",
             "success_10": "any-hit@10"}  # fmt: skip
    trec_eval = pytrec_eval.RelevanceEvaluator(
        {query.id: dict.fromkeys(query.relevant, 1) for query in queries},
        {"recall.5,20", "ndcg_cut.10", "recip_rank", "success.10"},
    ).evaluate(
        {name: {id: 100.0 - place for place, id in enumerate(found)} for name, found in rankings.items()}
    )
    values = evaluate(queries, rankings)
    for theirs, ours in names.items():
        assert values[ours] == pytest.approx([trec_eval[query.id][theirs] for query in queries]), ours


# Significance


def test_the_bootstrap_finds_a_difference_and_repeats_itself() -> None:
    better = np.array([1.0] * 60 + [0.0] * 40)
    worse = np.array([1.0] * 40 + [0.0] * 60)
    found = compare(("a", better), ("b", worse), "recall@5", seed=1)
    assert found.delta == pytest.approx(0.2)
    # Twenty ones among a hundred: the standard error is sqrt(0.2 * 0.8 / 100) = 0.04.
    assert found.ci95 == pytest.approx((0.2 - 1.96 * 0.04, 0.2 + 1.96 * 0.04), abs=0.015)
    assert found.p < 0.001
    assert found.significant
    assert found == compare(("a", better), ("b", worse), "recall@5", seed=1)
    mirrored = compare(("b", worse), ("a", better), "recall@5", seed=1)
    assert mirrored.delta == -found.delta
    assert mirrored.ci95 == pytest.approx((-found.ci95[1], -found.ci95[0]))


def test_the_bootstrap_finds_no_difference_in_noise() -> None:
    chance = np.random.default_rng(5)
    first, second = chance.random(300), chance.random(300)
    found = compare(("a", first), ("b", second), "mrr", seed=1)
    assert found.ci95[0] < 0 < found.ci95[1]
    assert not found.significant
    assert found.p > 0.05
    same = compare(("a", first), ("a", first), "mrr", seed=1)
    assert (same.delta, same.ci95, same.p, same.significant) == (0, (0, 0), 1, False)


def test_the_bootstrap_pairs_questions() -> None:
    chance = np.random.default_rng(7)
    hard = chance.random(100)
    # A small gain on every question is certain, however much the questions differ.
    assert compare(("a", hard + 0.01), ("b", hard), "mrr", seed=1).significant
    low, high = interval(hard, seed=1)
    assert low < hard.mean() < high
    with pytest.raises(ValueError, match="cannot be paired"):
        compare(("a", hard), ("b", hard[1:]), "mrr", seed=1)
    with pytest.raises(ValueError, match="nothing to resample"):
        interval(hard[:0], seed=1)


def test_halves_divide_every_stratum_and_leave_generated_questions_out() -> None:
    queries = [question(f"q{place}", {"a"}, f"s{place % 3}") for place in range(31)]
    queries.append(question("made", {"a"}, "exact", generated=True))
    tuning, reporting = halves(queries, seed=4)
    assert sorted(tuning + reporting) == list(range(31))
    assert abs(len(tuning) - len(reporting)) <= 1
    for stratum in ("s0", "s1", "s2"):
        counts = [sum(queries[place].stratum == stratum for place in half) for half in (tuning, reporting)]
        assert abs(counts[0] - counts[1]) <= 1
    assert halves(queries, seed=4) == (tuning, reporting)
    assert halves(queries, seed=5) != (tuning, reporting)


# Against the legs, by hand


def test_recall_is_held_against_each_leg_overall_and_in_every_stratum(tmp_path: Path) -> None:
    queries = [question(f"q{n}", {"a"}, "odd" if n % 2 else "even") for n in range(30)]
    queries += [question(f"x{n}", {"a"}, "exact", generated=True) for n in range(10)]
    # recall has the answer first, the words have it in place 1 to 3 by turns, the vector only for odd questions.
    found = {
        "recall": {query.id: ["a"] for query in queries},
        "lexical": {query.id: [*"bc"[: place % 3], "a"] for place, query in enumerate(queries)},
        "dense": {query.id: ["a"] if query.stratum == "odd" else ["b"] for query in queries},
    }
    dataset = Dataset("invented", "pooled", (), tuple(queries))
    run = Run(Resources(dataset, tmp_path, say=print), queries, 7, print, resamples=400)
    run.outcomes = {
        name: Outcome(ids, evaluate(queries, ids), np.ones(len(queries))) for name, ids in found.items()
    }
    compared = {(one["stratum"], one["b"], one["metric"]): one for one in run.against_legs()}
    parts = {
        None: range(30),
        "even": range(0, 30, 2),
        "odd": range(1, 30, 2),
        "exact": range(30, 40),
    }
    assert set(compared) == {
        (stratum, leg, metric) for stratum in parts for leg in ("lexical", "dense") for metric in HEADLINE
    }
    for stratum, places in parts.items():
        # The reciprocal rank of place 1, 2 and 3, by turns.
        differences = np.array([1 - 1 / (1 + place % 3) for place in places])
        drawn = differences[np.random.default_rng(7).integers(0, len(places), (400, len(places)))].mean(
            axis=1
        )
        one = compared[stratum, "lexical", "mrr"]
        assert one["a"] == "recall"
        assert one["delta"] == pytest.approx(differences.mean(), abs=1e-6)
        assert one["ci95"] == pytest.approx(np.percentile(drawn, (2.5, 97.5)), abs=1e-6)
        assert one["significant"]
        assert compared[stratum, "lexical", "recall@5"]["delta"] == 0
        assert not compared[stratum, "lexical", "recall@5"]["significant"]
    assert [compared[stratum, "dense", "recall@10"]["delta"] for stratum in parts] == [0.5, 1, 0, 1]
    del run.outcomes["dense"]
    assert {one["b"] for one in run.against_legs()} == {"lexical"}


@pytest.mark.parametrize(
    ("value", "other", "expected"),
    [("0.50", "0.5", True), ("30 days", "30 days", True), ("on", "off", False), ("30 days", "", False),
     ("1", "30 days", False), ("0", "", False), ("1", "10", False)],
)  # fmt: skip
def test_values_of_settings_are_compared_as_numbers_or_as_text(
    value: str, other: str, *, expected: bool
) -> None:
    assert same(value, other) is expected


# Confidence


def test_area_under_the_curve_by_hand() -> None:
    scores = np.array([0.9, 0.4, 0.4, 0.1])
    # Pairs of a positive and a negative: 0.9 over 0.4 and 0.1, a tie at 0.4, 0.4 over 0.1.
    assert area_under_curve(scores, np.array([True, True, False, False])) == (1 + 1 + 0.5 + 1) / 4
    assert area_under_curve(scores, np.array([False, False, True, True])) == (0 + 0 + 0.5 + 0) / 4
    assert math.isnan(area_under_curve(scores, np.ones(4, dtype=bool)))


def test_calibration_error_by_hand() -> None:
    confidences = np.array([0.95, 0.95, 0.05, 1.0])
    right = np.array([True, False, False, True])
    # The upper bin: mean confidence 2.9 / 3, two of three right; the lower one: 0.05, none right.
    assert calibration_error(confidences, right) == pytest.approx(0.75 * 0.3 + 0.25 * 0.05)
