"""The quality benchmark: data sets, systems, and a whole run on an invented data set."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from benchmarks.cli import main
from benchmarks.quality.datasets import DataError, Dataset, Memory, Query, load_dataset
from benchmarks.quality.exact import exact_queries
from benchmarks.report import render
from benchmarks.results import read
from benchmarks.systems import split_names
from benchmarks.systems.documents import reciprocal_rank_fusion
from benchmarks.systems.sqlite_fts5 import SqliteFts5
from pgrecall.models import NewMemory

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

CORPUS: list[dict[str, Any]] = [
    {"id": 1, "content": "Ada planted seven apple trees behind the old barn in spring.", "team": "a"},
    {"id": 2, "content": "The barn roof leaks whenever the wind turns west.", "team": "a", "title": "Roof"},
    {"id": 3, "content": "Ben sold the tractor and bought two sturdy horses.", "team": "a"},
    {"id": 4, "content": "A violin teacher visits on Thursday afternoons.", "team": "b"},
    {"id": 5, "content": "Our cello needs new strings before the concert.", "team": "b"},
    {"id": 6, "content": "Behind the old barn in spring the frogs are loud.", "team": "a"},
    {"id": 7, "content": "The safe opens with 7-22-31.", "team": "b", "is_sensitive": True},
]
QUERIES: list[dict[str, Any]] = [
    {"query_id": "q1", "text": "Who planted apple trees?", "stratum": "garden", "team": "a"},
    {"query_id": "q2", "text": "Which animals replaced the farm machine?", "stratum": "farm", "team": "a"},
    {"query_id": "q3", "text": "Which instrument must be repaired?", "stratum": "music", "team": "b"},
    {"query_id": "q4", "text": "The barn roof leaks whenever the wind turns west.", "stratum": "garden", "team": "a",
     "exclude_ids": [2]},
]  # fmt: skip
QRELS: list[dict[str, Any]] = [
    {"query_id": "q1", "relevant_ids": [1]},
    {"query_id": "q2", "relevant_ids": [3]},
    {"query_id": "q3", "relevant_ids": [5]},
    {"query_id": "q4", "relevant_ids": [1, 6]},
]


def write(folder: Path, **files: Sequence[dict[str, Any]]) -> Path:
    contents: dict[str, Sequence[dict[str, Any]]] = {"corpus": CORPUS, "queries": QUERIES, "qrels": QRELS}
    for name, rows in (contents | files).items():
        (folder / f"{name}.jsonl").write_text(
            "".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8"
        )
    return folder


def corpus(*texts: str, namespace: str = "default") -> Dataset:
    memories = [
        Memory(str(place), namespace, text, NewMemory(content=text)) for place, text in enumerate(texts)
    ]
    return Dataset("invented", "pooled", tuple(memories), ())


# Data sets


def test_a_data_set_is_read_in_both_scopes(tmp_path: Path) -> None:
    write(tmp_path)
    pooled = load_dataset(tmp_path)
    assert [memory.id for memory in pooled.memories] == ["1", "2", "3", "4", "5", "6", "7"]
    assert set(pooled.by_namespace()) == {"default"}
    assert pooled.memories[1].text == "Roof\nThe barn roof leaks whenever the wind turns west."
    assert pooled.strata() == {"farm": 1, "garden": 2, "music": 1}

    scoped = load_dataset(tmp_path, "field:team")
    assert {name: len(found) for name, found in scoped.by_namespace().items()} == {"a": 4, "b": 3}
    assert scoped.queries[3].exclude == {"2"}
    assert scoped.queries[3].relevant == {"1", "6"}
    assert [query.id for query in scoped.restricted_to({"b"}).queries] == ["q3"]
    with pytest.raises(DataError, match="no memory is in c"):
        scoped.restricted_to({"c"})


@pytest.mark.parametrize(
    ("files", "problem"),
    [
        ({"qrels": QRELS[1:]}, "queries without qrels: q1"),
        ({"queries": QUERIES[1:]}, "qrels without a query: q1"),
        ({"qrels": [*QRELS[1:], {"query_id": "q1", "relevant_ids": [1, 77]}]}, "relevant ids that are no memory: 77"),
        ({"qrels": [*QRELS[1:], {"query_id": "q1", "relevant_ids": []}]}, "empty set of relevant ids: q1"),
        ({"qrels": [*QRELS, QRELS[0]]}, "qrels given twice: q1"),
        ({"qrels": [*QRELS, {"query_id": "q9"}]}, "no query_id or no list of relevant_ids"),
        ({"corpus": [*CORPUS, {"id": "3", "content": "twin", "team": "a"}]}, "memories with the same id: 3"),
        ({"queries": [*QUERIES, QUERIES[0]]}, "queries with the same id: q1"),
        ({"queries": [*QUERIES[:3], QUERIES[3] | {"exclude_ids": [99]}]}, "exclude_ids that are no memory: 99"),
        ({"queries": [*QUERIES[:3], QUERIES[3] | {"exclude_ids": [6]}]}, "exclude a relevant memory: q4"),
        ({"queries": [QUERIES[0] | {"team": "b"}, *QUERIES[1:]]}, "relevant memories outside their scope: q1"),
        ({"queries": [{"query_id": "q1", "text": "?"}, *QUERIES[1:]]}, "query q1 has no team"),
        ({"queries": [QUERIES[0] | {"text": " "}, *QUERIES[1:]]}, "no query_id, text"),
        ({"corpus": [*CORPUS, {"content": "nameless", "team": "a"}]}, "a memory without an id"),
        ({"corpus": [*CORPUS, {"id": 8, "content": " ", "team": "a"}]}, "memory 8"),
        ({"corpus": [*CORPUS, {"id": 8, "content": "teamless"}]}, "memory 8 has no field 'team'"),
        ({"corpus": []}, "corpus.jsonl is empty"),
    ],
)  # fmt: skip
def test_an_unsound_data_set_is_refused_by_name(
    tmp_path: Path, files: dict[str, Any], problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, **files)
    with pytest.raises(DataError) as error:
        load_dataset(tmp_path, "field:team")
    assert problem in str(error.value)
    assert main(["quality", "--data", str(tmp_path), "--scope", "field:team"]) == 2
    assert problem in capsys.readouterr().err


def test_every_problem_is_named_and_long_lists_are_cut(tmp_path: Path) -> None:
    more = [{"query_id": f"x{number}", "text": "why?"} for number in range(9)]
    write(tmp_path, queries=[*QUERIES[1:], *more])
    with pytest.raises(DataError) as error:
        load_dataset(tmp_path)
    assert "queries without qrels: x0, x1, x2, x3, x4 and 4 more" in str(error.value)
    assert "qrels without a query: q1" in str(error.value)


def test_missing_and_broken_files_are_named(tmp_path: Path) -> None:
    write(tmp_path)
    (tmp_path / "qrels.jsonl").unlink()
    (tmp_path / "queries.jsonl").write_text("[1]\n{\n")
    with pytest.raises(DataError) as error:
        load_dataset(tmp_path)
    assert "qrels.jsonl is missing" in str(error.value)
    assert "queries.jsonl, line 1: not a JSON object" in str(error.value)
    assert "queries.jsonl, line 2: not JSON" in str(error.value)
    with pytest.raises(DataError, match="field:NAME"):
        load_dataset(tmp_path, "conversation")


# The exact stratum


def test_exact_questions_are_runs_of_words_and_every_memory_that_holds_one_is_relevant() -> None:
    dataset = corpus(
        "We met behind the old barn, and talked of rain.",
        "Then, Behind the OLD barn and beside it, grew nettles.",
        "two words",
        "behind the older barns nobody ever went",
    )
    queries = exact_queries(dataset, 50, seed=3)
    assert {query.stratum for query in queries} == {"exact"}
    assert all(query.generated for query in queries)
    for query in queries:
        words = query.text.lower().replace(",", "").split()
        assert 4 <= len(words) <= 8
        holders = {
            memory.id
            for memory in dataset.memories
            if f" {' '.join(words)} " in f" {memory.text.lower().replace(',', '').replace('.', '')} "
        }
        assert query.relevant == holders
        assert "2" not in holders
    assert queries == exact_queries(dataset, 50, seed=3)
    assert queries[:1] == exact_queries(dataset, 1, seed=3)
    drawn = [[query.text for query in exact_queries(dataset, 50, seed)] for seed in range(20)]
    assert len({tuple(texts) for texts in drawn}) > 1
    shared = [
        query for seed in range(200) for query in exact_queries(dataset, 9, seed) if len(query.relevant) > 1
    ]
    assert shared
    assert all(query.relevant == {"0", "1"} for query in shared)


def test_exact_questions_stay_in_their_namespace() -> None:
    one, two = corpus("one two three four"), corpus("one two three four", namespace="other")
    twin = Memory("twin", "other", two.memories[0].text, two.memories[0].fields)
    dataset = Dataset("invented", "field:x", (*one.memories, twin), ())
    queries = exact_queries(dataset, 5, seed=0)
    assert {(query.namespace, *query.relevant) for query in queries} == {("default", "0"), ("other", "twin")}


# Systems


def test_names_of_systems_keep_their_options() -> None:
    assert split_names(
        "lexical, recall:rrf_k=10,graph_weight=0,recall,my.module:Class,recall:leg_depth=20"
    ) == [
        "lexical",
        "recall:rrf_k=10,graph_weight=0",
        "recall",
        "my.module:Class",
        "recall:leg_depth=20",
    ]


def test_fusion_in_python() -> None:
    fused = reciprocal_rank_fusion([(1, ["a", "b"]), (1, ["b", "c"]), (0.35, ["d"])])
    assert fused == ["b", "a", "c", "d"]  # 1/62 + 1/61, 1/61, 1/62, 0.35/61


def test_sqlite_wants_every_word_then_some_then_a_part() -> None:
    system = SqliteFts5()
    dataset = corpus("red apples", "green apples and red pears", "blue plums", 'quotes "and" (brackets)')
    system.index(dataset)

    def ask(text: str, k: int = 10) -> list[str]:
        return system.retrieve(Query("q", text, "default", "all", frozenset()), k)

    assert ask("red pears")[0] == "1"
    assert set(ask("red pears")) == {"0", "1"}
    assert ask("red pears", 1) == ["1"]
    assert ask("plum") == ["2"]
    assert ask("lum") == ["2"]
    assert ask('"AND" NEAR (brackets*')[0] == "3"
    assert ask("?!") == []


OWN = """
class Backwards:
    # The last memories first, one of them twice.
    def index(self, dataset):
        self.ids = [memory.id for memory in reversed(dataset.memories)]

    def retrieve(self, query, k):
        return [self.ids[0], *self.ids][:k]


class Broken(Backwards):
    def retrieve(self, query, k):
        return ["no such memory"]
"""


# A whole run


def test_a_whole_run(
    tmp_path: Path,
    public_dir: Path,
    server_dsn: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("PGRECALL_DSN", server_dsn)
    monkeypatch.setenv("PGRECALL_BENCH_LANGCHAIN", str(tmp_path / "nowhere"))
    (tmp_path / "retrievers_of_my_own.py").write_text(OWN)
    monkeypatch.syspath_prepend(tmp_path)
    own = "retrievers_of_my_own:Backwards"
    out = tmp_path / "out.json"
    command = [
        "quality", "--data", str(write(tmp_path)), "--scope", "field:team", "--exact", "2",
        "--cache", str(public_dir / "cache"), "--json", str(out), "--ablate", "--sweep", "rrf_k,graph_hops",
        "--systems", f"lexical,dense,recall,graph,sqlite-fts5,ts-rank,bm25s,dense-exact,python-fused,supabase,"
        f"langchain,recall:rrf_k=10,graph_weight=0,{own}",
        "--compare", "recall", "lexical",
    ]  # fmt: skip
    assert main(command) == 0
    printed = capsys.readouterr()
    assert "not significant" in printed.out
    assert "not run: langchain: langchain-postgres is not installed" in printed.out
    assert "circular" in printed.out

    results = read(out)
    assert results is not None
    assert results["dataset"] == tmp_path.name
    assert results["data"]["strata"] == {"exact": 2, "farm": 1, "garden": 2, "music": 1}
    assert results["data"]["queries"] == 4
    assert results["model"] == {"name": "sentence-transformers/all-MiniLM-L6-v2", "dimension": 384}
    assert results["settings"]["rrf_k"] == "10"
    assert results["server"]["server_version"]
    assert results["not_run"] == {"langchain": "langchain-postgres is not installed: make bench-langchain"}
    assert results["systems"]["recall:rrf_k=10,graph_weight=0"]["latency_ms"]["p50"] > 0

    words, meaning = (results["systems"][name] for name in ("lexical", "dense"))
    rankings = results["rankings"]
    assert words["strata"]["exact"]["recall@5"] == 1
    assert words["strata"]["garden"]["mrr"] == 1
    assert meaning["overall"]["recall@5"] == 1
    assert rankings["dense"] == rankings["dense-exact"]
    assert all("7" not in found for found in rankings["dense"].values())
    assert all("2" not in found["q4"] for found in rankings.values())
    assert set(rankings["recall"]["q3"]) <= {"4", "5"}
    assert rankings["graph"]["q1"] == []
    assert rankings[own]["q4"] == ["7", "6", "5", "4", "3", "1"]
    assert "tractor" not in out.read_text(encoding="utf-8")

    assert [(one["a"], one["b"]) for one in results["comparisons"]] == [("recall", "lexical")] * 4
    assert [row["label"] for row in results["ablations"]] == list("ABCDEFGHIJKLMNOPQRS")
    assert [one["metric"] for one in results["ablations"][3]["against_full"]] == [
        "recall@5", "recall@10", "ndcg@10", "mrr",
    ]  # fmt: skip
    # Every part ran; their rankings are not kept, unless asked for.
    assert {row["system"] for row in results["ablations"]} <= set(results["systems"])
    assert "recall:half_life=30 days" not in rankings
    assert "recall:rrf_k=10,graph_weight=0" in rankings
    sweeps = results["sweeps"]
    assert (sweeps["tuning_queries"], sweeps["reporting_queries"]) == (2, 2)
    fused, hops = sweeps["options"]
    assert (fused["option"], fused["beside"]) == ("rrf_k", {"fusion": "rrf"})
    # rrf_k needs another fusion: its best is reported even if the default is as good.
    assert fused["best"] is not None
    assert fused["reported"][0]["a"] == f"recall:fusion=rrf,rrf_k={fused['best']}"
    assert (hops["option"], hops["beside"], hops["best"]) == ("graph_hops", {}, None)

    held = {(one["stratum"], one["b"], one["metric"]): one["delta"] for one in results["against_legs"]}
    assert {stratum for stratum, _, _ in held} == {None, "exact", "farm", "garden", "music"}
    systems = results["systems"]
    for (stratum, leg, metric), delta in held.items():
        a, b = (
            systems[name]["overall" if stratum is None else "strata"] for name in ("recall", leg)
        )  # fmt: skip
        if stratum is not None:
            a, b = a[stratum], b[stratum]
        assert delta == pytest.approx(a[metric] - b[metric], abs=2e-6)

    page, plots = render([("invented", results)])
    again, _ = render([("invented", json.loads(out.read_text(encoding="utf-8")))])
    assert page == again
    assert "`python-fused`" in page
    assert set(plots) == {"benchmarks/invented.png", "benchmarks/invented-ablation.png"}
    for name, plot in plots.items():
        plot.write(tmp_path / name)
        first = (tmp_path / name).read_bytes()
        (tmp_path / name).unlink()
        plot.write(tmp_path / name)
        assert (tmp_path / name).read_bytes() == first

    # Again, from the cache: no model is loaded. A system that breaks does not take the others along.
    monkeypatch.setattr("benchmarks.quality.embeddings.load_provider", None)
    broken = "retrievers_of_my_own:Broken"
    assert (
        main(
            [
                *command[:7],
                "--cache",
                str(public_dir / "cache"),
                "--json",
                str(out),
                "--systems",
                f"dense,{broken}",
            ]
        )
        == 1
    )
    repeated = json.loads(out.read_text(encoding="utf-8"))
    assert repeated["rankings"] == {"dense": repeated["rankings"]["dense"]}
    assert repeated["rankings"]["dense"] == rankings["dense"]
    assert "which is no memory" in repeated["not_run"][broken]
    capsys.readouterr()

    # What is the default anyway is not run again.
    monkeypatch.setenv("PGOPTIONS", "-c pgrecall.strategy=auto -c pgrecall.graph_weight=0.0")
    short = [*command[:7], "--cache", str(public_dir / "cache"), "--json", str(out), "--systems", "recall"]
    assert main([*short, "--ablate", "BHO", "--sweep", "graph_weight"]) == 0
    narrow = json.loads(out.read_text(encoding="utf-8"))
    assert [row["label"] for row in narrow["ablations"]] == ["A", "H"]
    assert narrow["against_legs"] == []
    assert "recall:graph_weight=0:" not in capsys.readouterr().err
    monkeypatch.delenv("PGOPTIONS")
    assert main([*short, "--ablate", "AZ"]) == 2
    assert "no part Z to ablate" in capsys.readouterr().err

    monkeypatch.setenv("PGRECALL_DSN", "host=/nowhere dbname=none")
    assert main([*command[:7], "--systems", "bm25s,dense"]) == 2
    assert "no scratch database" in capsys.readouterr().err
    monkeypatch.setenv("PGRECALL_DSN", server_dsn)

    for systems, problem in {
        "sense": "there is no system 'sense'",
        "recall:sense=1": "no setting sense",
        "recall:rrf_k=none": "rrf_k",
        "recall:rrf_k": "OPTION=VALUE",
        "tests.nothing:Here": "cannot be loaded",
    }.items():
        assert main([*command[:7], "--cache", str(public_dir / "cache"), "--systems", systems]) == 2
        assert problem in capsys.readouterr().err
