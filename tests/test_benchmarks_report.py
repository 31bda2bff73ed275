"""docs/benchmarks.md says what the committed results files say."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from benchmarks import report
from benchmarks.results import write

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

METRICS = ("recall@5", "recall@10", "ndcg@10", "mrr", "any-hit@10", "all-hit@10")
SYSTEM = {
    "overall": dict.fromkeys(METRICS, 0.5),
    "ci95": {metric: [0.4, 0.6] for metric in METRICS[:4]},
    "strata": {"all": dict.fromkeys(METRICS, 0.5)},
    "latency_ms": {"p50": 1.25, "p95": 2.0},
}
RESULTS: dict[str, Any] = {
    "format": 1,
    "kind": "quality",
    "dataset": "invented",
    "data": {
        "scope": "pooled", "language": "english", "namespaces": 1, "memories": 9, "queries": 4,
        "relevant_per_query": 1.5, "strata": {"all": 4},
    },
    "git": {"revision": "0123456789abcdef", "modified": False},
    "machine": {"cores": 2},
    "seed": 42,
    "systems": {"bm25s": SYSTEM},
    "not_run": {"langchain": "not installed"},
    "comparisons": [
        {"a": "bm25s", "b": "mine", "metric": metric, "delta": delta, "ci95": [delta - 0.1, delta + 0.1],
         "p": 0.01, "significant": abs(delta) > 0.1}
        for metric, delta in zip(METRICS[:4], (0.3, 0.05, -0.3, 0.0), strict=True)
    ],
    "rankings": {"bm25s": {"q1": ["a", "b"]}},
}  # fmt: skip


def test_the_report_is_in_date() -> None:
    assert report.main(check=True) == 0, "make bench-report"


def test_the_report_follows_its_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    results, docs = tmp_path / "results", tmp_path / "docs"
    monkeypatch.setattr(report, "_ROOT", tmp_path)
    monkeypatch.setattr(report, "RESULTS", results)
    monkeypatch.setattr(report, "DOCS", docs)
    write(results / "quality-invented.json", RESULTS)
    assert json.loads((results / "quality-invented.json").read_text()) == RESULTS
    (results / "speed.json").write_text('{"rows": {}}')  # somebody else's
    assert report.main(check=True) == 1
    assert "docs/benchmarks.md" in capsys.readouterr().err

    assert report.main(check=False) == 0
    assert report.main(check=True) == 0
    page = (docs / "benchmarks.md").read_text(encoding="utf-8")
    assert "| invented | 0.500 |" in page
    assert (
        "| `bm25s` − `mine` | +0.300 [+0.200, +0.400], p 0.0100 | +0.050 [-0.050, +0.150], not significant |"
        in page
    )
    assert "| langchain | not installed |" in page
    plot = docs / "benchmarks" / "quality-invented.png"
    drawn = plot.stat().st_mtime_ns
    assert report.main(check=False) == 0
    assert plot.stat().st_mtime_ns == drawn  # nothing new to show

    write(results / "quality-invented.json", RESULTS | {"dataset": "renamed"})
    assert report.main(check=True) == 1
    assert "quality-invented.png" in capsys.readouterr().err
    (results / "quality-invented.json").unlink()
    assert report.main(check=False) == 0
    assert not plot.exists()
