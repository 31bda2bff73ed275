"""Erasure by the clients, the command line and an offline copy."""

from __future__ import annotations

import asyncio
import io
import json
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from pgrecall import AsyncClient, Client, NotFound, UnknownNamespace
from pgrecall.cli import main
from pgrecall.contrib.offline import OfflineClient
from support.memories import contents, remember, rows, scalar
from support.offline import bytes_of
from support.waiting import until

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from psycopg import Connection

    Cli = Callable[..., tuple[int, str, str]]

SECRET = "quokkaville4711"


@pytest.fixture
def cli(dsn: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    monkeypatch.setenv("PGRECALL_DSN", dsn)

    def run(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as caught:
            main(list(arguments))
        captured = capsys.readouterr()
        return int(caught.value.code or 0), captured.out, captured.err

    return run


def test_the_client_erases_a_memory(client: Client, conn: Connection[Any]) -> None:
    number = client.remember(SECRET, tags=["tag"])
    told = client.erase(number, dry_run=True)
    assert (told.receipt, told.memory_id, told.counts["memories"]) == (None, number, 1)
    done = client.erase(number)
    assert done.counts == told.counts
    assert done.as_dict()["receipt"] == scalar(conn, "SELECT id FROM pgrecall.erasures")
    assert SECRET not in str(contents(conn))
    with pytest.raises(NotFound):
        client.erase(number)


def test_the_client_erases_a_namespace(client: Client, conn: Connection[Any]) -> None:
    client.remember(SECRET, namespace=SECRET, create_namespace=True)
    assert client.erase_namespace(SECRET, dry_run=True).receipt is None
    done = client.erase_namespace(SECRET)
    assert (done.memory_id, done.counts["namespaces"]) == (None, 1)
    assert SECRET not in str(contents(conn))
    with pytest.raises(UnknownNamespace):
        client.erase_namespace(SECRET)


def test_the_asynchronous_client_erases_too(dsn: str) -> None:
    async def run() -> list[int]:
        async with AsyncClient(dsn) as client:
            numbers = [await client.remember(f"{SECRET} {n}") for n in range(2)]
            one = await client.erase(numbers[0])
            rest = await client.erase_namespace("default")
            return [one.counts["memories"], rest.counts["memories"]]

    assert asyncio.run(run()) == [1, 1]


def test_the_command_erases_and_says_what_went(cli: Cli, conn: Connection[Any]) -> None:
    numbers = [remember(conn, f"{SECRET} {n}") for n in range(3)]
    code, out, _ = cli("erase", str(numbers[0]), "--dry-run")
    assert (code, out.startswith(f"dry run: memory {numbers[0]}: ")) == (0, True)
    assert scalar(conn, "SELECT count(*) FROM pgrecall.memories") == 3
    code, out, err = cli("erase", str(numbers[0]), str(numbers[1]), "--yes", "--json")
    assert code == 0
    assert [receipt["memory_id"] for receipt in json.loads(out)] == numbers[:2]
    assert "pgrecall scrub" in err
    code, out, _ = cli("erase", "--whole-namespace", "default", "--yes")
    assert (code, "namespaces 1" in out) == (0, True)
    assert SECRET not in str(contents(conn))


def test_the_command_asks_first(cli: Cli, conn: Connection[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("n\nn\n"))
    number = remember(conn, SECRET)
    code, out, _ = cli("erase", str(number))
    assert (code, out.strip()) == (1, "")
    assert cli("scrub")[0] == 1
    assert scalar(conn, "SELECT count(*) FROM pgrecall.memories") == 1


def test_the_command_keeps_what_was_done_before_an_error(cli: Cli, conn: Connection[Any]) -> None:
    number = remember(conn, SECRET)
    code, out, err = cli("erase", str(number), str(10**15), "--yes")
    assert (code, out.startswith("receipt 1: ")) == (1, True)
    assert "there is no memory" in err
    assert SECRET not in str(contents(conn))


@pytest.mark.parametrize("arguments", [("erase",), ("erase", "1", "--whole-namespace", "default")])
def test_the_command_takes_ids_or_a_namespace(cli: Cli, arguments: tuple[str, ...]) -> None:
    assert cli(*arguments, "--yes")[0] == 2


def test_scrub_writes_every_table_anew(cli: Cli, conn: Connection[Any]) -> None:
    remember(conn, "a memory", tags=["tag"])
    query = (
        "SELECT array_agg(pg_relation_filenode(oid) ORDER BY oid) FROM pg_class "
        "WHERE relnamespace = 'pgrecall'::regnamespace AND relkind IN ('r', 'i')"
    )
    before = scalar(conn, query)
    until(lambda: cli("scrub", "--yes")[1].endswith(" tables rewritten\n"))
    assert not set(before) & set(scalar(conn, query))


@pytest.mark.parametrize(
    "statement",
    [
        "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; SELECT 1 FROM pg_class",
        "DECLARE unread CURSOR FOR SELECT oid FROM pg_class",
        "SELECT pg_current_xact_id()",
    ],
    ids=["reader", "cursor", "writer"],
)
def test_scrub_says_that_it_had_to_keep_rows(
    cli: Cli, dsn: str, conn: Connection[Any], statement: str
) -> None:
    number = remember(conn, f"{SECRET} is the word")
    with psycopg.connect(dsn) as old:
        old.execute(statement.encode())
        rows(conn, "erase", number)
        code, out, err = cli("scrub", "--yes")
        assert (code, out, SECRET in err) == (1, "", False)
        assert "may still be read by an older transaction" in err
        assert "pg_stat_activity (backend_xmin)" in err
    # An ANALYZE of autovacuum is such a transaction, too.
    until(lambda: cli("scrub", "--yes")[0] == 0)


def test_scrub_by_another_than_the_owner_says_that_nothing_was_rewritten(
    dsn: str, conn: Connection[Any], cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGRECALL_DSN", make_conninfo(dsn, options="-c role=pgrecall_admin"))
    code, out, err = cli("scrub", "--yes")
    assert (code, out) == (1, "")
    assert "tables not rewritten: " in err
    assert "as the owner of the tables" in err


def test_an_offline_copy_loses_it_at_the_next_pull(dsn: str, conn: Connection[Any], tmp_path: Path) -> None:
    path = tmp_path / "copy.db"
    number = remember(conn, f"{SECRET} is the word", title=SECRET, tags=[SECRET], metadata={SECRET: 1})
    kept = remember(conn, "another")
    with OfflineClient(path, dsn) as copy:
        copy.pull()
        assert SECRET.encode() in bytes_of(path)
        copy.update(number, content=f"{SECRET} was the word, and is in the queue")
        rows(conn, "erase", number)
        report = copy.pull()
        # The server refuses what was done to it here, and what is set aside says it no more.
        assert (report.removed, report.is_purged) == (1, True)
        assert SECRET.encode() not in bytes_of(path)
        assert [memory.id for memory in copy.recall("another")] == [kept]
    assert SECRET not in str(contents(conn))


def test_a_write_of_a_copy_does_not_bring_it_back(dsn: str, conn: Connection[Any], tmp_path: Path) -> None:
    number = remember(conn, SECRET, external_id="e")
    with OfflineClient(tmp_path / "copy.db", dsn) as copy:
        copy.pull()
        copy.supersede(number, f"{SECRET} no more")
        copy.forget(number)
        rows(conn, "erase", number)
        copy.push()
    assert SECRET not in str(contents(conn))
