"""docs/operations.md: its queries run, its commands exist, and its runbooks mend what they say they mend."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from typer.main import get_command

from pgrecall.admin.migrate import migrate
from pgrecall.cli import app, main
from pgrecall.server import EmbeddedServer, binaries
from support.operations import OTHER, beat, detail, health, remember
from support.servers import FAST

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from psycopg import Connection

GUIDE = (Path(__file__).resolve().parents[2] / "docs" / "operations.md").read_text(encoding="utf-8")
PATIENCE = 300


def section(title: str) -> str:
    """A section of the guide, with those below it."""
    found = re.search(rf"(?ms)^(#+) {re.escape(title)}\n(.*?)(?=^#{{1,6}} |\Z)", GUIDE)
    assert found is not None, title
    if len(found[1]) > 2:
        return found[2]
    return re.split(r"(?m)^## ", GUIDE[found.start(2) :])[0]


def blocks(title: str, language: str) -> list[str]:
    return re.findall(rf"(?ms)^```{language}\n(.*?)^```$", section(title))


MONITORING = blocks("Monitoring queries", "sql")


def test_there_is_something_to_monitor() -> None:
    assert len(MONITORING) > 4


@pytest.mark.parametrize("query", MONITORING, ids=lambda query: query.split()[1].strip(",").split(".")[-1])
def test_monitoring_queries_run_for_an_administrator(conn: Connection[Any], query: str) -> None:
    remember(conn, "one")
    beat(conn, generations=[1])
    conn.execute("SET ROLE pgrecall_admin")
    cursor = conn.execute(query.encode())
    assert cursor.description
    rows = cursor.fetchall()
    # Nobody else is connected and no index is being built.
    quiet = "pg_stat_activity" in query or "pg_stat_progress" in query
    assert quiet or rows


def test_commands_of_the_guide_exist() -> None:
    lines = {line for block in blocks_of_shell() for line in block.splitlines()}
    lines |= set(re.findall(r"`(pgrecall [a-z][^`]*)`", GUIDE))
    advised = {line.partition("pgrecall ")[2].partition("#")[0] for line in lines if "pgrecall " in line}
    assert len(advised) > 8
    for command in advised:
        found = get_command(app)
        for word in command.split():
            commands = getattr(found, "commands", {})
            if word.startswith("--"):
                options = {
                    option for given in found.params for option in (*given.opts, *given.secondary_opts)
                }
                assert word in options, command
            elif word in commands:
                found = commands[word]
            else:
                assert found is not get_command(app), command
                assert found.params, command


def blocks_of_shell() -> list[str]:
    return re.findall(r"(?ms)^```sh\n(.*?)^```$", GUIDE)


def test_what_a_slow_recall_is_looked_at_with(public_dir: Path) -> None:
    plan, statements = blocks("Recall is slow", "sql")
    settings = {**FAST, "shared_preload_libraries": "pg_stat_statements"}
    server = EmbeddedServer(public_dir / "counted", settings=settings)
    dsn = server.up()
    try:
        migrate(dsn)
        with psycopg.connect(dsn, autocommit=True) as conn:
            conn.execute("CREATE EXTENSION pg_stat_statements")
            remember(conn, "the question that is slow")
            conn.execute("SELECT * FROM recall('the question that is slow')")
            shown = "\n".join(line for (line,) in conn.execute(plan.encode()))
            assert "postings_term_key" in shown
            assert any("recall" in row[3] for row in conn.execute(statements.encode()))
    finally:
        server.down()


def test_an_index_that_a_cancelled_rebuild_left_behind(dsn: str, conn: Connection[Any]) -> None:
    drop, rebuild = blocks("An index is invalid", "sql")
    with psycopg.connect(dsn) as writer:
        # A rebuild waits for a writer, and is cancelled while it does: its half is left.
        writer.execute("LOCK TABLE pgrecall.memories IN ROW EXCLUSIVE MODE")
        conn.execute("SET lock_timeout = '200ms'")
        with pytest.raises(psycopg.errors.LockNotAvailable):
            conn.execute(rebuild.encode())
        conn.execute("RESET lock_timeout")
    state, remedy = health(conn)["indexes"]
    assert (state, remedy) == ("fail", drop.strip().rstrip(";"))
    conn.execute(drop.encode())
    assert health(conn)["indexes"] == ("ok", None)
    conn.execute(rebuild.encode())
    assert health(conn)["indexes"] == ("ok", None)


def test_the_index_of_the_embeddings_is_made_as_it_was(conn: Connection[Any]) -> None:
    made = "SELECT pg_get_indexdef('pgrecall.memories_embedding_idx'::regclass)"
    before = conn.execute(made.encode()).fetchall()
    conn.execute("DROP INDEX pgrecall.memories_embedding_idx")
    assert detail(conn, "indexes") == "the index of the embeddings is missing"
    for statement in blocks("The index of the embeddings is missing", "sql")[0].split(";"):
        if statement.strip():
            conn.execute(statement.encode())
    assert health(conn)["indexes"] == ("ok", None)
    assert conn.execute(made.encode()).fetchall() == before


def test_an_embedder_that_died(dsn: str, conn: Connection[Any], capsys: pytest.CaptureFixture[str]) -> None:
    (number,) = remember(conn, "Priya moved to Lisbon")
    beat(conn, OTHER, generations=[1])
    conn.execute("SELECT pgrecall.claim(%s)", (OTHER,))
    assert health(conn)["embedder"] == ("ok", None)
    # It was killed: no more heartbeats, and its lease runs out.
    conn.execute("UPDATE pgrecall.workers SET last_seen_at = now() - interval '1 minute'")
    conn.execute(
        "UPDATE pgrecall.jobs SET lease_expires_at = now() - interval '1 second' WHERE failed_at IS NULL"
    )
    assert health(conn)["embedder"] == ("warn", "pgrecall embedder")
    assert detail(conn, "embedder") == "0 alive"
    (command,) = blocks("No embedder is alive", "sh")
    with pytest.raises(SystemExit) as ended:
        main([*command.split()[1:], "--only", "embedding", "--dsn", dsn])
    assert not ended.value.code
    assert conn.execute("SELECT id FROM pgrecall.memories WHERE embedding IS NOT NULL").fetchall() == [
        (number,)
    ]
    assert health(conn)["embedder"][0] == "ok"


def test_a_dump_is_restored(
    dsn: str,
    conn: Connection[Any],
    database: Callable[..., AbstractContextManager[str]],
    public_dir: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    script = blocks("Restoring a backup", "sh")[0]
    remember(conn, "Priya moved to Lisbon", "the espresso machine is broken")
    beat(conn, generations=[1])
    expected = conn.execute("SELECT id, content FROM recall('where does Priya live')").fetchall()
    assert expected
    file = public_dir / "pgrecall.dump"
    with database() as restored:
        # The commands of the guide, with the tests' own server and names.
        for line in script.splitlines():
            words = line.split()
            if "pg_dump" in words:
                execute([*words[:-1], f"--dbname={dsn}"], file)
            elif "pg_restore" in words:
                execute([words[-3], f"--dbname={restored}", words[-1]], file)
            elif "pgrecall" in words:
                with pytest.raises(SystemExit) as ended:
                    main([words[-1], "--dsn", restored])
                assert not ended.value.code, capsys.readouterr()
        with psycopg.connect(restored) as fresh:
            assert (
                fresh.execute("SELECT id, content FROM recall('where does Priya live')").fetchall()
                == expected
            )
            assert fresh.execute("SHOW hnsw.iterative_scan").fetchone() == ("relaxed_order",)
            assert health(fresh)["indexes"] == ("ok", None)


def execute(words: list[str], file: Path) -> None:
    """Run a program of the server's, on a file of the test's own."""
    command = [str(binaries() / words[0]), *(word.replace("pgrecall.dump", str(file)) for word in words[1:])]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=PATIENCE, check=False, env=os.environ
    )
    assert done.returncode == 0, done.stderr
