"""One run: every system at one size, on one server, one after the other."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from benchmarks.speed import indexes, machine
from benchmarks.speed.engines import engines
from benchmarks.speed.generator import Corpus
from benchmarks.speed.hub import with_hub
from benchmarks.speed.long_memories import with_passages
from benchmarks.speed.measure import WARM_UP, Latency, alternately, cold, concurrent, one_by_one
from benchmarks.speed.plans import plans
from benchmarks.speed.questions import KINDS, NATURAL, Question, questions
from benchmarks.speed.storage import connect, open_database, sizes, warm_up
from benchmarks.speed.systems import (
    FILTERS,
    Seeds,
    Target,
    baseline_naive,
    baseline_python,
    find_seeds,
    leg,
    nothing,
    page,
    prepare_baselines,
    recall,
    with_values,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from psycopg import Connection


__all__ = ["CLIENTS", "HEADLINE", "Options", "measure_size"]

HEADLINE = (
    "recall",
    "leg:lexical",
    "leg:dense",
    "leg:graph",
    "floor",
    "baseline:naive",
    "baseline:python",
)
"""The systems every run has, all of them asked the same natural questions of 8 words."""
CLIENTS = (1, 4, 16)
MOST_COPIED = 100_000
"""Beyond it, what needs a copy of the memories takes too long: the hub, long memories, other engines."""
_SAME_WORK = '{"graph_weight": 0, "session_share": 0}'
"""With them, recall does what hybrid search engines do: words and vectors, no concepts, no sessions."""
PAGES = (1, 100, 1000)
"""Of lists. A namespace with fewer memories has no thousandth page: the answer is empty."""


@dataclass(frozen=True, slots=True)
class Options:
    """What a run is asked for.

    Attributes:
        dimension: Of the embeddings.
        queries: Questions a system is asked, besides those to warm up.
        seconds: For how long a system is asked at the most.
        seed: Of memories and questions.
        fresh: Whether databases are created again.
        build_memory: Bytes that building an HNSW index may take.
    """

    dimension: int
    queries: int
    seconds: float
    seed: int
    fresh: bool
    build_memory: int


def measure_size(server: str, rows: int, options: Options, say: Callable[[str], None]) -> dict[str, Any]:
    """Measure everything at one size.

    Args:
        server: Connection string of a role that may create databases.
        rows: The number of memories.
        options: What is asked for.
        say: Told of progress.

    Returns:
        `server`, `settings`, `systems` (the headline), `extras`, `passages_per_second` (stored with their
        index), `per_second` by number of clients, `load`, `bytes_per_memory`, `load_average` (before and
        after the questions), `indexes` (how often recall scanned each; `unused`: those it should have),
        `plans` (made by calls of recall on one connection).
    """
    corpus = Corpus(rows, options.dimension, options.seed)
    dsn, loading = open_database(
        server, corpus, fresh=options.fresh, build_memory=options.build_memory, say=say
    )
    load_average = [os.getloadavg()[0]]
    asked = {kind: questions(corpus, kind, options.queries + WARM_UP) for kind in KINDS}
    with connect(dsn) as connection:
        prepare_baselines(connection)
        result: dict[str, Any] = {
            "server": machine.server(connection),
            "settings": machine.settings(connection),
            "load": asdict(loading),
            "bytes_per_memory": sizes(connection),
            "warmed_up_by": warm_up(connection),
        }
        target = Target.read(connection)
        say("  asking")
        result["indexes"] = _indexes(connection, target, asked[NATURAL][:WARM_UP], corpus.large)
        times = _headline(connection, target, asked[NATURAL], options.seconds)
        extras = _extras(dsn, connection, target, asked, options.seconds)
        result["plans"] = plans(dsn, recall(), asked[NATURAL])
        if rows <= MOST_COPIED:
            say("  asking engines inside one process")
            with engines(connection) as others:
                calls = {"recall": recall(), "recall, the same work": recall(settings=_SAME_WORK), **others}
                beside = alternately(connection, calls, asked[NATURAL], options.seconds)
            extras |= {f"engines:{name}": found for name, found in beside.items() if others}
    if rows <= MOST_COPIED:
        say("  asking where one concept is everywhere")
        extras |= with_hub(server, dsn, asked[NATURAL], options.seconds)
        say("  asking where every tenth memory is long")
        of_long, result["passages_per_second"] = with_passages(server, dsn, asked[NATURAL], options.seconds)
        extras |= of_long
    result["systems"] = {name: asdict(Latency.of(times[name])) for name in HEADLINE}
    extras |= {name: times[name] for name in ("bare:dense", "bare:ts_rank")}
    result["per_second"] = {}
    for clients in CLIENTS:
        together = concurrent(dsn, recall(), asked[NATURAL], clients, options.seconds)
        extras[f"recall:clients={clients}"] = together.times
        result["per_second"][str(clients)] = together.per_second
    load_average.append(os.getloadavg()[0])
    result["load_average"] = [round(one, 2) for one in load_average]
    result["extras"] = {name: asdict(Latency.of(one)) for name, one in extras.items()}
    return result


def _indexes(
    connection: Connection[Any], target: Target, asked: Sequence[Question], large_rows: int
) -> dict[str, Any]:
    """See which indexes recall uses for a few questions."""
    call = recall()
    before = indexes.scans(connection)
    for question in asked:
        call(connection, question)
    after = indexes.scans(connection)
    scans = {name: count - before.get(name, 0) for name, count in sorted(after.items())}
    return {
        "recalls": len(asked),
        "scans": {name: count for name, count in scans.items() if count},
        "unused": [name for name in indexes.expected(target, large_rows) if not scans.get(name)],
        "plan": indexes.plan(connection, asked[0]),
    }


def _headline(
    connection: Connection[Any], target: Target, asked: Sequence[Question], seconds: float
) -> dict[str, list[float]]:
    """Time the systems of the headline and the bare dense query."""
    seeds: Seeds = {}
    times = alternately(
        connection,
        {
            "recall": recall(),
            "leg:lexical": leg("lexical_leg", target),
            "leg:dense": leg("dense_leg", target),
            "leg:graph": leg("graph_leg", target, seeds),
            "bare:dense": leg("dense_bare", target),
            "bare:ts_rank": leg("ts_rank_bare", target),
            "baseline:naive": baseline_naive(target),
            "baseline:python": baseline_python(target),
        },
        asked,
        seconds,
        before=lambda block: seeds.update(find_seeds(connection, target, block)),
    )
    # The lexical leg has nothing but its queries, the graph leg is written into the statement that calls it:
    # alone, they are bare already.
    parts = (times["leg:lexical"], times["bare:dense"], times["leg:graph"])
    times["floor"] = [sum(one) for one in zip(*parts, strict=True)]
    return times


def _extras(
    dsn: str, connection: Connection[Any], target: Target, asked: dict[Any, list[Question]], seconds: float
) -> dict[str, list[float]]:
    natural = asked[NATURAL]
    times = {
        f"{name}:{kind.name}": one_by_one(connection, call, of_kind, seconds)
        for kind, of_kind in asked.items()
        if kind != NATURAL
        for name, call in (("recall", recall()), ("leg:lexical", leg("lexical_leg", target)))
    }
    variants = {"recall:unprepared": recall(prepare=False), "recall:values": with_values(recall())}
    variants |= {name: recall(**filters) for name, filters in FILTERS.items()}
    variants |= {f"list:page={number}": page(connection, number) for number in PAGES}
    variants["select:1"] = nothing
    times |= alternately(connection, variants, natural, seconds)
    times["recall:cold"], times["recall:first-call"], times["recall:second-call"] = cold(
        dsn, recall(), natural, seconds
    )
    return times
