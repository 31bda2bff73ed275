"""Who gets into the inspector, what its answers forbid the browser, and the command that runs it."""

from __future__ import annotations

import http.client
import os
import socket
import subprocess
import sys
from contextlib import closing
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote

import httpx
import psutil
import pytest

from pgrecall.cli import main
from pgrecall.contrib.ui.access import HEADERS
from pgrecall.contrib.ui.compare_page import Moved, summarise
from pgrecall.contrib.ui.reader import Reader
from pgrecall.contrib.ui.rendering import excerpt, shown, when
from pgrecall.installing import install_command
from support.memories import remember
from support.ui import PORT, inspecting, make_inspector, serving
from support.waiting import until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    import psycopg
    from starlette.testclient import TestClient

    from pgrecall.models import RecalledMemory

PAGES = ("/", "/explain?q=x&id=1", "/compare", "/concepts", "/concepts/1", "/status", "/nowhere")
CANARY = "xyzzy-canary-4711"


@pytest.fixture(scope="module")
def inside(new_database: Callable[..., str], template: str) -> Iterator[TestClient]:
    with inspecting(new_database(template)) as client:
        yield client


# -- the door


def test_nobody_gets_in_without_the_token(dsn: str) -> None:
    client, keys = make_inspector(dsn)
    with client:
        for path in PAGES:
            for token in ("", "guess", keys.token[:-1], f"{keys.token}x", "ключ"):
                answer = client.get(path, params={"token": token} if token else None)
                assert answer.status_code == 403, path
                assert "set-cookie" not in answer.headers
                assert "Not let in" in answer.text
        client.cookies.set(keys.cookie, "guess")
        assert client.get("/").status_code == 403
        assert client.get("/static/style.css").status_code == 200  # the page that says so looks like one


def test_the_token_is_exchanged_for_a_cookie(dsn: str) -> None:
    client, keys = make_inspector(dsn)
    with client:
        answer = client.get("/", params={"token": keys.token})
        assert answer.status_code == 200
        assert 'http-equiv="refresh" content="0; url=/"' in answer.text
        cookie = answer.headers["set-cookie"]
        name, value = cookie.split(";")[0].split("=", 1)
        assert name == f"pgrecall_ui_{PORT}"
        assert value not in ("", keys.token)
        assert {part.strip().lower() for part in cookie.split(";")[1:]} == {
            "httponly",
            "path=/",
            "samesite=strict",
        }
        assert keys.token not in answer.text
        assert client.get("/").status_code == 200
        # Only the first page takes it: a link with a token elsewhere changes nothing.
        assert "set-cookie" not in client.get("/status", params={"token": keys.token}).headers
    other, others = make_inspector(dsn)
    with other:
        other.cookies.set(others.cookie, value)
        assert other.get("/").status_code == 403  # each has a cookie of its own


def test_a_token_for_a_command_line_opens_once(dsn: str) -> None:
    client, keys = make_inspector(dsn)
    once = keys.once()
    with client:
        assert client.get("/", params={"token": once}).status_code == 200
        client.cookies.clear()
        assert client.get("/", params={"token": once}).status_code == 403
        assert client.get("/", params={"token": keys.token}).status_code == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8765", "127.0.0.1.evil.example", "localhost.evil", ""]
)
def test_a_name_of_elsewhere_is_refused(inside: TestClient, host: str) -> None:
    answer = inside.get("/", headers={"Host": host})
    assert answer.status_code == 400
    assert "<form" not in answer.text
    assert answer.headers["content-security-policy"] == HEADERS["Content-Security-Policy"]


@pytest.mark.parametrize("host", ["localhost", "localhost:9000", "127.0.0.1:1"])
def test_this_machine_may_be_called_by_its_names(inside: TestClient, host: str) -> None:
    assert inside.get("/compare", headers={"Host": host}).status_code == 200


# -- what every answer says, and what none does


def test_every_answer_has_the_headers(inside: TestClient) -> None:
    for path in (*PAGES, "/static/style.css", "/static/nothing", "/static/../application.py"):
        answer = inside.get(path)
        assert {name: answer.headers.get(name) for name in HEADERS} == HEADERS, path
        assert "<script" not in answer.text
        assert ' style="' not in answer.text
    assert "script" not in HEADERS["Content-Security-Policy"]  # so that of nowhere may run


def test_a_page_that_breaks_tells_nothing(
    dsn: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(_: Reader) -> None:
        raise RuntimeError(CANARY)

    monkeypatch.setattr(Reader, "live_settings", broken)
    client, keys = make_inspector(dsn, raise_server_exceptions=False)
    with client:
        client.get("/", params={"token": keys.token})
        answer = client.get("/", params={"q": CANARY})
    assert answer.status_code == 500
    assert CANARY not in answer.text
    assert {name: answer.headers.get(name) for name in HEADERS} == HEADERS
    assert "the page / failed: RuntimeError" in caplog.text
    assert CANARY not in "".join(
        record.getMessage() for record in caplog.records if record.name == "pgrecall"
    )


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
def test_no_page_takes_anything(inside: TestClient, method: str) -> None:
    for path in PAGES[:-1]:
        assert inside.request(method, path).status_code == 405


# -- what memories hold


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("a\x00b\x1b[31m\x7f", "a␀b␛[31m␡"),
        ("a\u202eb\u2066c\u2069", "a\ufffdb\ufffdc\ufffd"),
        ("line\r\nnext\u2028last", "line\nnext\nlast"),
        ("\x9b31m", "\ufffd31m"),
        ("hid\U000e0041den", "hid\ufffdden"),
        ("👩\u200d🔬 می\u200cخواهم", "👩\u200d🔬 می\u200cخواهم"),
        ("", ""),
    ],
)
def test_what_cannot_be_seen_is_shown(raw: str, expected: str) -> None:
    assert shown(raw) == expected


def test_texts_are_cut() -> None:
    assert excerpt("a \n b", 5) == "a b"
    assert excerpt("x" * 100_000, 10) == "x" * 10 + "…"
    assert excerpt(" " * 100_000 + "x", 10) == "…"
    assert when(None) == "–"


def test_what_moved_is_summary() -> None:
    def row(before: int | None, after: int | None) -> Moved:
        return Moved(memory, (before, after), (None, None))

    memory = cast("RecalledMemory", None)  # nobody asks which
    assert summarise([row(1, 1)]) == "Nothing moved."
    assert summarise([row(2, 1), row(1, 2), row(None, 3), row(3, None)]) == (
        "2 of 4 in both: 1 up, 1 down, 1 only with B, 1 only with A."
    )


# -- the command


def test_the_command_serves_this_machine_only(dsn: str) -> None:
    before = {child.pid for child in psutil.Process().children()}
    with serving(dsn) as address:
        url = httpx.URL(address)
        assert url.host == "127.0.0.1"
        [process] = [child for child in psutil.Process().children() if child.pid not in before]
        listening = [one.laddr for one in process.net_connections() if one.status == psutil.CONN_LISTEN]
        assert [(one.ip, one.port) for one in listening] == [("127.0.0.1", url.port)]
        with httpx.Client(base_url=f"http://127.0.0.1:{url.port}") as client:
            assert client.get("/").status_code == 403
            assert client.get(address).status_code == 200
            assert client.get("/", params={"q": CANARY}).status_code == 200
            assert "server" not in client.get("/").headers
            cookie = "; ".join(f"{name}={value}" for name, value in client.cookies.items())
        # A long question, in letters that an address writes as nine characters each.
        with closing(http.client.HTTPConnection("127.0.0.1", url.port, timeout=60)) as connection:
            connection.request("GET", f"/?q={quote('茶') * 10_000}", headers={"Cookie": cookie})
            assert connection.getresponse().status == 200


def test_the_browser_is_given_a_token_of_its_own(dsn: str, tmp_path: Path) -> None:
    opened = tmp_path / "opened"
    program = tmp_path / "browser"
    program.write_text(f'#!/bin/sh\necho "$1" > {opened}.new && mv {opened}.new {opened}\n')
    program.chmod(0o755)
    with serving(dsn, browser=f"{program} %s") as printed:
        until(opened.exists)
        given = opened.read_text().strip()
        assert given.split("token=")[0] == printed.split("token=")[0]
        assert given != printed
        # The list of processes shows it, so it is good for one visit.
        assert [httpx.get(url).status_code for url in (given, given, printed, printed)] == [
            200,
            403,
            200,
            200,
        ]


def test_a_browser_in_the_terminal_is_answered(dsn: str, tmp_path: Path) -> None:
    """Whoever opens it waits until it is left, and it waits for the page."""
    read = tmp_path / "read"
    program = tmp_path / "browser"
    program.write_text(
        f"#!{sys.executable}\nimport sys, urllib.request\n"
        "page = urllib.request.urlopen(sys.argv[1]).read()\n"
        f"open({str(read)!r}, 'wb').write(page)\n"
    )
    program.chmod(0o755)
    with serving(dsn, browser=f"{program} %s"):
        until(lambda: read.exists() and b"</html>" in read.read_bytes())


def test_a_port_that_is_taken(dsn: str, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(SystemExit) as caught:
        main(["ui", "--no-open", "--port", str(taken.getsockname()[1]), "--dsn", dsn])
    assert caught.value.code == 1
    said = capsys.readouterr()
    assert "error: cannot listen on 127.0.0.1, port" in said.err
    assert "--port" in said.err
    assert said.out == ""
    with pytest.raises(SystemExit):
        main(["ui", "--no-open", "--host", "nowhere.invalid", "--dsn", dsn])
    assert "there is no such host" in capsys.readouterr().err


def test_another_host_is_read_only_unless_told(dsn: str, conn: psycopg.Connection[Any]) -> None:
    number = remember(conn, "quokka")
    for options, is_writable in (((), False), (("--write",), True)):
        with (
            serving(dsn, "--host", "127.0.0.2", *options, lines=2) as printed,
            httpx.Client(base_url=printed.split("/?")[0]) as client,
        ):
            assert printed.startswith("http://127.0.0.2:")
            assert client.get(printed).status_code == 200
            assert ("/edit" in client.get(f"/memories/{number}").text) is is_writable
            assert client.get("/", headers={"Host": "inspector.example"}).status_code == 400
    with serving(dsn, "--read-only") as printed, httpx.Client(base_url=printed.split("/?")[0]) as client:
        assert client.get(printed).status_code == 200
        assert "/edit" not in client.get(f"/memories/{number}").text


def test_without_its_libraries_it_says_what_to_install() -> None:
    code = "import sys; sys.modules['starlette'] = None; from pgrecall.cli import main; main(['ui', '--no-open'])"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=180, check=False, env=os.environ
    )
    assert done.returncode == 1
    assert install_command("ui") in done.stderr
    assert "Traceback" not in done.stderr
