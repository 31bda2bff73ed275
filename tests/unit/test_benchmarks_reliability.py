"""The benchmark of the confidence: what its namespaces hold, its figures, and the fit of other coefficients."""

from __future__ import annotations

import math
import random
from pathlib import Path

import pytest

from benchmarks.quality.reliability.fitting import refit
from benchmarks.quality.reliability.run import Observation, read_observations, write_observations
from benchmarks.quality.reliability.sampling import GROUPS, SOURCES, draw, read, stored
from benchmarks.quality.reliability.scoring import scores

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "examples" / "sample"


def observation(number: int, *, known: bool, right: bool, confidence: float) -> Observation:
    return Observation("one", "sample", 5, f"q{number}", known, right, confidence, {})


def test_a_namespace_has_the_evidence_or_it_has_not() -> None:
    sample = read(SAMPLE, SOURCES[0], 42)
    spaces = draw([sample], 42)
    assert {space.size for space in spaces} == set(GROUPS)
    for space in spaces:
        held = {memory.id for _, memory in space.memories}
        assert len(held) == len(space.memories) <= space.size
        assert {memory.fields.namespace for memory in stored(space)} == {space.name}
        for asked in space.asked:
            if asked.is_known:
                assert asked.question.relevant <= held
            else:
                assert not asked.question.relevant & held
            assert not asked.question.exclude & held
    small = [space for space in spaces if space.size == 5]
    assert all(len(space.memories) == 5 for space in small)
    assert sum(one.is_known for space in small for one in space.asked) == len(sample.questions)
    assert draw([sample], 42) == spaces


def test_the_figures_of_some_questions() -> None:
    observations = [
        observation(1, known=True, right=True, confidence=0.9),
        observation(2, known=True, right=False, confidence=0.1),
        observation(3, known=False, right=False, confidence=0.9),
        observation(4, known=False, right=False, confidence=0.1),
    ]
    found = scores(observations, 42)
    assert found["first_is_right"] == 0.5
    assert found["answered_above"]["value"] == found["unanswered_above"]["value"] == 0.5
    assert found["right_above"]["value"] == 1
    assert found["calibration_error"]["value"] == pytest.approx(0.5 * 0.4 + 0.5 * 0.1)
    low, high = found["unanswered_above"]["ci95"]
    assert 0 <= low < 0.5 < high <= 1


def test_a_fit_finds_coefficients_and_is_tried_on_other_data() -> None:
    chance = random.Random(1)
    observations = []
    for number in range(3000):
        lead = chance.random()
        odds = -2 + 5 * lead
        parts = {"base": -4.0, "share": 0.0, "evidence": 0.0, "lead": 6.7 * lead, "contradiction": 0.0}
        right = chance.random() < 1 / (1 + math.exp(-odds))
        observations.append(
            Observation(
                "one",
                ("a", "b")[number % 2],
                5,
                str(number),
                right,
                right,
                1 / (1 + math.exp(-sum(parts.values()))),
                parts,
            )
        )
    found = refit(observations, 42)
    assert found["held_out"]["a"]["coefficients"]["lead"] == pytest.approx(5, abs=0.8)
    error = found["all"]["one"]["calibration_error"]
    assert error["fitted"] < error["in_force"]
    assert error["ci95"][1] < 0


def test_observations_are_kept(tmp_path: Path) -> None:
    observations = [observation(1, known=True, right=True, confidence=0.5)]
    write_observations(tmp_path / "observations", observations)
    assert read_observations(tmp_path / "observations") == observations
