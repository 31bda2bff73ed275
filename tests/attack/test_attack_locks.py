"""Attacks by locks: who holds every key that can be seen or computed holds up nobody."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from pgrecall.admin import installer_lock as _installer_lock
from pgrecall.admin.migrate import migrate
from pgrecall.errors import PgrecallError, UnknownNamespace
from pgrecall.upgrading import MIGRATION_RUNS, MIGRATION_SECONDS
from support.attack import LIBRARY, OWN, VICTIM, outcome, tenants
from support.extraction import claimed, complete, fact, mention
from support.memories import call, remember, rows, scalar

if TYPE_CHECKING:
    from collections.abc import Iterator

    from psycopg import Connection

    from pgrecall import Client
    from support.attack import Tenants

__all__ = ["tenants"]

ROOT = Path(__file__).resolve().parents[2]

# By what name and number a lock was ever known, for every namespace and role there is, and what pg_locks shows of others.
KEYS = """
    SELECT pg_advisory_lock(hashtext('pgrecall.' || k.name), n.number)
    FROM unnest('{names,facts,postings,extractions,resolve_concepts}'::text[]) k (name)
    CROSS JOIN generate_series(0, 50) n (number)
    UNION ALL
    SELECT pg_advisory_lock(hashtextextended('pgrecall.' || k.name, n.number))
    FROM unnest('{granted,import_memories,import_rows}'::text[]) k (name)
    CROSS JOIN (SELECT 0 UNION SELECT r.oid::bigint FROM pg_roles r) n (number)
"""


@pytest.fixture
def held(tenants: Tenants) -> Iterator[Connection[Any]]:
    """A session of a reader that holds them."""
    with psycopg.connect(tenants.dsn, autocommit=True) as attacker:
        attacker.execute(f"SET ROLE {tenants.reader}".encode())
        attacker.execute(KEYS.encode())
        yield attacker


def test_no_function_takes_a_lock_that_others_can_name() -> None:
    for file in [*(ROOT / "sql").rglob("*.sql"), *(ROOT / "migrations").rglob("*.py")]:
        assert "advisory" not in file.read_text(encoding="utf-8"), file


def test_who_holds_every_key_holds_up_nobody(tenants: Tenants, held: Connection[Any]) -> None:
    with tenants.owner() as owner:
        owner.execute("SET lock_timeout = '2s'")
        # What is written: names, facts, postings.
        number = remember(owner, "A plan of Jane", tags=["plan"], namespace=VICTIM)
        for row in claimed(owner):
            if row[0] == number:
                read = {
                    "memory_id": number, "ticket": row[1], "mentions": [mention("Jane", "PERSON"), mention("Acme", "ORG")],
                    "facts": [fact("Jane", "works at", "Acme", statement="Jane works at Acme")],
                }  # fmt: skip
                assert complete(owner, [read]) == 1
        folded = call(owner, "pgrecall.flush_pending_postings", 1)
        assert folded > 0
        assert isinstance(call(owner, "pgrecall.resolve_concepts"), int)
        assert scalar(owner, "SELECT count(*) FROM pgrecall.concepts WHERE resolved_at IS NOT NULL") > 0
        exported = owner.execute("SELECT pgrecall.export_memories(%s) LIMIT 1", (VICTIM,)).fetchall()
        assert exported
        # And what is revoked.
        call(owner, "pgrecall.revoke_namespace", tenants.reader, OWN)
        assert scalar(held, "SELECT count(*) FROM pgrecall.list_namespaces()") == 1
        call(owner, "pgrecall.grant_namespace", tenants.reader, OWN)


def test_the_rows_that_are_locks_are_no_tenants_to_lock(tenants: Tenants) -> None:
    for who in (tenants.reader, tenants.writer, "pgrecall_embedder"):
        with tenants.attacker(who) as attacker:
            for statement in (
                "SELECT FROM pgrecall.locks FOR UPDATE",
                "SELECT FROM pgrecall.locks FOR KEY SHARE",
                "LOCK TABLE pgrecall.locks",
                "UPDATE pgrecall.locks SET name = name",
                "DELETE FROM pgrecall.locks",
                "SELECT FROM pgrecall.granted FOR UPDATE",
            ):
                with pytest.raises(psycopg.errors.InsufficientPrivilege), attacker.transaction():
                    attacker.execute(statement.encode())


@pytest.mark.parametrize(
    "locking",
    [
        "SELECT _pgrecall.lock_aliases_shared(ARRAY[{home}])",
        "SELECT _pgrecall.lock_aliases_exclusive({home})",
        "SELECT _pgrecall.lock_relationships(ARRAY[{home}])",
        "SELECT _pgrecall.serialize_imports(ARRAY[{home}])",
    ],
)
def test_a_writer_holds_up_its_own_namespaces_alone(tenants: Tenants, locking: str) -> None:
    with tenants.attacker() as attacker, psycopg.connect(tenants.dsn) as other:
        assert outcome(attacker, locking.format(home=tenants.home)).startswith("42501")
        # Nor would it, as it runs in the functions that a tenant calls: the policies keep it from the rows.
        attacker.execute("SELECT * FROM breach.run(%s)", (locking.format(home=tenants.home),))
        other.execute("SET lock_timeout = '1s'")
        other.execute(
            "SELECT _pgrecall.lock_aliases_exclusive(%(home)s), _pgrecall.lock_relationships(ARRAY[%(home)s]), _pgrecall.serialize_imports(ARRAY[%(home)s])",
            {"home": tenants.home},
        )
        other.rollback()


@pytest.mark.parametrize("level", ["READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"])
def test_a_writer_makes_no_circle_of_labels(tenants: Tenants, level: str) -> None:
    """The daemon follows the labels of every tenant, and would follow a circle for ever."""
    chain = "SELECT pgrecall.set_relation_label(%s, %s, %s)"
    with tenants.attacker() as attacker, psycopg.connect(tenants.dsn, autocommit=True) as other:
        other.execute(f"SET ROLE {tenants.writer}".encode())
        attacker.execute(f"SET TRANSACTION ISOLATION LEVEL {level}".encode())
        attacker.execute("SELECT pg_current_snapshot()")
        other.execute(chain, (tenants.own_home, f"{level} 1", f"{level} 2"))
        try:
            attacker.execute(chain, (tenants.own_home, f"{level} 2", f"{level} 1"))
            attacker.commit()
        except psycopg.errors.SerializationFailure:
            attacker.rollback()
    with tenants.attacker("pgrecall_embedder") as daemon:
        daemon.execute("SET LOCAL statement_timeout = '5s'")
        for number in (1, 2):
            daemon.execute("SELECT pgrecall.canonical_label(%s, %s)", (tenants.own_home, f"{level} {number}"))
        daemon.execute("SELECT * FROM pgrecall.resolved_labels(%s)", (tenants.own_home,))
    with tenants.owner() as owner:
        owner.execute("DELETE FROM pgrecall.relation_labels WHERE alias LIKE %s", (f"{level}%",))


def test_a_circle_of_labels_ends_for_the_daemon(tenants: Tenants) -> None:
    """One from an earlier release, or of rows that were copied."""
    with psycopg.connect(tenants.dsn) as owner:
        remember(owner, "A plan of Jane", namespace=OWN)
        owner.execute(
            "INSERT INTO pgrecall.relation_labels (namespace_id, alias, label, method)"
            " SELECT %s, 'tour ' || n, 'tour ' || n %% 5 + 1, 'rule' FROM generate_series(1, 7) n",
            (tenants.own_home,),
        )
        owner.execute("SET LOCAL ROLE pgrecall_embedder")
        owner.execute("SET LOCAL statement_timeout = '5s'")
        for number in range(1, 8):
            owner.execute("SELECT pgrecall.canonical_label(%s, %s)", (tenants.own_home, f"tour {number}"))
        owner.execute("SELECT * FROM pgrecall.resolved_labels(%s)", (tenants.own_home,))
        stated = [fact("Jane", f"tour {number}", "Acme", statement="Jane at Acme") for number in range(1, 8)]
        number, ticket = next(row[:2] for row in claimed(owner, batch=100) if row[2] == tenants.own_home)
        read = {
            "memory_id": number, "ticket": ticket,
            "mentions": [mention("Jane", "PERSON"), mention("Acme", "ORG")], "facts": stated,
        }  # fmt: skip
        assert complete(owner, [read]) == 1
        owner.rollback()


def test_every_namespace_has_its_rows(conn: Connection[Any]) -> None:
    home = call(conn, "pgrecall.create_namespace", "new")
    names = "SELECT array_agg(name ORDER BY name) FROM pgrecall.locks WHERE home = %s"
    assert scalar(conn, names, home) == ["extractions", "facts", "imports", "names", "postings"]
    conn.execute("DELETE FROM pgrecall.namespaces WHERE id = %s", (home,))
    assert scalar(conn, names, home) is None


def test_who_holds_the_lock_of_migrations_without_being_able_to_migrate_is_named(
    dsn: str, conn: Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_installer_lock, "REPORT_AFTER_SECONDS", 0.2)
    role = f"attack_holder_{conn.info.backend_pid}"
    conn.execute(f"CREATE ROLE {role} LOGIN IN ROLE pgrecall_reader".encode())
    try:
        with psycopg.connect(make_conninfo(dsn, user=role), autocommit=True) as holder:
            holder.execute("SELECT pg_advisory_lock(%s)", (_installer_lock.LOCK_KEY,))
            with pytest.raises(PgrecallError, match=role) as caught:
                migrate(dsn)
            assert (caught.value.sqlstate, caught.value.hint is not None) == ("55P03", True)
            assert f"pg_terminate_backend({holder.info.backend_pid})" in str(caught.value.hint)
            conn.execute("SELECT pg_terminate_backend(%s)", (holder.info.backend_pid,))
        assert not migrate(dsn).changed
    finally:
        conn.execute(f"DROP ROLE {role}".encode())


def test_who_holds_the_lock_of_migrations_without_being_able_to_migrate_delays_no_call(
    dsn: str, conn: Connection[Any], client: Client
) -> None:
    role = f"attack_delayer_{conn.info.backend_pid}"
    conn.execute(f"CREATE ROLE {role} LOGIN IN ROLE pgrecall_reader".encode())
    try:
        with psycopg.connect(make_conninfo(dsn, user=role), autocommit=True) as holder:
            holder.execute("SELECT pg_advisory_lock(%s)", (_installer_lock.LOCK_KEY,))
            assert conn.execute(MIGRATION_RUNS.encode()).fetchall() == [(False,)]
            # Its error is one that a migration may have caused: it waits for one that runs.
            started = time.monotonic()
            with pytest.raises(UnknownNamespace):
                client.remember("tea", namespace="typo")
            assert time.monotonic() - started < MIGRATION_SECONDS / 2
    finally:
        conn.execute(f"DROP ROLE {role}".encode())


QUESTION = "what did the canary sing"
WORKER = "00000000-0000-0000-0000-000000000001"


@pytest.fixture
def asking(dsn: str) -> Iterator[tuple[Connection[Any], Connection[Any], Connection[Any]]]:
    """Sessions of the owner, a reader of the library and its writer, while a daemon lives; each fails where it waits."""
    with (
        psycopg.connect(dsn, autocommit=True) as owner,
        psycopg.connect(dsn, autocommit=True) as reader,
        psycopg.connect(dsn, autocommit=True) as writer,
    ):
        call(owner, "pgrecall.activate_model", "a model", 384)
        call(owner, "pgrecall.create_namespace", LIBRARY)
        for session, kind, access in ((reader, "reader", "read"), (writer, "writer", "write")):
            name = f"asking_{kind}_{owner.info.backend_pid}"
            owner.execute(f"CREATE ROLE {name} IN ROLE pgrecall_{kind}".encode())
            call(owner, "pgrecall.grant_namespace", name, LIBRARY, access)
            session.execute(f"SET ROLE {name}".encode())
        call(owner, "pgrecall.heartbeat", WORKER, "host", 1, "hash", "a model", 0, [1])
        for session in (owner, reader, writer):
            session.execute("SET lock_timeout = '2s'")
        yield owner, reader, writer
    with psycopg.connect(dsn, autocommit=True) as owner:
        for (name,) in owner.execute(
            "SELECT rolname FROM pg_roles WHERE rolname LIKE 'asking!_%' ESCAPE '!'"
        ).fetchall():
            owner.execute(f"DROP OWNED BY {name}".encode())
            owner.execute(f"DROP ROLE {name}".encode())


def ask(session: Connection[Any], question: str = QUESTION) -> int:
    ((number, *_),) = rows(session, "pgrecall.request_query_embedding", question)
    return int(number)


def test_who_asks_in_a_transaction_that_stays_open_holds_up_no_daemon(
    asking: tuple[Connection[Any], Connection[Any], Connection[Any]],
) -> None:
    owner, reader, writer = asking
    held = ask(reader)
    owner.execute("SET ROLE pgrecall_embedder")
    assert rows(owner, "pgrecall.claim_query_embeddings", 1) == [(held, QUESTION)]
    reader.execute("BEGIN")
    assert ask(reader) == held
    other = ask(writer)
    assert rows(owner, "pgrecall.claim_query_embeddings", 1) == [(other, QUESTION)]
    call(owner, "pgrecall.complete_query_embeddings", [held, other], [str([1.0] * 384)] * 2, [None, None])
    assert rows(writer, "pgrecall.get_query_embedding", other) != []
    reader.execute("ROLLBACK")
    # Whatever is too old to be asked or kept.
    owner.execute("RESET ROLE")
    owner.execute(
        "UPDATE pgrecall.query_embeddings SET requested_at = now() - interval '2 minutes', used_at = '2020-01-01', lease_expires_at = NULL"
    )
    reader.execute("BEGIN")
    assert ask(reader) == held
    owner.execute("SET ROLE pgrecall_embedder")
    assert rows(owner, "pgrecall.claim_query_embeddings", 1) == []
    assert call(owner, "pgrecall.purge_query_embeddings") == 1
    reader.execute("COMMIT")
    assert rows(owner, "pgrecall.claim_query_embeddings", 1) == [(held, QUESTION)]


@pytest.mark.parametrize("caching", [ask, None])
def test_who_caches_in_a_transaction_that_stays_open_holds_up_no_erasure(
    asking: tuple[Connection[Any], Connection[Any], Connection[Any]], caching: Any
) -> None:
    owner, reader, writer = asking
    numbers = [remember(writer, f"book {n}", namespace=LIBRARY) for n in range(3)]

    def cache(session: Connection[Any]) -> None:
        if caching:
            caching(session)
        else:
            call(session, "pgrecall.cache_expansion", QUESTION, ["aria"])

    def cached() -> int:
        query = "SELECT (SELECT count(*) FROM pgrecall.query_embeddings) + (SELECT count(*) FROM pgrecall.query_expansions)"
        return int(scalar(owner, query))

    cache(reader)
    reader.execute("BEGIN")
    cache(reader)
    assert len(rows(writer, "erase", numbers[0])) == 1
    owner.execute(
        "UPDATE pgrecall.memories SET created_at = now() - interval '3 days' WHERE id = %s", (numbers[1],)
    )
    call(owner, "pgrecall.set_retention", LIBRARY, "1 day", None, "erase")
    assert rows(owner, "pgrecall.expire_memories") == [(0, 1)]
    assert cached() == 1
    reader.execute("COMMIT")
    # And the other way round: who erases in such a transaction holds up nobody who asks.
    with writer.transaction():
        assert len(rows(writer, "erase", numbers[2])) == 1
        cache(reader)
    assert cached() == 0
