"""What another tenant has tells a role the same as what nobody has: the counters of its own statements are equal.

The role asks twice, once for what another tenant has and once for what is nowhere. PostgreSQL's counters of scans, entries,
rows and pages, for each table and index, must have gained the same.
"""

from __future__ import annotations

import os
import random
from functools import partial
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from fuzz.arguments import Arguments, Ids
from fuzz.catalog import read_catalog
from fuzz.statements import call as call_of
from support.extraction import extract, fact, mention
from support.memories import call, remember_many
from support.statistics import counted, relations, steady

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from psycopg import Connection


POLLING = ("pgrecall.wait_query_embedding",)
"""What asks again and again until its time is over: how often, depends on the machine."""
WORDS = ("quartz", "velvet", "kestrel", "juniper", "orchid")
NEAR, FAR = 9, 5
"""The component that vectors of the other tenant have, and one that none has."""


def unit(*places: int) -> str:
    return "[" + ",".join("1" if place in places else "0" for place in range(384)) + "]"


@pytest.fixture(scope="module")
def tenants(new_database: Callable[..., str], template: str) -> Iterator[tuple[str, str, dict[str, int]]]:
    """A database of two tenants, the writer's role of the one, and ids of the other's rows."""
    dsn = new_database(template)
    role = f"counting_{os.getpid()}"
    with psycopg.connect(dsn, autocommit=True) as owner:
        call(owner, "pgrecall.activate_model", "a model", 384)
        for namespace in ("alpha", "beta", "velvet house"):
            call(owner, "pgrecall.create_namespace", namespace)
        owner.execute(f"CREATE ROLE {role} IN ROLE pgrecall_reader, pgrecall_writer".encode())
        call(owner, "pgrecall.grant_namespace", role, "alpha", "write")
        own = [
            {"content": f"Plan {n} of alpha about apple, by Anna", "tags": ["plan"], "external_id": f"own-{n}",
             "session": "own", "position": n, "metadata": {"n": n, "place": {"city": "Kochi"}}, "speaker": "Anna"}
            for n in range(60)
        ]  # fmt: skip
        others = [
            {"content": f"{WORDS[n % 5]} {WORDS[n // 5 % 5]} and apple{n}", "tags": [WORDS[n % 5]], "external_id": f"{WORDS[n % 5]}-{n}",
             "session": f"{WORDS[n % 5]} session", "position": n, "speaker": WORDS[n % 5], "category": WORDS[n % 5], "source": WORDS[n % 5],
             "metadata": {"ssn": "123-45-6789", WORDS[n % 5]: {"deep": [n, {"er": WORDS[n % 5]}]}, "n": 1000 + n},
             "occurred_at": f"2031-01-{n % 28 + 1:02}"}
            for n in range(300)
        ]  # fmt: skip
        # No number of a concept is that of a memory.
        owner.execute("SELECT setval('pgrecall.concepts_id_seq', 500000)")
        mine = remember_many(owner, own, namespace="alpha")
        theirs = remember_many(owner, others, namespace="beta")
        said = {
            "mentions": [mention("Zoe Quartz", "PERSON"), mention("Velvet House", "ORG")],
            "facts": [
                fact("Zoe Quartz", "works_for", "Velvet House", statement="Zoe Quartz works for Velvet House")
            ],
        }
        extract(owner, {mine[0]: {"mentions": [mention("Anna", "PERSON")]}, theirs[0]: said})
        call(owner, "pgrecall.judge", "quartz", "quartz", None, [theirs[0]], namespace="beta")
        owner.execute("SET session_replication_role = replica")
        owner.execute(
            "UPDATE pgrecall.memories SET embedding = CASE WHEN namespace_id = pgrecall.namespace_id('beta') THEN %s ELSE %s END::halfvec",
            (unit(NEAR), unit(1)),
        )
        owner.execute("RESET session_replication_role")
        owner.execute(
            "INSERT INTO pgrecall.passages (memory_id, namespace_id, generation_id, number, starts_at, ends_at, embedding)"
            " SELECT %s, pgrecall.namespace_id('beta'), pgrecall.active_generation(), n, n, n + 1, %s::halfvec FROM generate_series(1, 7) n",
            (theirs[0], unit(NEAR)),
        )
        for name, namespace in (("about-user", "alpha"), ("quartz", "beta"), ("about-user", "velvet house")):
            call(owner, "pgrecall.set_page", name, namespace=namespace)
        while call(owner, "pgrecall.flush_pending_postings", 1):
            pass
        owner.execute("VACUUM ANALYZE")
        concept = call(owner, "pgrecall.find_concept", "Zoe Quartz", "beta")
        assert concept is not None
        ids = {"memory": theirs[0], "concept": int(concept), "nothing": 999_999_999}
    yield dsn, role, ids
    with psycopg.connect(dsn, autocommit=True) as owner:
        owner.execute(f"DROP OWNED BY {role}".encode())
        owner.execute(f"DROP ROLE {role}".encode())


@pytest.fixture(params=["on", "off"])
def asked(
    request: pytest.FixtureRequest, tenants: tuple[str, str, dict[str, int]]
) -> Iterator[Callable[[str, tuple[Any, ...]], dict[str, int]]]:
    """A function that returns what a statement of the role adds to the counters."""
    dsn, role, _ = tenants
    # In small tables the planner reads all rows; a role makes it use the indexes, as it does in large ones.
    seqscan = request.param
    with psycopg.connect(dsn, autocommit=True) as session:
        oids = relations(session)
        session.execute(f"SET SESSION AUTHORIZATION {role}".encode())
        session.execute("SET search_path = pg_catalog, public")
        session.execute(f"SET enable_seqscan = {seqscan}".encode())

        def told(statement: str, arguments: tuple[Any, ...]) -> dict[str, int]:
            with session.transaction(force_rollback=True):
                return counted(session, oids, statement, *arguments)

        yield told


WORDED = "SELECT count(*) FROM recall(%s, namespace => 'alpha', settings => jsonb_build_object('lexical_mode', '{}'))"
LISTED = "SELECT count(*) FROM list_memories(namespace => 'alpha', {})"
FOUND = "SELECT count(*) FROM recall('plan', namespace => 'alpha', {})"
CASES: dict[str, tuple[str, Any, Any]] = {
    "a word by bm25": (WORDED.format("bm25"), "quartz", "xuartz"),
    "a word by ts_rank": (WORDED.format("ts_rank"), "quartz", "xuartz"),
    "a word by websearch": (WORDED.format("websearch"), "quartz apple", "xuartz apple"),
    "a phrase": (WORDED.format("websearch"), '"quartz velvet"', '"xuartz velxet"'),
    "a first letter": (WORDED.format("prefix"), "k", "x"),
    "first letters": (WORDED.format("prefix"), "kest", "kexx"),
    "a word among filtered": (
        "SELECT count(*) FROM recall(%s, namespace => 'alpha', include_sensitive => false)",
        "plan quartz",
        "plan xuartz",
    ),
    "a tag": (LISTED.format("tags_any => ARRAY[%s::text]"), "quartz", "xuartz"),
    "all tags": (LISTED.format("tags_all => ARRAY[%s::text, 'plan']"), "quartz", "xuartz"),
    "a tag in recall": (FOUND.format("tags_any => ARRAY[%s::text]"), "quartz", "xuartz"),
    "a metadata value": (
        LISTED.format("metadata_contains => %s"),
        Jsonb({"ssn": "123-45-6789"}),
        Jsonb({"ssn": "123-45-6780"}),
    ),
    "a nested value": (
        LISTED.format("metadata_contains => %s"),
        Jsonb({"quartz": {"deep": [{"er": "quartz"}]}}),
        Jsonb({"quartz": {"deep": [{"er": "xuartz"}]}}),
    ),
    "a condition on metadata": (
        LISTED.format("metadata_where => %s"),
        Jsonb({"ssn": "123-45-6789"}),
        Jsonb({"ssn": "123-45-6780"}),
    ),
    "one of several values": (
        LISTED.format("metadata_where => %s"),
        Jsonb({"n": {"$in": [1001, 1002]}}),
        Jsonb({"n": {"$in": [5001, 5002]}}),
    ),
    "a range of metadata": (
        LISTED.format("metadata_where => %s"),
        Jsonb({"n": {"$gt": 1000}}),
        Jsonb({"n": {"$gt": 5000}}),
    ),
    "a session": (LISTED.format("sessions => ARRAY[%s::text]"), "quartz session", "xuartz session"),
    "a speaker": (LISTED.format("speakers => ARRAY[%s::text]"), "quartz", "xuartz"),
    "a category": (LISTED.format("categories => ARRAY[%s::text]"), "quartz", "xuartz"),
    "a source": (LISTED.format("sources => ARRAY[%s::text]"), "quartz", "xuartz"),
    "a start of an external id": (LISTED.format("external_id_prefix => %s"), "quartz-", "xuartz-"),
    "a time": (LISTED.format("since => %s::timestamptz"), "2031-01-03", "2033-01-03"),
    "a namespace": (
        "SELECT count(*) FROM recall('plan', namespace => %s)",
        "velvet house",
        "xelvet house",
    ),
    "a namespace by its name": ("SELECT pgrecall.namespace_id(%s)", "velvet house", "xelvet house"),
    "a page of a namespace": (
        "SELECT count(*) FROM pgrecall.page('about-user', %s)", "velvet house", "xelvet house",
    ),
    "a namespace to scan": (
        "SELECT count(*) FROM pgrecall.scan_secrets(%s)",
        "velvet house",
        "xelvet house",
    ),
    "where a scan goes on": (
        "SELECT count(*) FROM pgrecall.scan_secrets('alpha', after_id => %s)",
        100,
        999_999_999,
    ),
    "a page by its name": ("SELECT count(*) FROM pgrecall.page(%s, 'alpha')", "quartz", "xuartz"),
    "a namespace to create": ("SELECT pgrecall.create_namespace(%s)", "velvet house", "xelvet house"),
    "a concept by its name": ("SELECT pgrecall.find_concept(%s, 'alpha')", "Zoe Quartz", "Xoe Quartz"),
    "a vector": (
        "SELECT count(*) FROM recall('', %s::halfvec, namespace => 'alpha')", unit(NEAR), unit(FAR),
    ),
    "a vector that is to be looked up in the shared index": (
        "SELECT count(*) FROM recall('', %s::halfvec, namespace => 'alpha', settings => '{\"dense_exact_rows\": 0}')",
        unit(NEAR),
        unit(FAR),
    ),
    "a vector among filtered": (
        "SELECT count(*) FROM recall('', %s::halfvec, namespace => 'alpha', tags_any => '{plan}', settings => '{\"dense_exact_rows\": 0}')",
        unit(NEAR),
        unit(FAR),
    ),
    "facts": ("SELECT count(*) FROM recall_facts(%s, namespace => 'alpha')", "Zoe Quartz", "Xoe Quartz"),
    "a judged query": (
        "SELECT pgrecall.unjudge(%s, namespace => 'alpha')",
        "quartz",
        "xuartz",
    ),
    "an external id to store": (
        "SELECT remember('a text', namespace => 'alpha', external_id => %s)",
        "quartz-0",
        "xuartz-0",
    ),
}  # fmt: skip
BY_ID = {
    "memory": (
        "SELECT forget(%s)", "SELECT update_memory(%s, title => 'x')", "SELECT supersede(%s, 'x')", "SELECT restore(%s)",
        "SELECT count(*) FROM get_memories(ARRAY[%s]::bigint[])", "SELECT count(*) FROM memory_history(%s)",
        "SELECT count(*) FROM pgrecall.show_passages(%s)", "SELECT recall_feedback('plan', %s, true, namespace => 'alpha')",
        "SELECT count(*) FROM recall_explain('plan', ids => ARRAY[%s]::bigint[], namespace => 'alpha')", "SELECT erase(%s)",
        "SELECT pgrecall.judge('plan', 'plan', NULL, ARRAY[%s]::bigint[], namespace => 'alpha')",
        "SELECT count(*) FROM list_memories(namespace => 'alpha', after_id => %s)", "SELECT undo_curation(%s)",
    ),
    "concept": (
        "SELECT count(*) FROM pgrecall.show_concept(%s)", "SELECT count(*) FROM pgrecall.concept_neighbours(%s)",
        "SELECT count(*) FROM pgrecall.memories_of_concept(%s)", "SELECT pgrecall.add_alias(%s, 'zz')",
    ),
}  # fmt: skip
CASES |= {
    statement: (statement, (kind, "id"), ("nothing", "id"))
    for kind, statements in BY_ID.items()
    for statement in statements
}


@pytest.mark.parametrize("case", CASES)
def test_what_another_has_counts_as_what_nobody_has(
    tenants: tuple[str, str, dict[str, int]],
    asked: Callable[[str, tuple[Any, ...]], dict[str, int]],
    case: str,
) -> None:
    statement, theirs, nobodys = CASES[case]
    values = [tenants[2][value[0]] if isinstance(value, tuple) else value for value in (theirs, nobodys)]
    for value in values * 4:  # caches are filled, and from the sixth call on plans are kept
        asked(statement, (value,))
    one, other = (steady(partial(asked, statement, (value,))) for value in values)
    assert {name: count for name, count in one.items() if other.get(name) != count} == {}
    assert one == other


@pytest.fixture
def crowd(dsn: str) -> Iterator[tuple[Connection[Any], Callable[[str], dict[str, int]]]]:
    """400 memories of a role's own, 30 of another tenant near one question, and 300 elsewhere; and the counters of a question."""
    role = f"crowd_{os.getpid()}"
    with psycopg.connect(dsn, autocommit=True) as owner, psycopg.connect(dsn, autocommit=True) as session:
        call(owner, "pgrecall.activate_model", "a model", 384)
        for namespace, count in (("alpha", 400), ("beta", 330)):
            call(owner, "pgrecall.create_namespace", namespace)
            remember_many(owner, [{"content": f"{namespace} {n}"} for n in range(count)], namespace=namespace)
        owner.execute(f"CREATE ROLE {role} IN ROLE pgrecall_reader".encode())
        call(owner, "pgrecall.grant_namespace", role, "alpha")
        owner.execute("SET session_replication_role = replica")
        # Beta's first 30 lie at NEAR, everything else around all other places.
        owner.execute(
            "UPDATE pgrecall.memories m SET embedding = (SELECT array_agg(CASE WHEN w.place IS NULL THEN hashint8(m.id * 1000 + i) / 2147483648.0::real"
            " WHEN i - 1 = w.place THEN 1 ELSE 0.01 * sin(m.id + i) END ORDER BY i) FROM generate_series(1, 384) i)::halfvec"
            " FROM (SELECT o.id, CASE WHEN o.namespace_id = pgrecall.namespace_id('beta') AND row_number() OVER (PARTITION BY o.namespace_id"
            " ORDER BY o.id) <= 30 THEN %s END AS place FROM pgrecall.memories o) w WHERE w.id = m.id",
            (NEAR,),
        )
        owner.execute("VACUUM ANALYZE")
        oids = relations(owner)
        session.execute(f"SET SESSION AUTHORIZATION {role}".encode())
        session.execute("SET pgrecall.dense_exact_rows = 0")

        def told(query: str) -> dict[str, int]:
            statement = "SELECT count(*) FROM recall('', %s::halfvec, namespace => 'alpha')"
            for _ in range(6):
                session.execute(statement.encode(), (query,))
            with session.transaction():
                return counted(session, oids, statement, query)

        yield owner, told
    with psycopg.connect(dsn, autocommit=True) as owner:
        owner.execute(f"DROP OWNED BY {role}".encode())
        owner.execute(f"DROP ROLE {role}".encode())


def test_a_role_cannot_have_its_small_namespace_searched_in_the_shared_index(
    crowd: tuple[Connection[Any], Callable[[str], dict[str, int]]],
) -> None:
    _, told = crowd
    assert "pgrecall.memories_embedding_idx numscans" not in told(unit(NEAR))
    assert told(unit(NEAR)) == told(unit(FAR))


def test_a_large_namespace_reads_as_many_entries_of_the_shared_index_whatever_they_are(
    crowd: tuple[Connection[Any], Callable[[str], dict[str, int]]],
) -> None:
    """What still differs are the pages of the graph that lead there (docs/tenants.md)."""
    owner, told = crowd
    call(owner, "pgrecall.set_setting", "dense_exact_rows", "0")
    near, far = (
        {name: count for name, count in told(query).items() if not name.endswith("blocks_fetched")}
        for query in (unit(NEAR), unit(FAR))
    )
    assert near["pgrecall.memories_embedding_idx tuples_returned"] > 100
    assert near == far


def test_the_shared_index_can_be_turned_off(
    crowd: tuple[Connection[Any], Callable[[str], dict[str, int]]],
) -> None:
    owner, told = crowd
    call(owner, "pgrecall.set_setting", "dense_exact_rows", "0")
    call(owner, "pgrecall.set_setting", "dense_shared_index", "off")
    assert "pgrecall.memories_embedding_idx numscans" not in told(unit(NEAR))
    assert told(unit(NEAR)) == told(unit(FAR))


@pytest.mark.slow
def test_no_function_counts_what_another_has_by_its_id(
    tenants: tuple[str, str, dict[str, int]], asked: Callable[[str, tuple[Any, ...]], dict[str, int]]
) -> None:
    """Every function that takes an id, with ids of the other tenant's memories, concepts and namespace, and with those of nothing."""
    dsn, role, ids = tenants
    with psycopg.connect(dsn, autocommit=True) as owner:
        catalog = read_catalog(owner, role)
        home = int(call(owner, "pgrecall.namespace_id", "alpha"))
    taking = [f for f in catalog.functions if any(a.kind.startswith("bigint") for a in f.arguments)]
    assert len(taking) > 30
    different = []
    for function in taking:
        if function.name in POLLING:
            continue
        for kind in ("memory", "concept"):
            statements = [
                call_of(
                    function,
                    Arguments(random.Random(function.signature), catalog, Ids((x,), (x,), home, home)),
                    plain=True,
                ).text.replace("%", "%%")
                for x in (ids[kind], ids["nothing"])
            ]
            if statements[0] == statements[1]:
                continue
            for statement in statements * 4:
                asked(statement, ())
            one, other = (steady(partial(asked, statement, ())) for statement in statements)
            if one != other:
                changed = {name for name in one.keys() | other.keys() if one.get(name) != other.get(name)}
                different.append((*statements, changed))
                print(statements, sorted(changed))
    assert different == []
