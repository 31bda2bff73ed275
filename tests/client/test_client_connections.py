"""The client and its server: absent, unmigrated, of another version, restarted, shared by threads."""

from __future__ import annotations

import asyncio
import socketserver
import struct
import threading
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from pgrecall import AsyncClient, Client, ConnectionFailed, InvalidInput, PermissionDenied, SchemaMismatch
from pgrecall._sync import queries as querying_module
from pgrecall.admin.migrate import migrate
from pgrecall.errors import ReadOnlyServer
from pgrecall.query.legs import LEGS
from pgrecall.server import EmbeddedServer
from support.migrating import serve
from support.serving import serving
from support.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

DIMENSION = 384


def _vector(*leading: float) -> list[float]:
    return [*leading, *[0.0] * (DIMENSION - len(leading))]


def test_a_connection_that_takes_no_writes_is_replaced(dsn: str, conn: psycopg.Connection[Any]) -> None:
    """After a failover the address is another server's; a session begun before stays read-only."""
    name = conn.info.dbname
    conn.execute(f'ALTER DATABASE "{name}" SET default_transaction_read_only = on'.encode())
    with Client(dsn, pool_min=1, pool_max=1) as client:
        with pytest.raises(ReadOnlyServer):
            client.remember("tea")
        conn.execute(f'ALTER DATABASE "{name}" RESET default_transaction_read_only'.encode())
        with suppress(ReadOnlyServer):  # the pool may have opened another meanwhile
            client.remember("tea")
        client.remember("tea")


def test_status_and_health(client: Client) -> None:
    client.remember("tea")
    status = client.admin.status()
    assert (status.memories, status.embedded, status.pending, status.dimension) == (1, 0, 1, DIMENSION)
    assert status.oldest_pending is not None
    assert status.as_dict()["oldest_pending"] >= 0
    assert all(check.status in ("ok", "warn", "fail") for check in client.admin.health())
    client.admin.analyze()
    assert client.admin.last_memory_id() > 0


def test_a_server_that_is_not_there() -> None:
    with (
        Client("host=/nonexistent connect_timeout=2", pool_timeout=2) as lost,
        pytest.raises(ConnectionFailed) as caught,
    ):
        lost.admin.status()
    assert caught.value.sqlstate == "08006"
    assert caught.value.hint
    assert isinstance(caught.value.__cause__, psycopg.OperationalError)


@pytest.mark.parametrize("wrong", ["dbname=no_such_database", "user=no_such_user"])
def test_a_server_that_refuses_is_said_to_run(dsn: str, wrong: str) -> None:
    name, _, value = wrong.partition("=")
    with Client(make_conninfo(dsn, **{name: value})) as lost, pytest.raises(ConnectionFailed) as caught:
        lost.admin.status()
    assert value in caught.value.message
    assert str(caught.value.hint).startswith("The server runs: check the name of the database")
    assert ("user" in str(caught.value.hint)) is (name == "user")


@pytest.mark.parametrize(
    ("password", "advice"),
    [("password=wrong", "check the user and the password"), ("", "asks for a password")],
)
def test_a_password_that_is_wrong_or_missing(password: str, advice: str) -> None:
    with _asking_for_a_password() as port:
        target = (
            f"host=127.0.0.1 port={port} user=me dbname=app sslmode=disable gssencmode=disable {password}"
        )
        with Client(target) as lost, pytest.raises(ConnectionFailed) as caught:
            lost.admin.status()
    assert advice in str(caught.value.hint)
    assert "wrong" not in str(caught.value)


@contextmanager
def _asking_for_a_password() -> Iterator[int]:
    """Serve just enough of PostgreSQL's protocol to ask for a password and to refuse it."""

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            self.request.recv(1024)
            self.request.sendall(b"R" + struct.pack("!ii", 8, 3))
            if self.request.recv(1024):
                fields = b"SFATAL\0VFATAL\0C28P01\0Mno\0\0"
                self.request.sendall(b"E" + struct.pack("!i", 4 + len(fields)) + fields)

    server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
    with serving(server):
        yield server.server_address[1]


@pytest.mark.parametrize("what", ["DATABASE", "ROLE"])
def test_a_limit_of_connections_is_advised_where_a_name_is_quoted(
    dsn: str, conn: psycopg.Connection[Any], what: str
) -> None:
    conn.execute("CREATE ROLE crowded LOGIN IN ROLE pgrecall_reader")
    try:
        name = conn.info.dbname if what == "DATABASE" else "crowded"
        conn.execute(f'ALTER {what} "{name}" CONNECTION LIMIT 0'.encode())
        with (
            Client(make_conninfo(dsn, user="crowded")) as refused,
            pytest.raises(ConnectionFailed) as caught,
        ):
            refused.admin.status()
    finally:
        conn.execute("DROP ROLE crowded")
    assert "connections are limited" in str(caught.value.hint)


def test_a_connection_string_that_is_none() -> None:
    with Client("postgresql://me:secret word@host/x y") as wrong, pytest.raises(ConnectionFailed) as caught:
        wrong.admin.status()
    assert "secret" not in str(caught.value)
    assert caught.value.hint


def test_an_embedded_server_that_cannot_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "letters.txt").write_text("mine")
    monkeypatch.delenv("PGRECALL_DSN", raising=False)
    monkeypatch.setenv("PGRECALL_DATA_DIR", str(tmp_path))
    with Client() as client, pytest.raises(ConnectionFailed) as caught:
        client.admin.status()
    assert str(tmp_path) in str(caught.value)
    assert caught.value.hint


def test_an_unmigrated_database(new_database: Callable[..., str]) -> None:
    with Client(new_database()) as client, pytest.raises(SchemaMismatch) as caught:
        client.recall("tea")
    assert caught.value.sqlstate == "55000"
    assert "pgrecall migrate" in str(caught.value.hint)


def test_a_database_with_other_code_of_the_same_contract(dsn: str, conn: psycopg.Connection[Any]) -> None:
    conn.execute("UPDATE pgrecall.installation SET bundle_hash = 'another'")
    with Client(dsn) as client:
        assert len(client.recall("tea")) == 0


def test_a_database_of_another_contract(dsn: str, conn: psycopg.Connection[Any]) -> None:
    serve(conn, 0)
    with Client(dsn) as client, pytest.raises(SchemaMismatch) as caught:
        client.recall("tea")
    assert caught.value.sqlstate == "55000"
    assert "migrate" in str(caught.value.hint)
    conn.execute("DROP FUNCTION pgrecall.contract")
    with Client(dsn) as client, pytest.raises(SchemaMismatch) as caught:
        client.recall("tea")
    assert "migrate" in str(caught.value.hint)


def test_a_session_without_row_security_is_told_from_a_missing_privilege(dsn: str) -> None:
    with (
        Client(make_conninfo(dsn, options="-c row_security=off")) as client,
        pytest.raises(PermissionDenied) as caught,
    ):
        client.recall("tea", embed=False)
    assert "RESET row_security" in str(caught.value.hint)


def test_connections_that_died_are_replaced(client: Client, conn: psycopg.Connection[Any]) -> None:
    client.remember("tea")
    conn.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
    )
    assert len(client.recall("tea", embed=False)) == 1


def test_a_server_that_goes_and_comes_back(public_dir: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """A call tells why within three seconds, nothing is printed besides, and the client goes on."""
    server = EmbeddedServer(public_dir / "gone", settings={"fsync": "off", "shared_buffers": "32MB"})
    dsn = server.up()
    try:
        migrate(dsn)
        with Client(dsn) as client:
            client.remember("tea")
            server.down()
            for _ in range(2):
                begun = time.monotonic()
                with pytest.raises(ConnectionFailed) as caught:
                    client.recall("tea")
                assert time.monotonic() - begun < 20  # on a busy machine; the pool alone would wait for 30
                assert "after" not in str(caught.value)
            server.up()
            assert len(client.recall("tea")) == 1
    finally:
        server.down()
    assert "error connecting" not in capfd.readouterr().err


def test_calls_that_wait_ask_the_server_once(dsn: str, conn: psycopg.Connection[Any]) -> None:
    async def burst() -> None:
        async with AsyncClient(dsn, pool_max=1) as client:
            await client.open()
            async with client._database.connection():
                calls = [asyncio.create_task(client.count()) for _ in range(60)]
                await asyncio.sleep(2)
            assert await asyncio.gather(*calls) == [0] * 60

    def sessions() -> int:
        conn.execute("SELECT pg_stat_clear_snapshot()")
        statement = "SELECT sessions FROM pg_stat_database WHERE datname = current_database()"
        return int(conn.execute(statement.encode()).fetchall()[0][0])

    before = sessions()
    asyncio.run(burst())
    time.sleep(1)
    assert sessions() - before < 10


def test_a_role_that_has_no_connection_left_waits_for_its_pool(
    dsn: str, conn: psycopg.Connection[Any]
) -> None:
    """The server refuses one more, and serves those that there are."""

    async def scenario() -> int:
        async with AsyncClient(make_conninfo(dsn, user="crowded"), pool_max=2, pool_timeout=60) as client:
            await client.open()
            async with client._database.connection(), client._database.connection():
                conn.execute("ALTER ROLE crowded CONNECTION LIMIT 2")
                waiting = asyncio.create_task(client.count())
                await asyncio.sleep(3)
                assert not waiting.done()
            return await waiting

    conn.execute("CREATE ROLE crowded LOGIN IN ROLE pgrecall_everywhere, pgrecall_reader")
    try:
        assert asyncio.run(scenario()) == 0
    finally:
        conn.execute("DROP ROLE crowded")


def test_a_closed_client_says_so(dsn: str) -> None:
    client = Client(dsn)
    client.close()
    client.close()
    with pytest.raises(ConnectionFailed, match="closed"):
        client.admin.status()
    with Client(dsn) as opened:
        opened.admin.status()
    with pytest.raises(ConnectionFailed, match="closed"):
        opened.admin.status()


def test_what_opens_while_the_client_closes_is_closed(dsn: str, conn: psycopg.Connection[Any]) -> None:
    named = make_conninfo(dsn, application_name="closing")
    clients: list[AsyncClient] = []  # kept, so that no garbage collection closes anything

    async def scenario(pause: float) -> list[object]:
        client = AsyncClient(named)
        clients.append(client)
        calls = [asyncio.ensure_future(client.count()) for _ in range(5)]
        await asyncio.sleep(pause)
        await client.close()
        return await asyncio.gather(*calls, return_exceptions=True)

    async def scenarios() -> None:
        for pause in (0, 0.001, 0.005, 0.01, 0.02, 0.05, 0.1):
            for one in await scenario(pause):
                assert one == 0 or isinstance(one, ConnectionFailed), one
        # The loop still runs, so only what was closed is gone.
        await eventually(
            lambda: (
                not conn.execute("SELECT FROM pg_stat_activity WHERE application_name = 'closing'").fetchall()
            )
        )

    asyncio.run(scenarios())

    # A thread closes the synchronous client while another opens it.
    def count(client: Client) -> None:
        with suppress(ConnectionFailed):
            client.count()

    for pause in (0.0, 0.005, 0.02, 0.05):
        client = Client(named)
        opening = threading.Thread(target=count, args=(client,))
        opening.start()
        time.sleep(pause)
        client.close()
        opening.join()
        assert client._database._pool is None


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"pool_min": -1}, "-1 to 4"),
        ({"pool_max": 0}, "1 to 0"),
        ({"pool_min": 0, "pool_max": 0}, "0 to 0"),
        ({"pool_min": 5}, "5 to 4"),
        ({"pool_max": "4"}, "pool_max must be a whole number, not str"),
        ({"pool_min": 1.5}, "pool_min must be a whole number, not float"),
        ({"pool_max": None}, "pool_max must be a whole number, not NoneType"),
    ],
)
def test_a_pool_of_no_size_is_refused_before_a_call(given: dict[str, Any], error: str) -> None:
    for kind in (Client, AsyncClient):
        with pytest.raises(InvalidInput, match=error):
            kind(**given)


@pytest.mark.parametrize("name", ["dsn", "namespace", "model"])
def test_what_is_no_text_is_refused_before_a_call(name: str, conn: psycopg.Connection[Any]) -> None:
    wrong: dict[str, Any] = {name: 42}
    for kind in (Client, AsyncClient):
        with pytest.raises(InvalidInput, match=f"{name} must be text, not int"):
            kind(**wrong)
    if name != "dsn":
        with pytest.raises(InvalidInput, match=f"{name} must be text, not int"):
            Client.on(conn, **wrong)


def test_a_pool_may_keep_no_connection_open(dsn: str) -> None:
    with Client(dsn, pool_min=0, pool_max=1) as client:
        assert client.count() == 0


def test_it_connects_only_when_used(monkeypatch: pytest.MonkeyPatch) -> None:
    with Client("host=/nonexistent"):
        pass


def test_no_connection_is_held_while_the_query_is_embedded(dsn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with Client(dsn, pool_max=1) as client:

        def embed(*_: object, **__: object) -> list[float]:
            client.remember("meanwhile")  # would wait for ever if the only connection were taken
            return _vector(1.0)

        monkeypatch.setattr(querying_module, "embed_query", embed)
        assert client.recall("meanwhile", embed=True).legs == LEGS


def test_threads_share_a_client(client: Client) -> None:
    client.remember("tea")
    found: list[int] = []

    def work() -> None:
        found.extend(len(client.recall("tea", embed=False)) for _ in range(5))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [1] * 40


def test_the_asynchronous_client(dsn: str) -> None:
    async def work() -> None:
        async with AsyncClient(dsn) as memory:
            number = await memory.remember("Priya prefers mountains.", tags=["Priya"])
            ids = await memory.remember_many({"content": f"tea {n}"} for n in range(3))
            results = await asyncio.gather(*(memory.recall("tea", embed=False) for _ in range(8)))
            assert [len(result) for result in results] == [3] * 8
            assert {found.id for found in results[0]} == set(ids)
            assert await memory.update(number, title="Priya") is True
            assert await memory.forget(number) is True
            assert (await memory.admin.status()).memories == 3
            tuned = await memory.recall("tea", embed=False, settings={"fusion": "rrf", "rrf_k": 20})
            assert tuned[0].score == pytest.approx(1 / 21)
            with pytest.raises(InvalidInput):
                await memory.recall("tea", k=0, embed=False)
            assert (await memory.recall("tea", embed=True)).legs == LEGS
        with pytest.raises(ConnectionFailed, match="closed"):
            await memory.admin.status()

    asyncio.run(work())
