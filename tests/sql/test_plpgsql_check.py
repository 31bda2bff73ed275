"""plpgsql_check, with all of its warnings, finds nothing in any function; what it cannot know is named here."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from pgrecall.query.legs import LEGS

if TYPE_CHECKING:
    from psycopg import Connection

_DYNAMIC = "its statement is run by EXECUTE, which plpgsql_check does not look into"
_TWO_TABLES = "its trigger is on two tables, and it asks which one fired"
_GUARD = (
    "volatile on purpose: the planner runs a stable function to estimate rows, and this one raises an error"
)
_QUOTED = "the string is put together from parts that format() has quoted"
_OWN = "it explains a statement of pgrecall itself, with the rights of its caller"
_COLUMN = "the composite is one column of several, as it is meant"
_WAITED = "volatile on purpose: it is to see what was committed while its caller waited"
_LOCKED = "volatile on purpose: it locks rows within an expression, where plpgsql_check does not see it"
_COUNTED = "volatile on purpose: it is to count what its caller has deleted"
_ABSENT = "it only says that the function in Python is not installed"
_NEWER = "only PostgreSQL 16 and newer come there"
_CONSTANT = "it reads a view of constants, which plpgsql_check 2.8 takes for immutable; another bundle may replace the view"

KNOWN = {
    ("add_generation", "text type variable is not sanitized"): _QUOTED,
    ("check_zone", "function pg_input_is_valid(text, unknown) does not exist"): _NEWER,
    ("claim", 'OUT variable "content" is maybe unmodified'): _DYNAMIC,
    ("claim", 'OUT variable "content_hash" is maybe unmodified'): _DYNAMIC,
    ("claim", 'OUT variable "is_sensitive" is maybe unmodified'): _DYNAMIC,
    ("claim", 'OUT variable "memory_id" is maybe unmodified'): _DYNAMIC,
    ("claim", 'OUT variable "passages" is maybe unmodified'): _DYNAMIC,
    ("claim", 'OUT variable "ticket" is maybe unmodified'): _DYNAMIC,
    ("claim_curations", 'OUT variable "memory_id" is maybe unmodified'): _DYNAMIC,
    ("claim_curations", 'OUT variable "ticket" is maybe unmodified'): _DYNAMIC,
    ("claim_curations", "routine is marked as VOLATILE, should be STABLE"): _DYNAMIC,
    **{
        ("duplicates", f'OUT variable "{name}" is maybe unmodified'): _DYNAMIC
        for name in ("cluster", "memory_id", "content", "cosine", "created_at")
    },
    ("name_grants", 'record "new" has no field "id"'): _TWO_TABLES,
    ("name_grants", 'record "new" has no field "namespace"'): _TWO_TABLES,
    ("follow_facts", 'relation "new_evidence" does not exist'): _TWO_TABLES,
    ("refuse_other_owner", "routine is marked as VOLATILE, should be STABLE"): _GUARD,
    ("rebuild_embedding_accessors", "text type variable is not sanitized"): _QUOTED,
    ("embed_concepts", "routine is marked as VOLATILE, should be STABLE"): _DYNAMIC,
    ("pagerank", 'unmodified OUT variable "id"'): _ABSENT,
    ("pagerank", 'unmodified OUT variable "score"'): _ABSENT,
    ("pagerank", "routine is marked as STABLE, should be IMMUTABLE"): _ABSENT,
    **{
        ("pagerank", f'unused parameter "{name}"'): _ABSENT
        for name in ("seeds", "k", "namespace", "weights", "concepts", "restart")
    },
    ("explain_search", "text type variable is not sanitized"): _OWN,
    ("explain_search", "the expression is not SQL injection safe"): _OWN,
    ("leg_inputs", 'composite OUT variable "lexical_filter" is not single argument'): _COLUMN,
    ("erase_namespace_rows", "text type variable is not sanitized"): _QUOTED,
    ("table_declarations", "the expression is not SQL injection safe"): _QUOTED,
    ("job_kinds", "the expression is not SQL injection safe"): _QUOTED,
    ("lease_jobs", "text type variable is not sanitized"): _QUOTED,
    ("erasure_counts", "routine is marked as VOLATILE, should be STABLE"): _COUNTED,
    ("is_alias_used", "routine is marked as VOLATILE, should be STABLE"): _WAITED,
    ("is_concept_used", "routine is marked as VOLATILE, should be STABLE"): _WAITED,
    ("lock_external_ids", "routine is marked as VOLATILE, should be STABLE"): _LOCKED,
    ("raise_unknown_setting", "routine is marked as STABLE, should be IMMUTABLE"): _CONSTANT,
    ("recall_plan", "routine is marked as VOLATILE, should be STABLE"): _DYNAMIC,
    **{(f"{leg}_plan", "routine is marked as VOLATILE, should be STABLE"): _DYNAMIC for leg in LEGS},
}
"""What is found, by function and message, and why it stays."""

# A trigger function is checked for each table of its triggers, with the transition tables of all of them: which of these
# there are depends on the operation, which the function looks at and the check does not.
_CHECK = """
    SELECT p.proname, t.table_name::text, c.lineno, c.level, c.message, c.detail
    FROM pg_proc p
    JOIN pg_language l ON l.oid = p.prolang AND l.lanname = 'plpgsql'
    LEFT JOIN (
        SELECT g.tgfoid, g.tgrelid::regclass AS table_name, max(g.tgoldtable) AS old_table, max(g.tgnewtable) AS new_table
        FROM pg_trigger g WHERE NOT g.tgisinternal
        GROUP BY g.tgfoid, g.tgrelid
    ) t ON t.tgfoid = p.oid
    CROSS JOIN LATERAL checks.plpgsql_check_function_tb(
        p.oid, COALESCE(t.table_name, 0), oldtable => t.old_table, newtable => t.new_table, fatal_errors => false,
        other_warnings => true, extra_warnings => true, performance_warnings => true, security_warnings => true,
        compatibility_warnings => true
    ) c
    WHERE p.pronamespace IN ('public'::regnamespace, 'pgrecall'::regnamespace, '_pgrecall'::regnamespace)
    ORDER BY 1, 2, 3
"""


@pytest.fixture
def checked(conn: Connection[Any]) -> Connection[Any]:
    """The test's own database with plpgsql_check in a schema of its own."""
    conn.execute("CREATE SCHEMA checks")
    try:
        conn.execute("CREATE EXTENSION plpgsql_check SCHEMA checks")
    except (psycopg.errors.FeatureNotSupported, psycopg.errors.UndefinedFile) as error:
        if os.environ.get("PGRECALL_REQUIRE_SERVER_EXTRAS"):
            raise
        pytest.skip(f"there is no plpgsql_check here: {error.diag.message_primary}")
    return conn


def found(conn: Connection[Any]) -> dict[tuple[str, str], tuple[Any, ...]]:
    return {(row[0], row[4]): row for row in conn.execute(_CHECK).fetchall()}


def test_nothing_is_found_but_what_is_known(checked: Connection[Any]) -> None:
    rows = found(checked)
    assert [row for key, row in rows.items() if key not in KNOWN] == []
    ours = "p.pronamespace IN ('public'::regnamespace, 'pgrecall'::regnamespace, '_pgrecall'::regnamespace)"
    names = {name for (name,) in checked.execute(f"SELECT p.proname FROM pg_proc p WHERE {ours}".encode())}
    assert {name for name, _ in KNOWN} <= names


def test_faults_are_found(checked: Connection[Any]) -> None:
    checked.execute("""
        CREATE FUNCTION pgrecall.faulty(note text) RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
        DECLARE
            unused text;
            counted integer := 0;
        BEGIN
            EXECUTE 'SELECT ' || note;
            SELECT count(*) INTO counted FROM pgrecall.no_such_table;
            RETURN counted;
        END $$
    """)
    checked.execute("""
        CREATE FUNCTION pgrecall.faulty_trigger() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            NEW.no_such_column := (SELECT count(*) FROM added);
            RETURN NULL;
        END $$
    """)
    checked.execute("""
        CREATE TRIGGER faulty AFTER INSERT ON pgrecall.namespaces REFERENCING NEW TABLE AS added
        FOR EACH STATEMENT EXECUTE FUNCTION pgrecall.faulty_trigger()
    """)
    messages = {message for name, message in found(checked) if name.startswith("faulty")}
    assert {
        'relation "pgrecall.no_such_table" does not exist',
        "text type variable is not sanitized",
        'unused variable "unused"',
        'record "new" has no field "no_such_column"',
    } <= messages
