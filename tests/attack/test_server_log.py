"""PostgreSQL's own log quotes no memory and no query: canaries in every argument, then the log of a real server is read.

Once with PostgreSQL's default settings, for what the functions raise, and once with those of `pgrecall up`, which log less, while
every statement is logged for its duration.
"""

from __future__ import annotations

import contextlib
import json
import re
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from fuzz.ground import ground
from pgrecall import Client, NewMemory, PgrecallError
from pgrecall.admin.migrate import migrate
from pgrecall.server import EmbeddedServer
from pgrecall.server.settings import QUIET_LOG
from support.log import DEFAULT_LOG, MEMORY, STORED, TIME, Calls, call_everything
from support.memories import remember
from support.operations import health

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

FAST = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off", "shared_buffers": "128MB"}
# The messages of ours that quote a value, cut after at most 200 characters. None is for what a memory or a query says.
QUOTED = [
    ("names of what is set up: what was meant is to be found by them", re.compile(
        r'there is no (namespace|role|setting|time zone|text-search configuration) "|a profile cannot be named "|^model |'
        r"there are embeddings of another model than |recall reads the embeddings of model |embedded with model |"
        r'namespace "')),
    ("options: one of few words, or a number", re.compile(
        r'^(pgrecall\.)?\w+ cannot be "|^access cannot be |is not an enricher$|is not a merge method$|'
        r"is not a type of entities$|^method must be ")),
    ("a key of JSON that reads like the name of a field", re.compile(r'there is no field "\w{1,40}"$')),
]  # fmt: skip
# What PostgreSQL says before a function of ours is called, of a value that is not of its parameter's type.
# docs/operations.md says what a client of one's own has to see to.
BEFORE_THE_CALL = re.compile(r"^invalid input syntax for type timestamp with time zone: |^time zone ")
WORD = "quaggazz"
"""What the tests of the same servers write that call little: the canary of no call, as the order of the tests is open."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of the log."""

    kind: str
    text: str


class Log:
    """The log of a server."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def end(self) -> int:
        """Where it ends now, in bytes."""
        return len(self._read(0))

    def entries(self, since: int = 0) -> list[Entry]:
        """What was written from a place on: a line that does not begin with a time goes on with the one before."""
        text = self._read(since).decode(errors="replace")
        parts = re.split(r"(?m)^\d{4}-\d\d-\d\d [^\[]*\[\d+\] (?:\S+@\S+ )?([A-Z0-9]+):  ", text)
        return [Entry(kind, said.strip()) for kind, said in zip(parts[1::2], parts[2::2], strict=True)]

    def _read(self, since: int) -> bytes:
        written = b"".join(path.read_bytes() for path in sorted(self._folder.rglob("*.log")))
        assert b"database system is ready" in written
        return written[since:]


@dataclass(frozen=True, slots=True)
class Running:
    """A server with a database, and its log."""

    dsn: str
    log: Log


def started(folder: Path, settings: dict[str, str]) -> Iterator[Running]:
    server = EmbeddedServer(folder, settings=FAST | settings)
    dsn = server.up()
    try:
        migrate(dsn)
        yield Running(dsn, Log(folder))
    finally:
        server.down()


@pytest.fixture(scope="module")
def by_default(public_dir: Path) -> Iterator[Running]:
    """A server with PostgreSQL's settings."""
    yield from started(public_dir / "loud", DEFAULT_LOG)


@pytest.fixture(scope="module")
def as_shipped(public_dir: Path) -> Iterator[Running]:
    """A server as `pgrecall up` starts it, that logs how long each statement takes."""
    yield from started(public_dir / "quiet", {"log_min_duration_statement": "0"})


def attacked(running: Running) -> Calls:
    """Call everything with canaries; some are stored already."""
    calls = Calls()
    with ground(running.dsn) as prepared:
        with prepared.tenants.owner() as owner:
            for namespace in ("evil", "default"):
                remember(owner, STORED, external_id=STORED, namespace=namespace, tags=[STORED], title=STORED)
        called = call_everything(prepared, calls)
    assert len(called) > 120, called
    assert len(calls.made) > 10000
    # The arguments come as far as bodies, and are refused there for many reasons.
    assert sum(not one.error for one in calls.made) > len(calls.made) / 4
    assert len({one.error[:5] for one in calls.made}) > 8
    return calls


@pytest.fixture(scope="module")
def calls_by_default(by_default: Running) -> Calls:
    """All calls with canaries, on the server with PostgreSQL's settings."""
    return attacked(by_default)


def leaks(running: Running, calls: Calls) -> dict[str, str]:
    """Entries with a canary that no exception is made for, each with the first call that is to blame."""
    found: dict[str, str] = {}
    for entry in running.log.entries():
        meant = entry.kind == "ERROR" and any(pattern.search(entry.text) for _, pattern in QUOTED)
        # However long the value was, what is quoted is not.
        if (blamed := calls.blamed(entry.text)) and not (meant and len(entry.text) < 300):
            found.setdefault(f"{blamed[0]}", f"{entry.kind}: {entry.text[:200]}")
    return found


@pytest.mark.pg15
@pytest.mark.slow
def test_no_call_has_the_log_quote_its_arguments_by_default(
    by_default: Running, calls_by_default: Calls
) -> None:
    assert leaks(by_default, calls_by_default) == {}


@pytest.mark.pg15
@pytest.mark.slow
def test_no_call_has_the_log_of_our_servers_quote_its_arguments(as_shipped: Running) -> None:
    calls = attacked(as_shipped)
    assert leaks(as_shipped, calls) == {}
    kinds = {entry.kind for entry in as_shipped.log.entries()}
    assert not kinds & {"DETAIL", "CONTEXT", "STATEMENT", "HINT"}
    assert any(entry.text.startswith("duration: ") for entry in as_shipped.log.entries())


@pytest.mark.pg15
@pytest.mark.slow
@pytest.mark.usefixtures("calls_by_default")
def test_every_exception_is_needed(by_default: Running) -> None:
    texts = [entry.text for entry in by_default.log.entries() if entry.kind == "ERROR"]
    for reason, pattern in QUOTED:
        assert any(pattern.search(text) for text in texts), reason


@pytest.mark.slow
@pytest.mark.pg15
def test_a_setting_of_the_session_is_quoted_as_such_alone(by_default: Running) -> None:
    before = by_default.log.end()
    with psycopg.connect(by_default.dsn, autocommit=True) as conn:
        names = [name for (name,) in conn.execute("SELECT name FROM pgrecall.setting_definitions").fetchall()]
        for name in names:
            conn.execute("SELECT set_config(%s, %s, false)", [f"pgrecall.{name}", f"{WORD} [1, '"])
            for statement in (
                "SELECT recall('a plan')",
                "SELECT remember('a plan')",
                "SELECT pgrecall.health()",
            ):
                with contextlib.suppress(psycopg.Error):
                    conn.execute(statement.encode())
            conn.execute(f"RESET pgrecall.{name}".encode())
    told = [entry for entry in by_default.log.entries(before) if WORD in entry.text]
    assert len(told) > len(names) / 2
    assert all(any(pattern.search(entry.text) for _, pattern in QUOTED[:2]) for entry in told), told


def test_what_is_too_long_for_a_table_is_not_printed_with_its_row(by_default: Running) -> None:
    before = by_default.log.end()
    with psycopg.connect(by_default.dsn, autocommit=True) as conn:
        names = [name for (name,) in conn.execute("SELECT name FROM pgrecall.setting_definitions").fetchall()]
        statements: list[tuple[str, list[Any]]] = [
            *(("SELECT pgrecall.set_setting(%s, %s)", [name, f"{WORD} " * 9000]) for name in names),
            ("SELECT pgrecall.set_entity_rules('PROJECT', %s)", [[f"{WORD} {n}" for n in range(100_001)]]),
            ("SELECT pgrecall.set_entity_rules('PROJECT', patterns => %s)", [[WORD * 20] * 100]),
            ("SELECT pgrecall.register_model(%s, NULL, '', '', '')", [WORD]),
            ("SELECT pgrecall.register_model('m', 1, '', '', %s)", [WORD * 9000]),
            (
                "SELECT pgrecall.set_profile('p', %s)",
                [json.dumps(dict.fromkeys(names, f"{WORD} " * 9000))],
            ),
        ]
        refused = 0
        for statement, values in statements:
            try:
                conn.execute(statement.encode(), values)
            except psycopg.Error:
                refused += 1
    assert refused >= len(statements) - 1
    told = [entry for entry in by_default.log.entries(before) if WORD in entry.text]
    assert all(any(pattern.search(entry.text) for _, pattern in QUOTED) for entry in told), told[:3]


RAW: list[tuple[str, list[Any]]] = [
    # A client that leaves JSON and times to the server, and one that writes literals.
    ("SELECT remember_many(%s)", [f'[{{"content": "{WORD}"']),
    ("SELECT remember_many(%s)", [f'[{{"content": "{WORD}\\u0000"}}]']),
    (f"SELECT remember('x', metadata => '{{\"{WORD}\"}}')", []),
    (f"SELECT remember('{WORD}', importance => 7)", []),
    (f"INSERT INTO pgrecall.memories (content, importance) VALUES ('{WORD}', 7)", []),
    ("SELECT remember('x', metadata => %s)", [WORD]),
]


def test_what_a_raw_client_risks_stays_out_of_the_log_of_our_servers(
    as_shipped: Running, by_default: Running
) -> None:
    for running in (as_shipped, by_default):
        before = running.log.end()
        with psycopg.connect(running.dsn, autocommit=True) as conn:
            conn.execute("SET log_min_duration_statement = -1")
            for statement, values in RAW:
                with pytest.raises(psycopg.Error):
                    conn.execute(statement.encode(), values or None)
        said = running.log.entries(before)
        assert len([entry for entry in said if entry.kind == "ERROR"]) == len(RAW)
        assert any(WORD in entry.text for entry in said) == (running is by_default)


def test_no_setting_keeps_a_wrong_time_of_a_raw_client_out(as_shipped: Running) -> None:
    """What docs/operations.md says remains: PostgreSQL's message itself quotes it."""
    before = as_shipped.log.end()
    with psycopg.connect(as_shipped.dsn, autocommit=True) as conn, pytest.raises(psycopg.DataError):
        conn.execute("SELECT remember('x', occurred_at => %s)", [WORD])
    told = [entry.text for entry in as_shipped.log.entries(before) if WORD in entry.text]
    assert len(told) == 1
    assert BEFORE_THE_CALL.search(told[0])


def export_line(**fields: Any) -> str:
    return json.dumps(
        {"pgrecall": 1, "id": 1, "namespace": "default", "created_at": TIME, "content": WORD, **fields}
    )


def record_line(**fields: Any) -> str:
    """A line of an export that is no memory."""
    if fields.get("kind") == "retention":
        return json.dumps({"pgrecall": 1, "namespace": "default", **fields})
    change = {
        "action": "update",
        "changed_at": "2026-01-01T00:00:00Z",
        "role": "r",
        "before": {},
        "after": {},
    }
    return json.dumps(
        {"pgrecall": 1, "kind": "change", "namespace": "default", "memory": 1, **change, **fields}
    )


CLIENTS: list[Callable[[Client], object]] = [
    lambda client: client.remember(f"{WORD}\x00"),
    lambda client: client.remember(f"{WORD}\ud800"),
    lambda client: client.remember(WORD, metadata={WORD: float("nan")}),
    lambda client: client.remember(WORD, metadata={f"{WORD}\x00": 1}),
    lambda client: client.remember(WORD, metadata={"a": [f"{WORD}\udfff"]}),
    lambda client: client.remember(WORD, metadata={"a": 10**6000}),
    lambda client: client.remember(WORD, occurred_at=WORD),
    lambda client: client.remember(WORD * 40000),
    lambda client: client.remember_many([{"content": WORD, WORD.replace("z", " "): 1}]),
    lambda client: client.remember_many([{"content": WORD, "importance": WORD}]),
    lambda client: client.recall(f"{WORD}\x00"),
    lambda client: client.recall(WORD, metadata_contains={"a": f"{WORD}\x00"}),
    lambda client: client.recall(WORD, vector=[WORD]),  # type: ignore[list-item]
    lambda client: client.recall(WORD * 3000),
    lambda client: client.supersede(10**12, WORD, metadata={"a": f"{WORD}\x00"}),
    lambda client: client.transfer.import_memories([export_line(metadata={"a": f"{WORD}\x00"})]),
    lambda client: client.transfer.import_memories([export_line(title=f"{WORD}\ud800")]),
    lambda client: client.transfer.import_memories([export_line()[:-1]]),
    lambda client: client.transfer.import_memories([export_line().replace('"id"', f'"content": "{WORD}\\u0000", "id"')]),
    lambda client: client.transfer.import_memories([export_line(metadata={"a": 5}).replace("5", "NaN")]),
    lambda client: client.transfer.import_memories([export_line(metadata={"a": 5}).replace("5", "1e999999")]),
    lambda client: client.transfer.import_memories([export_line(occurred_at=WORD)]),
    lambda client: client.transfer.import_memories([export_line(embeddings=[{"model": "m", "dimension": 1, "vector": WORD}])]),
    lambda client: client.transfer.link_imported_memories([{"id": WORD, "superseded_by": 1}]),
    lambda client: client.transfer.link_imported_memories([{"id": 1, "superseded_by": 1, "updated_at": f"{WORD}\x00"}]),
    lambda client: client.transfer.import_records([record_line(**{WORD: 1})]),
    lambda client: client.transfer.import_records([record_line(kind=WORD)]),
    lambda client: client.transfer.import_records([record_line(before=WORD)]),
    lambda client: client.transfer.import_records([record_line(after={WORD: 1})]),
    lambda client: client.transfer.import_records([record_line(changed_at=WORD)]),
    lambda client: client.transfer.import_records([record_line(kind="retention", keep=WORD, action=WORD)]),
    lambda client: client.transfer.import_lines([NewMemory(content=WORD, importance=7)]),
    lambda client: client.transfer.import_lines([NewMemory(content=WORD, metadata={"a": f"{WORD}\x00"})]),
    lambda client: client.transfer.import_from([json.dumps({"memory": {**MEMORY, "title": f"{WORD}\x00"}})]),
    lambda client: client.transfer.import_from([f'{{"memory": {WORD}}}']),
    lambda client: client.transfer.preview_import_from([json.dumps([f"{WORD}\ud800"])]),
]  # fmt: skip


@pytest.mark.parametrize("place", range(len(CLIENTS)))
def test_what_the_client_refuses_or_has_refused_is_quoted_nowhere(by_default: Running, place: int) -> None:
    before = by_default.log.end()
    with Client(by_default.dsn) as client, pytest.raises(PgrecallError) as caught:
        CLIENTS[place](client)
    told = caught.value
    assert WORD not in f"{told!r} {told.message} {told.hint} {told.args}"
    assert not [entry for entry in by_default.log.entries(before) if WORD in entry.text]


def test_an_import_of_bad_lines_quotes_none_of_them(by_default: Running, tmp_path: Path) -> None:
    before = by_default.log.end()
    bad = [
        f'{{"content": "{WORD}"',
        f'{{"content": "{WORD}\\u0000"}}',
        f'{{"content": "{WORD}\\ud800"}}',
        f'{{"content": "x", "occurred_at": "{WORD}"}}',
        f'{{"content": "x", "importance": "{WORD}"}}',
        f'{{"content": "x", "tags": {{"{WORD}": 1}}}}',
        f'{{"content": "x", "metadata": {{"{WORD}": NaN}}}}',
        f'{{"content": "{WORD * 40000}"}}',
        export_line(metadata={"a": f"{WORD}\x00"}),
        export_line(valid_from=WORD),
        export_line(title=[WORD]),
        export_line(embeddings=WORD),
        export_line(text_hash=WORD),
        export_line(**{f"{WORD} of mine": 1}),
    ]
    file = tmp_path / "lines.jsonl"
    file.write_bytes(b"\xff " + "".join(f"{line}\n" for line in [WORD, *bad]).encode())
    command = [sys.executable, "-m", "pgrecall", "import", str(file), "--dsn", by_default.dsn]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    assert len(re.findall(r"(?m)^.*line \d+", done.stdout + done.stderr)) == len(bad) + 1
    assert WORD not in done.stdout + done.stderr
    assert not [entry for entry in by_default.log.entries(before) if WORD in entry.text]


def test_what_doctor_advises_keeps_texts_out(by_default: Running) -> None:
    with psycopg.connect(by_default.dsn, autocommit=True) as conn:
        state, advice = health(conn)["server log"]
        assert state == "warn"
        assert advice is not None
        try:
            for statement in advice.partition(". That takes")[0].split("; "):
                conn.execute(statement.encode())
            with psycopg.connect(by_default.dsn) as fresh:
                settings = {name: fresh.execute(f"SHOW {name}".encode()).fetchone() for name in QUIET_LOG}
                assert settings == {name: (value,) for name, value in QUIET_LOG.items()}
                assert health(fresh)["server log"] == ("ok", None)
        finally:
            for name in QUIET_LOG:
                conn.execute(f"ALTER SYSTEM RESET {name}".encode())
            conn.execute("SELECT pg_reload_conf()")
