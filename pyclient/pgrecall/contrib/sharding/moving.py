"""Move a namespace from one shard to another, while it is read and written.

1. copying: its rows go over as they are, ids and derived ones included; then what has changed meanwhile.
2. sealed: its writers wait; the last changes go over, counts and hashes are compared.
3. The router looks for it on the other shard from now on. Who waited is sent there.
4. When no transaction is left that may have looked before, its rows are deleted where they were.

Whenever it is interrupted, the next run goes on: rows are compared, not counted on.
"""

from __future__ import annotations

import random
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import sql
from psycopg.rows import class_row

from pgrecall.admin.installer_lock import LOCK_KEY as INSTALLER_LOCK
from pgrecall.admin.lock_retry import LOCK_POLL_SECONDS
from pgrecall.admin.reading import scalar
from pgrecall.arguments import as_float
from pgrecall.errors import (
    Conflict,
    ConnectionFailed,
    InvalidInput,
    PgrecallError,
    SchemaMismatch,
    UnknownNamespace,
)

from .connections import connect, shard_connection, shard_dsns, translated
from .copying import Table, copy_changes, delete_rows
from .router import LOCK_KEY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from psycopg import Connection

__all__ = ["MoveReport", "move"]

# The server ends the session of a mover that has vanished: writers wait for it while the namespace is sealed.
_SEEN_AS_LOST = """
    SELECT set_config(s.name, s.value, false)
    FROM (VALUES ('tcp_keepalives_idle', '20'), ('tcp_keepalives_interval', '10'),
                 ('tcp_keepalives_count', '3'), ('tcp_user_timeout', '50s'),
                 ('client_connection_check_interval', '5s')) s (name, value)
"""
_TRIGGER_LOCK = "200ms"  # for as long as that a trigger waits for its table, and everyone behind it
_ROUNDS = 5  # of copying at most, before writers have to wait; two at least
_SHORT_ROUND = 1.0  # seconds: little can have changed meanwhile
_OLD_TRANSACTIONS = """
    SELECT l.virtualtransaction FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
    WHERE l.locktype = 'virtualxid' AND a.datname = current_database() AND a.backend_type = 'client backend'
      AND l.pid <> pg_backend_pid()
"""
# Runs of ids: what is not in the range of the target has to be looked up from now on.
_RUNS = """
    SELECT min(n.id), max(n.id)
    FROM (
        SELECT m.id, m.id - row_number() OVER (ORDER BY m.id) AS run
        FROM pgrecall.memories m WHERE m.namespace_id = %s
    ) n
    WHERE (n.id - 1) >> 40 <> %s
    GROUP BY n.run
"""
_SHAPE = """
    SELECT g.id, g.state, g.dimension, g.column_name, g.model_id, m.name
    FROM pgrecall.generations g LEFT JOIN pgrecall.embedding_models m ON m.id = g.model_id ORDER BY g.id
"""


@dataclass(frozen=True, slots=True)
class MoveReport:
    """What a move did.

    Attributes:
        namespace: The namespace.
        source: Where it was.
        target: Where it is now.
        rows: The rows of each table that were there to compare at last, on both shards the same.
        digest: The sum of their hashes.
        blocked: Seconds for which writers waited.
    """

    namespace: str
    source: int
    target: int
    rows: dict[str, int]
    digest: str
    blocked: float


@dataclass(slots=True)
class _Move:
    """A move at work."""

    namespace: str
    id: int
    source: int
    target: int
    router: Connection[Any]
    here: Connection[Any]
    there: Connection[Any]
    tables: list[Table]
    say: Callable[[str], None]


def move(
    router_dsn: str,
    namespace: str,
    to: int | None = None,
    *,
    patience: float = 60.0,
    progress: Callable[[str], None] | None = None,
) -> MoveReport | None:
    """Move a namespace, or go on with a move that was interrupted.

    Args:
        router_dsn: The router, as a superuser: copying fires no trigger on the shards.
        namespace: What to move.
        to: The shard to move it to; None goes on with a move, else takes the one of the name's hash. The
            shard it is on gives up a move that was interrupted before the namespace had changed over.
        patience: Seconds to wait for transactions that may still look for it where it was.
        progress: Told each step before it is taken.

    Returns:
        The report; None if it is there already, or a move was given up.

    Raises:
        InvalidInput: There is no such shard, or an interrupted move goes elsewhere; the patience is no time.
        UnknownNamespace: There is no such namespace.
        ConnectionFailed: The source or the target cannot be reached, or a new move cannot ask every shard.
        Conflict: The other shard has a namespace of that name, or the rows differ in the end.
        SchemaMismatch: The shards do not hold the same code and the same generations of embeddings.
        PgrecallError: 55006: old transactions do not end; the namespace is moved, and a next run cleans up.
    """
    if as_float("patience", patience) < 0:
        raise InvalidInput("patience must be at least 0")
    with connect(router_dsn) as router, translated(), ExitStack() as stack:
        dsns = shard_dsns(router)
        if to is not None and to not in dsns:
            raise InvalidInput(f"there is no shard {to}", hint="`pgrecall shard list` prints them.")
        if not scalar(router, "SELECT pg_try_advisory_lock(%s, -2)", LOCK_KEY):
            raise Conflict("a namespace is being moved already", sqlstate="55006", hint="Wait for its end.")
        opened, lost = {}, {}
        for shard, dsn in dsns.items():
            try:
                opened[shard] = stack.enter_context(shard_connection(shard, dsn))
            except ConnectionFailed as error:
                lost[shard] = error
        for connection in opened.values():
            connection.execute(_SEEN_AS_LOST.encode())
        home = scalar(router, "SELECT pgrecall_router.shard_of(%s)", namespace)
        hashed = scalar(router, "SELECT pgrecall_router.hashed_shard(%s)", namespace)
        begun = _begun(opened, namespace)
        if begun is None and lost:
            # It may have rows of this namespace that an earlier move has not deleted yet.
            raise next(iter(lost.values()))
        source = home if begun is None else begun[0]
        target = begun[1] if begun is not None else hashed if to is None else to
        if to not in {None, source, target}:
            raise InvalidInput(
                f"namespace {namespace} is on its way to shard {target}", hint=f"Pass {target}, or nothing."
            )
        if not lost.keys().isdisjoint({source, target}):
            raise next(error for shard, error in lost.items() if shard in {source, target})
        here, there = opened[source], opened[target]
        # Its last row there may be gone already.
        known = scalar(here, "SELECT id FROM pgrecall.namespaces WHERE name = %s", namespace)
        number = known if begun is None else begun[2]
        if number is None:
            raise UnknownNamespace(f"there is no namespace {namespace!r}", hint="Check the name.")
        if begun is None and target == home:
            return None
        for connection in (here, there):
            # A migration would take the triggers away.
            if not scalar(connection, "SELECT pg_try_advisory_lock(%s)", INSTALLER_LOCK):
                raise Conflict("a shard is being migrated", sqlstate="55006", hint="Wait for its end.")
        with here.cursor(row_factory=class_row(Table)) as cursor:
            tables = cursor.execute("SELECT * FROM pgrecall_shard.namespace_tables()").fetchall()
        say = progress or (lambda _: None)
        work = _Move(namespace, number, source, target, router, here, there, tables, say)
        if home != source:
            # It has changed over. Its rows on the source are of the past, whatever has happened since.
            _clean_up(work, patience)
            return MoveReport(namespace, source, home, {}, "", 0.0)
        if begun is not None and to == source:
            _give_up(work)
            return None
        _refuse_unfit(work)
        return _move(work, patience)


def _begun(opened: dict[int, Connection[Any]], namespace: str) -> tuple[int, int, int] | None:
    """Return source and target of a move that was interrupted, and the namespace's id."""
    query = (
        "SELECT target, namespace_id FROM pgrecall_shard.moves WHERE namespace = %s AND state <> 'arriving'"
    )
    for shard, connection in opened.items():
        row = connection.execute(query.encode(), [namespace]).fetchone()
        if row is not None:
            return shard, *row
    return None


def _refuse_unfit(work: _Move) -> None:
    code = "SELECT pgrecall.bundle_hash()"
    shapes = [connection.execute(_SHAPE).fetchall() for connection in (work.here, work.there)]
    if scalar(work.here, code) != scalar(work.there, code) or shapes[0] != shapes[1]:
        raise SchemaMismatch(
            f"shards {work.source} and {work.target} differ in SQL code or in generations of embeddings",
            hint="Run `pgrecall migrate`, and `pgrecall reembed`, on both alike.",
        )
    other = scalar(work.there, "SELECT id FROM pgrecall.namespaces WHERE name = %s", work.namespace)
    if other not in {None, work.id}:
        raise Conflict(
            f"shard {work.target} has another namespace {work.namespace}",
            hint="Rename that one, in pgrecall.namespaces.",
        )


def _move(work: _Move, patience: float) -> MoveReport:
    work.say("prepare")
    _register(work.here, work, "copying", "leaving")
    _register(work.there, work, "arriving", "arriving")
    for turn in range(_ROUNDS):
        work.say(f"copy {turn + 1}")
        began = time.monotonic()
        copy_changes(work.here, work.there, work.tables, work.id)
        if turn and time.monotonic() - began < _SHORT_ROUND:
            break
    work.say("seal")
    # Waits for the writers at work, and makes the next ones wait. It ends with the session, whatever happens.
    work.here.execute("SELECT pg_advisory_lock(%s, %s)", [LOCK_KEY, work.id])
    began = time.monotonic()
    work.here.execute("UPDATE pgrecall_shard.moves SET state = 'sealed' WHERE namespace_id = %s", [work.id])
    work.say("compare")
    rows, digest = copy_changes(work.here, work.there, work.tables, work.id)
    runs = work.here.execute(_RUNS, [work.id, work.target]).fetchall()
    work.say("open")
    _unregister(work.there, work, "arriving")
    work.say("switch")
    _switch(work, runs)
    work.here.execute("SELECT pg_advisory_unlock(%s, %s)", [LOCK_KEY, work.id])
    blocked = time.monotonic() - began
    _clean_up(work, patience)
    return MoveReport(work.namespace, work.source, work.target, rows, digest, blocked)


def _register(connection: Connection[Any], work: _Move, state: str, role: str) -> None:
    """Note the move on a shard, then have the triggers fire for it."""
    connection.execute(
        "INSERT INTO pgrecall_shard.moves (namespace_id, namespace, target, state) VALUES (%s, %s, %s, %s) "
        "ON CONFLICT (namespace_id) DO NOTHING",
        [work.id, work.namespace, work.target, state],
    )
    for made, _ in _triggers(connection, work, role):
        _execute_with_retry(connection, made)


def _unregister(connection: Connection[Any], work: _Move, role: str) -> None:
    for _, dropped in _triggers(connection, work, role):
        _execute_with_retry(connection, dropped)
    connection.execute("DELETE FROM pgrecall_shard.moves WHERE namespace_id = %s", [work.id])


def _triggers(connection: Connection[Any], work: _Move, role: str) -> list[tuple[Any, ...]]:
    query = "SELECT made, dropped FROM pgrecall_shard.trigger_statements(%s, %s)"
    return connection.execute(query, [work.id, role]).fetchall()


def _execute_with_retry(connection: Connection[Any], statement: str) -> None:
    """Change a table without holding up, for long, those who wait behind."""
    while True:
        try:
            with connection.transaction():
                connection.execute(f"SET LOCAL lock_timeout = '{_TRIGGER_LOCK}'".encode())
                connection.execute(statement.encode())
        except (psycopg.errors.LockNotAvailable, psycopg.errors.DeadlockDetected):
            time.sleep(LOCK_POLL_SECONDS * random.random())  # noqa: S311
        else:
            return


def _switch(work: _Move, runs: list[tuple[Any, ...]]) -> None:
    with work.router.transaction():
        work.router.execute(
            "INSERT INTO pgrecall_router.namespaces (name, shard) VALUES (%s, %s) "
            "ON CONFLICT (name) DO UPDATE SET shard = excluded.shard",
            [work.namespace, work.target],
        )
        work.router.execute("DELETE FROM pgrecall_router.moved_memories WHERE namespace_id = %s", [work.id])
        copy = "COPY pgrecall_router.moved_memories (first, last, namespace_id, shard) FROM STDIN"
        with work.router.cursor().copy(copy) as rows:
            for first, last in runs:
                rows.write_row((first, last, work.id, work.target))


def _clean_up(work: _Move, patience: float) -> None:
    """Delete the rows where they were, once nobody can look for them there."""
    work.say("wait")
    old = {row[0] for row in work.router.execute(_OLD_TRANSACTIONS).fetchall()}
    until = time.monotonic() + patience
    while old := old & {row[0] for row in work.router.execute(_OLD_TRANSACTIONS).fetchall()}:
        if time.monotonic() > until:
            raise PgrecallError(
                f"namespace {work.namespace} has left shard {work.source}, but {len(old)} older "
                "transactions at the router do not end",
                sqlstate="55006",
                hint="End them, then run this again: it deletes the rows where they were.",
            )
        time.sleep(LOCK_POLL_SECONDS)
    work.say("delete")
    with _without_triggers(work.here):
        delete_rows(work.here, work.tables, work.id)
    work.say("forget")
    _unregister(work.here, work, "leaving")


def _give_up(work: _Move) -> None:
    """Take back a move that has not changed over."""
    work.say("give up")
    with _without_triggers(work.there):
        delete_rows(work.there, work.tables, work.id)
    _unregister(work.there, work, "arriving")
    _unregister(work.here, work, "leaving")


@contextmanager
def _without_triggers(connection: Connection[Any]) -> Iterator[None]:
    with connection.transaction():
        connection.execute(sql.SQL("SET LOCAL session_replication_role = replica"))
        yield
