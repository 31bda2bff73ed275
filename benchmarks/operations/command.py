"""The commands: `python -m benchmarks sizing`, `aging`, `scale` and `ef-search`."""

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg

from benchmarks.operations import console
from benchmarks.operations.aging import measure_aging
from benchmarks.operations.ef_search import (
    MODES,
    Build,
    Subject,
    build_index,
    measure_settings,
    settings_to_try,
)
from benchmarks.operations.scale import STEPS, Scale, measure_scale
from benchmarks.operations.sizing import measure_sizes
from benchmarks.operations.texts import pooled, stored
from benchmarks.quality.datasets import POOL
from benchmarks.scratch import scratch_database
from benchmarks.speed import machine
from benchmarks.speed.generator import LARGE, TAGS, Corpus
from benchmarks.speed.measure import WARM_UP
from benchmarks.speed.questions import NATURAL, questions
from benchmarks.speed.shared import add_run_options, circumstances, positive, say, write
from benchmarks.speed.storage import build_memory_mb, connect, drop_database, open_database
from pgrecall.server import ServerError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

__all__ = ["FORMAT", "add_to"]

FORMAT = 1
"""Raised when a results file changes so that older ones cannot be read."""
_SHIPPED = Build(16, 64)
"""With what migrations build the index."""
_FILTER = "50%"
_FILTERED_VALUES = (40, 100, 400)


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the commands to the command line."""
    sizing = commands.add_parser("sizing", help="bytes, time and WAL of a memory, by number and dimension")
    sizing.set_defaults(command=_sizing)
    sizing.add_argument(
        "--rows", type=_numbers, default=[20_000, 100_000], metavar="N,…", help="numbers of memories"
    )
    sizing.add_argument("--dims", type=_numbers, default=[384, 1024], metavar="N,…", help="of the embeddings")
    sizing.add_argument(
        "--live",
        type=positive,
        default=2_000,
        metavar="N",
        help="memories to store by remember_many and embed",
    )
    add_run_options(sizing)

    aging = commands.add_parser("aging", help="sizes, times and answers after many changes")
    aging.set_defaults(command=_aging)
    aging.add_argument("--rows", type=positive, default=20_000, metavar="N", help="live memories")
    aging.add_argument("--changes", type=positive, default=200_000, metavar="N", help="updates and the like")
    aging.add_argument("--dim", type=positive, default=384, metavar="N", help="of the embeddings")
    aging.add_argument("--queries", type=positive, default=200, metavar="N", help="questions")
    add_run_options(aging)

    scale = commands.add_parser("scale", help="millions of memories: loading, asking, operating; takes hours")
    scale.set_defaults(command=_scale)
    scale.add_argument("--rows", type=positive, default=5_000_000, metavar="N", help="memories")
    scale.add_argument("--dim", type=positive, default=384, metavar="N", help="of the embeddings")
    scale.add_argument("--queries", type=positive, default=200, metavar="N", help="questions")
    scale.add_argument(
        "--folder", type=Path, required=True, metavar="DIR",
        help="of a server of its own, which stays: an interrupted run goes on there",
    )  # fmt: skip
    scale.add_argument("--loaders", type=positive, default=2, metavar="N", help="sessions that load")
    scale.add_argument("--shared-buffers", default="6GB", metavar="SIZE", help="of that server")
    scale.add_argument(
        "--until", choices=STEPS, default=STEPS[-1], metavar="STEP", help=f"the last step: {', '.join(STEPS)}"
    )
    scale.add_argument("--seed", type=int, default=42, metavar="N")
    scale.add_argument("--json", type=Path, metavar="FILE", help="write the results here")

    ef_search = commands.add_parser(
        "ef-search", help="hnsw.ef_search and iterative scans against recall and time"
    )
    ef_search.set_defaults(command=_ef_search)
    ef_search.add_argument("--rows", type=positive, default=100_000, metavar="N", help="synthetic memories")
    ef_search.add_argument("--dim", type=positive, default=384, metavar="N", help="of their embeddings")
    ef_search.add_argument(
        "--ef",
        type=_numbers,
        default=[10, 20, 40, 100, 200, 400],
        metavar="N,…",
        help="values of hnsw.ef_search",
    )
    ef_search.add_argument(
        "--builds", type=_builds, default=[], metavar="M/EF,…", help="other m and ef_construction to try"
    )
    ef_search.add_argument(
        "--data", type=Path, action="append", default=[], metavar="DIR",
        help="a labelled data set, for real texts and questions (repeatable: all of them in one namespace)",
    )  # fmt: skip
    ef_search.add_argument("--queries", type=positive, default=200, metavar="N", help="questions")
    ef_search.add_argument(
        "--seconds", type=float, default=10.0, metavar="S", help="ask a way no longer than this"
    )
    add_run_options(ef_search)


def _sizing(options: argparse.Namespace) -> int:
    def measure() -> dict[str, Any]:
        with scratch_database(options.dsn, options.cache, keep=False, say=say) as server:
            return measure_sizes(
                server, options.rows, options.dims, live=options.live, seed=options.seed, say=say
            )

    return _run("sizing", options, measure, console.sizing)


def _aging(options: argparse.Namespace) -> int:
    def measure() -> dict[str, Any]:
        # Drawing is seeded for repeatability; nothing secret hangs on it.
        chance = random.Random(options.seed)  # noqa: S311
        with scratch_database(options.dsn, options.cache, keep=False, say=say) as server:
            return measure_aging(
                server, options.rows, options.changes, options.dim, chance,
                queries=options.queries, seed=options.seed, say=say,
            )  # fmt: skip

    return _run("aging", options, measure, console.aging)


def _scale(options: argparse.Namespace) -> int:
    def measure() -> dict[str, Any]:
        corpus = Corpus(options.rows, options.dim, options.seed)
        settings = {
            "shared_buffers": options.shared_buffers,
            "max_wal_size": "8GB",
            "checkpoint_timeout": "15min",
        }
        run = Scale(options.folder, corpus, options.queries, settings, options.loaders, say)
        return measure_scale(run, options.until)

    return _run("scale", options, measure, console.scale)


def _ef_search(options: argparse.Namespace) -> int:
    return _run("ef-search", options, lambda: _curves(options), console.ef_search)


def _run(
    kind: str,
    options: argparse.Namespace,
    measure: Callable[[], dict[str, Any]],
    render: Callable[[dict[str, Any]], str],
) -> int:
    """Measure, print and write: 0, or 2 if the server cannot be used."""
    result = circumstances(kind, FORMAT, options.seed, "benchmarks/speed", "benchmarks/operations")
    try:
        result |= measure()
    except (ServerError, psycopg.OperationalError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(render(result))
    write(options.json, result)
    return 0


def _curves(options: argparse.Namespace) -> dict[str, Any]:
    """Measure the settings over synthetic memories, and over real texts where there are any."""
    count, usual = options.queries + WARM_UP, settings_to_try(options.ef)
    modes = settings_to_try(_FILTERED_VALUES, MODES)
    corpus = Corpus(options.rows, options.dim, options.seed)
    memory = machine.memory_mb() * 2**20 // 4
    corpora = {}
    with scratch_database(options.dsn, options.cache, keep=False, say=say) as server:
        dsn, loading = open_database(server, corpus, fresh=True, build_memory=memory, say=say)
        try:
            asked = questions(corpus, NATURAL, count)
            subject = Subject(dsn, LARGE, asked)
            say("asking")
            with connect(dsn) as connection:
                about = machine.server(connection)
                corpora["synthetic"] = {
                    "memories": corpus.large,
                    "dim": options.dim,
                    "questions": len(asked),
                    "curve": measure_settings(subject, usual, options.seconds),
                    "modes": measure_settings(subject, modes, options.seconds),
                    "filter": f"a tag that {_FILTER} of the memories have",
                    "filtered": measure_settings(
                        Subject(dsn, LARGE, asked, [TAGS[_FILTER]]), modes, options.seconds
                    ),
                }
                builds = []
                for build in options.builds:
                    say(f"building with m = {build.m}, ef_construction = {build.ef_construction}")
                    built = build_index(
                        connection, build, build_memory_mb(corpus.rows, 2 * corpus.dimension, memory)
                    )
                    builds.append(
                        built | {"curve": measure_settings(subject, usual, options.seconds, whole=False)}
                    )
        finally:
            drop_database(server, f"bench_{options.rows}_{options.dim}")
    if options.data:
        dataset = pooled(options.data, count, options.seed)
        with stored(dataset, options.dsn, options.cache, say) as (dsn, asked):
            say("asking")
            corpora["texts"] = {
                "datasets": dataset.name,
                "memories": len(dataset.memories),
                "questions": len(asked),
                "curve": measure_settings(Subject(dsn, POOL, asked), usual, options.seconds),
            }
    return {
        "rows": options.rows,
        "dim": options.dim,
        "server": about,
        "build": {
            "m": _SHIPPED.m,
            "ef_construction": _SHIPPED.ef_construction,
            "seconds": loading.index_builds["memories_embedding_idx"],
        },
        "builds": builds,
        "corpora": corpora,
    }


def _numbers(text: str) -> list[int]:
    return [positive(part) for part in text.split(",")]


def _builds(text: str) -> list[Build]:
    pairs = [part.partition("/") for part in text.split(",")]
    return [Build(positive(m), positive(ef_construction)) for m, _, ef_construction in pairs]
