"""Operators and functions that a database owner plants in public, in pgvector's schema, in schemas named after roles: none runs.

The owner is no superuser, and a role that recalls, migrates or embeds may be one. Traps are planted before the first migration, where
names are bound for good, and after it, where they are looked up call by call.
"""

from __future__ import annotations

import os
import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.types.json import Jsonb
from typer.testing import CliRunner

from fuzz.arguments import Arguments, Ids
from fuzz.catalog import read_catalog
from fuzz.statements import call as call_of
from fuzz.traps import BOUND, Planted, fired, listening, plant
from pgrecall.admin.migrate import migrate
from pgrecall.cli import app
from pgrecall.errors import PgrecallError
from support.embedder import Recorder, drain
from support.extraction import claimed, complete, fact, mention
from support.extractor import read_all, without_spacy
from support.memories import call, rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from psycopg import Connection

ROLES = ("admin", "writer", "reader", "embedder")
# What PostgreSQL says of an expression whose operator or function is not the one that was meant.
MISTAKEN = {"42725", "42804", "42803", "42809", "42883"}


@dataclass(slots=True)
class Trapped:
    """A database full of traps."""

    dsn: str
    planter: str
    logins: dict[str, str]
    planted: Planted
    vector_schema: str
    failed: str | None
    at_migration: list[str]
    found: set[str] = field(default_factory=set)
    during: list[str] = field(default_factory=lambda: ["setting up"])

    def connect(self) -> Connection[Any]:
        """A superuser's connection, whose own statements mean PostgreSQL's operators."""
        assert self.failed is None, f"the first migration failed: {self.failed}"
        connection = psycopg.connect(self.dsn, autocommit=True)
        connection.execute("SET search_path = pg_catalog")
        return connection


@pytest.fixture(scope="module", params=["before", "after"])
def trapped(
    request: pytest.FixtureRequest, database: Callable[..., AbstractContextManager[str]], server_dsn: str
) -> Iterator[Trapped]:
    """Planted before the first migration, with pgvector in a schema of the planter's own; or after it, with pgvector in public."""
    suffix = f"{request.param}_{os.getpid()}"
    planter = f"planter_{suffix}"
    logins = {role: f"trapped_{role}_{suffix}" for role in ROLES}
    with psycopg.connect(server_dsn, autocommit=True) as admin:
        admin.execute(f"CREATE ROLE {planter}".encode())
        try:
            with database() as dsn:
                yield _planted(dsn, planter, logins, first=request.param == "before")
        finally:
            for role in (planter, *logins.values()):
                admin.execute(f"DROP ROLE IF EXISTS {role}".encode())


def _planted(dsn: str, planter: str, logins: dict[str, str], *, first: bool) -> Trapped:
    """Plant and migrate, in one order or the other."""
    vector_schema, failed, at_migration = "public", None, []
    with psycopg.connect(dsn, autocommit=True) as owner:
        if first:
            vector_schema = "vectors"
            owner.execute(f"CREATE SCHEMA vectors AUTHORIZATION {planter}".encode())
            owner.execute("CREATE EXTENSION vector SCHEMA vectors")
        else:
            migrate(dsn)
        planted = plant(owner, planter, sorted({"public", vector_schema, owner.info.user, logins["writer"]}))
        if first:
            try:
                migrate(dsn)
            except PgrecallError as error:
                failed = str(error)
            owner.execute("SET search_path = pg_catalog")
            at_migration = [f"{trap} as {by}" for trap, by, _ in fired(owner)[1]]
        if failed is None:
            for role, login in logins.items():
                owner.execute(f"CREATE ROLE {login} IN ROLE pgrecall_{role}".encode())
    return Trapped(dsn, planter, logins, planted, vector_schema, failed, at_migration)


def test_traps_lie_in_every_schema(trapped: Trapped) -> None:
    """What could not be made there is there already, or of a type that the planter may not name."""
    for schema in {"public", trapped.vector_schema, trapped.logins["writer"]}:
        assert trapped.planted.made["operator", schema] > 2000
        assert trapped.planted.made["function", schema] > 3000
    refused = {why.split()[0] for why in trapped.planted.refused}
    assert refused <= {"42501", "42723"}, trapped.planted.refused


def test_a_trap_fires_where_its_schema_is_looked_at(trapped: Trapped) -> None:
    """The traps work: this is what a statement of ours with such a path would do."""
    with trapped.connect() as owner:
        before = fired(owner)[0]
        owner.execute("SET search_path = public")
        with owner.transaction(force_rollback=True):
            owner.execute("SELECT 10::regrole = 10::oid, 'x'::text || 1.5::float8")
        owner.execute("SET search_path = pg_catalog")
        assert fired(owner)[0] > before


def test_the_planter_can_make_no_cast(trapped: Trapped) -> None:
    """A cast needs the owner of one of its types: nobody but a superuser is that of PostgreSQL's, pgvector's and ours."""
    pairs = (
        ("oid", "regrole"),
        ("text", "double precision"),
        ("pgrecall.recall_request", "text"),
        ("integer", f"{trapped.vector_schema}.halfvec"),
    )
    with trapped.connect() as owner:
        owner.execute(f"GRANT USAGE ON SCHEMA pgrecall TO {trapped.planter}".encode())
        owner.execute(f"SET ROLE {trapped.planter}".encode())
        for source, target in pairs:
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                owner.execute(f"CREATE CAST ({source} AS {target}) WITH INOUT AS IMPLICIT".encode())
        owner.execute("RESET ROLE")
        owner.execute(f"REVOKE USAGE ON SCHEMA pgrecall FROM {trapped.planter}".encode())


def test_nothing_of_ours_is_bound_to_what_is_not(trapped: Trapped) -> None:
    """Bodies, views, policies, checks, defaults and indexes use PostgreSQL's, pgvector's and our own."""
    with trapped.connect() as owner:
        assert owner.execute(BOUND.encode()).fetchall() == []


def test_no_trap_fires_while_migrating(trapped: Trapped) -> None:
    """Neither at first, nor when new code is installed over the old."""
    assert (trapped.failed, trapped.at_migration) == (None, [])
    with trapped.connect() as owner:
        before = fired(owner)
        owner.execute("UPDATE pgrecall.installation SET bundle_hash = 'another'")
        migrate(trapped.dsn)
        after = fired(owner)
        assert (after[0] - before[0], set(after[1]) - set(before[1])) == (0, set())
        assert owner.execute(BOUND.encode()).fetchall() == []


def _story(trapped: Trapped, owner: Connection[Any]) -> Ids:
    """What a database is filled with, by the API alone."""
    call(owner, "pgrecall.activate_model", "sentence-transformers/all-MiniLM-L6-v2", 384)
    without_spacy(owner)
    for name in ("evil", "acme"):
        call(owner, "pgrecall.create_namespace", name)
    for role in ("reader", "writer"):
        call(
            owner,
            "pgrecall.grant_namespace",
            trapped.logins[role],
            "evil",
            "read" if role == "reader" else "write",
        )
    texts = [
        {
            "content": f"Own plan {n} of the book, by Anna, on {n % 28 + 1} May 2025",
            "tags": ["plan", f"topic {n % 5}"],
        }
        for n in range(360)
    ]
    # As many at once as are posted at once; what reads pairs of a namespace's memories takes seconds for so many.
    rows(owner, "public.remember_many", Jsonb(texts[60:]), namespace="acme")
    found = rows(owner, "public.remember_many", Jsonb(texts[:60]), namespace="evil")
    first = call(
        owner,
        "public.remember",
        "Anna lives in Berlin",
        title="Anna",
        session="s",
        position=1,
        external_id="own-1",
        namespace="evil",
    )
    second = call(owner, "public.supersede", first, "Anna lives in Paris")
    call(owner, "public.update_memory", found[0], title="a title", tags=["updated"])
    call(owner, "public.forget", found[1])
    call(owner, "pgrecall.judge", "own plan", "own plan", None, [found[2]], namespace="evil")
    for number, ticket, *_ in claimed(owner):
        if number == second:
            said = {"memory_id": number, "ticket": ticket, "mentions": [mention("Anna", "PERSON"), mention("Paris", "PLACE")],
                    "facts": [fact("Anna", "lives in", "Paris", statement="Anna lives in Paris")]}  # fmt: skip
            complete(owner, [said])
    home = int(call(owner, "pgrecall.namespace_id", "evil"))
    return Ids((*found[2:20], first, second, 1, 2), (1,), home, home)


def test_no_trap_fires_in_any_function(trapped: Trapped) -> None:
    mistaken = set()
    with trapped.connect() as owner, listening(owner, trapped.found, trapped.during):
        before = fired(owner)[0]
        trapped.during[-1] = "the story"
        try:
            ids = _story(trapped, owner)
        except psycopg.Error as error:
            pytest.fail(f"{error} {sorted(trapped.found)}")
        called = 0
        for role in (None, *ROLES):
            login = trapped.logins[role] if role else owner.info.user
            catalog = read_catalog(owner, login)
            arguments = Arguments(random.Random(16), catalog, ids)
            with trapped.connect() as session, listening(session, trapped.found, trapped.during):
                session.execute(f'SET SESSION AUTHORIZATION "{login}"'.encode())
                session.execute("SET statement_timeout = '10s'")
                for function in catalog.functions:
                    # A procedure may commit, and has no path of its own: it runs with its caller's.
                    path = '"$user", public' if function.kind == "p" else "pg_catalog"
                    for _ in range(1 if function.kind == "p" else 3):
                        statement = call_of(function, arguments, plain=True)
                        trapped.during[-1] = f"{role or 'superuser'} {function.signature}"
                        session.execute(f"SET search_path = {path}".encode())
                        called += 1
                        try:
                            if function.kind == "p":
                                session.execute(statement.text.encode())
                            else:
                                with session.transaction(force_rollback=True):
                                    session.execute(statement.text.encode()).fetchmany(5)
                        except psycopg.Error as error:
                            if error.sqlstate in MISTAKEN:
                                mistaken.add((function.signature, str(error).splitlines()[0]))
        assert called > 1000
        assert (sorted(trapped.found), sorted(mistaken), fired(owner)[0] - before) == ([], [], 0)


@pytest.mark.parametrize("command", ["migrate", "doctor", "status", "recall plan --namespace evil"])
def test_no_trap_fires_on_the_command_line(trapped: Trapped, command: str) -> None:
    with trapped.connect() as owner:
        before = fired(owner)
        done = CliRunner().invoke(app, [*command.split(), "--dsn", trapped.dsn])
        after = fired(owner)
        assert (after[0] - before[0], sorted(set(after[1]) - set(before[1]))) == (0, []), command
        assert done.exit_code in (0, 1), (command, done.output, done.exception)


def test_no_trap_fires_in_the_daemon(trapped: Trapped) -> None:
    with trapped.connect() as owner:
        before = fired(owner)
        texts = [{"content": f"what the daemon reads {number}", "tags": ["read"]} for number in range(3)]
        rows(owner, "public.remember_many", Jsonb(texts))
        drain(trapped.dsn, Recorder())
        read_all(trapped.dsn)
        after = fired(owner)
        assert (after[0] - before[0], sorted(set(after[1]) - set(before[1]))) == (0, [])


def test_no_function_looks_where_an_untrusted_role_may_create(conn: Connection[Any]) -> None:
    """pgrecall and pg_catalog are the installer's; pg_temp, where everybody may, comes last and holds no operator or function."""
    query = """
        SELECT p.oid::regprocedure::text, s.name
        FROM pg_proc p CROSS JOIN unnest(p.proconfig) c (setting)
        CROSS JOIN LATERAL unnest(string_to_array(substr(c.setting, length('search_path=') + 1), ', ')) s (name)
        WHERE c.setting LIKE 'search_path=%' AND p.pronamespace IN ('pgrecall'::regnamespace, '_pgrecall'::regnamespace, 'public'::regnamespace)
          AND trim('"' FROM s.name) NOT IN ('pg_catalog', 'pgrecall', 'pg_temp')
        ORDER BY 1, 2
    """
    assert conn.execute(query.encode()).fetchall() == []


@pytest.mark.parametrize("procedure", ["rebuild_all_postings", "refresh_temporal_refs"])
def test_a_procedure_looks_nowhere_but_in_our_schemas(conn: Connection[Any], procedure: str) -> None:
    """What commits has no path of its own: it sets one in each of its transactions, and leaves its caller's as it was."""
    call(conn, "public.remember", "Anna met Bert on 5 May 2025", tags=["x"])
    conn.execute("CREATE SCHEMA evil")
    for kind in ("integer", "bigint"):
        conn.execute(
            f"CREATE FUNCTION evil.array_agg({kind}) RETURNS {kind}[] LANGUAGE plpgsql AS $$ BEGIN RAISE 'trap'; END $$".encode()
        )
    conn.execute("SET search_path = evil, pg_catalog, public")
    conn.execute(f"CALL pgrecall.{procedure}()".encode())
    assert conn.execute("SHOW search_path").fetchone() == ("evil, pg_catalog, public",)
