"""Canaries through the whole system: what is sensitive, refused or only asked is nowhere but where it belongs.

Every request, every line of a log, every metric and every table is searched. PostgreSQL's own log is searched
too, at PostgreSQL's default settings: with details, contexts and the statements that fail.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from pgrecall import Client
from pgrecall.admin.migrate import migrate
from pgrecall.server import EmbeddedServer, binaries
from support.extractor import pending, store, texts, without_spacy
from support.llm import KEY, Server, completion, entries, served
from support.log import DEFAULT_LOG
from support.provider_servers import Fault, ProviderServer
from support.waiting import PATIENCE, until

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from support.llm import Asked, Reply

EARLY = "Quibblesnark"
"""In memories that have been sensitive from the start."""
LATE = "Zanzibarquux"
"""In memories that become so."""
REFUSED = "Grumblewock"
"""In a memory that the provider refuses, and repeats in its answer."""
ASKED = "Wobbleflint"
"""In a query that the daemon embeds."""
PRIVATE = "Snorkelmump"
"""In a query that is private."""
# What holds the text itself, or words of it for recall by those who may see it.
OWN_TABLES = {"memories", "memory_changes", "postings", "term_stats", "pending_postings"}
OWN = {f"table {table}" for table in OWN_TABLES}
# What says how things go, and is never to quote.
TOLD = {"logs", "server log", "metrics", "table jobs", "table workers"}
FIRST, SECOND = 8, 16
"""The dimensions of the two generations."""


class System:
    """Everything that runs, and all that comes out of it."""

    def __init__(self, dsn: str, server_logs: Path, folder: Path, llm: Server) -> None:
        self.dsn = dsn
        self.llm = llm
        self.first = ProviderServer(dimension=FIRST, refused=REFUSED, retry_after=0.5)
        self.second = ProviderServer(dimension=SECOND, refused=REFUSED)
        self.conn = psycopg.connect(dsn, autocommit=True)
        self.environment = os.environ | {
            "PGRECALL_DSN": dsn,
            "PGRECALL_EMBEDDER_OPENAI_URL": self.first.url,
            "PGRECALL_EMBEDDER_OPENAI_SECOND_URL": self.second.url,
            "PGRECALL_LLM_URL": self.llm.url,
            "PGRECALL_LLM_API_KEY": KEY,
        }
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = int(free.getsockname()[1])
        self._metrics = ""
        self._server_logs = server_logs
        self._folder = folder
        self._processes: list[subprocess.Popen[bytes]] = []

    def start_daemon(self, *options: str) -> None:
        self._processes.append(self._start("daemon", "-m", "pgrecall_embedder", *options))

    def command(self, *arguments: str) -> None:
        """Run a command of pgrecall; what it prints is searched as logs are."""
        process = self._start("command", "-m", "pgrecall", *arguments)
        assert process.wait(PATIENCE) == 0, self.logs()

    def _start(self, kind: str, *arguments: str) -> subprocess.Popen[bytes]:
        number = len(list(self._folder.iterdir()))
        with (self._folder / f"{kind}-{number}.log").open("wb") as log:
            return subprocess.Popen(
                [sys.executable, *arguments], env=self.environment, stdout=log, stderr=subprocess.STDOUT
            )

    def stop(self) -> None:
        for process in self._processes:
            process.terminate()
        codes = [process.wait(PATIENCE) for process in self._processes]
        self._processes.clear()
        assert not any(codes), self.logs()

    def close(self) -> None:
        for process in self._processes:
            process.kill()
            process.wait()
        self.conn.close()

    def metrics(self) -> str:
        """What a daemon tells Prometheus; what it told last if it has stopped."""
        if self._processes:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics", timeout=PATIENCE) as answer:
                self._metrics = answer.read().decode()
        return self._metrics

    def logs(self) -> str:
        return "".join(path.read_text() for path in sorted(self._folder.iterdir()))

    def places(self, word: str) -> set[str]:
        """Where a word is, in any case."""
        out = {
            "logs": self.logs(),
            "server log": "".join(
                path.read_text(errors="replace") for path in self._server_logs.rglob("*.log")
            ),
            "metrics": self.metrics(),
            "provider": _bodies(self.first.requests + self.second.requests),
            "llm": _bodies(self.llm.asked),
            "dump": self._dump(),
        }
        assert "embedder started" in out["logs"]
        assert "database system is ready" in out["server log"]
        assert "pgrecall_embedder_embedded_total" in out["metrics"]
        found = {place for place, text in out.items() if _holds(text, word)}
        return found | {f"table {table}" for table in self._tables(word)}

    def _tables(self, word: str) -> set[str]:
        """The tables of schema pgrecall with a row that holds a word."""
        tables = self.conn.execute(
            "SELECT table_name FROM information_schema.tables "
            "WHERE table_schema = 'pgrecall' AND table_type = 'BASE TABLE'"
        ).fetchall()
        assert len(tables) > 20
        found = set()
        for (table,) in tables:
            query = f'SELECT t::text FROM pgrecall."{table}" t'
            if any(_holds(row[0], word) for row in self.conn.execute(query.encode())):
                found.add(table)
        return found

    def _dump(self) -> str:
        """All there is in the database but the rows of the tables that hold texts themselves."""
        without = [f"--exclude-table-data=pgrecall.{table}" for table in OWN_TABLES]
        command = [str(binaries() / "pg_dump"), *without, "--dbname", self.dsn]
        return subprocess.run(command, check=True, capture_output=True, text=True, timeout=PATIENCE).stdout

    def waiting(self) -> int:
        [(unembedded,)] = self.conn.execute(
            "SELECT sum(pending - failed) FROM pgrecall.generation_progress() WHERE state <> 'retired'"
        ).fetchall()
        [(uncurated,)] = self.conn.execute(
            "SELECT count(*) FROM pgrecall.jobs WHERE kind = 'curation'"
        ).fetchall()
        return pending(self.conn) + pending(self.conn, "llm") + int(unembedded) + int(uncurated)

    def finish(self) -> None:
        """Wait until nothing waits any more; if that does not end, say what waits."""
        try:
            until(lambda: not self.waiting())
        except AssertionError as error:
            jobs = self.conn.execute("SELECT now()::text, j::text FROM pgrecall.jobs j").fetchall()
            raise AssertionError(f"{jobs}\n{self.logs()}") from error


def _bodies(requests: Sequence[Any]) -> str:
    return "\n".join(f"{asked.path} {asked.headers} {asked.body.decode()}" for asked in requests)


def _holds(text: str, word: str) -> bool:
    """Whether a text holds a word, or its bytes as PostgreSQL prints them."""
    text = text.casefold()
    return any(
        form.casefold() in text for form in (word, word.encode().hex(), word.casefold().encode().hex())
    )


@pytest.fixture
def system(public_dir: Path, tmp_path: Path) -> Iterator[System]:
    running = EmbeddedServer(public_dir / "canary", settings=DEFAULT_LOG)
    dsn = running.up()
    try:
        migrate(dsn, dim=FIRST)
        with served() as llm:
            llm.script = answer
            logs = tmp_path / "logs"
            logs.mkdir()
            system = System(dsn, public_dir / "canary", logs, llm)
            with system.first, system.second:
                try:
                    yield system
                finally:
                    system.close()
    finally:
        running.down()


def answer(asked: Asked) -> Reply:
    """What the language model says: the facts of memories, in broken characters, or what a new memory is to older ones."""
    if isinstance(asked.rows, dict):
        return completion({"decision": "ADD", "id": None})
    said = entries(asked.rows)
    for one in said["memories"]:
        for fact in one["facts"]:
            fact["statement"] += (
                "\x00\ud800"  # no JSON that PostgreSQL takes: it would quote the rest as it refuses it
            )
    return completion(said)


def memory(word: str, number: int, **fields: Any) -> dict[str, Any]:
    return {
        "title": f"{word} title {number}",
        "content": f"{word} works at {word}Corp since 2019. See src/{word}_{number}.py, @{word} on 3 May 2024.",
        "tags": [f"{word}-tag", "plain"],
        "expanded_keywords": [f"{word}-keyword"],
        "metadata": {f"{word}-key": f"{word}-value"},
        "speaker": f"{word} Speaker",
        "source": f"{word} source",
        "session": f"{word} session",
        **fields,
    }


def remember(conn: psycopg.Connection[Any], memories: list[dict[str, Any]]) -> list[int]:
    return [row[0] for row in conn.execute("SELECT * FROM remember_many(%s)", [json.dumps(memories)])]


def flag(conn: psycopg.Connection[Any], ids: list[int]) -> None:
    for one in ids:
        conn.execute("SELECT update_memory(%s, is_sensitive => true)", [one])


def test_a_canary_leaves_no_trace(system: System, tmp_path: Path) -> None:
    conn = system.conn
    conn.execute("SELECT pgrecall.activate_model('first', %s, '', '', 'openai')", [FIRST])
    without_spacy(conn)
    settings = {"extract_llm": "on", "curate": "llm", "llm_model": "m"}
    for name, value in settings.items():
        conn.execute("SELECT pgrecall.set_setting(%s, %s)", [name, value])
    import_early(system, tmp_path)
    # One daemon logs JSON, one logs lines for people.
    system.start_daemon("--log-json", "--metrics-port", str(system.port))
    system.start_daemon()
    late = write_late(system)
    ask(system)
    reembed(system, late)
    be_refused(system)
    flag_the_rest(system, late)
    system.metrics()
    system.stop()
    assert system.places(EARLY) <= OWN
    assert system.places(LATE) - {"provider", "llm"} <= OWN
    assert system.places(ASKED) == {"provider"}
    assert system.places(PRIVATE) == set()
    assert "read_by_llm" in system.logs()
    assert any(isinstance(asked.rows, dict) for asked in system.llm.asked), "nothing was curated"


def import_early(system: System, folder: Path) -> None:
    """What is sensitive comes in by a file."""
    file = folder / "memories.jsonl"
    lines = [memory(EARLY, number, id=f"e{number}", is_sensitive=True) for number in range(20)]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    system.command("import", str(file))


def write_late(system: System) -> list[int]:
    """Others are embedded and read; some of them become sensitive before, some meanwhile."""
    # These answers repeat what they were asked.
    system.first.fail(Fault.RATE_LIMIT, Fault.ERROR, Fault.BAD_REQUEST, Fault.KEY)
    store(system.conn, texts(20))
    late = remember(system.conn, [memory(LATE, number) for number in range(40)])
    flag(system.conn, late[:10])
    system.finish()
    assert system.places(EARLY) <= OWN
    assert system.places(EARLY) & OWN
    places = system.places(LATE)
    assert {
        "mentions", "temporal_refs", "relationship_evidence", "extractions", "curations"
    } <= derived(system.conn, late)  # fmt: skip
    assert {"provider", "llm", "dump", "table concept_aliases"} <= places, "it was to be found before"
    assert not places & TOLD
    assert "refused" in system.logs(), "the provider failed"
    return late


def ask(system: System) -> None:
    """Queries, by a daemon and not; what is recalled is their own business."""
    with Client(system.dsn) as client:
        for _ in range(2):
            result = client.recall(f"where is {ASKED}", embed="daemon", embed_timeout=60)
            assert result.notice is None
        assert client.recall(f"where is {PRIVATE}", embed="daemon", private=True).notice is not None
    [(count,)] = system.conn.execute("SELECT count(embedding) FROM pgrecall.query_embeddings").fetchall()
    assert count == 1
    system.command("recall", f"where is {ASKED}", "--embed-by-daemon", "--category", "none")
    assert system.places(ASKED) == {"provider"}
    assert system.places(PRIVATE) == set()


def reembed(system: System, late: list[int]) -> None:
    """Another generation beside the first; what is flagged leaves both."""
    command = (
        "reembed",
        "--model",
        "second",
        "--dim",
        str(SECOND),
        "--provider",
        "openai:second",
        "--min-overlap",
        "0",
    )
    system.command(*command, "--no-switch")
    assert embedded(system.conn, late[10:]) == (30, 30)
    flag(system.conn, late[10:20])
    assert embedded(system.conn, late) == (20, 20)
    system.command(*command)
    assert embedded(system.conn, late) == (20, 20)
    assert system.places(EARLY) <= OWN


def be_refused(system: System) -> None:
    """A memory that the provider refuses, with an answer that repeats it."""
    [refused] = store(system.conn, [f"{REFUSED} {REFUSED}"])

    def is_parked() -> bool:
        query = "UPDATE pgrecall.jobs SET next_attempt_at = now() WHERE kind = 'embedding' AND next_attempt_at > now()"
        system.conn.execute(query)
        system.conn.execute("NOTIFY pgrecall_embed")
        query = "SELECT cause FROM pgrecall.jobs WHERE kind = 'embedding' AND failed_at IS NOT NULL AND memory_id = %s"
        return system.conn.execute(query, [refused]).fetchall() == [("input_refused",)]

    until(is_parked)
    system.command("failures")
    assert "input_refused" in system.logs()
    told = {
        "logs",
        "server log",
        "metrics",
        "table jobs",
        "table workers",
    }
    assert not system.places(REFUSED) & told


def flag_the_rest(system: System, late: list[int]) -> None:
    """What becomes sensitive once all of it is embedded and read loses whatever was made of it."""
    conn = system.conn
    flag(conn, late[20:])
    # A daemon that has just read a name still sends it.
    time.sleep(2)
    asked = len(system.first.requests), len(system.second.requests), len(system.llm.asked)
    # A sensitive memory that changes stays what it is.
    [(early,)] = conn.execute("SELECT id FROM pgrecall.memories WHERE external_id = 'e0'").fetchall()
    conn.execute("SELECT update_memory(%s, content => %s)", [early, f"{EARLY} works at {EARLY}Firm"])
    conn.execute("SELECT update_memory(%s, content => %s)", [late[0], f"{LATE} works at {LATE}Firm"])
    store(conn, ["Person1 works at Firm1."])
    until(lambda: not system.waiting() and len(system.llm.asked) > asked[2])
    assert embedded(conn, late) == (0, 0)
    assert derived(conn, late) == set()
    sent = (
        system.first.requests[asked[0] :] + system.second.requests[asked[1] :] + system.llm.asked[asked[2] :]
    )
    assert len(sent) >= 2
    assert not _holds(_bodies(sent), LATE)
    [(count,)] = conn.execute("SELECT count(*) FROM pgrecall.mentions").fetchall()
    assert count > 50


def embedded(conn: psycopg.Connection[Any], ids: list[int]) -> tuple[int, int]:
    """How many of these memories have an embedding of the first, and of the second generation."""
    query = "SELECT count(embedding), count(embedding_2) FROM pgrecall.memories WHERE id = ANY (%s)"
    [(first, second)] = conn.execute(query, [ids]).fetchall()
    return first, second


def derived(conn: psycopg.Connection[Any], ids: list[int]) -> set[str]:
    """The tables with something that was made of these memories, beside their words."""
    tables = conn.execute(
        "SELECT c.table_name FROM information_schema.columns c JOIN information_schema.tables t USING (table_schema, table_name) "
        "WHERE c.table_schema = 'pgrecall' AND c.column_name = 'memory_id' AND t.table_type = 'BASE TABLE'"
    ).fetchall()
    found = set()
    for (table,) in tables:
        query = f'SELECT count(*) FROM pgrecall."{table}" WHERE memory_id = ANY (%s)'
        [(count,)] = conn.execute(query.encode(), [ids]).fetchall()
        if count:
            found.add(str(table))
    return found - OWN_TABLES
