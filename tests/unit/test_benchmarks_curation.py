"""The benchmark of curation: its pairs, its scores, and that the committed figures are those of the rules."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from benchmarks.quality.curation.pairs import DEV, EXPECTED, TEST, Pair, load
from benchmarks.quality.curation.run import SYSTEMS, decide, store
from benchmarks.quality.curation.scoring import score, wilson
from benchmarks.quality.datasets import DataError

if TYPE_CHECKING:
    from psycopg import Connection

RESULTS = Path(__file__).resolve().parents[2] / "benchmarks" / "results" / "curation.json"


def results() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(RESULTS.read_text(encoding="utf-8"))
    return found


def test_no_unrelated_pair_is_ever_changed_and_the_figures_are_those_of_the_file(
    conn: Connection[Any],
) -> None:
    pairs = load(TEST)
    scores = score(pairs, [one.decision for one in decide(conn, store(conn, pairs))])
    assert scores["unrelated_changed"]["count"] == 0
    assert scores == results()["systems"][SYSTEMS[1]]


def test_no_unrelated_pair_was_changed_with_embeddings() -> None:
    found = results()
    assert found["pairs"] == {label: sum(pair.label == label for pair in load(TEST)) for label in EXPECTED}
    scores = found["systems"][SYSTEMS[0]]
    assert scores["unrelated_changed"]["count"] == 0
    assert scores["confusion"]["unrelated"]["ADD"] == scores["unrelated_changed"]["of"]
    for label, decisions in scores["confusion"].items():
        assert sum(decisions.values()) == found["pairs"][label]
        share = scores["decisions"][EXPECTED[label]]["recall"]
        assert (share["right"], share["of"]) == (decisions[EXPECTED[label]], found["pairs"][label])


def test_the_two_sets_have_no_pair_in_common() -> None:
    texts = [{(pair.old, pair.new) for pair in load(path)} for path in (DEV, TEST)]
    assert len(texts[0]) == len(load(DEV))
    assert not texts[0] & texts[1]


def test_scores() -> None:
    pairs = [Pair(str(number), "", "", label, "") for number, label in enumerate(EXPECTED)]
    scores = score(pairs, ["NOOP", "NOOP", "SUPERSEDE", "UPDATE"])
    assert scores["confusion"]["update"] == {"NOOP": 1, "UPDATE": 0, "SUPERSEDE": 0, "ADD": 0}
    assert scores["decisions"]["NOOP"]["precision"]["value"] == 0.5
    assert scores["decisions"]["NOOP"]["recall"]["value"] == 1
    assert scores["decisions"]["ADD"]["precision"] is None
    assert scores["decisions"]["ADD"]["recall"]["right"] == 0
    assert scores["unrelated_changed"] == {"count": 1, "of": 1, "ci95": [0.2065, 1.0]}


def test_wilsons_interval() -> None:
    assert wilson(0, 40) == (0.0, 0.0876)
    assert wilson(5, 10) == (0.2366, 0.7634)
    assert wilson(10, 10)[1] == 1


@pytest.mark.parametrize(
    "line",
    ['{"id": "a"}', "no JSON", '{"id": "a", "old": "x", "new": "y", "label": "same", "kind": "z"}'],
)
def test_a_file_that_is_none_is_refused(tmp_path: Path, line: str) -> None:
    file = tmp_path / "pairs.jsonl"
    file.write_text(f"{line}\n")
    with pytest.raises(DataError):
        load(file)
    same = '{"id": "a", "old": "x", "new": "y", "label": "update", "kind": "z"}\n'
    file.write_text(same * 2)
    with pytest.raises(DataError, match="twice"):
        load(file)
