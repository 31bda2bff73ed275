"""Attacks by calling functions: each that a tenant may execute, with what belongs to another tenant for every argument.

Driven by the catalog, so that a new function is attacked without anybody having thought of it. What it answers about a
victim's object must be what it answers about one that does not exist.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from pgrecall.admin.migrate import migrate
from support.attack import ABSENT, ABSENT_NAMESPACE, CANARY, OWN, VICTIM, inside, outcome, tenants
from support.memories import contents, scalar
from tools.check_sql import engine_functions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from psycopg import Connection

    from support.attack import Tenants

__all__ = ["tenants"]

NOWHERE = "nowhere"
"""A namespace that does not exist."""

# Arguments that name a row, by their names: other numbers are limits and places.
NAMESPACES = {"namespace_id", "namespace_ids"}
OBJECTS = {
    "after_id", "also", "among", "concept_id", "concepts", "exclude", "hidden_by", "id", "ids", "into_id", "known", "memory_id", "memory_ids",
    "merge_id", "other_id", "relationship_id", "relationship_ids", "relevant", "seed_ids", "source_id", "successor", "target_ids",
}  # fmt: skip

# What other arguments get, by type: enough to come as far as rows.
VALUES = {
    "text": "'plan'", "text[]": "'{plan}'::text[]", "integer": "5", "bigint": "5", "jsonb": "'{}'::jsonb", "boolean": "true",
    "double precision": "0.5", "real": "0.5", "regconfig": "'english'::regconfig", "regconfig[]": "'{english}'::regconfig[]",
    "tsquery": "'plan'::tsquery", "tsvector": "'plan'::tsvector", "timestamp with time zone": "'2025-01-01'::timestamptz",
    "tstzrange": "'[2020-01-01,2030-01-01)'::tstzrange", "interval": "'1 day'::interval", "bigint[]": "'{5}'::bigint[]",
}  # fmt: skip
# By name, where a type says too little.
NAMED = {
    "language": "'english'", "zone": "'UTC'", "on_conflict": "'error'", "method": "'manual'", "function": "'pgrecall.is_valid_setting'::regproc",
    "query_vec": "array_fill(0.5::real, ARRAY[384])::halfvec", "generation": "1", "stage": "'fill'",
    "settings": "NULL", "fields": """'{"content": "x", "external_id": "quokka-1"}'::jsonb""", "external_id": "'quokka-1'",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Function:
    """A function that the attacker may execute."""

    name: str
    arguments: tuple[tuple[str, str], ...]

    def call(self, numbers: int, namespace_id: int, namespace: str) -> str:
        """The statement that calls it with these for what names a row."""
        given = []
        for name, kind in self.arguments:
            if name in NAMESPACES:
                value = f"'{{{namespace_id}}}'::integer[]" if kind.endswith("[]") else str(namespace_id)
            elif name in OBJECTS and kind in ("bigint", "bigint[]"):
                value = f"'{{{numbers}}}'::bigint[]" if kind.endswith("[]") else f"{numbers}::bigint"
            elif (self.name.endswith(".create_namespace") and name == "name") or (
                name == "namespace" and kind == "text"
            ):
                value = f"'{namespace}'"
            else:
                plain = f"NULL::{kind}" if kind not in VALUES else f"({VALUES[kind]})::{kind}"
                value = (
                    plain
                    if name not in NAMED or (name == "settings" and kind != "jsonb")
                    else f"({NAMED[name]})::{kind}"
                )
            given.append(value)
        return f"SELECT r::text FROM {self.name}({', '.join(given)}) r"

    @property
    def names_rows(self) -> bool:
        """Whether its arguments name a row or namespace."""
        return any(name in NAMESPACES | OBJECTS | {"namespace"} for name, _ in self.arguments)


def functions(conn: Connection[Any], role: str) -> list[Function]:
    """Those of pgrecall that a role may execute, beside triggers."""
    query = """
        SELECT p.oid::regproc::text, p.proname,
               ARRAY(SELECT COALESCE(p.proargnames[a.place], '') || '|' || format_type(a.type, NULL)
                     FROM unnest(p.proargtypes::oid[]) WITH ORDINALITY a (type, place) ORDER BY a.place)
        FROM pg_proc p
        WHERE (p.pronamespace IN ('pgrecall'::regnamespace, '_pgrecall'::regnamespace)
               OR p.oid IN (SELECT unnest(i.public_functions)::regprocedure FROM pgrecall.installation i))
          AND p.prorettype <> 'trigger'::regtype AND p.prokind = 'f' AND has_function_privilege(%s, p.oid, 'EXECUTE')
        ORDER BY 1
    """
    found = []
    for full, name, arguments in conn.execute(query.encode(), (role,)):
        schema = "pgrecall." if full.startswith("pgrecall.") else "public."
        pairs = tuple(tuple(argument.split("|", 1)) for argument in arguments)
        found.append(Function(schema + name, pairs))
    return found


def plain(told: str, *numbers: object) -> str:
    """What was told, without the names and numbers that the caller gave, and without times."""
    told = re.sub(r"\d+\.\d+", "…", told)
    for number in numbers:
        told = re.sub(rf"(?<!\w){number}(?!\w)", "…", told)
    return told


@pytest.fixture
def attacker(tenants: Tenants) -> Iterator[Connection[Any]]:
    with tenants.attacker() as connection:
        connection.execute("SET statement_timeout = '20s'")
        connection.commit()
        yield connection


def test_no_function_tells_of_anothers_rows(tenants: Tenants, attacker: Connection[Any]) -> None:
    victims = {tenants.memory, tenants.concept, tenants.relationship, tenants.merge, max(tenants.memories)}
    told_apart, asked = [], 0
    with tenants.owner() as owner:
        before = contents(owner)
        for function in functions(owner, tenants.writer):
            nothing = outcome(attacker, function.call(ABSENT, ABSENT_NAMESPACE, NOWHERE))
            nothing = plain(nothing, ABSENT, ABSENT_NAMESPACE, NOWHERE)
            for number in victims:
                statement = function.call(number, tenants.home, VICTIM)
                told = outcome(attacker, statement)
                asked += 1
                assert CANARY not in plain(told, "quokka-1").lower(), statement
                if not function.names_rows:
                    break
                if plain(told, number, tenants.home, VICTIM) != plain(nothing, number, tenants.home, VICTIM):
                    told_apart.append((statement, told, nothing))
        assert contents(owner) == before
    assert asked > 150
    assert told_apart == []


def test_no_function_answers_from_anothers_namespace_by_its_setting(
    tenants: Tenants, attacker: Connection[Any]
) -> None:
    """The namespace that a session is set to is no more than an argument."""
    calls = (
        "SELECT * FROM public.recall('quokka')", "SELECT * FROM public.recall_briefing('quokka')",
        "SELECT * FROM pgrecall.recall_plan('quokka')", "SELECT * FROM public.recall_facts('quokka')",
        "SELECT * FROM public.recall_explain('quokka')", "SELECT public.remember('x')", "SELECT pgrecall.unjudge('quokka query')",
    )  # fmt: skip
    for call in calls:
        told = []
        for name in (VICTIM, NOWHERE):
            attacker.execute(f"SET pgrecall.namespace = '{name}'".encode())
            told.append(plain(outcome(attacker, call), name))
        assert told[0] == told[1], call


def test_status_and_health_count_what_is_granted_and_name_nobody(
    tenants: Tenants, attacker: Connection[Any]
) -> None:
    row = attacker.execute("SELECT namespaces, memories, sensitive FROM public.recall_status()").fetchone()
    assert row == (2, 2, 0)
    told = outcome(attacker, "SELECT * FROM pgrecall.health()")
    assert "roles without a grant" in told
    assert VICTIM not in told
    assert "attack_" not in told


# --- How functions are made ---


def test_every_security_definer_belongs_to_the_gate_or_to_the_engine_as_the_page_of_tenants_says(
    tenants: Tenants,
) -> None:
    with tenants.owner() as owner:
        query = """
            SELECT p.pronamespace::regnamespace || '.' || p.proname, p.proconfig, p.prosecdef, p.proowner::regrole::text,
                   has_function_privilege('pgrecall_writer', p.oid, 'EXECUTE')
            FROM pg_proc p WHERE p.pronamespace IN ('pgrecall'::regnamespace, '_pgrecall'::regnamespace, 'public'::regnamespace)
              AND (p.prosecdef OR p.proowner::regrole::text ~ '^pgrecall_')
        """
        found = owner.execute(query).fetchall()
        # One of them is installed with plpython3u alone.
        of_engine = {row[0] for row in found if row[3] == "pgrecall_engine"}
        assert of_engine == engine_functions() - {"_pgrecall.log_graph_changes"}
        for name, config, is_definer, role, may_execute in found:
            assert is_definer, name
            assert role in {"pgrecall_engine", "pgrecall_gate"}, name
            assert not (role == "pgrecall_engine" and may_execute), name
            assert "search_path=pg_catalog, pgrecall, pg_temp" in config, name
        query = """
            SELECT r.rolname FROM pg_roles r WHERE r.rolname IN ('pgrecall_gate', 'pgrecall_engine')
              AND (r.rolcanlogin OR r.rolsuper OR r.rolbypassrls OR r.rolcreaterole OR r.rolcreatedb
                   OR EXISTS (SELECT FROM pg_auth_members m WHERE r.oid IN (m.roleid, m.member)))
        """
        assert owner.execute(query).fetchall() == []


def test_a_function_of_another_owner_is_found_and_put_right(dsn: str, conn: Connection[Any]) -> None:
    """A restore without owners gives it to the restoring role, and then it shows every row."""
    conn.execute("ALTER FUNCTION public.recall OWNER TO CURRENT_USER")
    told = {row[0]: row for row in conn.execute("SELECT * FROM pgrecall.health()")}["owners of functions"]
    assert told[1] == "fail"
    assert told[3] == "pgrecall migrate"
    migrate(dsn)
    told = {row[0]: row for row in conn.execute("SELECT * FROM pgrecall.health()")}["owners of functions"]
    assert told[1] == "ok"


def test_every_function_pins_its_path_or_names_its_objects(tenants: Tenants) -> None:
    """What has no search_path of its own is SQL whose names were resolved when it was made.

    Procedures that commit cannot have one: they are not for tenants.
    """
    with tenants.owner() as owner:
        query = """
            SELECT p.oid::regprocedure::text FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang
            WHERE p.pronamespace IN ('pgrecall'::regnamespace, '_pgrecall'::regnamespace)
              AND NOT (p.prokind = 'p' AND NOT has_function_privilege('pgrecall_writer', p.oid, 'EXECUTE'))
              AND NOT (l.lanname = 'sql' AND p.prosqlbody IS NOT NULL)
              AND NOT EXISTS (SELECT FROM unnest(p.proconfig) c WHERE c ~ '^search_path=.*, pg_temp$')
        """
        assert owner.execute(query).fetchall() == []


FORGED = """
    SELECT r.id FROM _pgrecall.resolve_granted('plan quokka', NULL, 'evil', '{}') q
    CROSS JOIN LATERAL _pgrecall.rank_granted(
        ROW(%(home)s, q.parsed, array_fill(0.5::real, ARRAY[384])::halfvec, %(concepts)s, q.settings, %(concepts)s, NULL, NULL,
            tstzrange(NULL, NULL), ARRAY['n room=14'])::pgrecall.recall_request,
        jsonb_populate_record(NULL::pgrecall.recall_filter, '{"include_superseded": true, "include_sensitive": true}'),
        now(), %(also)s
    ) r
"""


def test_a_forged_question_ranks_nothing_of_another_namespace(
    tenants: Tenants, attacker: Connection[Any]
) -> None:
    """Called as the gate calls it, with a question that nobody has checked."""
    forged = {
        "concepts": [tenants.concept, tenants.concept + 1, tenants.own_concept],
        "also": sorted(tenants.memories),
    }
    for home in (tenants.home, ABSENT_NAMESPACE, None):
        assert inside(attacker, FORGED, {**forged, "home": home}) == ""
    assert inside(attacker, FORGED, {**forged, "home": tenants.own_home}) == f"({tenants.own_memory})"
    assert outcome(attacker, FORGED, {**forged, "home": tenants.own_home}).startswith("42501")


# --- SQL in text ---

HOSTILE = {
    "a statement": "'; DROP TABLE pgrecall.memories; --",
    "quotes": "\"'$$ $x$ E'\\''",
    "format codes": "%s %I %L %1$s %%",
    "backslashes": '\\\\ \\x \\n \\0 {"',
    "an array": "{a,b}[1:2]={",
    "a query of words": "a & | ! <-> :* (((",
    "a pattern": "(((((a+)+)+)+$[[.*?+|",
    "writing from right to left": "‮txet‬ ​﻿ ⁦x⁩",
    "a long word": "x" * 100_000,
    "many words": "select from where " * 6_000,
    "JSON": '{"a": {"b": [1, "' + "x" * 50 + '"]}}',
}
# Classes of errors that say what is wrong with an argument, and what is not allowed.
ANSWERS = ("22", "23", "42501", "42704", "54", "55", "P0002", "0A000", "2201", "57014")


@pytest.mark.parametrize("text", HOSTILE)
def test_text_is_never_taken_for_sql(tenants: Tenants, attacker: Connection[Any], text: str) -> None:
    with tenants.owner() as owner:
        before = contents(owner)
        attacked = [
            f
            for f in functions(owner, tenants.writer)
            if any(kind in ("text", "text[]") for _, kind in f.arguments)
        ]
        assert len(attacked) > 50
        unknown = []
        for function in attacked:
            if text in ("a long word", "many words") and not function.name.startswith("public."):
                continue
            given = []
            for name, kind in function.arguments:
                if kind == "text":
                    given.append("%(text)s::text")
                elif kind == "text[]":
                    given.append("ARRAY[%(text)s]::text[]")
                elif name in NAMESPACES:
                    given.append(str(tenants.own_home))
                else:
                    given.append(f"NULL::{kind}")
            statement = f"SELECT r::text FROM {function.name}({', '.join(given)}) r"
            sqlstate = ""
            try:
                with attacker.transaction(force_rollback=True):
                    attacker.execute(statement.encode(), {"text": HOSTILE[text]}).fetchall()
            except psycopg.Error as error:
                sqlstate = error.sqlstate or "none"
            if sqlstate and not sqlstate.startswith(ANSWERS):
                unknown.append((function.name, sqlstate))
        assert unknown == []
        assert contents(owner) == before


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_comes_back_as_it_was(tenants: Tenants, attacker: Connection[Any], text: str) -> None:
    given = HOSTILE[text]
    statement = (
        "SELECT public.remember(%s, title => %s, tags => ARRAY[%s], external_id => %s, namespace => %s)"
    )
    short = given[:200]
    number = scalar(attacker, statement, given, short, short, short, OWN)
    query = "SELECT line::jsonb FROM pgrecall.export_memories(%s) e WHERE (line::jsonb ->> 'id')::bigint = %s"
    line = scalar(attacker, query, OWN, number)
    assert (line["content"], line["title"], line["tags"], line["external_id"]) == (
        given,
        short,
        [short],
        short,
    )
    query = "SELECT count(*) FROM public.recall(%s, namespace => %s) WHERE id <> ALL (%s)"
    assert scalar(attacker, query, short, OWN, [number, tenants.own_memory]) == 0
    attacker.rollback()


def test_json_that_is_nested_a_thousand_deep_is_stored_or_refused(attacker: Connection[Any]) -> None:
    for depth in (1_000, 100_000):
        nested = '{"a":' * depth + "1" + "}" * depth
        told = outcome(
            attacker,
            "SELECT public.remember('x', metadata => %(m)s::jsonb, namespace => 'evil')",
            {"m": nested},
        )
        assert told.startswith(("(", "54000", "54001")), told[:200]


def test_settings_take_no_sql(tenants: Tenants, attacker: Connection[Any]) -> None:
    names = [name for (name,) in attacker.execute("SELECT name FROM pgrecall.setting_definitions")]
    assert len(names) > 10
    with tenants.owner() as owner:
        before = contents(owner)
        for name in names:
            attacker.execute("SELECT set_config(%s, %s, true)", (f"pgrecall.{name}", HOSTILE["a statement"]))
            told = outcome(attacker, "SELECT id FROM public.recall('own plan', namespace => 'evil')")
            assert told.startswith(("22023", "(", "42704", "55")) or told == "", (name, told)
            attacker.rollback()
        assert contents(owner) == before
