# ruff: noqa: E501 (lines of SQL)
"""The command: `python -m benchmarks tenants`."""

from __future__ import annotations

import contextlib
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import psycopg

from benchmarks.speed import machine
from benchmarks.speed.console import table
from benchmarks.speed.generator import LARGE, MEDIUM, SPAN, START, TAGS, Corpus
from benchmarks.speed.measure import WARM_UP, Latency, alternately
from benchmarks.speed.questions import NATURAL, Question, questions
from benchmarks.speed.shared import add_run_options, circumstances, positive, say, write
from benchmarks.speed.storage import connect, copied_database, open_database, warm_up
from benchmarks.speed.systems import recall
from pgrecall.server import EmbeddedServer, ServerError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from psycopg import Connection

    from benchmarks.speed.measure import Call

__all__ = ["FORMAT", "add_to"]

FORMAT = 1
"""Raised when a results file changes so that older ones cannot be read."""

_ROLES = ("bench_one", "bench_many", "bench_member", "bench_everywhere")
_PREPARE = (
    *(f"DROP ROLE IF EXISTS {role}" for role in _ROLES),
    *(f"CREATE ROLE {role} IN ROLE pgrecall_reader" for role in _ROLES),
    "GRANT pgrecall_everywhere TO bench_everywhere",
    # Grants by way of another role, as a team's.
    "GRANT bench_many TO bench_member",
    "INSERT INTO pgrecall.namespaces (name) SELECT 'tenant ' || n FROM generate_series(1, {namespaces}) n",
    "INSERT INTO pgrecall.memories (namespace_id, content, language) "
    "SELECT n.id, 'a memory of ' || n.name, 'english' FROM pgrecall.namespaces n WHERE n.name LIKE 'tenant %'",
    "SELECT pgrecall.grant_namespace('bench_one', name) FROM pgrecall.namespaces WHERE name IN ('{large}', '{medium}')",
    "SELECT pgrecall.grant_namespace('bench_many', name) FROM pgrecall.namespaces",
    "VACUUM ANALYZE pgrecall.memories, pgrecall.namespaces, pgrecall.grants, pgrecall.postings, pgrecall.pending_postings",
)
# recall() as it would be without a tenant: with the rights of the owner, whom no policy binds.
_BARE = """
CREATE FUNCTION public.bench_bare(query text, query_vec halfvec, namespace text, tags_all text[], since timestamptz)
RETURNS TABLE (id bigint, title text, content text, score double precision)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pgrecall, public, pg_temp SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
    question pgrecall.recall_request := _pgrecall.resolve_request(query, query_vec, pgrecall.namespace_id(namespace), '{{}}');
    filter pgrecall.recall_filter := _pgrecall.memory_filter(
        NULL, NULL, tags_all, NULL, NULL, NULL, NULL, NULL, NULL, since, NULL, false, true
    );
BEGIN
    RETURN QUERY SELECT m.id, m.title, m.content, r.score
        FROM _pgrecall.rank_memories(question, filter, now()) r
        JOIN pgrecall.memories m ON m.id = r.id
        ORDER BY r.place;
END $$
"""
_CASES: dict[str, dict[str, Any]] = {
    "90%": {"namespace": LARGE},
    "1%": {"namespace": MEDIUM},
    "90%, tag of 0.01%": {"namespace": LARGE, "tags_all": [TAGS["0.01%"]]},
    "90%, time of 1%": {"namespace": LARGE, "since": START + SPAN * 0.99},
}
"""The namespace, by its share of the memories, and filters."""


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the command line."""
    parser = commands.add_parser("tenants", help="what row-level security costs recall")
    parser.set_defaults(command=_tenants)
    parser.add_argument("--rows", type=positive, default=100_000, metavar="N", help="memories")
    parser.add_argument("--dim", type=positive, default=384, metavar="N", help="of the embeddings")
    parser.add_argument(
        "--namespaces", type=positive, default=10_000, metavar="N", help="more namespaces, and grants"
    )
    parser.add_argument("--queries", type=positive, default=200, metavar="N", help="questions a role")
    parser.add_argument(
        "--seconds", type=float, default=20.0, metavar="S", help="ask a role no longer than this"
    )
    add_run_options(parser)


def _tenants(options: argparse.Namespace) -> int:
    """Run the benchmark: 0, or 2 if the server cannot be used."""
    try:
        with contextlib.ExitStack() as stack:
            if (dsn := options.dsn) is None:
                server = EmbeddedServer(options.cache / "speed")
                dsn = server.up()
                stack.callback(server.down)
            result = _measure(dsn, options)
    except (ServerError, psycopg.OperationalError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(_render(result))
    write(options.json, result)
    return 0


def _measure(server: str, options: argparse.Namespace) -> dict[str, Any]:
    corpus = Corpus(options.rows, options.dim, options.seed)
    source, _ = open_database(
        server, corpus, fresh=False, build_memory=machine.memory_mb() * 2**20 // 4, say=say
    )
    asked = questions(corpus, NATURAL, options.queries + WARM_UP)
    with contextlib.ExitStack() as stack:
        dsn = stack.enter_context(copied_database(server, source, "tenants"))
        owner = stack.enter_context(connect(dsn))
        say(f"making {options.namespaces:,} namespaces and grants")
        for statement in _PREPARE:
            owner.execute(
                statement.format(namespaces=options.namespaces, large=LARGE, medium=MEDIUM).encode()
            )
        owner.execute(_BARE.format().encode())
        warm_up(owner)
        sessions = {"owner": owner}
        for role in _ROLES:
            session = sessions[role.removeprefix("bench_")] = stack.enter_context(connect(dsn))
            session.execute(f"SET ROLE {role}".encode())
        say("asking")
        times = {
            f"{name}:{case}": asdict(Latency.of(one))
            for case, filters in _CASES.items()
            for name, one in _ask(sessions, filters, asked, options.seconds).items()
        }
        result = {
            **circumstances(
                "tenants", FORMAT, options.seed, "benchmarks/speed", "benchmarks/operations/tenants"
            ),
            "dim": options.dim,
            "rows": options.rows,
            "namespaces": options.namespaces,
            "grants": {role: _grants(owner, role) for role in _ROLES},
            "server": machine.server(owner),
            "settings": machine.settings(owner),
            "times": times,
            "ratios": _ratios(times),
        }
        for session in [*sessions.values()][1:]:
            session.close()
        for role in _ROLES:
            owner.execute(f"DROP OWNED BY {role} CASCADE; DROP ROLE {role}".encode())
    return result


def _ask(
    sessions: dict[str, Connection[Any]], filters: dict[str, Any], asked: Sequence[Question], seconds: float
) -> dict[str, list[float]]:
    call = recall(**filters)

    def of(session: Connection[Any]) -> Call:
        return lambda _, question: call(session, question)

    def bare(owner: Connection[Any], question: Question) -> object:
        arguments = {
            "tags_all": None,
            "since": None,
            **filters,
            "text": question.text,
            "vector": question.vector,
        }
        return owner.execute(
            "SELECT * FROM bench_bare(%(text)s, %(vector)s, %(namespace)s, %(tags_all)s, %(since)s)",
            arguments,
            prepare=True,
        ).fetchall()

    calls = {name: of(session) for name, session in sessions.items()}
    return alternately(sessions["owner"], {"bare": bare, **calls}, asked, seconds)


def _grants(owner: Connection[Any], role: str) -> int:
    row = owner.execute(
        "SELECT count(*) FROM pgrecall.grants g WHERE pg_has_role(%s, g.role, 'USAGE')", (role,)
    ).fetchone()
    return 0 if row is None else int(row[0])


def _ratios(times: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
    """Return the time of each role divided by that without policies, by the case, at p50 and p95."""
    ratios = {}
    for name, one in times.items():
        role, case = name.split(":")
        if role != "bare":
            whole = times[f"bare:{case}"]
            ratios[name] = {point: round(one[point] / whole[point], 3) for point in ("p50", "p95")}
    return ratios


def _render(result: dict[str, Any]) -> str:
    rows = []
    for name, one in result["times"].items():
        ratio = result["ratios"].get(name, {"p50": 1.0, "p95": 1.0})
        rows.append(
            (name, f"{one['p50']:.1f}", f"{one['p95']:.1f}", f"{ratio['p50']:.2f}", f"{ratio['p95']:.2f}")
        )
    return table(("role and case", "p50 ms", "p95 ms", "p50 / bare", "p95 / bare"), rows)
