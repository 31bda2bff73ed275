"""docs/benchmarks.md and README's figures say what the committed results files say."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from benchmarks import report
from benchmarks.cli import main as benchmarks
from benchmarks.quality.graph.command import PAIRS
from benchmarks.report import command
from benchmarks.report.markdown import table
from benchmarks.report.readme import BEGIN, END, NoPlace, figures, put
from benchmarks.report.runs import columns
from benchmarks.results import write
from pgrecall.query.embedding_models import DEFAULT_MODEL

METRICS = ("recall@5", "recall@10", "ndcg@10", "mrr", "any-hit@10", "all-hit@10")


def system(value: float) -> dict[str, Any]:
    return {
        "overall": dict.fromkeys(METRICS, value),
        "ci95": {metric: [value - 0.1, value + 0.1] for metric in METRICS[:4]},
        "strata": {"all": dict.fromkeys(METRICS, value)},
        "latency_ms": {"p50": 1.25, "p95": 2.0},
    }


def differences(a: str, b: str, *deltas: float) -> list[dict[str, Any]]:
    """Comparisons in the four headline metrics, significant where the difference is larger than the interval."""
    return [
        {"a": a, "b": b, "metric": metric, "delta": delta, "ci95": [delta - 0.1, delta + 0.1], "p": 0.01,
         "significant": abs(delta) > 0.1}
        for metric, delta in zip(METRICS[:4], deltas, strict=True)
    ]  # fmt: skip


NOTHING = [one | {"ci95": [0.0, 0.0]} for one in differences("recall:graph_weight=0", "recall", 0, 0, 0, 0)]
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
    "systems": {"recall": system(0.5), "bm25-of-next-year": system(0.8), "words": system(0.2),
                "recall:rrf_k=10": system(0.9)},
    "not_run": {"langchain": "not installed"},
    "comparisons": [
        *differences("recall", "bm25-of-next-year", -0.3, -0.3, 0.05, 0.0),
        *differences("recall", "words", 0.3, 0.3, 0.3, 0.3),
    ],
    "rankings": {"recall": {"q1": ["a", "b"]}},
}  # fmt: skip


def held(stratum: str | None, leg: str, *deltas: float) -> list[dict[str, Any]]:
    """What `recall` has over a leg in a stratum, in the four headline metrics."""
    return [{"stratum": stratum, **one} for one in differences("recall", leg, *deltas)]


TUNED = RESULTS | {
    "dataset": "tuned",
    "ablations": [
        {"label": "A", "title": "full", "system": "recall", "against_full": []},
        {"label": "B", "title": "without graph", "system": "recall:graph_weight=0", "against_full": NOTHING},
        {"label": "C", "title": "dense only", "system": "dense",
         "against_full": differences("dense", "recall", -0.2, -0.2, -0.05, -0.2)},
        {"label": "F", "title": "ranks", "system": "recall:fusion=rrf,rrf_k=5",
         "against_full": differences("recall:fusion=rrf,rrf_k=5", "recall", -0.3, -0.05, 0.2, 0.0)},
    ],
    "sweeps": {
        "note": "Seeded.", "metric": "recall@10", "tuning_queries": 2, "reporting_queries": 2, "default": 0.5,
        "options": [
            {"option": "rrf_k", "values": [{"value": "1", "recall@10": 0.7}], "best": "1",
             "reported": differences("recall:rrf_k=1", "recall", 0.3, 0.25, 0.0, 0.0)},
            {"option": "leg_depth", "beside": {"strategy": "auto"}, "values": [{"value": "9", "recall@10": 0.4}],
             "best": None, "reported": []},
        ],
        "together": {"settings": {"rrf_k": "1", "leg_depth": "9"},
                     "reported": differences("recall:rrf_k=1,leg_depth=9", "recall", 0.3, 0.05, 0.0, 0.0)},
    },
}  # fmt: skip
HELD = RESULTS | {
    "dataset": "held",
    "data": RESULTS["data"] | {"strata": {"exact": 2, "hard": 4}, "generated_queries": 2},
    "systems": {name: system(value) | {"strata": {"exact": dict.fromkeys(METRICS, value), "hard": dict.fromkeys(METRICS, value)}}
                for name, value in {"recall": 0.5, "lexical": 0.45, "recall:strategy=auto": 0.625}.items()},
    "against_legs": [
        *held(None, "lexical", 0.05, 0.2, 0.3, 0.0), *held(None, "dense", 0.2, 0.05, 0.4, 0.0),
        *held("exact", "lexical", 0.0, 0.0, 0.05, 0.0), *held("exact", "dense", 0.5, 0.5, 0.5, 0.0),
        *held("hard", "lexical", 0.9, 0.9, -0.2, 0.0), *held("hard", "dense", -0.05, -0.3, 0.9, 0.0),
    ],
}  # fmt: skip


def speed(at: str, dim: int, *sizes: int, p50: float = 2.0) -> dict[str, Any]:
    """A results file of the speed benchmark, with a system and an extra that nobody knows."""
    times = {"p50": p50, "p95": 8.04, "p99": 9.0, "n": 5}
    systems = dict.fromkeys(("recall", "floor", "baseline:naive", "baseline:python", "leg:new"), times)
    detail = {
        "load": {"copy": 1.0, "rows_per_second": 9194.0, "index_builds": {"large_idx": 12.34, "small_idx": 0.01}, "vacuum": 0.1},
        "bytes_per_memory": {"memories": 1786.7, "large_idx": 1171.5, "settings": 2.0},
        "per_second": {"1": 93.4},
        "load_average": [0.5, 2.0],
    }  # fmt: skip
    extras = dict.fromkeys(
        ("recall:words=3", "recall:tag=1%", "recall:clients=4", "recall:unheard-of"), times
    )
    ratio = {"p50": 1.042, "p95": 0.996}
    return {
        "format": 1, "kind": "speed", "measured_at": at, "dim": dim, "queries": 5, "seed": 42,
        "git": {"revision": "fedcba9876543210", "modified": True},
        "machine": {"cpu": "a processor", "cores": 2, "memory_mb": 2048, "system": "Linux 6"},
        "server": {"postgresql": "18.6", "pgvector": "0.8.6", "settings": {"shared_buffers": "128MB"}},
        "rows": {str(size): systems for size in sizes},
        "extras": {str(size): extras for size in sizes},
        "ratios": {str(size): {"recall / floor": ratio, "leg:new / recall": ratio} for size in sizes},
        "details": {str(size): detail for size in sizes},
        "ingest": {"rows_per_second": 5565.1},
    }  # fmt: skip


def challenger(name: str, delta: float | None, weight: float) -> dict[str, Any]:
    """Graph scores in the walk's place; the walk itself has no difference to it."""
    compared = [] if delta is None else differences(name, "walk", delta, delta, 0.05, 0.0)
    return {
        "name": name,
        "overall": {},
        "against_walk": compared,
        "best_weight": weight,
        "best_against_walk": compared,
    }


GRAPH: dict[str, Any] = RESULTS | {
    "kind": "graph", "dataset": "linked",
    "extraction": {"version": "1-abc", "spacy": False, "concepts": 1234, "mentions": 5678, "relationships": 9},
    "comparisons": [
        {"stratum": stratum, **one}
        for a, b in PAIRS
        for stratum in (None, "all")
        for one in differences(a, b, *((0.2, 0.3, 0.05, 0.0) if b == "dense" else (0.05, -0.2, 0.05, 0.0)))
    ],
    "entering": [
        {"k": k, "share_entered": 0.25, "share_relevant_entered": 0.125, "entered": 8, "precision": 0.5,
         "pushed_out": pushed, "pushed_out_precision": 0.125 if pushed else None, "net": 0.5, "net_ci95": [-0.25, 0.75]}
        for k, pushed in ((5, 0), (10, 16))
    ],
    "far": {"beyond_rank": 50, "questions": 3, "memories": 4,
            "systems": {"recall": {"far_recall@10": 0.75}, "recall:graph_weight=0": {"far_recall@10": 0.25}},
            "comparisons": [
                *differences("recall", "recall:graph_weight=0", 0.2, 0.4, 0.05, 0.0),
                {"metric": "far_recall@10", "delta": 0.5, "ci95": [0.25, 0.75], "p": 0.01, "significant": True},
            ]},
    "pagerank": {"note": "Walked.", "weight": 0.2, "reproduced": {"@10": 0.995, "@20": 0.99},
                 "candidates": [challenger("walk", None, 0.3), challenger("PageRank 0.5", -0.2, 0.75)]},
    "sweeps": {
        "note": "Seeded.", "metric": "recall@10", "tuning_queries": 2, "reporting_queries": 2,
        "options": [
            {"option": "graph_weight", "in_force": "0.2", "best": "0.5",
             "values": [{"value": "0.5", "tuning": {"recall@10": 0.75}, "reporting": {"recall@10": 0.625}}],
             "reported": differences("recall:graph_weight=0.5", "recall", 0.3, 0.25, 0.0, 0.0)},
            {"option": "graph_seeds", "in_force": "10", "best": "10",
             "values": [{"value": "10", "tuning": {"recall@10": 0.5}, "reporting": {"recall@10": 0.5}}], "reported": []},
        ],
        "not_tried": ["graph_of_next_year"],
    },
}  # fmt: skip

EMBEDDER = {"texts": 5882, "bare_per_second": 162.8, "daemon_per_second": 157.7, "ratio": 0.969, "model": "m", "cores": 2}  # fmt: skip


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout with a README and a results file that is somebody else's."""
    (tmp_path / "benchmarks" / "results").mkdir(parents=True)
    (tmp_path / "README.md").write_text(f"# Mine\n\n{BEGIN}{END}\nThe end.\n", encoding="utf-8")
    (tmp_path / "benchmarks" / "results" / "layouts.json").write_text('{"kind": "layouts", "rows": [1]}')
    return tmp_path


def page_of(*results: tuple[str, dict[str, Any]]) -> str:
    return report.render(results)[0]


def row(page: str, begins: str) -> str:
    """The only line that begins so."""
    (line,) = [line for line in page.splitlines() if line.startswith(begins)]
    return line


def test_the_report_is_in_date() -> None:
    assert report.main(check=True) == 0, "make bench-report"


def test_the_report_follows_its_results(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results, docs = checkout / "benchmarks" / "results", checkout / "docs"
    write(results / "quality-invented.json", RESULTS)
    assert json.loads((results / "quality-invented.json").read_text()) == RESULTS
    (results / "embedder.json").write_text(json.dumps(EMBEDDER))
    assert report.main(checkout, check=True) == 1
    stale = capsys.readouterr().err
    assert "docs/benchmarks.md" in stale
    assert "README.md" in stale

    assert report.main(checkout, check=False) == 0
    assert report.main(checkout, check=True) == 0
    readme = (checkout / "README.md").read_text(encoding="utf-8")
    assert readme.startswith(f"# Mine\n\n{BEGIN}| what |")
    assert readme.endswith(f"{END}\nThe end.\n")
    assert "| 157.7 texts/s, 0.969 of the bare model in the same run |" in readme
    assert "| [invented](benchmarks/results/quality-invented.json) | 0.500 |" in readme
    plot = docs / "benchmarks" / "quality-invented.png"
    assert plot.stat().st_size < 20_000
    drawn = plot.stat().st_mtime_ns
    assert report.main(checkout, check=False) == 0
    assert plot.stat().st_mtime_ns == drawn  # nothing new to show

    write(results / "quality-invented.json", RESULTS | {"dataset": "renamed"})
    assert report.main(checkout, check=True) == 1
    assert "quality-invented.png" in capsys.readouterr().err
    (results / "quality-invented.json").unlink()
    assert report.main(checkout, check=True) == 1
    assert "quality-invented.png" in capsys.readouterr().err
    assert report.main(checkout, check=False) == 0
    assert not plot.exists()
    (checkout / "README.md").write_text(readme.replace("157.7", "257.7"), encoding="utf-8")
    assert report.main(checkout, check=True) == 1


def test_without_results_there_is_nothing_to_report(checkout: Path) -> None:
    assert report.main(checkout, check=False) == 0
    page = (checkout / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    assert "\n## " not in page
    assert not (checkout / "docs" / "benchmarks").exists()
    assert (checkout / "README.md").read_text(encoding="utf-8") == f"# Mine\n\n{BEGIN}{END}\nThe end.\n"


@pytest.mark.parametrize("text", ["", BEGIN, f"{END}{BEGIN}", f"{BEGIN}{END}{BEGIN}{END}", f"{BEGIN}{BEGIN}{END}"])  # fmt: skip
def test_a_readme_without_a_place_for_figures_is_refused(text: str) -> None:
    with pytest.raises(NoPlace, match=r"README\.md needs one"):
        put(text, "| a |\n")


def test_a_results_file_of_another_format_is_refused(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = checkout / "benchmarks" / "results" / "old.json"
    for old in (RESULTS, speed("2026", 384, 10)):
        path.write_text(json.dumps(old | {"format": 0}))
        monkeypatch.setattr(command, "ROOT", checkout)
        assert benchmarks(["report", "--check"]) == 2
        assert "old.json has format 0, not 1" in capsys.readouterr().err


def test_the_summary_marks_the_best_and_what_differs_from_recall() -> None:
    page = page_of(("one", RESULTS), ("two", TUNED))
    first, second = (page[page.index(f"### {name}\n") :] for name in ("recall@10", "nDCG@10"))
    first = first[: first.index("### nDCG@10")]
    assert row(first, "| system") == "| system | invented | tuned |"
    assert row(first, "| `recall`") == "| `recall` | 0.500 | 0.500 |"
    assert row(first, "| `bm25-of") == "| `bm25-of-next-year` | 0.800 ↑ | 0.800 ↑ |"
    assert row(first, "| `words`") == "| `words` | 0.200 ↓ | 0.200 ↓ |"
    assert "rrf_k" not in first
    second = second[: second.index("### What")]
    assert row(second, "| `bm25-of") == "| `bm25-of-next-year` | 0.800 | 0.800 |"  # not significant


def test_the_summary_shows_parts_and_settings_of_the_data_sets_that_have_them() -> None:
    page = page_of(("one", RESULTS), ("two", TUNED))
    page = page[: page.index("## The data sets")]
    assert row(page, "| B: without graph, recall@10") == "| B: without graph, recall@10 | none |"
    assert row(page, "| C: dense only, recall@10") == "| C: dense only, recall@10 | **-0.200** |"
    assert row(page, "| C: dense only, nDCG@10") == "| C: dense only, nDCG@10 | -0.050 |"
    assert row(page, "| data set |") == "| data set | `rrf_k` | `strategy=auto,leg_depth` | together |"
    assert row(page, "| tuned,") == (
        "| tuned, recall@10 | 1: **+0.250 [+0.150, +0.350]** | default "
        "| rrf_k=1, leg_depth=9: +0.050 [-0.050, +0.150] |"
    )
    assert "What each part is worth" not in page_of(("one", RESULTS))


def test_the_summary_holds_recall_against_its_best_leg_in_every_stratum() -> None:
    page = page_of(("one", RESULTS), ("two", HELD))
    page = page[: page.index("## The data sets")]
    # The better leg is the one that recall has less over, metric by metric.
    assert row(page, "| held, overall") == (
        "| held, overall | 4 | +0.050 [-0.050, +0.150] `lexical` | +0.050 [-0.050, +0.150] `dense` "
        "| **+0.300 [+0.200, +0.400]** `lexical` |"
    )
    assert row(page, "| held, hard") == (
        "| held, hard | 4 | -0.050 [-0.150, +0.050] `dense` | **-0.300 [-0.400, -0.200]** `dense` "
        "| **-0.200 [-0.300, -0.100]** `lexical` |"
    )
    assert row(page, "| held, exact") == (
        "| held, exact | 2 | +0.000 [-0.100, +0.100] `lexical` | +0.000 [-0.100, +0.100] `lexical` "
        "| +0.050 [-0.050, +0.150] `lexical` |"
    )
    assert "worse: held hard, recall@10, than `dense`; held hard, nDCG@10, than `lexical`.\n" in page
    better = HELD | {"against_legs": HELD["against_legs"][:16]}
    assert "Significantly worse: nowhere." in page_of(("two", better))

    assert row(page, "| held | ") == (
        "| held | 0.450 | 0.500 | 0.450 | 0.500 | +0.050 [-0.050, +0.150] | 0.625 |"
    )
    assert "best single leg" not in page_of(("one", RESULTS))
    assert "### Exact wording" not in page_of(("two", HELD | {"data": RESULTS["data"]}))


def test_a_table_has_no_column_that_is_empty_in_every_row() -> None:
    assert (
        table(["a", "b", "c"], [["1", "", ""], ["2", "", "3"]])
        == "| a | c |\n|---|---|\n| 1 |  |\n| 2 | 3 |\n"
    )
    assert table(["a", "b"], []) == "| a | b |\n|---|---|\n"
    page = (Path(__file__).parents[2] / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    for rows in re.findall(r"(?m)^\|(?:---\|)+\n((?:\|.*\n)+)", page):
        cells = [row.split("|")[1:-1] for row in re.sub(r"\\\|", "", rows).splitlines()]
        assert all(any(cell.strip() for cell in column) for column in zip(*cells, strict=True)), rows


def test_the_summary_shows_reciprocal_ranks_beside_the_default() -> None:
    systems = RESULTS["systems"] | {"recall:fusion=rrf,rrf_k=5": system(0.25)}
    page = page_of(("one", RESULTS), ("two", TUNED | {"systems": systems}))
    page = page[page.index("### Fusion") : page.index("### What each part")]
    assert row(page, "| data set") == (
        "| data set, metric | `recall` | `recall:fusion=rrf,rrf_k=5` | difference |"
    )
    # What recall has over it, not the other way round.
    assert (
        row(page, "| tuned, recall@5") == "| tuned, recall@5 | 0.500 | 0.250 | **+0.300 [+0.200, +0.400]** |"
    )
    assert row(page, "| tuned, nDCG@10") == "| tuned, nDCG@10 | 0.500 | 0.250 | **-0.200 [-0.300, -0.100]** |"
    assert "invented" not in page
    assert "### Fusion" not in page_of(("one", RESULTS))


def test_parts_of_recall_are_in_their_own_plot_only() -> None:
    systems = RESULTS["systems"] | {"recall:graph_weight=0": system(0.25), "dense": system(0.5)}
    plots = [
        report.render([("one", TUNED | {"systems": chosen})])[1]["benchmarks/one.png"].digest
        for chosen in (systems, RESULTS["systems"] | {"dense": system(0.5)}, RESULTS["systems"])
    ]
    assert plots[0] == plots[1] != plots[2]


def test_a_section_for_each_data_set() -> None:
    page, plots = report.render([("one", RESULTS), ("two", TUNED)])
    assert set(plots) == {"benchmarks/one.png", "benchmarks/two.png", "benchmarks/two-ablation.png"}
    section = page[page.index("### tuned\n") :]
    assert "revision 0123456789ab, seed 42: [two.json](../benchmarks/results/two.json)" in section
    assert (
        "| `recall` − `bm25-of-next-year` | -0.300 [-0.400, -0.200], p 0.0100 | -0.300 [-0.400, -0.200], p 0.0100 | "
        "+0.050 [-0.050, +0.150], not significant |" in section
    )
    assert "| langchain | not installed |" in section
    assert "| `strategy=auto,leg_depth` | 9: 0.400 | the default |" in section
    assert section.count("<details>") == section.count("</details>") == 1


def test_questions_without_an_answer_are_counted_both_ways() -> None:
    data = RESULTS["data"] | {"abstentions": 4}
    page = page_of(("one", RESULTS | {"data": data}))
    assert (
        "recall@10 over the 4 questions that have an answer, and with the 4 that have none counted as found"
        in page
    )
    assert "| `words` | 0.200 | 0.600 |" in page
    assert "counted as found" not in page_of(("one", RESULTS))


def test_speed_has_ratios_first_and_a_column_for_each_size() -> None:
    results = (("a", speed("2026-01-01", 384, 10_000, 100_000)), ("b", speed("2026-01-02", 1024, 100_000)))
    page, plots = report.render(results)
    assert page.index("### Ratios") < page.index("### Times") < page.index("### Storing")
    titles = "10,000 × 384 | 100,000 × 384 | 100,000 × 1024"
    assert f"|  | {titles} |" in page
    assert row(page, "| `recall` / `floor`") == "| `recall` / `floor` " + "| 1.04 / 1.00 " * 3 + "|"
    assert row(page, "| `leg:new` |") == "| `leg:new` " + "| 2.0 / 8.0 / 9.0 " * 3 + "|"
    assert row(page, "| `recall:unheard-of`")
    assert row(page, "| 1 at once") == "| 1 at once " + "| 93.4 " * 3 + "|"
    assert row(page, "| `remember_many`") == "| `remember_many`, memories/s " + "| 5,565 " * 3 + "|"
    assert row(page, "| building `large_idx`") == "| building `large_idx`, s " + "| 12.3 " * 3 + "|"
    assert "small_idx" not in page
    assert row(page, "| bytes per memory") == "| bytes per memory, total " + "| 2,960 " * 3 + "|"
    assert "`settings`" not in page
    assert "a processor, 2 cores, 2.0 GiB, Linux 6, load average before each 0.5, 0.5;" in page
    assert "revision fedcba987654 with changes" in page
    # A line needs two sizes: 1024 dimensions have one.
    assert set(plots) == {"benchmarks/speed.png"}
    assert set(report.render(results[1:])[1]) == set()


def test_the_newest_of_two_measurements_of_a_size_counts() -> None:
    results = [
        ("z-old", speed("2026-01-01", 384, 10, 1000, p50=1.0)),
        ("a-new", speed("2026-02-01", 384, 1000, p50=3.0)),
    ]
    assert [(column.file, column.rows) for column in columns(results)] == [("z-old", 10), ("a-new", 1000)]
    assert row(page_of(*results), "| `floor`") == "| `floor` | 1.0 / 8.0 / 9.0 | 3.0 / 8.0 / 9.0 |"


def test_readme_shows_the_usual_size_or_the_largest_of_the_smallest_dimension() -> None:
    usual = figures([("a", speed("2026", 384, 10_000, 100_000, 1_000_000)), ("b", speed("2026", 64, 50))])
    assert "| `recall`, 100,000 memories of 384 dimensions, 2 cores | p50 2.0 ms, p95 8.0 ms |" in usual
    assert "| p50 1.04, p95 1.00 |" in usual
    assert "hybrid" not in usual  # there is no such ratio
    other = figures([("a", speed("2026", 384, 5, 7)), ("b", speed("2026", 1024, 9))])
    assert "| `recall`, 7 memories of 384 dimensions" in other


def test_a_plot_over_many_sizes_is_drawn_small(tmp_path: Path) -> None:
    results = [(str(dim), speed("2026", dim, 1_000, 10_000, 100_000, 1_000_000)) for dim in (384, 1024)]
    plot = report.render(results)[1]["benchmarks/speed.png"]
    plot.write(tmp_path / "speed.png")
    assert (tmp_path / "speed.png").stat().st_size < 20_000
    with Image.open(tmp_path / "speed.png") as image:
        assert image.width > image.height > 200
        assert image.info["Description"] == plot.digest


def test_the_graph_has_a_section_of_its_own() -> None:
    page = page_of(("graph-linked", GRAPH))
    assert row(page, "| linked | 9 |").split(" | ")[2:6] == ["1,234", "5,678", "9", "no"]
    assert "[graph-linked.json](../benchmarks/results/graph-linked.json)" in page
    assert row(page, "| linked, `recall` − `recall:graph_weight=0` |").split(" | ")[1:3] == [
        "+0.050 [-0.050, +0.150]",
        "**-0.200 [-0.300, -0.100]**",
    ]
    assert "**+0.300 [+0.200, +0.400]**" in row(page, "| linked, `recall` − `dense` |")
    assert (
        row(page, "| linked | 5 |")
        == "| linked | 5 | 25.0% | 12.5% | 8, 50.0% | 0,  | +0.500 [-0.250, +0.750] |"
    )
    assert "16, 12.5%" in row(page, "| linked | 10 |")
    far = row(page, "| linked | 3, 4 |").split(" | ")
    assert far[2] == "**+0.200 [+0.100, +0.300]**"
    assert far[6:] == ["0.250", "0.750", "**+0.500 [+0.250, +0.750]** |"]
    assert row(page, "| linked, PageRank 0.5, weight 0.2 |").count("**-0.200 [-0.300, -0.100]**") == 2
    assert "PageRank 0.5, best, 0.75" in page
    assert "linked 99.5%" in page
    assert "| linked, walk" not in page
    assert "| `graph_weight` | 0.2 | 0.5: 0.750 / 0.625 | 0.5 | **+0.250 [+0.150, +0.350]** |" in page
    assert "| `graph_seeds` | 10 | 10: 0.500 / 0.500 | 10 |  |" in page
    assert "Not tried: graph_of_next_year." in page
    assert "## Quality at a glance" not in page
    with pytest.raises(ValueError, match=r"graph-old.json has format 7, not 1"):
        page_of(("graph-old", GRAPH | {"format": 7}))


def test_without_far_memories_the_graph_section_says_none() -> None:
    nothing = {"beyond_rank": 50, "questions": 0, "memories": 0, "systems": {}, "comparisons": []}
    page = page_of(("graph-linked", GRAPH | {"far": nothing}))
    assert row(page, "| linked | 0, 0 |") == "| linked | 0, 0 |"


def test_the_confidence_has_its_worst_data_set_and_significant_changes() -> None:
    figure = {"value": 0.25, "ci95": [0.2, 0.3]}
    names = (
        "calibration_error",
        "answered_above",
        "right_above",
        "unanswered_above",
        "auroc_known",
        "auroc_right",
    )
    cell = {"asked": 80, "first_is_right": 0.5, **dict.fromkeys(names, figure)}
    change = {"in_force": 0.25, "fitted": 0.2, "delta": -0.05, "ci95": [-0.08, -0.02]}
    changes = {"one": dict.fromkeys(names, change)}
    page, plots = report.render(
        [
            (
                "reliability",
                {
                    "kind": "reliability",
                    "git": {"revision": "0" * 40, "modified": False},
                    "encoders": {
                        "one": {"sizes": {"5": cell, "3000": cell}, "datasets": {"bad": cell}, "worst": "bad"}
                    },
                    "refit": {"held_out": {"bad": {"encoders": changes}}, "all": changes},
                },
            )
        ]
    )
    assert not plots
    assert row(page, "| one | 3,000 | 80 |").count("0.250 [0.200, 0.300]") == 5
    assert "over all sizes: one: bad, 0.250 [0.200, 0.300]." in page
    assert row(page, "| **all** | one |").count("0.250, **-0.050 [-0.080, -0.020]**") == 3


def test_what_sparse_terms_bring() -> None:
    """Each data set's gain, and the share that is best where it was not chosen."""

    def measured(name: str, values: dict[str, float]) -> dict[str, Any]:
        systems = {
            f"recall:sparse_share={share}" if share else "recall": system(value)
            for share, value in values.items()
        }
        return RESULTS | {
            "kind": "sparse",
            "dataset": name,
            "model": {"name": DEFAULT_MODEL},
            "systems": systems,
            "settings": {"sparse_share": "0.25"},
            "sparse": {
                "model": "m",
                "read": 9,
                "with_terms": 9,
                "bytes": 1024,
                "new": 9,
                "per_second": 120.4,
            },
            "comparisons": differences("recall", "recall:sparse_share=0", 0.2, 0.05, 0.3, 0.0),
            "against_legs": held(None, "dense", 0.2, 0.05, 0.4, 0.0),
        }

    results = [
        ("sparse-one", measured("one", {"0": 0.25, "": 0.5, "0.5": 0.75})),
        ("sparse-two", measured("two", {"0": 0.25, "": 0.75, "0.5": 0.25})),
    ]
    page, _ = report.render(results)
    section = page.split("## Words that a memory does not hold")[1]
    assert "0.250 → 0.500, **+0.200 [+0.100, +0.300]**" in section
    assert "**+0.400 [+0.300, +0.500]** `dense`" in section
    assert "| 1,024 | 120 |" in section
    # What is best on the one is not what was chosen for it.
    assert "| one | 0.2500 | 0.5000 | 0.7500 | 0.25 |" in section
    assert "| two | 0.2500 | 0.7500 | 0.2500 | 0.5 |" in section
