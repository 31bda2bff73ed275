"""The language model's client: servers that will not, the bill, the key, the settings."""

from __future__ import annotations

import logging
import math
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import SecretStr

from pgrecall.errors import InvalidInput, PgrecallError
from pgrecall.installing import install_command
from pgrecall_embedder.llm import (
    LlmClient,
    LlmMisconfigured,
    Prices,
    Usage,
    api_key,
)
from support.llm import (
    CANARY,
    KEY,
    Asked,
    Reply,
    Server,
    assert_complete,
    client_of,
    completion,
    document,
    entries,
    extract,
    failure,
    served,
    workers,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@pytest.fixture
def server() -> Iterator[Server]:
    with served() as state:
        yield state


# -- a server that will not


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 405, 422, 301, 302, 307, 308])
def test_what_no_second_try_changes(server: Server, status: int) -> None:
    server.script = lambda _: failure(status, headers={"Location": f"{server.url}/elsewhere"})
    with pytest.raises(LlmMisconfigured) as caught:
        extract(server, workers(4))
    assert caught.value.hint
    shown = f"{caught.value!r} {caught.value} {caught.value.hint}"
    assert CANARY not in shown
    assert KEY not in shown
    # A schema may be what it cannot read: that is tried once.
    assert len(server.asked) == (2 if status in (400, 422) else 1)
    assert {asked.path for asked in server.asked} == {"/v1/chat/completions"}


def test_an_account_without_quota_is_not_busy(server: Server) -> None:
    server.script = lambda _: failure(429, "insufficient_quota")
    with pytest.raises(LlmMisconfigured, match="quota"):
        extract(server, workers(1))
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    "body",
    [b"", b"<html>", b"\xff\xfe", b"{}", b'{"choices": []}', b'{"choices": [1]}', b"[" * 100_000, b'"x"',
     b'{"choices": [{"message": null}]}'],
)  # fmt: skip
def test_what_does_not_answer_as_openai_does(server: Server, body: bytes) -> None:
    """The address is wrong, and no memory is to blame; later it is a disturbance that passes."""
    server.first = [Reply(body=body)]
    with pytest.raises(LlmMisconfigured, match="OpenAI"):
        extract(server, workers(2))
    server.first = [completion({"memories": []}), Reply(body=body)]
    assert_complete(extract(server, workers(2)), 2)


@pytest.mark.parametrize("status", [400, 422])
def test_a_server_that_knows_no_schemas_is_asked_without(server: Server, status: int) -> None:
    def script(asked: Asked) -> Reply:
        if asked.json["response_format"]["type"] == "json_schema":
            return failure(status)
        return completion(entries(asked.rows))

    server.script = script
    assert_complete(extract(server, workers(3), batch_tokens=60), 3)
    kinds = [asked.json["response_format"]["type"] for asked in server.asked]
    assert kinds == ["json_schema", *["json_object"] * 3]
    assert "JSON" in server.asked[1].json["messages"][0]["content"]  # or OpenAI refuses


def test_a_proxy_sees_nothing_of_what_stays_on_this_machine(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    with served() as proxy:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy.url.removesuffix("/v1"))
        for name in ("NO_PROXY", "no_proxy"):
            monkeypatch.delenv(name, raising=False)
        assert_complete(extract(server, workers(1)), 1)
        assert proxy.asked == []
        elsewhere = LlmClient("http://llm.invalid/v1", "m", backoff=0.001)
        assert_complete(extract(server, workers(1), client=elsewhere), 1)
    assert len(server.asked) == 1
    assert [asked.path for asked in proxy.asked] == ["http://llm.invalid/v1/chat/completions"]


# -- the bill


def test_accounting_adds_up(server: Server) -> None:
    """Tokens of answers that are of no use, and of a cut-off one, are paid for as well."""
    counts = [{"prompt_tokens": 1000 * number, "completion_tokens": number} for number in range(1, 6)]
    server.first = [
        failure(500),
        completion("no", usage=counts[0]),
        completion({"memories": []}, finish_reason="length", usage=counts[1]),
        failure(429, headers={"Retry-After": "0"}),
        completion({}, usage=counts[2]),
        completion({}, usage={"prompt_tokens": None, "completion_tokens": True}),
    ]
    client = client_of(server, prices=Prices(2.5, 10))
    assert client.usage == Usage(cost=0)
    result = extract(server, workers(2), client=client)
    assert_complete(result, 2, 1, 2)
    usage = client.usage
    assert usage.requests == len(server.asked) == 5
    assert (usage.prompt_tokens, usage.completion_tokens, usage.unreported) == (6000, 6, 0)
    assert usage.cost == pytest.approx(0.01506)


@pytest.mark.parametrize(
    "usage",
    [
        {},
        [],
        "much",
        {"prompt_tokens": 5},
        {"prompt_tokens": -1, "completion_tokens": 1},
        # More than the database counts, and more than a float holds: that ended the daemon.
        {"prompt_tokens": 2**62, "completion_tokens": 1},
        {"prompt_tokens": 1, "completion_tokens": 10**400},
    ],
)
def test_tokens_that_are_not_reported(server: Server, usage: object) -> None:
    server.script = lambda asked: completion(entries(asked.rows), usage=usage)
    client = client_of(server, prices=Prices(1, 1))
    assert_complete(extract(server, workers(1), client=client), 1)
    assert client.usage == Usage(requests=1, cost=0, unreported=1)


def test_prices() -> None:
    assert Prices() == Prices(None, None)
    for prices in ((-1, 1), (1, math.nan), (math.inf, 1)):
        with pytest.raises(InvalidInput, match="price"):
            Prices(*prices)


def test_without_prices_the_cost_is_unknown(server: Server) -> None:
    client = client_of(server, prices=Prices(prompt=1))
    extract(server, workers(1), client=client)
    assert client.usage == Usage(1, 100, 10, None)


# -- what is not shown


def _always(reply: Reply, asked: Asked) -> Reply:
    return reply


def test_neither_key_nor_memory_is_shown(server: Server, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    memories = [document(1, f"{CANARY} works at Acme", title=CANARY, speaker=CANARY), *workers(3)[1:]]
    shown: list[str] = []
    scripts: list[Reply] = [
        failure(status) for status in (302, 400, 401, 404, 413, 429, 500)
    ] + [
        completion(CANARY),
        completion(None, refusal=CANARY),
        completion([CANARY], finish_reason="length"),
        Reply(body=CANARY.encode()),
    ]  # fmt: skip
    for reply in scripts:
        for first in ([], [completion({"memories": []})]):
            server.first = list(first)
            server.script = partial(_always, reply)
            client = client_of(server, max_retries=1, max_wait=0)
            try:
                result = extract(server, memories, client=client)
            except PgrecallError as error:
                shown += [repr(error), str(error), str(error.hint)]
            else:
                shown += [repr(result), str(result.problem)]
            shown += [repr(client), str(vars(client))]
    assert len(shown) > 2 * len(scripts)
    for secret in (CANARY, KEY):
        assert secret not in " ".join(shown)
        assert secret not in caplog.text
    for asked in server.asked:
        assert asked.headers.pop("Authorization") == f"Bearer {KEY}"
        assert KEY not in f"{asked.path} {asked.headers} {asked.body.decode()}"


def test_without_a_key_none_is_sent(server: Server) -> None:
    extract(server, workers(1), client=LlmClient(server.url, "m"))
    assert "Authorization" not in server.asked[0].headers


# -- settings


def test_where_the_key_comes_from(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("PGRECALL_LLM_API_KEY", raising=False)
    assert api_key() is None
    monkeypatch.setenv("PGRECALL_LLM_API_KEY", KEY)
    secret = tmp_path / "key"
    secret.write_text(f"{KEY}2\n")
    assert [str(api_key()), repr(api_key(secret))] == ["**********", "SecretStr('**********')"]
    assert [one.get_secret_value() for one in (api_key(), api_key(secret)) if one] == [KEY, f"{KEY}2"]
    with pytest.raises(InvalidInput, match="cannot be read") as caught:
        api_key(tmp_path / "none")
    assert str(tmp_path) not in str(caught.value)


@pytest.mark.parametrize("key", ["", "  \n", f"{KEY} two", f"{KEY}\nsecond", f"{KEY}\x01", f"{KEY}é"])
def test_a_key_that_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str) -> None:
    (tmp_path / "key").write_text(key)
    monkeypatch.setenv("PGRECALL_LLM_API_KEY", key)
    calls: list[Callable[[], object]] = [
        api_key,
        lambda: api_key(tmp_path / "key"),
        lambda: LlmClient("http://127.0.0.1/v1", "m", SecretStr(key)),
    ]
    for call in calls:
        with pytest.raises(InvalidInput, match="holds no key") as caught:
            call()
        assert KEY not in f"{caught.value} {caught.value.hint}"


@pytest.mark.parametrize(
    "url",
    [
        "",
        "v1",
        "ftp://host/v1",
        "http://",
        "http://host:port/v1",
        "http://[::1/v1",
        "http://host\n/v1",
        f"https://me:{KEY}@host/v1",
        f"https://{KEY}@host/v1",
        f"https://host/v1?key={KEY}",
    ],
)
def test_addresses_that_are_none(url: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        LlmClient(url, "m")
    assert caught.value.hint
    assert KEY not in f"{caught.value} {caught.value.hint}"


@pytest.mark.parametrize("end", ["", "/", "/chat/completions"])
def test_how_an_address_may_end(server: Server, end: str) -> None:
    server.url += end
    assert_complete(extract(server, workers(1)), 1)
    assert server.asked[0].path == "/v1/chat/completions"


@pytest.mark.parametrize(
    "options",
    [
        {"timeout": 0},
        {"max_retries": -1},
        {"max_wait": -1},
        {"max_concurrency": 0},
        {"max_answer_bytes": 0},
        {"backoff": -1},
        {"extra": {"messages": []}},
        {"model": ""},
    ],
)
def test_options_out_of_range(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        LlmClient("http://127.0.0.1/v1", **({"model": "m"} | options))


def test_more_fields_of_a_request(server: Server) -> None:
    client = client_of(server, temperature=None, extra={"max_tokens": 900, "seed": 1})
    extract(server, workers(1), client=client)
    request = server.asked[0].json
    assert (request["max_tokens"], request["seed"]) == (900, 1)
    assert "temperature" not in request


def test_how_a_client_shows_itself() -> None:
    assert repr(LlmClient("https://host:8443/v1/", "m")) == "LlmClient('https://host:8443/v1', 'm')"


@pytest.mark.parametrize("missing", ["httpx", "tenacity"])
def test_without_the_extra(monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == missing else name)
    with pytest.raises(PgrecallError, match="httpx and tenacity") as caught:
        LlmClient("http://127.0.0.1/v1", "m")
    assert install_command("llm") in str(caught.value.hint)
