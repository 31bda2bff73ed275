"""Two tenants and a library: what the attacks of test_attack_*.py go against.

Whatever acme stores has the canary word in it. Roles of evil may write evil's namespace and read the library's.
"""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from support.declarations import declarations
from support.extraction import claimed, complete, fact, mention
from support.extraction import time as reference
from support.memories import call, remember, scalar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from psycopg import Connection

CANARY = "quokka"
VICTIM, OWN, LIBRARY = "acme", "evil", "library"
ABSENT = 10**15
"""An id that nothing has."""
ABSENT_NAMESPACE = 10**8

_OTHERS = """
INSERT INTO pgrecall.jobs (memory_id, kind, generation_id, namespace_id, attempts, cause, last_error, failed_at)
VALUES (%(memory)s, 'embedding', 1, %(home)s, 5, 'quokka', 'quokka error', now()),
       (%(memory)s, 'text', 0, %(home)s, 5, 'quokka', 'quokka error', now());
INSERT INTO pgrecall.truncated_embeddings (memory_id, generation_id) VALUES (%(memory)s, 1);
INSERT INTO pgrecall.passages (memory_id, generation_id, number, namespace_id, starts_at, ends_at, embedding)
VALUES (%(memory)s, 1, 1, %(home)s, 0, 9, array_fill(0.5::real, ARRAY[384])::halfvec);
INSERT INTO pgrecall.sparse_terms (memory_id, namespace_id, weights) VALUES (%(memory)s, %(home)s, '{1:1}/268435456');
INSERT INTO pgrecall.erased_messages (namespace_id, key, "position") VALUES (%(home)s, sha256('quokka'), 1);
INSERT INTO pgrecall.embedding_backgrounds (namespace_id, generation_id, mean, deviation, sample_size)
VALUES (%(home)s, 1, array_fill(0.5::real, ARRAY[384])::halfvec, 0.1, 20);
INSERT INTO pgrecall.memory_changes (memory_id, namespace_id, action, role, before, after)
VALUES (%(memory)s, %(home)s, 'update', 'quokka', '{"content": "quokka before"}', '{"content": "quokka after"}');
INSERT INTO pgrecall.retention (namespace_id, category, keep) VALUES (%(home)s, 'chat', '1000 years');
INSERT INTO pgrecall.pages (namespace_id, name, question, sections, budget, unit)
VALUES (%(home)s, 'quokka', 'quokka asked', '{facts}', 2000, 'tokens');
INSERT INTO pgrecall.page_lines (namespace_id, page, "position", memory_id, section, text, said_at)
VALUES (%(home)s, 'quokka', 1, %(memory)s, 'facts', 'quokka line', now());
INSERT INTO pgrecall.page_changes (namespace_id, ticket, changed_at) VALUES (%(home)s, 1, now());
INSERT INTO pgrecall.llm_answers (key, memory_id, answer) VALUES ('quokka', %(memory)s, '{"quokka": 1}');
INSERT INTO pgrecall.query_embeddings (generation_id, role, query_hash, query) VALUES (1, 'pgrecall_admin', 'quokka', 'quokka asked');
INSERT INTO pgrecall.query_expansions (role, query_hash, language, terms) VALUES ('pgrecall_admin', sha256('quokka'), 'english', '{quokka}');
INSERT INTO pgrecall.learned_settings (namespace_id, settings, queries, ndcg_before, ndcg_after, gain_low, gain_high)
VALUES (%(home)s, '{"cc_alpha": "0.7"}', 40, 0.5, 0.6, 0.05, 0.15);
INSERT INTO pgrecall.judged_vectors (namespace_id, embedding_model_id, query_id, query_vec)
SELECT q.namespace_id, 1, q.query_id, array_fill(0.5::real, ARRAY[384])::halfvec FROM pgrecall.judged_queries q;
INSERT INTO pgrecall.term_stats (namespace_id, term, documents, small_blocks) VALUES (%(home)s, 'quokka', 1, 0);
INSERT INTO pgrecall.concepts (namespace_id, name, key) VALUES (%(home)s, 'quokka two', 'quokka two');
INSERT INTO pgrecall.jobs (memory_id, kind, namespace_id, last_error) VALUES (%(memory)s, 'curation', %(home)s, 'quokka error');
INSERT INTO pgrecall.curations (memory_id, other_id, namespace_id, decision, decider)
SELECT max(m.id), %(memory)s, %(home)s, 'ADD', 'quokka' FROM pgrecall.memories m WHERE m.namespace_id = %(home)s;
INSERT INTO pgrecall.note_evidence (memory_id, note_id)
SELECT m.id, n.id
FROM pgrecall.memories m, (SELECT min(m.id) AS id FROM pgrecall.memories m WHERE m.namespace_id = %(home)s) n
WHERE m.namespace_id = %(home)s AND m.id <> n.id;
INSERT INTO pgrecall.concept_aliases (namespace_id, name, alias, concept_id)
SELECT c.namespace_id, c.name, c.key, c.id FROM pgrecall.concepts c WHERE c.key = 'quokka two';
INSERT INTO pgrecall.concept_keys (namespace_id, key, concept_id)
SELECT c.namespace_id, hashtext(c.key), c.id FROM pgrecall.concepts c WHERE c.namespace_id = %(home)s;
INSERT INTO pgrecall.name_doubts (namespace_id, concept_id, other_id)
SELECT %(home)s, min(c.id), max(c.id) FROM pgrecall.concepts c WHERE c.namespace_id = %(home)s AND c.key <> 'quokka two';
"""


# What an attacker could do who got SQL of his own into a function that runs as pgrecall_gate: the policies still hold.
_BREACH = """
CREATE SCHEMA breach;
GRANT USAGE ON SCHEMA breach TO PUBLIC;
CREATE FUNCTION breach.run(statement text) RETURNS SETOF text LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
    touched bigint;
BEGIN
    IF statement ~* '^\\s*(SELECT|EXPLAIN)' THEN
        RETURN QUERY EXECUTE CASE WHEN statement ~* '^\\s*EXPLAIN' OR statement ~* 'FOR UPDATE\\s*$' THEN statement
                                  ELSE 'SELECT x::text FROM (' || statement || ') x' END;
    ELSE
        EXECUTE statement;
        GET DIAGNOSTICS touched = ROW_COUNT;
        RETURN NEXT touched::text;
    END IF;
END $$;
ALTER FUNCTION breach.run OWNER TO pgrecall_gate;
"""


@dataclass(frozen=True, slots=True)
class Tenants:
    """A database with its tenants, and the roles that attack."""

    dsn: str
    reader: str
    writer: str
    home: int
    own_home: int
    memory: int
    own_memory: int
    library_memory: int
    concept: int
    own_concept: int
    relationship: int
    merge: int
    memories: frozenset[int] = field(default_factory=frozenset)

    @contextmanager
    def owner(self) -> Iterator[Connection[Any]]:
        """A connection of the owner's."""
        with psycopg.connect(self.dsn, autocommit=True) as connection:
            yield connection

    @contextmanager
    def attacker(self, role: str | None = None) -> Iterator[Connection[Any]]:
        """A transaction as a role of evil's, the writer if no other is given; it is rolled back."""
        with psycopg.connect(self.dsn) as connection:
            connection.execute(f"SET ROLE {role or self.writer}".encode())
            connection.commit()
            yield connection
            connection.rollback()


@pytest.fixture(scope="module")
def tenants(new_database: Callable[..., str], template: str) -> Iterator[Tenants]:
    """A database of its own for a module, filled once; tests leave it as it is."""
    dsn = new_database(template)
    with psycopg.connect(dsn, autocommit=True) as owner:
        suffix = owner.info.backend_pid
        reader, writer = f"attack_reader_{suffix}", f"attack_writer_{suffix}"
        owner.execute(f"CREATE ROLE {reader} IN ROLE pgrecall_reader".encode())
        owner.execute(f"CREATE ROLE {writer} IN ROLE pgrecall_writer".encode())
        try:
            yield filled(owner, dsn, reader, writer)
        finally:
            for role in (reader, writer):
                owner.execute(f"DROP OWNED BY {role}".encode())
                owner.execute(f"DROP ROLE {role}".encode())


def filled(owner: Connection[Any], dsn: str, reader: str, writer: str) -> Tenants:
    """Fill a migrated database with the tenants, and grant the roles what is evil's and the library."""
    owner.execute(_BREACH.encode())
    call(owner, "pgrecall.activate_model", "a model", 384)
    for namespace in (VICTIM, OWN, LIBRARY):
        call(owner, "pgrecall.create_namespace", namespace)
    for role, access in ((reader, "read"), (writer, "write")):
        call(owner, "pgrecall.grant_namespace", role, OWN, access)
        call(owner, "pgrecall.grant_namespace", role, LIBRARY)
    home = int(scalar(owner, "SELECT pgrecall.namespace_id('acme')"))
    memory = remember(
        owner, "The quokka plan of Jane Quokka at Acme", title="quokka title", tags=["quokka tag"],
        expanded_keywords=["quokka key"], category="quokka category", source="quokka source",
        session="quokka session", speaker="quokka speaker", position=1, metadata={"quokka": "quokka"},
        external_id="quokka-1", namespace=VICTIM,
    )  # fmt: skip
    others = [
        remember(owner, "A quokka secret", is_sensitive=True, namespace=VICTIM, external_id="quokka-2"),
        remember(owner, "An old quokka", tags=["quokka tag"], namespace=VICTIM),
        remember(owner, "A forgotten quokka", namespace=VICTIM, external_id="quokka-3"),
    ]
    others.append(call(owner, "supersede", others[1], "A new quokka"))
    call(owner, "forget", others[2])
    own = remember(owner, "An own plan", tags=["own tag"], namespace=OWN, external_id="own-1")
    borrowed = remember(owner, "A book of plans", tags=["book"], namespace=LIBRARY, external_id="book-1")
    for row in claimed(owner):
        if row[0] == memory:
            said = {
                "memory_id": memory,
                "ticket": row[1],
                "mentions": [mention("Jane Quokka", "PERSON"), mention("Quokka Inc", "ORG")],
                "times": [reference("2024-01-01", "2024-01-02")],
                "facts": [fact("Jane Quokka", "quokka label", "Quokka Inc", statement="the quokka sentence")],
            }
            assert complete(owner, [said]) == 1
    call(owner, "pgrecall.judge", "quokka query", "quokka query", None, [memory], namespace=VICTIM)
    call(owner, "pgrecall.set_entity_rules", "QUOKKA", ["quokka"], namespace=VICTIM)
    call(owner, "pgrecall.set_relation_label", home, "quokka alias", "quokka label")
    for statement in _OTHERS.strip().split(";\n"):
        owner.execute(statement.rstrip(";").encode(), {"memory": memory, "home": home})
    concept = int(scalar(owner, "SELECT id FROM pgrecall.concepts WHERE key = 'quokka two'"))
    merged = int(scalar(owner, "SELECT id FROM pgrecall.concepts WHERE key = 'quokka tag'"))
    merge = call(owner, "pgrecall.merge_concepts", concept, merged)
    # Most are folded into the postings, one is not: both ways have to be shut.
    while scalar(owner, "SELECT pgrecall.flush_pending_postings(1)"):
        pass
    remember(owner, "A late quokka", namespace=VICTIM)
    # Too few embeddings for a background: the flush has removed it.
    for statement in _OTHERS.strip().split(";\n"):
        if "INTO pgrecall.embedding_backgrounds" in statement:
            owner.execute(statement.rstrip(";").encode(), {"home": home})
    for table, declared in declarations(owner).items():
        if declared.columns_of_memories and not declared.is_kept:
            plant(owner, table, memory, home)
    owner.execute("ANALYZE")
    ids = owner.execute("SELECT id FROM pgrecall.memories WHERE namespace_id = %s", (home,)).fetchall()
    return Tenants(
        make_conninfo(dsn), reader, writer, home,
        own_home=int(scalar(owner, "SELECT pgrecall.namespace_id('evil')")),
        memory=memory, own_memory=own, library_memory=borrowed, concept=merged,
        own_concept=int(scalar(owner, "SELECT id FROM pgrecall.concepts WHERE key = 'own tag'")),
        relationship=int(scalar(owner, "SELECT min(id) FROM pgrecall.relationships")),
        merge=int(merge), memories=frozenset(number for (number,) in ids),
    )  # fmt: skip


def plant(owner: Connection[Any], table: str, memory: int, home: int) -> None:
    """Give a table of memories a row of the victim's, if it has none: whatever its columns take."""
    if scalar(owner, f"SELECT count(*) FROM pgrecall.{table}"):
        return
    query = """
        SELECT a.attname, format_type(a.atttypid, NULL), k.confrelid = 'pgrecall.memories'::regclass
        FROM pg_attribute a
        LEFT JOIN pg_constraint k ON k.conrelid = a.attrelid AND k.contype = 'f' AND k.conkey = ARRAY[a.attnum]
        WHERE a.attrelid = %s::regclass AND a.attnum > 0 AND NOT a.attisdropped AND a.attidentity = '' AND a.attgenerated = ''
          AND (NOT a.atthasdef OR a.atttypid = 'text'::regtype)
        ORDER BY a.attnum
    """
    values = {}
    for name, type_, is_of_memory in owner.execute(query.encode(), (f"pgrecall.{table}",)):
        texts = {
            "text": CANARY,
            "jsonb": f'"{CANARY}"',
            "text[]": [CANARY],
            "boolean": True,
            "bytea": b"quokka",
        }
        at = {"timestamp with time zone": "now", "date": "now", "interval": "1 day"}
        values[name] = (
            memory
            if is_of_memory or name == "memory_id"
            else {"namespace_id": home}.get(name, (texts | at).get(type_, 1))
        )
    listed, given = ", ".join(values), ", ".join(f"%({name})s" for name in values)
    owner.execute(f"INSERT INTO pgrecall.{table} ({listed}) VALUES ({given})".encode(), values)


def inside(conn: Connection[Any], query: str, values: dict[str, Any] | None = None) -> str:
    """The outcome of a statement that runs as pgrecall_gate, for the role of the connection."""
    statement = psycopg.ClientCursor(conn).mogrify(query.encode(), values) if values else query
    told = outcome(conn, "SELECT * FROM breach.run(%(statement)s)", {"statement": statement})
    return re.sub(r"^\(['\"](.*)['\"],\)$", r"\1", told, flags=re.MULTILINE)


def relations(conn: Connection[Any], kinds: str = "rv") -> list[str]:
    """Names of the tables (r) and views (v) of the schema, as the catalog has them."""
    query = """
        SELECT c.relname FROM pg_class c
        WHERE c.relnamespace = 'pgrecall'::regnamespace AND c.relkind = ANY (string_to_array(%s, NULL)::"char"[]) ORDER BY 1
    """
    return [name for (name,) in conn.execute(query.encode(), (kinds,))]


def said(error: psycopg.Error) -> str:
    """Everything that an error tells its caller."""
    told = error.diag
    parts = (told.sqlstate, told.message_primary, told.message_detail, told.message_hint, told.context)
    return "\n".join(part or "" for part in parts)


def outcome(conn: Connection[Any], query: str, values: dict[str, Any] | None = None) -> str:
    """What a statement answers, or what its error says, with all notices; what it changed is taken back."""
    notices: list[str] = []

    def note(diagnostic: psycopg.errors.Diagnostic) -> None:
        notices.append(f"{diagnostic.message_primary} {diagnostic.message_detail} {diagnostic.message_hint}")

    conn.add_notice_handler(note)
    try:
        with conn.transaction(force_rollback=True):
            cursor = conn.execute(query.encode(), values)
            rows = cursor.fetchall() if cursor.description else [cursor.rowcount]
            return "\n".join([*map(str, rows), *notices])
    except psycopg.Error as error:
        return "\n".join([said(error), *notices])
    finally:
        conn.remove_notice_handler(note)
