"""Rerankers behind an address: what they are sent, every way to fail, and the key."""

from __future__ import annotations

import json
import logging
import math
import socket
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest

from pgrecall import Client, CrossEncoderReranker, HttpReranker, InvalidInput, PgrecallError, Reranker
from pgrecall.installing import install_command
from support.provider_servers import bomb
from support.reranking import (
    CANARY,
    KEY,
    NOT_COUNTED,
    Endpoint,
    growing,
    ids,
    result_of,
    served,
    stage_of,
)

if TYPE_CHECKING:
    from pathlib import Path


# -- behind an address


@pytest.mark.parametrize("model", [None, "rerank-v9"])
def test_an_endpoint_is_asked_in_its_way(endpoint: Endpoint, model: str | None) -> None:
    reranker = HttpReranker(endpoint.url, model)
    assert isinstance(reranker, Reranker)
    reranked = stage_of(reranker).apply(result_of(*growing(4)), 4)
    assert reranked.notice is None
    assert ids(reranked) == [4, 3, 2, 1]
    [(path, headers, body)] = endpoint.requests
    request = json.loads(body)
    texts = ["tea " * number for number in range(1, 5)]
    if model is None:
        assert request == {"query": "what tea do I like", "texts": texts, "truncate": True}
    else:
        assert request == {"model": model, "query": "what tea do I like", "documents": texts, "top_n": 4}
    assert path == "/rerank"
    assert "Authorization" not in headers


@pytest.mark.parametrize("model", [None, "rerank-v9"])
@pytest.mark.parametrize("status", [400, 401, 413, 429, 500, 503])
def test_an_endpoint_that_refuses_is_asked_once(endpoint: Endpoint, status: int, model: str | None) -> None:
    endpoint.status = status
    endpoint.headers = {"Retry-After": "0"}
    endpoint.body = lambda request: json.dumps({"error": f"{CANARY} {KEY}", **request}).encode()
    reranked = stage_of(HttpReranker(endpoint.url, model)).apply(result_of(*growing(3)), 3)
    assert ids(reranked) == [1, 2, 3]
    assert reranked.notice == f"the reranker answered with HTTP status {status}: {NOT_COUNTED}"
    assert len(endpoint.requests) == 1


def test_a_redirect_is_not_followed(endpoint: Endpoint) -> None:
    for status in (301, 302, 307, 308):
        endpoint.requests.clear()
        endpoint.status = status
        endpoint.headers = {"Location": endpoint.url.replace("/rerank", "/elsewhere")}
        reranked = stage_of(HttpReranker(endpoint.url)).apply(result_of(*growing(2)), 2)
        assert str(status) in str(reranked.notice)
        assert [path for path, _, _ in endpoint.requests] == ["/rerank"]


def test_a_proxy_sees_nothing_of_what_stays_on_this_machine(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    with served() as proxy:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy.url.removesuffix("/rerank"))
        for name in ("NO_PROXY", "no_proxy"):
            monkeypatch.delenv(name, raising=False)
        local = endpoint.url
        for url in (local, local.replace("127.0.0.1", "localhost"), "http://reranker.invalid/rerank"):
            assert ids(stage_of(HttpReranker(url)).apply(result_of(*growing(2)), 2)) == [2, 1]
    assert len(endpoint.requests) == 2
    assert [path for path, _, _ in proxy.requests] == ["http://reranker.invalid/rerank"]


_ROW = {"index": 0, "score": 1.0, "relevance_score": 1.0}


@pytest.mark.parametrize("model", [None, "rerank-v9"])
@pytest.mark.parametrize(
    "rows",
    [
        [_ROW],
        [_ROW, _ROW],
        [_ROW, {**_ROW, "index": 1}, {**_ROW, "index": 2}],
        [_ROW, {**_ROW, "index": 1}, _ROW],
        [_ROW, {**_ROW, "index": 5}],
        [_ROW, {**_ROW, "index": -1}],
        [_ROW, {**_ROW, "index": "1"}],
        [_ROW, {**_ROW, "index": [1]}],
        [_ROW, {"index": 1}],
        [_ROW, 1],
        [_ROW, {**_ROW, "index": 1, "score": math.nan, "relevance_score": math.nan}],
        [_ROW, {**_ROW, "index": 1, "score": math.inf, "relevance_score": -math.inf}],
        [_ROW, {**_ROW, "index": 1, "score": "0.5", "relevance_score": "0.5"}],
        [_ROW, {**_ROW, "index": 1, "score": None, "relevance_score": None}],
        [_ROW, {**_ROW, "index": 1, "score": True, "relevance_score": True}],
        [],
        None,
        7,
        "rows",
        {"error": CANARY},
    ],
)
def test_an_answer_of_the_wrong_kind(endpoint: Endpoint, rows: Any, model: str | None) -> None:
    endpoint.body = lambda _: json.dumps(rows if model is None else {"results": rows}).encode()
    reranked = stage_of(HttpReranker(endpoint.url, model)).apply(result_of(*growing(2)), 2)
    assert ids(reranked) == [1, 2]
    assert str(reranked.notice).endswith(NOT_COUNTED)
    assert CANARY not in str(reranked.notice)


@pytest.mark.parametrize("model", [None, "rerank-v9"])
@pytest.mark.parametrize("body", [b"", b"[{", b"<html>", b"\xff\xfe", b'"x"', b"{}", b"[" * 100_000])
def test_an_answer_that_is_no_json(endpoint: Endpoint, body: bytes, model: str | None) -> None:
    endpoint.body = lambda _: body
    reranked = stage_of(HttpReranker(endpoint.url, model)).apply(result_of(*growing(2)), 2)
    assert ids(reranked) == [1, 2]
    assert str(reranked.notice).endswith(NOT_COUNTED)


def test_an_endpoint_that_is_slow(endpoint: Endpoint) -> None:
    def wait(request: dict[str, Any]) -> bytes:
        endpoint.released.wait(60)
        return endpoint.answer(request)

    endpoint.body = wait
    reranker = HttpReranker(endpoint.url)
    reranked = stage_of(reranker, timeout=0.2).apply(result_of(*growing(2)), 2)
    assert ids(reranked) == [1, 2]
    assert reranked.notice == f"the reranker took longer than 0.2 s: {NOT_COUNTED}"
    # By itself too: the request is cancelled and not only forgotten.
    with pytest.raises(PgrecallError, match=r"longer than 0\.1 s"):
        reranker.score("tea", ["green"], timeout=0.1)


def test_an_endpoint_that_sends_a_byte_now_and_then() -> None:
    """Each read is quick; only a limit for the whole of it ends this."""

    def drip(listening: socket.socket) -> None:
        connection, _ = listening.accept()
        with connection:
            connection.recv(65_536)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 250\r\n\r\n")
            with suppress(OSError):
                for _ in range(250):
                    time.sleep(0.02)
                    connection.sendall(b" ")

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=drip, args=(listening,))
        thread.start()
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/rerank"
        with pytest.raises(PgrecallError, match=r"longer than 0\.3 s"):
            HttpReranker(url).score("tea", ["green"], timeout=0.3)
        thread.join()


def test_an_endpoint_that_is_not_there(endpoint: Endpoint) -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))  # nobody listens
        url = f"http://127.0.0.1:{bound.getsockname()[1]}/rerank"
        reranked = stage_of(HttpReranker(url)).apply(result_of(*growing(2)), 2)
    assert reranked.notice == f"the reranker cannot be reached (ConnectError): {NOT_COUNTED}"


# -- what does not leave, and what is not shown


@pytest.mark.parametrize("model", [None, "rerank-v9"])
def test_no_sensitive_memory_reaches_the_endpoint(
    client: Client, endpoint: Endpoint, model: str | None
) -> None:
    for number in range(12):
        sensitive = number % 3 == 0
        client.remember(
            f"tea {CANARY} {number}" if sensitive else f"tea {'green ' * number}",
            title=f"{CANARY} title" if sensitive else "title",
            metadata={"note": CANARY} if sensitive else None,
            tags=[CANARY] if sensitive else None,
            is_sensitive=sensitive,
        )
    fused = client.recall("tea", k=12, embed=False)
    for k in (1, 5, 12):
        for top in (1, 4, 30):
            found = client.recall(
                "tea", k=k, embed=False, rerank=HttpReranker(endpoint.url, model), rerank_top=top
            )
            assert found.notice is None
            assert len(found) == k
            for place, memory in enumerate(fused[:k]):
                if memory.is_sensitive:
                    assert found[place] == memory
    assert len([memory for memory in fused if memory.is_sensitive]) == 4
    assert endpoint.requests
    for path, headers, body in endpoint.requests:
        assert CANARY not in f"{path} {headers} {body.decode()}"


def test_the_key_goes_into_the_header_and_nowhere_else(
    endpoint: Endpoint,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("MY_RERANK_KEY", KEY)
    secret = tmp_path / "key"
    secret.write_text(f"{KEY}\n")
    rerankers = [
        HttpReranker(endpoint.url, api_key_env="MY_RERANK_KEY"),
        HttpReranker(endpoint.url, "m", api_key_file=secret),
    ]
    notices = []
    for reranker in rerankers:
        for status in (200, 401):
            endpoint.status = status
            notices.append(stage_of(reranker).apply(result_of(*growing(2)), 2).notice)
        assert KEY not in f"{reranker!r} {vars(reranker)}"
    assert notices[0] is None
    assert notices[1] is not None
    assert KEY not in f"{notices} {caplog.text}"
    for path, headers, body in endpoint.requests:
        assert headers["Authorization"] == f"Bearer {KEY}"
        assert KEY not in f"{path} {body.decode()}"


@pytest.mark.parametrize("key", ["", "  \n", f"{KEY} two", f"{KEY}\nsecond line", f"{KEY}\x01", f"{KEY}é"])
def test_a_key_that_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str) -> None:
    (tmp_path / "key").write_text(key)
    monkeypatch.setenv("MY_RERANK_KEY", key)
    for options in ({"api_key_file": tmp_path / "key"}, {"api_key_env": "MY_RERANK_KEY"}):
        with pytest.raises(InvalidInput, match="holds no key") as caught:
            HttpReranker("http://127.0.0.1/rerank", None, **options)
        assert KEY not in f"{caught.value} {caught.value.hint}"


def test_a_key_that_is_not_there(endpoint: Endpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MY_RERANK_KEY", raising=False)
    with pytest.raises(InvalidInput, match="MY_RERANK_KEY"):
        HttpReranker(endpoint.url, api_key_env="MY_RERANK_KEY")
    with pytest.raises(InvalidInput, match="cannot be read"):
        HttpReranker(endpoint.url, api_key_file=tmp_path / "none")
    with pytest.raises(InvalidInput, match="exclude"):
        HttpReranker(endpoint.url, api_key_env="A", api_key_file=tmp_path)
    # One that goes away later only costs the order, and nothing is sent without it.
    monkeypatch.setenv("MY_RERANK_KEY", KEY)
    reranker = HttpReranker(endpoint.url, api_key_env="MY_RERANK_KEY")
    monkeypatch.delenv("MY_RERANK_KEY")
    assert "MY_RERANK_KEY" in str(stage_of(reranker).apply(result_of(*growing(2)), 2).notice)
    assert endpoint.requests == []


@pytest.mark.parametrize(
    "url",
    [
        "",
        "rerank",
        "ftp://host/rerank",
        "file:///etc/passwd",
        "http://",
        "http:///rerank",
        "http://host:port/rerank",
        "http://[::1/rerank",
        f"https://me:{KEY}@host/rerank",
        f"https://{KEY}@host/rerank",
    ],
)
def test_addresses_that_are_none(url: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        HttpReranker(url)
    assert caught.value.hint
    assert KEY not in f"{caught.value} {caught.value.hint}"


def test_how_a_reranker_shows_itself() -> None:
    shown = repr(HttpReranker("https://host:8443/v2/rerank", "m"))
    assert shown == "HttpReranker('https://host:8443/v2/rerank', model='m')"
    assert repr(CrossEncoderReranker("some/model")) == "CrossEncoderReranker('some/model')"


def test_without_httpx(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda *_: None)
    with pytest.raises(PgrecallError, match="httpx") as caught:
        HttpReranker("http://127.0.0.1/rerank")
    assert install_command("rerank") in str(caught.value.hint)
    with pytest.raises(PgrecallError, match="sentence-transformers") as caught:
        CrossEncoderReranker("some/model").load()
    assert install_command("embedder") in str(caught.value.hint)


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
def test_a_compressed_answer_is_not_unpacked(endpoint: Endpoint, encoding: str) -> None:
    endpoint.body = lambda _: bomb(encoding)
    endpoint.headers = {"Content-Encoding": encoding}
    reranked = stage_of(HttpReranker(endpoint.url)).apply(result_of(*growing(2)), 2)
    assert "answered compressed" in str(reranked.notice)
    assert endpoint.requests[0][1]["Accept-Encoding"] == "identity"


def test_an_answer_is_not_read_to_its_end(endpoint: Endpoint) -> None:
    endpoint.body = lambda _: b" " * 2**22
    reranked = stage_of(HttpReranker(endpoint.url)).apply(result_of(*growing(2)), 2)
    assert "answered with more than" in str(reranked.notice)
