"""Databases that differ in one tenant's rows alone, and everything that another tenant sees in them."""

from __future__ import annotations

import random
import re
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg.types.json import Jsonb

from fuzz.arguments import Arguments, Ids
from fuzz.catalog import Catalog, read_catalog
from fuzz.statements import call as call_of
from support.extraction import extract, fact, mention
from support.memories import call, rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from psycopg import Connection

OWN = "alpha"
BETA = (
    ("beta", 3, ("apple", "anchor", "amber")),
    (
        "velvet house",
        60,
        ("zebra", "quartz", "velvet", "kestrel", "plum", "juniper", "orchid", "mango", "walnut", "basalt"),
    ),
    (
        "copper house",
        60,
        ("camel", "walrus", "copper", "pelican", "pear", "jasmine", "turtle", "melon", "pepper", "marble"),
    ),
)
"""Beta's name, how many memories it has and of what words: few; many; as many, of as long words."""
EXPLAIN = "EXPLAIN (ANALYZE, BUFFERS OFF, TIMING OFF, SUMMARY OFF{costs}) "
ADVANCE = "SELECT setval(c.oid, {}) FROM pg_class c WHERE c.relnamespace = 'pgrecall'::regnamespace AND c.relkind = 'S'"
CHANGING = ("random", "now()", "gen_random", "repeat(")
"""What is another value each time, or takes too long for what it tells."""
# Times and processes are of the moment, and differ between two runs on one database.
MOMENT = re.compile(
    r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d+)?([+-]\d\d(:?\d\d)?)?|datetime\.(datetime|timedelta)\([^)]*\)+|\d\d:\d\d:\d\d\.\d+"
    r"|Memory(: | Usage: )\S+|pid=\d+|actual time=[\d.]+|Time: [\d.]+ ms"
    # What age has made of a weight.
    r"|\d\.\d+e-\d+"
)


@dataclass(slots=True)
class Told:
    """Answers by statement, and how long each took."""

    answers: dict[str, str] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)


def fill(owner: Connection[Any], role: str, which: int) -> Ids:
    """Fill a database: alpha's rows are the same in each, beta's are those of BETA."""
    call(owner, "pgrecall.activate_model", "a model", 384)
    call(owner, "pgrecall.create_namespace", OWN)
    call(owner, "pgrecall.grant_namespace", role, OWN, "write")
    own = _own(owner, 0)
    # As many namespaces: how many there are is shown by what they have in common, the numbers of ids.
    namespace, count, words = BETA[which]
    call(owner, "pgrecall.create_namespace", namespace)
    _others(owner, namespace, words, count)
    owner.execute(ADVANCE.format(100_000).encode())
    own += _own(owner, 1)
    while call(owner, "pgrecall.flush_pending_postings", 1):
        pass
    owner.execute("SET session_replication_role = replica")
    owner.execute(
        "UPDATE pgrecall.memories SET created_at = '2025-06-01', updated_at = '2025-06-01', embedding ="
        " (SELECT array_agg(sin(id * 7 + i)::real ORDER BY i) FROM generate_series(1, 384) i)::halfvec WHERE NOT is_sensitive"
    )
    owner.execute("RESET session_replication_role")
    owner.execute("DELETE FROM pgrecall.jobs WHERE kind = 'embedding' AND failed_at IS NULL")
    owner.execute("VACUUM ANALYZE")
    home = int(call(owner, "pgrecall.namespace_id", OWN))
    # Of the other's ids some are there in both databases, some in one, some in none.
    return Ids(tuple(own), (own[len(own) // 2 - 1] + 1, own[len(own) // 2 - 1] + 30, 99_000), home, home + 1)


def _own(owner: Connection[Any], part: int) -> list[int]:
    texts = [
        {
            "content": f"Plan {part}{n} of alpha about apple and zebra, by Anna in May", "title": f"title {part}{n}", "tags": ["plan", f"topic {n % 3}"],
            "external_id": f"own-{part}{n}", "session": "own session", "position": 100 * part + n, "metadata": {"n": n},
        }
        for n in range(20)
    ]  # fmt: skip
    numbers = [int(number) for number in rows(owner, "public.remember_many", Jsonb(texts), namespace=OWN)]
    _read(owner, numbers[0], "Anna", "Acme")
    return numbers


def _others(owner: Connection[Any], namespace: str, words: tuple[str, ...], count: int) -> None:
    texts = [
        {
            "content": f"{words[n % len(words)]} {words[n // 2 % len(words)]}{n} apple Anna", "title": f"{words[n % len(words)]} title",
            "tags": [words[n % len(words)]], "external_id": f"{words[n % len(words)]}-{n}", "session": f"{words[n % len(words)]} session",
            "position": n, "category": words[n % len(words)], "source": words[0], "speaker": words[0], "metadata": {words[0]: n},
            "is_sensitive": n % 5 == 4,
        }
        for n in range(count)
    ]  # fmt: skip
    numbers = [
        int(number) for number in rows(owner, "public.remember_many", Jsonb(texts), namespace=namespace)
    ]
    _read(owner, numbers[0], f"{words[0]} person", f"{words[1]} place")
    call(
        owner,
        "pgrecall.judge",
        f"{words[0]} query",
        f"{words[0]} query",
        None,
        [numbers[0]],
        namespace=namespace,
    )
    call(owner, "pgrecall.set_entity_rules", "THING", [words[0]], namespace=namespace)
    call(owner, "forget", numbers[1])


def _read(owner: Connection[Any], memory: int, subject: str, thing: str) -> None:
    said = {
        "mentions": [mention(subject, "PERSON"), mention(thing, "ORG")],
        "facts": [fact(subject, "knows", thing, statement=f"{subject} knows {thing}")],
    }
    extract(owner, {memory: said})


def calls(catalog: Catalog, ids: Ids) -> Iterator[str]:
    """Every function, with good and bad arguments."""
    for function in catalog.functions:
        # For each function the same, whatever others there are.
        arguments = Arguments(random.Random(function.signature), catalog, ids)
        for plain in (True, True, False, False):
            statement = call_of(function, arguments, plain=plain)
            if not any(word in statement.text for word in CHANGING):
                yield statement.text


def prefixes() -> list[str]:
    """What one asks who wants to know the words of others: first letters, then more of them."""
    return ["a", "q", "quartz", "velvet house", "zebra-0", "zebra session", "beta", "~"]


def questions(catalog: Catalog) -> Iterator[str]:
    """Conditions on each column of each relation that the role may read."""
    for table in catalog.tables:
        for column in table.selected:
            if column.kind == "text":
                values = [f"'{prefix}'" for prefix in prefixes()]
                operators = ["= {}", "< {}", "> {}", "LIKE {} || '%'", "IN ({}, 'x')"]
            elif column.kind in ("bigint", "integer"):
                values, operators = ["1", "25", "40", "100001"], ["= {}", "< {}", "> {}", "IN ({}, 0)"]
            elif column.kind == "text[]":
                values, operators = ["'{quartz}'", "'{apple}'"], ["@> {}", "&& {}", "= {}"]
            elif column.kind == "timestamp with time zone":
                values, operators = ["'2025-01-01'"], ["< {}", "> {}"]
            else:
                values, operators = [""], ["IS NULL{}"]
            for value in values:
                for operator in operators:
                    condition = f'"{column.name}" {operator.format(value)}'
                    yield (
                        EXPLAIN.format(costs=", COSTS OFF") + f"SELECT 1 FROM {table.name} WHERE {condition}"
                    )
                    yield f"SELECT count(*) FROM {table.name} WHERE {condition}"
        names = ", ".join(f'"{column.name}"' for column in table.selected)
        if names:
            yield f"SELECT {names} FROM {table.name} ORDER BY 1"


EXPLAINED = (
    "SELECT id FROM public.recall('apple plan', namespace => 'alpha')", "SELECT id FROM public.recall('quartz zebra', namespace => 'alpha')",
    "SELECT id FROM public.recall('quartz', namespace => 'velvet house')", "SELECT id FROM public.recall('apple', namespace => 'beta')",
    "SELECT id FROM public.recall('x', array_fill(0.5::real, ARRAY[384])::public.halfvec, namespace => 'alpha')",
    "SELECT * FROM public.recall_facts('Anna', namespace => 'alpha')", "SELECT * FROM public.recall_briefing('plan', namespace => 'alpha')",
    "SELECT * FROM public.recall_timeline('plan', namespace => 'alpha')", "SELECT * FROM public.recall_status()",
    "SELECT * FROM public.recall_explain('apple', namespace => 'alpha', reference_time => '2025-07-01')", "SELECT public.remember('quartz', namespace => 'alpha')",
    "SELECT public.remember('x', external_id => 'zebra-0', namespace => 'alpha')", "SELECT public.remember('x', namespace => 'beta')",
    "SELECT public.remember('x', namespace => 'velvet house')", "SELECT public.forget(23)", "SELECT public.forget(45)", "SELECT public.forget(99000)",
    "SELECT pgrecall.create_namespace('beta')", "SELECT pgrecall.create_namespace('velvet house')", "SELECT pgrecall.create_namespace('none')",
)  # fmt: skip

# What PostgreSQL itself shows to every role.
SYSTEM = (
    "SELECT * FROM pg_stats WHERE schemaname = 'pgrecall' ORDER BY tablename, attname",
    "SELECT * FROM pg_stats_ext WHERE schemaname = 'pgrecall' ORDER BY 1, 2",
    "SELECT * FROM pg_sequences WHERE schemaname = 'pgrecall' ORDER BY sequencename",
    "SELECT locktype, relation::regclass::text, mode FROM pg_locks WHERE pid <> pg_backend_pid() AND database ="
    " (SELECT oid FROM pg_database WHERE datname = current_database()) ORDER BY 1, 2, 3",
    "SELECT query, state, wait_event FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND query <> ''",
    "SELECT nspname FROM pg_namespace WHERE nspname !~ '^pg_(toast_)?temp' ORDER BY 1",
    "SELECT c.relname, pg_get_expr(c.relpartbound, c.oid) FROM pg_class c WHERE c.relnamespace = 'pgrecall'::regnamespace ORDER BY 1",
    "SELECT obj_description(c.oid) FROM pg_class c WHERE c.relnamespace = 'pgrecall'::regnamespace ORDER BY 1",
)  # fmt: skip
LIMITS = (
    "SELECT relname, reltuples, relpages FROM pg_class WHERE relnamespace = 'pgrecall'::regnamespace ORDER BY 1",
    "SELECT relname, n_live_tup, n_dead_tup, n_tup_ins, idx_scan FROM pg_stat_all_tables WHERE schemaname = 'pgrecall' ORDER BY 1",
    "SELECT c.relname, pg_relation_size(c.oid) FROM pg_class c WHERE c.relnamespace = 'pgrecall'::regnamespace ORDER BY 1",
)
"""What PostgreSQL shows to everybody of how much there is: docs/tenants.md says so. Sizes and counts, no content."""


def ask(dsn: str, role: str, statements: list[str]) -> Told:
    """Everything that a role gets from these statements: rows, or all fields of an error, and notices. Nothing is kept."""
    told = Told()
    notices: list[str] = []
    with psycopg.connect(dsn, autocommit=True) as session:
        session.add_notice_handler(
            lambda d: notices.append(f"{d.severity} {d.message_primary} {d.message_detail}")
        )
        session.execute(ADVANCE.format(200_000).encode())
        session.execute(f"SET SESSION AUTHORIZATION {role}".encode())
        session.execute("SET statement_timeout = '20s'")
        session.execute("SET search_path = pg_catalog, public")
        for statement in statements:
            began = time.perf_counter()
            try:
                with session.transaction(force_rollback=True):
                    cursor = session.execute(statement.encode())
                    answer = (
                        "\n".join(map(str, cursor.fetchall())) if cursor.description else str(cursor.rowcount)
                    )
            except psycopg.Error as error:
                answer = _fields(error)
            told.seconds[statement] = time.perf_counter() - began
            told.answers[statement] = MOMENT.sub("…", "\n".join([answer, *notices])).replace(
                session.info.dbname, "…"
            )
            notices.clear()
    return told


def _fields(error: psycopg.Error) -> str:
    names = [name for name in dir(error.diag) if not name.startswith("_") and name not in ("source_line",)]
    return "\n".join(f"{name}: {getattr(error.diag, name)}" for name in names)


def readable(owner: Connection[Any], role: str) -> Catalog:
    """What the role may call and read."""
    return read_catalog(owner, role)
