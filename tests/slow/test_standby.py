"""A streaming standby: what it answers, what it refuses, and that everything goes on when it is promoted."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from pgrecall import Client, LlmExpander, ReadOnlyServer
from pgrecall.admin.migrate import migrate
from pgrecall.server import EmbeddedServer
from pgrecall.server import process as process
from pgrecall.server.binaries import binaries, usable_binaries
from support import corpus
from support.backup import answers, fill, folder, prepared, recipe, rights, shell
from support.embedder import SLOW_DAEMON
from support.legs import WITHOUT_VECTOR
from support.llm import served
from support.operations import beat
from support.plans import LARGE, SIZES, assert_stable, questions
from support.servers import FAST
from support.waiting import until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SECONDS = 180


@dataclass(frozen=True)
class Pair:
    """A primary and its standby."""

    primary: EmbeddedServer
    standby: EmbeddedServer

    def replayed(self) -> None:
        """Wait until the standby has all that the primary has."""
        with (
            psycopg.connect(self.primary.dsn(), autocommit=True) as there,
            psycopg.connect(self.standby.dsn(), autocommit=True) as here,
        ):
            # Not pg_current_wal_lsn: what was committed asynchronously may not be written yet.
            written = there.execute("SELECT pg_current_wal_insert_lsn()").fetchone()
            query = "SELECT pg_last_wal_replay_lsn() >= %s"
            until(lambda: here.execute(query, written).fetchone() == (True,))

    @property
    def either(self) -> str:
        """The connection string that names both, and finds the one that takes writes."""
        hosts = [conninfo_to_dict(server.dsn())["host"] for server in (self.primary, self.standby)]
        return make_conninfo(
            self.primary.dsn(), host=",".join(map(str, hosts)), target_session_attrs="read-write"
        )


def follow(primary: EmbeddedServer, public_dir: Path, name: str) -> EmbeddedServer:
    """Make a standby by the recipe of the documentation, and start it."""
    data_dir = folder(public_dir, name)
    (data_dir / "server.lock").touch()  # what makes it a folder of ours
    bindir, _ = usable_binaries(binaries(), process.server_account())
    shell(
        recipe("standby"),
        bindir,
        {"PRIMARY": primary.dsn("postgres"), "STANDBY_DATA": str(data_dir / "postgres")},
        as_server=True,
    )
    standby = EmbeddedServer(data_dir, settings=FAST)
    standby.up()
    return standby


@pytest.fixture(scope="module")
def pair(public_dir: Path) -> Iterator[Pair]:
    primary = EmbeddedServer(public_dir / "primary", settings=FAST)
    fill(primary.up())
    standby = follow(primary, public_dir, "standby")
    both = Pair(primary, standby)
    try:
        both.replayed()
        yield both
    finally:
        standby.down()
        primary.down()


def test_it_answers_as_the_primary_does(pair: Pair) -> None:
    found = answers(pair.standby.dsn())
    assert found == answers(pair.primary.dsn())
    assert any(row.get("dense_rank") for row in found)
    assert rights(pair.standby.dsn()) == rights(pair.primary.dsn())


def test_its_plans_are_those_of_the_primary(pair: Pair) -> None:
    with psycopg.connect(pair.primary.dsn(), autocommit=True) as conn:
        conn.execute("CREATE DATABASE plans")
    migrate(pair.primary.dsn("plans"))
    with psycopg.connect(pair.primary.dsn("plans"), autocommit=True) as conn:
        corpus.fill(conn, SIZES)
        asked = questions(conn)
    pair.replayed()
    with psycopg.connect(pair.standby.dsn("plans"), autocommit=True) as conn:
        assert_stable(conn, asked, rows=LARGE // 6)


def test_it_takes_no_questions_to_embed(pair: Pair) -> None:
    with psycopg.connect(pair.primary.dsn(), autocommit=True) as conn:
        beat(conn)  # an embedder that could be asked
    pair.replayed()
    with Client(pair.standby.dsn(), namespace="priya") as client:
        result = client.recall("Priya and the beach house", embed="daemon")
    assert result.notice is not None
    assert result.notice.startswith("a read-only server cannot queue queries for an embedder")
    assert result.legs == WITHOUT_VECTOR
    assert len(result) > 0


def test_it_has_no_query_expanded(pair: Pair) -> None:
    """What is kept on the primary is in no replica; nothing is asked, and recall goes on."""
    with psycopg.connect(pair.primary.dsn(), autocommit=True) as conn:
        conn.execute("SELECT pgrecall.cache_expansion('Priya and the beach house', '{villa}')")
    pair.replayed()
    with served() as llm, Client(pair.standby.dsn(), namespace="priya") as client:
        expander = LlmExpander(llm.url, "m")
        result = client.recall("Priya and the beach house", expand=expander, embed=False)
        assert (
            client.recall("Priya and the beach house", expand="llm", embed=False).memories == result.memories
        )
        assert llm.asked == []
    assert result.notice == "a read-only server cannot store the expansion: the query is not expanded"
    assert len(result) > 0


def test_it_refuses_writes_and_says_so(pair: Pair) -> None:
    with Client(pair.standby.dsn()) as client:
        with pytest.raises(ReadOnlyServer) as caught:
            client.remember("never")
        assert caught.value.hint is not None
        assert "primary" in caught.value.hint


def test_status_and_doctor(pair: Pair) -> None:
    with psycopg.connect(pair.primary.dsn()) as conn:
        conn.execute("SELECT pg_current_xact_id()")  # a commit, which the standby has a time of
    pair.replayed()
    with Client(pair.primary.dsn()) as there, Client(pair.standby.dsn()) as here:
        status = here.admin.status()
        assert (status.memories, status.embedded) == (
            there.admin.status().memories,
            there.admin.status().embedded,
        )
        found = {finding.check_name: finding for finding in here.admin.health()}
        assert {finding.check_name: finding for finding in there.admin.health()}["standby"].status == "ok"
        assert list(here.transfer.export_memories()) == list(there.transfer.export_memories())
    assert found["standby"].status == "info"
    assert found["standby"].detail.startswith("it answers recalls only, as of 2")
    assert found["statistics"].status == "ok"
    command = [sys.executable, "-m", "pgrecall", "doctor", "--dsn", pair.standby.dsn()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "standby: it answers recalls only" in done.stdout


def test_an_embedder_says_that_it_is_in_the_wrong_place(pair: Pair) -> None:
    command = [sys.executable, "-m", "pgrecall", "embedder", "--dsn", pair.standby.dsn()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert done.returncode == 1
    assert "this server is a standby, and an embedder writes" in done.stderr
    assert "target_session_attrs=read-write" in done.stderr
    assert "Traceback" not in done.stderr


def test_promotion(public_dir: Path) -> None:
    primary = EmbeddedServer(public_dir / "first", settings=FAST)
    prepared(primary.up())
    standby = follow(primary, public_dir, "second")
    pair = Pair(primary, standby)
    daemon = subprocess.Popen(
        [sys.executable, "-c", SLOW_DAEMON.replace("384", "8"), "0", pair.either, "60"],
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        with Client(pair.either) as client:
            client.remember("Priya bought a kayak")
            _embedded(client)
            pair.replayed()
            primary.down()
            with psycopg.connect(standby.dsn(), autocommit=True) as conn:
                conn.execute("SELECT pg_promote()")
            # The same client, the same daemon.
            client.remember("Priya sold the kayak")
            _embedded(client)
            assert [found.content for found in client.recall("kayak", embed=False)][:2] == [
                "Priya sold the kayak",
                "Priya bought a kayak",
            ]
            assert {row.check_name: row for row in client.admin.health()}["standby"].status == "ok"
    finally:
        daemon.terminate()
        daemon.communicate(timeout=SECONDS)
        standby.down()
        primary.down()
    assert daemon.returncode == 0


def _embedded(client: Client) -> None:
    until(lambda: not client.admin.status().pending)
