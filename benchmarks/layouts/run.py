"""One run: every layout takes in the same memories, turn by turn, and answers the same questions."""

from __future__ import annotations

import os
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from benchmarks.layouts.ingest import STAGES, Work
from benchmarks.layouts.prototypes import BASELINE, LAYOUTS
from benchmarks.layouts.searching import BUDGETS, KINDS, Reference, Target, agreements, measure
from benchmarks.layouts.storage import clone, settle, sizes, table_sizes, template, write_out
from benchmarks.layouts.times import Times, seconds
from benchmarks.speed import machine
from benchmarks.speed.generator import Corpus
from benchmarks.speed.measure import WARM_UP
from benchmarks.speed.questions import NATURAL, questions
from benchmarks.speed.storage import connect

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from psycopg import Connection

    from benchmarks.layouts.prototypes import Layout
    from benchmarks.speed.questions import Kind, Question

    Connections = Mapping[Layout, Connection[Any]]

__all__ = ["Options", "run"]


@dataclass(frozen=True, slots=True)
class Options:
    """What a run is asked for.

    Attributes:
        rows: Memories that are copied.
        dimension: Of the embeddings.
        queries: Questions of a kind, besides those to warm up.
        seconds: For how long a layout is asked questions of a kind at the most.
        many: Memories that are stored by remember_many.
        singles: Memories that are stored by remember.
        written_back: Memories that get an embedding.
        changed: Memories that get another text, and as many that are forgotten.
        seed: Of memories and questions.
    """

    rows: int
    dimension: int
    queries: int
    seconds: float
    many: int
    singles: int
    written_back: int
    changed: int
    seed: int


def run(server: str, options: Options, say: Callable[[str], None]) -> dict[str, Any]:
    """Measure everything.

    Args:
        server: Connection string of a role that may create databases.
        options: What is asked for.
        say: Told of progress.

    Returns:
        `server`, `load_average` (before and after), `work` (by stage), `bytes_per_memory`, `queries` by kind,
        `queries_unsettled` (with what was stored one by one not settled), `agreement_changed` (at the end).
    """
    corpus = Corpus(options.rows, options.dimension, options.seed)
    more = Corpus(options.many + options.singles, 1, options.seed + 1)
    load_average = [os.getloadavg()[0]]
    with template(server, {*corpus.namespaces, *more.namespaces}, options.dimension) as (source, dsn):
        with connect(dsn) as connection:
            about = machine.server(connection)
            namespaces = dict(connection.execute("SELECT name, id FROM pgrecall.namespaces").fetchall())
            target = Target.read(connection)
        work = Work.of(corpus, more, namespaces, options.many, options.written_back, options.changed)
        asked = {kind: questions(corpus, kind, options.queries + WARM_UP) for kind in KINDS}
        with ExitStack() as stack:
            connections = {layout: stack.enter_context(clone(server, source, layout)) for layout in LAYOUTS}
            watch = _Watch(connections, asked, target, options, say)
            times = {stage: _stage(stage, connections, work, watch, say) for stage in STAGES}
            watch.changed()
    load_average.append(os.getloadavg()[0])
    return {
        "server": about,
        "load_average": [round(one, 2) for one in load_average],
        "work": {stage: one.summary() for stage, one in times.items()},
        **watch.found,
    }


def _stage(
    stage: str, connections: Connections, work: Work, watch: _Watch, say: Callable[[str], None]
) -> Times:
    """Do one part of the work. The layouts take turns, and with every turn another one begins."""
    say(stage)
    times = Times()
    order = list(connections)
    write_out(connections[BASELINE])
    for do, count in work.turns[stage]:
        times.add(count, {layout.name: seconds(connections[layout], do) for layout in order})
        order = [*order[1:], order[0]]
    if stage == "remember":
        watch.unsettled()
    for layout, connection in connections.items():
        if layout.settle is not None:
            times.add_left(layout, seconds(connection, partial(settle, layout=layout)))
    if stage == "copy":
        for connection in connections.values():
            connection.execute("VACUUM ANALYZE")
        watch.settled()
    return times


class _Watch:
    """Looks at sizes and asks the questions, in between."""

    def __init__(
        self,
        connections: Connections,
        asked: Mapping[Kind, Sequence[Question]],
        target: Target,
        options: Options,
        say: Callable[[str], None],
    ) -> None:
        self.found: dict[str, Any] = {}
        self._connections = connections
        self._asked = asked
        self._target = target
        self._options = options
        self._say = say

    def settled(self) -> None:
        """Look after the copying."""
        rows = self._options.rows
        table = table_sizes(self._connections[BASELINE], rows)
        self.found["bytes_per_memory"] = {
            "table": table,
            "layouts": {
                layout.name: sizes(connection, layout, rows, table)
                for layout, connection in self._connections.items()
                if layout != BASELINE
            },
        }
        self._say("asking")
        reference = self._reference(*KINDS)
        self.found["queries"] = {kind.name: self._measure(kind, BUDGETS, reference) for kind in KINDS}

    def unsettled(self) -> None:
        """Look while something is left to be done."""
        self._say("asking")
        measured = self._measure(NATURAL, BUDGETS[:1], self._reference(NATURAL))
        self.found["queries_unsettled"] = {NATURAL.name: measured}

    def changed(self) -> None:
        """Look at the end."""
        reference = self._reference(NATURAL)
        self.found["agreement_changed"] = agreements(
            self._connections, self._target, self._asked[NATURAL], BUDGETS[-1], reference
        )

    def _reference(self, *kinds: Kind) -> Reference:
        asked = [question for kind in kinds for question in self._asked[kind]]
        return Reference(self._connections[BASELINE], self._target, asked)

    def _measure(self, kind: Kind, budgets: Sequence[int], reference: Reference) -> dict[str, Any]:
        return measure(
            self._connections,
            self._target,
            self._asked[kind],
            budgets,
            self._options.seconds,
            reference,
        )
