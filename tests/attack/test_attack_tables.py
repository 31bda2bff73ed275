"""Attacks on tables and views: tenants and embedders have no privilege on any that holds what somebody remembers.

What the functions that they call may read and write is attacked as well, by statements that run as those functions do (`inside`):
were there a way to get SQL into one of them, the policies would still stand.

Driven by the catalog, so that a new table or view is attacked without anybody having thought of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from support.attack import ABSENT, CANARY, LIBRARY, OWN, VICTIM, inside, outcome, relations, tenants
from support.declarations import declarations, shared_tables
from support.memories import contents, scalar

if TYPE_CHECKING:
    from psycopg import Connection

    from support.attack import Tenants

__all__ = ["tenants"]

DENIED = ("42501", "428C9", "0")
"""A privilege or policy refuses, the column is nobody's to write, or no row is there to change."""


def columns(conn: Connection[Any], table: str) -> list[str]:
    query = """
        SELECT a.attname FROM pg_attribute a
        WHERE a.attrelid = ('pgrecall.' || %s)::regclass AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum
    """
    return [name for (name,) in conn.execute(query.encode(), (table,))]


# --- Reading ---


def test_the_victim_has_rows_in_every_table_of_tenants(tenants: Tenants) -> None:
    with tenants.owner() as owner:
        for table in (
            set(relations(owner, "r"))
            - shared_tables(owner)
            - {"erasures", "grants", "granted", "graph_changes", "locks"}
        ):
            of_victim = scalar(
                owner,
                f"SELECT count(*) FROM pgrecall.{table} t WHERE t::text ~* '{CANARY}' OR {victims(owner, table, tenants)}",
            )
            assert of_victim > 0, table


def victims(owner: Connection[Any], table: str, tenants: Tenants) -> str:
    """What is true of rows that belong to the victim."""
    there = columns(owner, table)
    if "namespace_id" in there:
        return f"t.namespace_id = {tenants.home}"
    if "memory_id" in there:
        return f"t.memory_id = ANY ('{{{','.join(map(str, tenants.memories))}}}')"
    return f"t.id = {tenants.home}" if table == "namespaces" else f"t::text ~* '{CANARY}'"


VIEWS = {
    "profile_definitions", "profiles", "setting_definitions", "settings_in_force", "settings_reference",
}  # fmt: skip
"""Views that a tenant may read: how things are set up."""


@pytest.mark.parametrize("role", ["pgrecall_reader", "pgrecall_writer", "pgrecall_embedder"])
def test_nobody_has_a_privilege_on_what_somebody_remembers(tenants: Tenants, role: str) -> None:
    """So no condition of theirs meets an index whose keys are words of others, and no EXPLAIN counts what it met."""
    with tenants.owner() as owner:
        setup = {one.name for one in declarations(owner).values() if one.is_readable}
        assert setup < shared_tables(owner)
        for relation in relations(owner):
            for privilege in ("SELECT", "INSERT", "UPDATE", "REFERENCES"):
                query = "SELECT has_any_column_privilege(%s, %s, %s)"
                may = scalar(owner, query, role, f"pgrecall.{relation}", privilege)
                assert may is (privilege == "SELECT" and relation in setup | VIEWS), (relation, privilege)
            for privilege in ("DELETE", "TRUNCATE", "TRIGGER"):
                query = "SELECT has_table_privilege(%s, %s, %s)"
                assert scalar(owner, query, role, f"pgrecall.{relation}", privilege) is False, relation
        query = "SELECT c.oid::regclass::text FROM pg_class c WHERE c.relnamespace = 'pgrecall'::regnamespace AND c.relkind = 'S'"
        for (sequence,) in owner.execute(query).fetchall():
            query = "SELECT has_sequence_privilege(%s, %s, 'USAGE, SELECT, UPDATE')"
            assert scalar(owner, query, role, sequence) is False, sequence


@pytest.mark.parametrize("who", ["reader", "writer"])
def test_no_table_and_no_view_shows_a_row_of_another_tenant(tenants: Tenants, who: str) -> None:
    seen = set()
    with tenants.owner() as owner, tenants.attacker(getattr(tenants, who)) as attacker:
        for relation in relations(owner):
            answer = inside(attacker, f"SELECT t::text FROM pgrecall.{relation} t")
            assert CANARY not in answer.lower(), relation
            assert not answer.startswith("42501"), relation
            seen.add(relation)
            mine = victims(owner, relation, tenants)
            counted = inside(attacker, f"SELECT count(*) FROM pgrecall.{relation} t WHERE {mine}")
            assert counted == "(0)", relation
    assert {"memories", "postings", "term_stats", "concepts", "judged_queries", "query_embeddings"} <= seen


def test_an_embedder_sees_nothing_that_tenants_keep_to_themselves(tenants: Tenants) -> None:
    """Whatever the declarations say: judged queries, history, rules; nor what was derived from a sensitive memory."""
    with tenants.owner() as owner, tenants.attacker("pgrecall_embedder") as embedder:
        for table in (
            *(
                "judged_queries",
                "judgements",
                "judged_vectors",
                "memory_changes",
                "learned_settings",
                "retention",
                "pages",
                "page_lines",
                "page_changes",
            ),
            *("grants", "granted", "erasures", "postings", "term_stats", "pending_postings"),
        ):
            assert inside(embedder, f"SELECT count(*) FROM pgrecall.{table}") == "(0)", table
        secret = scalar(owner, "SELECT id FROM pgrecall.memories WHERE external_id = 'quokka-2'")
        assert inside(embedder, f"SELECT count(*) FROM pgrecall.memories WHERE id = {secret}") == "(0)"
        assert (
            inside(embedder, f"SELECT count(*) FROM pgrecall.memories WHERE id = {tenants.memory}") == "(1)"
        )


def test_what_is_granted_is_seen(tenants: Tenants) -> None:
    with tenants.attacker() as attacker:
        names = attacker.execute("SELECT name, access FROM pgrecall.list_namespaces()").fetchall()
        assert names == [(OWN, "write"), (LIBRARY, "read")]
        found = inside(attacker, "SELECT id FROM pgrecall.memories ORDER BY id")
        assert found == f"({tenants.own_memory})\n({tenants.library_memory})"


def test_every_table_is_shut_and_every_view_asks_as_its_caller(tenants: Tenants) -> None:
    with tenants.owner() as owner:
        query = """
            SELECT c.relname FROM pg_class c
            WHERE c.relnamespace = 'pgrecall'::regnamespace AND c.relkind IN ('r', 'p', 'm', 'f') AND NOT c.relrowsecurity
        """
        assert owner.execute(query).fetchall() == []
        query = """
            SELECT c.relname FROM pg_class c
            WHERE c.relnamespace = 'pgrecall'::regnamespace AND c.relkind = 'v'
              AND NOT COALESCE(c.reloptions @> '{security_invoker=true}' OR c.reloptions @> '{security_invoker=on}', false)
              AND EXISTS (
                  SELECT FROM pg_rewrite r JOIN pg_depend d ON d.objid = r.oid AND d.classid = 'pg_rewrite'::regclass
                  JOIN pg_class t ON t.oid = d.refobjid AND t.relkind = 'r'
                  WHERE r.ev_class = c.oid AND t.relname <> ALL (%s))
        """
        assert owner.execute(query.encode(), (sorted(shared_tables(owner)),)).fetchall() == []


def test_a_policy_for_all_is_only_on_what_has_no_tenant(tenants: Tenants) -> None:
    with tenants.owner() as owner:
        query = """
            SELECT DISTINCT p.tablename FROM pg_policies p
            WHERE p.schemaname = 'pgrecall' AND p.qual = 'true' AND p.roles && '{public,pgrecall_reader,pgrecall_writer}'
        """
        assert {name for (name,) in owner.execute(query)} == shared_tables(owner)
        query = "SELECT DISTINCT unnest(p.roles) FROM pg_policies p WHERE p.schemaname = 'pgrecall'"
        assert {role for (role,) in owner.execute(query)} == {
            "public",
            "pgrecall_gate",
            "pgrecall_engine",
            "pgrecall_admin",
        }


def test_nothing_of_it_is_in_the_catalogs(tenants: Tenants) -> None:
    with tenants.attacker() as attacker:
        catalogs = [
            name
            for (name,) in attacker.execute(
                "SELECT c.relname FROM pg_class c WHERE c.relnamespace = 'pg_catalog'::regnamespace AND c.relkind = 'v' ORDER BY 1"
            )
        ]
        assert "pg_stats" in catalogs
        for name in catalogs:
            # What other connections do now is the server's to hide, and names of the roles that attack have no secret.
            assert CANARY not in outcome(attacker, f"SELECT t::text FROM {name} t").lower(), name


# --- Writing ---


def test_no_row_of_another_tenant_is_changed_or_deleted(tenants: Tenants) -> None:
    with tenants.owner() as owner:
        before = contents(owner)
        for role in (tenants.writer, tenants.reader):
            with tenants.attacker(role) as attacker:
                for table in set(relations(owner, "r")) - shared_tables(owner):
                    mine = victims(owner, table, tenants)
                    for column in columns(owner, table):
                        update = f"UPDATE pgrecall.{table} t SET {column} = {column} WHERE {mine}"
                        assert inside(attacker, update).startswith(DENIED), update
                    assert inside(attacker, f"DELETE FROM pgrecall.{table} t WHERE {mine}").startswith(DENIED)
                    assert inside(attacker, f"TRUNCATE pgrecall.{table} CASCADE").startswith("42501")
                    assert outcome(attacker, f"COPY pgrecall.{table} FROM STDIN").startswith(
                        ("42501", "0A000")
                    )
        assert contents(owner) == before


def test_no_row_gets_into_another_tenants_namespace(tenants: Tenants) -> None:
    """Copies of one's own rows, of a granted library's, and of the victim's as the owner reads them."""
    with tenants.owner() as owner, tenants.attacker() as attacker:
        for table in set(relations(owner, "r")) - shared_tables(owner):
            there = columns(owner, table)
            if "namespace_id" not in there:
                continue
            listed = ", ".join(f'"{name}"' for name in there)
            changed = ", ".join("%(home)s" if name == "namespace_id" else f't."{name}"' for name in there)
            for home in (tenants.home, scalar(owner, f"SELECT pgrecall.namespace_id('{LIBRARY}')")):
                values = {"home": home}
                moved = inside(attacker, f"UPDATE pgrecall.{table} SET namespace_id = %(home)s", values)
                assert moved.startswith(DENIED), table
                row = owner.execute(
                    f"SELECT t FROM pgrecall.{table} t WHERE {victims(owner, table, tenants)} LIMIT 1".encode()
                )
                (text,) = row.fetchone() or (None,)
                copied = (
                    f"INSERT INTO pgrecall.{table} ({listed}) OVERRIDING SYSTEM VALUE "
                    f"SELECT {changed} FROM (SELECT (%(row)s::pgrecall.{table}).*) t"
                )
                assert inside(attacker, copied, {**values, "row": text}).startswith("42501"), table


def of_victim(
    owner: Connection[Any], table: str, tenants: Tenants, **changed: str
) -> tuple[str, dict[str, Any]]:
    """A statement that copies a row of the victim's, with some columns changed, and its values."""
    there = columns(owner, table)
    listed = ", ".join(f'"{name}"' for name in there)
    given = ", ".join({"id": "-1", **changed}.get(name, f't."{name}"') for name in there)
    row = f"SELECT t FROM pgrecall.{table} t WHERE {victims(owner, table, tenants)} LIMIT 1"
    statement = (
        f"INSERT INTO pgrecall.{table} ({listed}) OVERRIDING SYSTEM VALUE SELECT {given} "
        f"FROM (SELECT (%(row)s::pgrecall.{table}).*) t"
    )
    return statement, {"row": scalar(owner, row)}


def test_no_row_of_ones_own_refers_to_a_memory_of_another_tenant(tenants: Tenants) -> None:
    attacked = set()
    with tenants.owner() as owner, tenants.attacker() as attacker:
        for table, declared in declarations(owner).items():
            for column in declared.columns_of_memories if declared.rows != "own" else ():
                for namespace in (tenants.own_home, tenants.home):
                    others = {
                        name: str(tenants.own_memory)
                        for name in declared.columns_of_memories
                        if name != column
                    }
                    changed = {column: str(tenants.memory), "namespace_id": str(namespace), **others}
                    statement, values = of_victim(owner, table, tenants, **changed)
                    told = inside(attacker, statement, values)
                    assert told.startswith(("42501", "23503")), (table, column, told)
                attacked.add(table)
    assert {"memories", "mentions", "curations", "note_evidence", "jobs", "judgements"} <= attacked


@pytest.mark.parametrize("who", [None, "pgrecall_admin", "pgrecall_gate"])
def test_nothing_is_derived_from_a_secret(tenants: Tenants, who: str | None) -> None:
    with tenants.owner() as owner:
        secret = scalar(owner, "SELECT id FROM pgrecall.memories WHERE external_id = 'quokka-2'")
        refusing = [one.name for one in declarations(owner).values() if one.refuses_sensitive]
        copies = [of_victim(owner, table, tenants, memory_id=str(secret)) for table in refusing]
        copies += [
            (
                f"UPDATE pgrecall.{table} SET memory_id = {secret} WHERE ctid = (SELECT ctid FROM pgrecall.{table} LIMIT 1)",
                {},
            )
            for table in refusing
        ]
        if who:
            owner.execute(f"SET ROLE {who}".encode())
        for statement, values in copies:
            told = outcome(owner, statement, values)
            # As the gate, for a role to which nothing is granted, the policies refuse it or show no row.
            refused = ("42501\nnothing may be derived from memory", *(("42501", "0") if who else ()))
            assert told.startswith(refused), statement
        owner.execute("RESET ROLE")
        for table in refusing:
            assert scalar(owner, f"SELECT count(*) FROM pgrecall.{table} WHERE memory_id = %s", secret) == 0
    assert {"mentions", "passages", "extractions", "llm_answers"} <= set(refusing)


CHILDREN = {
    "a mention": "INSERT INTO pgrecall.mentions (concept_id, memory_id, namespace_id, source, alias_id) "
    "SELECT a.concept_id, {id}, {own_home}, 'tag', a.id FROM pgrecall.concept_aliases a "
    "WHERE a.concept_id = {own_concept}",
    "a time": "INSERT INTO pgrecall.temporal_refs (memory_id, namespace_id, from_at, to_at, granularity, source) "
    "SELECT {id}, {own_home}, now(), now() + interval '1 day', 'day', 'x'",
    "a judgement": "INSERT INTO pgrecall.judgements (namespace_id, query_id, memory_id) VALUES ({own_home}, 'x', {id})",
    "an extraction": "INSERT INTO pgrecall.extractions (memory_id, enricher) VALUES ({id}, 'text')",
    "a curation": "INSERT INTO pgrecall.curations (memory_id, namespace_id, decision, decider) "
    "VALUES ({id}, {own_home}, 'ADD', 'x')",
    "the other of a curation": "INSERT INTO pgrecall.curations (memory_id, other_id, namespace_id, decision, decider) "
    "VALUES ({own_memory}, {id}, {own_home}, 'ADD', 'x')",
    "a successor": "UPDATE pgrecall.memories SET superseded_by = {id} WHERE id = {own_memory}",
    "evidence": "INSERT INTO pgrecall.relationship_evidence (relationship_id, memory_id) VALUES (1, {id})",
    "evidence of a relationship": "INSERT INTO pgrecall.relationship_evidence (relationship_id, memory_id) "
    "VALUES ({relationship}, {own_memory})",
    "a successor of a relationship": "INSERT INTO pgrecall.relationships (namespace_id, source_id, target_id, label, "
    "source_alias_id, target_alias_id, superseded_by) "
    "SELECT {own_home}, a.concept_id, a.concept_id, 'x', a.id, a.id, {relationship} "
    "FROM pgrecall.concept_aliases a WHERE a.concept_id = {own_concept}",
    "a name of a concept": "INSERT INTO pgrecall.concept_aliases (namespace_id, name, alias, concept_id) "
    "VALUES ({own_home}, 'x', 'x', {concept})",
}


@pytest.mark.parametrize("child", CHILDREN)
def test_a_row_that_points_to_anothers_is_refused_as_one_that_points_nowhere(
    tenants: Tenants, child: str
) -> None:
    """A foreign key would say which ids exist: a policy refuses first, or the key has the namespace in it."""
    known = {
        "own_home": tenants.own_home,
        "own_memory": tenants.own_memory,
        "own_concept": tenants.own_concept,
    }
    theirs = {"id": tenants.memory, "relationship": tenants.relationship, "concept": tenants.concept}
    with tenants.attacker() as attacker:
        told = inside(attacker, CHILDREN[child].format(**known, **theirs))
        nothing = inside(
            attacker, CHILDREN[child].format(**known, id=ABSENT, relationship=ABSENT, concept=ABSENT)
        )
    assert told.startswith(("42501", "23503"))
    # The detail of a foreign key names the number that was given.
    assert told.splitlines()[:2] == nothing.splitlines()[:2]


def test_nobody_takes_the_ids_that_others_are_about_to_get(tenants: Tenants) -> None:
    with tenants.owner() as owner, tenants.attacker() as attacker:
        for table, columns_, values in (
            (
                "memories",
                "namespace_id, content, language, content_hash, search_vector",
                "'x', 'simple', '', ''",
            ),
            ("concepts", "namespace_id, name, key", "'x', 'x'"),
        ):
            following = scalar(owner, f"SELECT last_value FROM pgrecall.{table}_id_seq") + 1
            insert = (
                f"INSERT INTO pgrecall.{table} (id, {columns_}) VALUES ({{}}, {tenants.own_home}, {values})"
            )
            assert inside(attacker, insert.format(following)).startswith("42501")
            assert inside(attacker, insert.format("DEFAULT")) == "1"
            assert inside(attacker, f"UPDATE pgrecall.{table} SET id = {following + 100}").startswith("42501")
        for sequence in ("generation_numbers", "namespaces_id_seq"):
            assert outcome(attacker, f"SELECT nextval('pgrecall.{sequence}')").startswith("42501")
        assert outcome(attacker, "SELECT setval('pgrecall.memories_id_seq', 1)").startswith("42501")


def test_a_granted_library_is_read_and_not_written(tenants: Tenants) -> None:
    number = tenants.library_memory
    with tenants.attacker() as attacker:
        attempts = (
            f"SELECT public.update_memory({number}, content => 'x')",
            f"SELECT public.supersede({number}, 'x')",
            f"SELECT public.supersede({number}, successor => {number + 1})",
            f"SELECT public.forget({number})",
            f"SELECT public.remember('x', namespace => '{LIBRARY}')",
            f"SELECT public.remember('x', namespace => '{LIBRARY}', external_id => 'book-1', on_conflict => 'update')",
        )
        for attempt in attempts:
            told = outcome(attacker, attempt)
            assert told.startswith("42501"), attempt
            assert "may only read" in told, attempt
            assert "grant_namespace" in told, attempt
        assert inside(attacker, f"SELECT content FROM pgrecall.memories WHERE id = {number} FOR UPDATE") == ""


def test_error_details_of_constraints_show_no_row(tenants: Tenants) -> None:
    """PostgreSQL leaves the failing row out where row-level security is on, and keys are of one's own rows."""
    with tenants.attacker() as attacker:
        told = inside(attacker, f"UPDATE pgrecall.memories SET namespace_id = {tenants.home}")
        assert "An own plan" not in told
        assert VICTIM not in told


def test_policies_cannot_be_switched_off(tenants: Tenants) -> None:
    with tenants.attacker() as attacker:
        assert inside(attacker, "SELECT row_security_active('pgrecall.memories')") == "(t)"
        attacker.execute("SET row_security = off")
        assert inside(attacker, "SELECT count(*) FROM pgrecall.memories").startswith("42501")
        assert outcome(attacker, "SELECT id FROM public.recall('own plan', namespace => 'evil')").startswith(
            "42501"
        )
