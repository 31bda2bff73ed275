"""An attack by one role: sessions at once, each with its own sequence of statements, watched from outside."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg

from fuzz.arguments import Arguments
from fuzz.catalog import Catalog, read_catalog
from fuzz.judging import Finding, fault, leak, told
from fuzz.statements import Statement, call, on_table

if TYPE_CHECKING:
    from psycopg import Connection

    from fuzz.ground import Ground

TIMEOUT = 4.0
OVERRUN = 4 * TIMEOUT
"""Seconds: what a statement is given, and what it must never take."""
MEMORY = 768
"""MB of its own that a backend may have at any time."""
RETAINED = 256
"""MB by which a backend may have grown once it is done."""
ROWS = 200
CHANNELS = ("pgrecall_embed", "pgrecall_query", "pgrecall_answer")


@dataclass(slots=True)
class Outcome:
    """What an attack showed."""

    role: str
    calls: int = 0
    functions: int = 0
    tables: int = 0
    called: set[str] = field(default_factory=set)
    states: Counter[str] = field(default_factory=Counter)
    helpers: Counter[str] = field(default_factory=Counter)
    findings: dict[tuple[str, ...], Finding] = field(default_factory=dict)
    repeats: Counter[tuple[str, ...]] = field(default_factory=Counter)
    slowest: tuple[float, str] = (0.0, "")
    peak: tuple[float, str] = (0.0, "")

    def note(self, finding: Finding) -> None:
        """Note a finding, once for each cause."""
        self.findings.setdefault(finding.key, finding)
        self.repeats[finding.key] += 1


@dataclass(slots=True)
class Session:
    """One session of the attack."""

    seed: str
    connection: Connection[Any]
    current: Statement | None = None
    since: float = 0.0
    first_memory: float | None = None


class Attack:
    """Statements of one role against a ground, until a number or a time is reached."""

    def __init__(
        self,
        ground: Ground,
        role: str,
        seed: int,
        *,
        calls: int | None = None,
        seconds: float | None = None,
        sessions: int = 2,
    ) -> None:
        self.ground, self.role, self.seed = ground, role, seed
        self.calls = None if calls is None else calls // sessions
        self.until = None if seconds is None else time.monotonic() + seconds
        self.count = sessions
        self.outcome = Outcome(role)
        self.running: dict[int, Session] = {}
        self.lock = threading.Lock()
        self.over = threading.Event()

    def run(self) -> Outcome:
        """Attack, and say what was found."""
        with psycopg.connect(self.ground.tenants.dsn, autocommit=True) as owner:
            catalog = read_catalog(owner, self.ground.logins[self.role])
            self.outcome.functions, self.outcome.tables = len(catalog.functions), len(catalog.tables)
            before = self.ground.others_rows(owner, self.role)
            with ThreadPoolExecutor(self.count) as pool:
                done = [pool.submit(self._session, number, catalog) for number in range(self.count)]
                checked = time.monotonic()
                while not all(session.done() for session in done):
                    self._watch()
                    if time.monotonic() - checked > 5:
                        before, checked = self._compare(owner, before), time.monotonic()
                    self.over.wait(0.05)
                for session in done:
                    session.result()
            self._compare(owner, before)
        return self.outcome

    def _goes_on(self, number: int) -> bool:
        if self.until is not None and time.monotonic() > self.until:
            return False
        return self.calls is None or number < self.calls

    def _session(self, number: int, catalog: Catalog) -> None:
        """Send statements, in groups that are a transaction or not; connect again where the connection is lost."""
        sent = 0
        while self._goes_on(sent):
            seed = f"{self.seed}:{number}:{sent}"
            chance = random.Random(seed)
            arguments = Arguments(chance, catalog, self.ground.ids)
            with (
                self.ground.login(self.role, TIMEOUT) as connection,
                self.ground.login(self.role, TIMEOUT) as asking,
            ):
                session = Session(seed, connection)
                notices: list[str] = []
                self._listen(connection, notices)
                with self.lock:
                    self.running[connection.info.backend_pid] = session
                begun = sent
                # A session of its own now and then: this separates what piles up in one from what a call takes.
                while self._goes_on(sent) and not connection.closed and sent - begun < 1000:
                    sent += self._group(session, asking, arguments, catalog, notices)
                self._settled(session)
                with self.lock:
                    self.running.pop(connection.info.backend_pid, None)

    @staticmethod
    def _listen(connection: Connection[Any], to: list[str]) -> None:
        """Collect notices and notifications."""

        def note(diagnostic: psycopg.errors.Diagnostic) -> None:
            to.append(f"{diagnostic.message_primary} {diagnostic.message_detail}")

        def hear(notification: psycopg.Notify) -> None:
            to.append(notification.payload)

        connection.add_notice_handler(note)
        connection.add_notify_handler(hear)
        for channel in CHANNELS:
            connection.execute(f"LISTEN {channel}".encode())

    def _group(
        self,
        session: Session,
        asking: Connection[Any],
        arguments: Arguments,
        catalog: Catalog,
        notices: list[str],
    ) -> int:
        chance, connection = arguments.chance, session.connection
        statements = []
        for _ in range(chance.choice((1, 1, 2, 4, 8))):
            if catalog.tables and chance.random() < 0.2:
                statements.append(on_table(chance.choice(catalog.tables), arguments))
            else:
                statements.append(
                    call(chance.choice(catalog.functions), arguments, plain=chance.random() < 0.15)
                )
        drawn = chance.random()
        # Most is taken back, so that there is something left to attack.
        transaction = drawn < 0.9 if self.role in ("embedder", "admin") else drawn < 0.6
        # An admin may write any row of any table, and so break whatever reads it.
        lasting = self.role == "admin" and any(statement.on_table for statement in statements)
        transaction = transaction or lasting
        if transaction:
            connection.execute(b"BEGIN")
        try:
            for statement in statements:
                if transaction:
                    connection.execute(b"SAVEPOINT s")
                failed = self._send(session, statement, asking, notices)
                if connection.closed:
                    return len(statements)
                if transaction and failed:
                    connection.execute(b"ROLLBACK TO s")
            if transaction:
                connection.execute(b"COMMIT" if chance.random() < 0.2 and not lasting else b"ROLLBACK")
        except psycopg.Error as error:
            self._judge(error, session, Statement("COMMIT", "COMMIT", ()), asking)
            if not connection.closed:
                connection.rollback()
        return len(statements)

    def _send(
        self, session: Session, statement: Statement, asking: Connection[Any], notices: list[str]
    ) -> bool:
        """Send a statement and look at all that comes back; tells whether it failed."""
        canaries = self.ground.canaries(self.role)
        state = "00000"
        session.current, session.since = statement, time.monotonic()
        answer = ""
        try:
            cursor = session.connection.execute(statement.text.encode())
            if cursor.description:
                answer = "\n".join(map(str, cursor.fetchmany(ROWS)))
        except psycopg.Error as error:
            state = error.sqlstate or "lost"
            answer = told(error)
            self._judge(error, session, statement, asking)
        took = time.monotonic() - session.since
        session.current = None
        leaked = leak("\n".join([answer, *notices]), canaries)
        notices.clear()
        if leaked:
            self._note("canary", session, statement, leaked)
        if took > OVERRUN:
            self._note(
                "overrun", session, statement, f"took {took:.0f} s, statement_timeout is {TIMEOUT:.0f} s"
            )
        with self.lock:
            self.outcome.calls += 1
            self.outcome.called.add(statement.of)
            self.outcome.states[state] += 1
            self.outcome.slowest = max(self.outcome.slowest, (took, statement.of))
        return state != "00000"

    def _judge(
        self, error: psycopg.Error, session: Session, statement: Statement, asking: Connection[Any]
    ) -> None:
        if session.connection.closed:
            self._note("lost connection", session, statement, str(error))
            return
        found = fault(error, statement, asking)
        if found and found[0] == "helper":
            with self.lock:
                self.outcome.helpers[error.sqlstate or ""] += 1
        elif found:
            self._note(found[0], session, statement, found[1])

    def _note(self, kind: str, session: Session, statement: Statement, detail: str) -> None:
        with self.lock:
            self.outcome.note(Finding(kind, self.role, session.seed, statement.of, statement.text, detail))

    def _watch(self) -> None:
        """Look at the memory of the backends, where they are on this machine."""
        for pid, session in list(self.running.items()):
            used, statement = _memory(pid), session.current
            if used is None:
                continue
            if session.first_memory is None:
                session.first_memory = used
            name = statement.of if statement else "between statements"
            self.outcome.peak = max(self.outcome.peak, (used, name))
            if used > MEMORY and statement:
                self._note("memory", session, statement, "a backend has more than its bound")

    def _settled(self, session: Session) -> None:
        if session.connection.closed or session.first_memory is None:
            return
        used = _memory(session.connection.info.backend_pid)
        if used is not None and used - session.first_memory > RETAINED:
            nothing = Statement("a session", f"-- {used - session.first_memory:.0f} MB", ())
            self._note("memory", session, nothing, "a backend kept more than its bound")

    def _compare(self, owner: Connection[Any], before: dict[str, Counter[str]]) -> dict[str, Counter[str]]:
        """Compare the rows that nobody may change with those of before."""
        after = self.ground.others_rows(owner, self.role)
        for table, rows in after.items():
            gone, new = before[table] - rows, rows - before[table]
            if gone or new:
                detail = f"{len(gone)} rows of others are gone, {len(new)} are new: {list(gone)[:1]} {list(new)[:1]}"
                finding = Finding(
                    "changed rows",
                    self.role,
                    f"{self.seed}",
                    table,
                    f"-- calls so far: {self.outcome.calls}",
                    detail,
                )
                with self.lock:
                    self.outcome.note(finding)
        return after


def _memory(pid: int) -> float | None:
    """MB of a process's own; None where it cannot be seen."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    except OSError:
        return None
    for line in status.splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) / 1024
    return None
