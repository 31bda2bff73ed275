"""recall_facts(): which relationships answer a query, as of when, on what evidence; and what it costs beside hubs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from support.facts import day, fact, lives, recalled, relationships, told, triples
from support.memories import call, contents, embed, refused, remember, rows, scalar, share

if TYPE_CHECKING:
    from datetime import datetime

    from psycopg import Connection

pytestmark = pytest.mark.rollback

GOA = "Rajesh → Priya: planning vacation to Goa in March"


def created(conn: Connection[Any], memory_id: int) -> datetime:
    moment: datetime = scalar(conn, "SELECT created_at FROM pgrecall.memories WHERE id = %s", memory_id)
    return moment


def test_an_end_that_was_stated_later_was_not_known(conn: Connection[Any]) -> None:
    """As of a day between the end and its statement the fact holds; after that it has ended."""
    told(conn, "Ben works at Initech", fact("Ben", "works at", "Initech"), created_at="2024-01-01")
    told(
        conn,
        "Ben left Initech in January 2025",
        fact("Ben", "works at", "Initech", valid_to=day(1, year=2025)),
        created_at="2025-06-01",
    )
    of_briefing = (
        "SELECT fact FROM _pgrecall.query_facts(1, 'Ben', "
        "jsonb_populate_record(NULL::pgrecall.recall_filter, jsonb_build_object('as_of', %s::text)), 10)"
    )
    of_graph = "SELECT c.name FROM _pgrecall.related_concepts(%s, %s) r JOIN pgrecall.concepts c ON c.id = r.related_id"
    ben = call(conn, "pgrecall.find_concept", "Ben")
    for as_of, known in (("2024-06-01", [None]), ("2025-03-01", [None]), ("2025-07-01", [])):
        assert [row["valid_to"] for row in recalled(conn, "Ben", as_of=as_of)] == known, as_of
        assert conn.execute(of_briefing, (as_of,)).fetchall() == [("Ben works at Initech",)] * len(known)
        assert conn.execute(of_graph, (ben, as_of)).fetchall() == [("Initech",)] * len(known)
    [ended] = recalled(conn, "Ben", as_of="2025-07-01", include_superseded=True)
    assert ended["valid_to"] == day(1, year=2025)


# --- What comes, and with what ---


def test_a_fact_is_told_as_its_evidence_states_it(conn: Connection[Any]) -> None:
    memory = told(
        conn, "Rajesh and Priya talked about the beach", fact("Rajesh", "plans with", "Priya", statement=GOA)
    )
    (found,) = recalled(conn, "What does Rajesh plan?")
    assert (found["statement"], found["evidence"]) == (GOA, [memory])
    assert (found["subject"], found["label"], found["object"]) == ("Rajesh", "plans with", "Priya")
    assert found["weight"] == pytest.approx(0.8)
    assert 0 < found["score"] < 1
    assert found["recorded_at"] == created(conn, memory)
    assert (found["id"], found["valid_from"], found["valid_to"]) == (
        scalar(conn, "SELECT id FROM pgrecall.relationships"), None, None,
    )  # fmt: skip


def test_without_a_statement_it_is_made_of_names_and_label(conn: Connection[Any]) -> None:
    told(conn, "x", fact("Ana", "works at", "Acme Corp", statement="  "))
    assert [row["statement"] for row in recalled(conn, "Ana")] == ["Ana works at Acme Corp"]


def test_the_statement_of_the_best_memory(conn: Connection[Any]) -> None:
    told(conn, "they met in the harbour", fact("Ana", "knows", "Bo", statement="Ana met Bo in the harbour"))
    told(conn, "they skied together", fact("Ana", "knows", "Bo", statement="Ana skied with Bo"))
    assert [row["statement"] for row in recalled(conn, "harbour")] == ["Ana met Bo in the harbour"]
    assert [row["statement"] for row in recalled(conn, "skied")] == ["Ana skied with Bo"]


def test_evidence_comes_best_first(conn: Connection[Any]) -> None:
    memories = [
        told(conn, text, fact("Ana", "knows", "Bo")) for text in ("the harbour", "some tea", "more tea")
    ]
    (found,) = recalled(conn, "harbour")
    assert found["evidence"] == [memories[0], memories[2], memories[1]]


def test_found_by_its_memory_alone(conn: Connection[Any]) -> None:
    told(conn, "the kickoff went well", fact("Ana", "leads", "Apollo"))
    assert triples(conn, "kickoff") == [("Ana", "leads", "Apollo")]


def test_found_by_the_vector_alone(conn: Connection[Any]) -> None:
    memory = told(conn, "x", fact("Ana", "leads", "Apollo"))
    embed(conn, memory)
    vector = str([1.0] * 384)
    assert [row["object"] for row in recalled(conn, "", query_vec=vector)] == ["Apollo"]


def test_found_by_a_name_alone(conn: Connection[Any]) -> None:
    told(conn, "x", fact("Ana Maria", "leads", "Apollo"))
    assert triples(conn, "what about ana maria?") == [("Ana Maria", "leads", "Apollo")]
    assert triples(conn, "what is apollo?") == [("Ana Maria", "leads", "Apollo")]
    assert triples(conn, "what is gemini?") == []


def test_every_ground_raises_the_score(conn: Connection[Any]) -> None:
    told(conn, "nothing to see", fact("Ana", "leads", "Apollo"))
    scores = [
        recalled(conn, query)[0]["score"]
        for query in ("Ana", "Ana Apollo", "Ana leading Apollo", "Ana leading Apollo sees")
    ]
    assert scores == sorted(set(scores))
    assert scores[:3] == pytest.approx([0.3, 1 - 0.7 * 0.7, 1 - 0.7 * 0.7 * 0.8])
    assert scores[-1] < 1


def test_the_best_come_first_and_no_more_than_k(conn: Connection[Any]) -> None:
    told(conn, "x", fact("Ana", "leads", "Apollo"), fact("Ana", "knows", "Bo"), fact("Bo", "knows", "Cy"))
    assert triples(conn, "who leads? Ana") == [("Ana", "leads", "Apollo"), ("Ana", "knows", "Bo")]
    assert triples(conn, "who leads? Ana", k=1) == [("Ana", "leads", "Apollo")]
    conn.execute("SET pgrecall.k = 1")
    assert len(triples(conn, "who leads? Ana")) == 1


def test_of_equal_scores_the_surer_comes_first(conn: Connection[Any]) -> None:
    told(conn, "x", fact("Ana", "knows", "Bo", confidence=0.4), fact("Ana", "knows", "Cy", confidence=0.9))
    assert [row["object"] for row in recalled(conn, "Ana")] == ["Cy", "Bo"]


def test_facts_do_not_age(conn: Connection[Any]) -> None:
    told(conn, "the kickoff went well", fact("Ana", "leads", "Apollo"), occurred_at=day(1, year=1999))
    plain = recalled(conn, "kickoff")
    conn.execute("SET pgrecall.half_life = '1 day'")
    conn.execute("SET pgrecall.sort_by = 'recency'")
    conn.execute("SET pgrecall.factor_recency = 1")
    assert recalled(conn, "kickoff") == plain


def test_labels_and_concepts_narrow(conn: Connection[Any]) -> None:
    told(
        conn, "kickoff", fact("Ana", "leads", "Apollo"), fact("Ana", "knows", "Bo"), fact("Bo", "knows", "Cy")
    )
    call(conn, "pgrecall.set_relation_label", 1, "is head of", "leads")
    assert triples(conn, "Ana", labels=["Leads"]) == [("Ana", "leads", "Apollo")]
    assert triples(conn, "kickoff", labels=["is  head of"]) == [("Ana", "leads", "Apollo")]
    assert triples(conn, "Ana", labels=["hates"]) == triples(conn, "Ana", labels=[]) == []
    assert triples(conn, "kickoff", concepts=["CY", "nobody"]) == [("Bo", "knows", "Cy")]
    assert triples(conn, "unheard of", concepts=["cy"]) == [("Bo", "knows", "Cy")]
    assert triples(conn, "kickoff", concepts=["nobody"]) == triples(conn, "kickoff", concepts=[]) == []
    assert triples(conn, "kickoff", concepts=["bo"], labels=["leads"]) == []


def test_namespaces_do_not_meet(conn: Connection[Any]) -> None:
    told(conn, "x", fact("Ana", "leads", "Apollo"), namespace="one", create_namespace=True)
    told(conn, "x", fact("Ana", "leads", "Gemini"), namespace="two", create_namespace=True)
    assert triples(conn, "Ana x", namespace="one") == [("Ana", "leads", "Apollo")]
    assert triples(conn, "Ana x") == triples(conn, "Ana x", namespace="nowhere") == []


def test_names_of_one_concept_are_one(conn: Connection[Any]) -> None:
    memories = [
        told(conn, "x", fact("Ana", "lives in", "New York")),
        told(conn, "y", fact("Ana", "lives in", "NYC", confidence=0.9)),
    ]
    conn.execute(
        """
        UPDATE pgrecall.concept_aliases SET concept_id = (SELECT c.id FROM pgrecall.concepts c WHERE c.key = 'new york')
        WHERE alias = 'nyc'
        """
    )
    (found,) = recalled(conn, "nyc")
    assert (found["object"], sorted(found["evidence"])) == ("New York", memories)
    assert found["weight"] == pytest.approx(0.9)


# --- Two times ---


def test_what_holds_now(conn: Connection[Any]) -> None:
    told(
        conn,
        "x",
        fact("Ana", "is in", "Oslo", valid_to=day(1, year=2020)),
        fact("Ana", "is in", "Rome", valid_from=day(1, year=2020), valid_to=day(1, year=2999)),
        fact("Ana", "is in", "Mars", valid_from=day(1, year=2998)),
    )
    assert triples(conn, "Ana") == [("Ana", "is in", "Rome")]
    assert len(triples(conn, "Ana", include_superseded=True)) == 3


@pytest.mark.usefixtures("dsn")
def test_as_of_before_and_after_a_contradiction(conn: Connection[Any]) -> None:
    first = told(conn, "x", lives("Ana", "Oslo"))
    second = told(conn, "y", lives("Ana", "Rome"))
    known, news = created(conn, first), created(conn, second)
    assert triples(conn, "Ana") == triples(conn, "Ana", as_of=news) == [("Ana", "lives in", "Rome")]
    (found,) = recalled(conn, "Ana", as_of=known)
    assert (found["object"], found["valid_to"], found["evidence"]) == ("Oslo", None, [first])
    assert triples(conn, "Ana", as_of=day(1, year=2000)) == []
    past = recalled(conn, "Ana", include_superseded=True)
    assert {(row["object"], row["valid_to"]) for row in past} == {("Oslo", news), ("Rome", None)}


def test_what_was_known_of_a_time_is_not_what_is_known_now(conn: Connection[Any]) -> None:
    told(conn, "x", lives("Ana", "Oslo"), occurred_at=day(1), created_at=day(1))
    told(conn, "y", lives("Ana", "Rome"), occurred_at=day(3), created_at=day(6))
    assert triples(conn, "Ana", as_of=day(2)) == [("Ana", "lives in", "Oslo")]
    assert triples(conn, "Ana", as_of=day(4)) == [("Ana", "lives in", "Oslo")]
    assert triples(conn, "Ana", as_of=day(6)) == [("Ana", "lives in", "Rome")]


def test_late_news_never_held(conn: Connection[Any]) -> None:
    told(conn, "x", lives("Ana", "Rome"), occurred_at=day(3), created_at=day(4))
    told(conn, "y", lives("Ana", "Oslo"), occurred_at=day(1), created_at=day(6))
    for moment in (day(4), day(7), None):
        assert triples(conn, "Ana", as_of=moment) == [("Ana", "lives in", "Rome")]


def test_the_end_that_was_stated_counts_even_if_it_was_superseded_later(conn: Connection[Any]) -> None:
    told(conn, "x", lives("Ana", "Oslo", valid_to=day(5)), occurred_at=day(1), created_at=day(1))
    told(conn, "y", lives("Ana", "Rome", valid_from=day(4)), created_at=day(8))
    (found,) = recalled(conn, "Ana", as_of=day(3))
    assert (found["object"], found["valid_to"]) == ("Oslo", day(5))
    assert triples(conn, "Ana", as_of=day(6)) == []
    assert triples(conn, "Ana", as_of=day(9)) == [("Ana", "lives in", "Rome")]


def test_without_the_contradiction_it_is_told_again(conn: Connection[Any]) -> None:
    told(conn, "x", lives("Ana", "Oslo"))
    second = told(conn, "y", lives("Ana", "Rome"))
    moment = created(conn, second)
    call(conn, "forget", second)
    assert triples(conn, "Ana") == triples(conn, "Ana", as_of=moment) == [("Ana", "lives in", "Oslo")]


# --- Evidence that may be told ---


@pytest.mark.parametrize(
    "change", ["forget(%s)", "update_memory(%s, is_sensitive => true)", "update_memory(%s, content => 'new')"]
)
def test_evidence_that_goes_takes_the_fact_along(conn: Connection[Any], change: str) -> None:
    memory = told(conn, "x", fact("Ana", "leads", "Apollo"))
    conn.execute(f"SELECT {change}".encode(), (memory,))
    assert recalled(conn, "Ana Apollo", include_superseded=True) == []
    assert relationships(conn) == []


@pytest.mark.usefixtures("dsn")
def test_superseded_evidence_is_none_unless_asked_for(conn: Connection[Any]) -> None:
    memory = told(conn, "x", fact("Ana", "leads", "Apollo"))
    moment = created(conn, memory)
    call(conn, "supersede", memory, "another")
    assert recalled(conn, "Ana") == []
    assert triples(conn, "Ana", include_superseded=True) == [("Ana", "leads", "Apollo")]
    assert triples(conn, "Ana", as_of=moment) == [("Ana", "leads", "Apollo")]
    other = told(conn, "y", fact("Ana", "leads", "Apollo"))
    assert [row["evidence"] for row in recalled(conn, "Ana")] == [[other]]


def test_a_fact_without_evidence_is_not_told(conn: Connection[Any]) -> None:
    told(conn, "x", fact("Ana", "leads", "Apollo"))
    conn.execute("DELETE FROM pgrecall.relationship_evidence")
    assert recalled(conn, "Ana") == []


# --- Refusals and roles ---

REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"query": ""}, "22023"),
    ({"query": None}, "22023"),
    ({"query": "x" * 16385}, "54000"),
    ({"query": "x", "k": 0}, "22023"),
    ({"query": "x", "k": 1001}, "22023"),
    ({"query": "x", "query_vec": "[1,2]"}, "22023"),
    ({"query": "x", "query_vec": str([0.0] * 384)}, "22023"),
]


def test_refuses_what_recall_refuses(conn: Connection[Any]) -> None:
    for options, sqlstate in REFUSED:
        with refused(conn, sqlstate):
            rows(conn, "recall_facts", **options)


@pytest.mark.usefixtures("dsn")
def test_readers_recall_facts_in_a_transaction_that_only_reads(conn: Connection[Any]) -> None:
    told(conn, "x", fact("Ana", "leads", "Apollo"))
    share(conn)
    before = contents(conn)
    conn.execute("SET ROLE pgrecall_reader; SET default_transaction_read_only = on")
    assert triples(conn, "Ana", labels=["leads"], concepts=["Ana"]) == [("Ana", "leads", "Apollo")]
    assert rows(conn, "pgrecall.unresolved_labels", 1) == [("leads", 1)]
    conn.execute("RESET ROLE; RESET default_transaction_read_only")
    assert contents(conn) == before
    conn.execute("SET ROLE pgrecall_embedder")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        recalled(conn, "Ana")


# --- Hubs and plans ---

HUB = 100_000
FILL = """
    WITH named AS (
        INSERT INTO pgrecall.concepts (namespace_id, key, name)
        SELECT 1, 'thing ' || n, 'thing ' || n FROM generate_series(1, %(size)s) n
        RETURNING id, key
    ), aliases AS (
        INSERT INTO pgrecall.concept_aliases (namespace_id, alias, concept_id, name)
        SELECT 1, key, id, key FROM named
        RETURNING alias, concept_id
    )
    SELECT count(*) FROM aliases
"""
LINK = """
    WITH linked AS (
        INSERT INTO pgrecall.relationships (namespace_id, source_id, source_alias_id, target_id, target_alias_id, label)
        SELECT 1, c.concept_id, c.id, a.concept_id, a.id, 'owns'
        FROM pgrecall.concept_aliases c JOIN pgrecall.concept_aliases a ON a.alias LIKE 'thing %%'
        WHERE c.alias = 'ana'
        RETURNING id
    )
    INSERT INTO pgrecall.relationship_evidence (relationship_id, memory_id, namespace_id, label)
    SELECT id, %(memory)s, 1, 'owns' FROM linked
"""


@pytest.fixture
def hub(conn: Connection[Any]) -> Connection[Any]:
    """A database in which a concept has a hundred thousand relationships, one of which stands out."""
    told(conn, "the kickoff went well", fact("Ana", "leads", "Apollo"))
    memory = remember(conn, "a long list of things")
    conn.execute(FILL.encode(), {"size": HUB})
    conn.execute("SET session_replication_role = replica")  # its foreign keys need no check
    conn.execute(LINK.encode(), {"memory": memory})
    conn.execute("RESET session_replication_role")
    conn.execute(
        "ANALYZE pgrecall.concepts, pgrecall.concept_aliases, pgrecall.relationships, pgrecall.relationship_evidence"
    )
    return conn


TABLES = ("concept_aliases", "concepts", "relationship_evidence", "relationships")


def cost(conn: Connection[Any], query: str, labels: list[str] | None) -> tuple[int, list[str] | None]:
    """Pages that a call looks at, and the tables it reads from end to end, if any."""
    statement = "EXPLAIN (ANALYZE, BUFFERS, FORMAT json) SELECT * FROM recall_facts(%s, labels => %s)"
    with conn.transaction():
        (root,) = scalar(conn, statement, query, labels)
        scans = scalar(
            conn,
            "SELECT array_agg(relname || seq_scan) FILTER (WHERE seq_scan > 0) FROM pg_stat_xact_user_tables WHERE schemaname = 'pgrecall' AND relname = ANY (%s)",
            list(TABLES),
        )
    return root["Plan"]["Shared Hit Blocks"] + root["Plan"]["Shared Read Blocks"], scans


@pytest.mark.slow
@pytest.mark.pg15
@pytest.mark.usefixtures("dsn")
def test_a_hub_costs_no_more_than_its_cap(hub: Connection[Any]) -> None:
    for mode in ("force_custom_plan", "force_generic_plan"):
        hub.execute(f"SET plan_cache_mode = {mode}".encode())
        for query, labels in (
            ("Ana", None),
            ("what Ana owns", ["owns"]),
            ("the kickoff", None),
            ("a list of things", None),
        ):
            recalled(hub, query, labels=labels)
            # The least of three: the catalog is read anew whenever other sessions have emptied the caches of this one.
            pages, scans = min(cost(hub, query, labels) for _ in range(3))
            # Some fifteen pages for each of 200 relationships; a table of 100,000 has hundreds.
            assert (pages < 5000, scans) == (True, None), (mode, query, pages)
    assert triples(hub, "kickoff", k=1) == [("Ana", "leads", "Apollo")]
    assert triples(hub, "Ana", labels=["leads"]) == [("Ana", "leads", "Apollo")]
    newest = scalar(hub, "SELECT max(id) FROM pgrecall.relationships")
    assert {row["id"] for row in recalled(hub, "Ana", k=1000)} >= {newest, newest - 199}
    assert len(recalled(hub, "Ana", k=1000)) <= 201


@pytest.mark.slow
@pytest.mark.pg15
def test_writing_beside_a_hub_looks_at_its_own(hub: Connection[Any]) -> None:
    memory = told(hub, "Ana moved", lives("Ana", "Oslo"), fact("Ana", "owns", "thing 7"))
    found = recalled(hub, "Ana owns thing 7", k=1)
    assert [row["evidence"][0] for row in found] == [memory]
