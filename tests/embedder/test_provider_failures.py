"""Embedding providers behind an address: every way to fail, and who is to blame for it."""

from __future__ import annotations

import json
import logging
import socket
import traceback
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pgrecall_embedder.providers import InputRefused, ProviderPaused, VectorsUnusable
from pgrecall_embedder.retry_after import seconds_to_wait
from support.provider import KEY, KINDS, SECRET, expected, provider_of, until_answered
from support.provider_servers import CANARY, Fault, ProviderServer

if TYPE_CHECKING:
    from support.provider_servers import Asked, Kind

# What requests meet with, and what a provider makes of it.
PAUSES = [
    (Fault.RATE_LIMIT, "rate_limit"),
    (Fault.RATE_LIMIT_DATE, "rate_limit"),
    (Fault.RATE_LIMIT_RESET, "rate_limit"),
    (Fault.NO_QUOTA, "refused"),
    (Fault.KEY, "refused"),
    (Fault.UNPAID, "refused"),
    (Fault.FORBIDDEN, "refused"),
    (Fault.NO_MODEL, "refused"),
    (Fault.REDIRECT, "refused"),
    (Fault.ERROR, "outage"),
    (Fault.BACKEND, "outage"),
    (Fault.UNAVAILABLE, "outage"),
    (Fault.HTML, "outage"),
    (Fault.CUT_JSON, "outage"),
    (Fault.NOT_EMBEDDINGS, "outage"),
    (Fault.TOO_FEW, "outage"),
    (Fault.SILENCE, "outage"),
    (Fault.DRIP, "outage"),
    (Fault.HUGE, "outage"),
    (Fault.GZIP, "outage"),
    (Fault.DEFLATE, "outage"),
    (Fault.CLOSED, "outage"),
]


# -- when it cannot be asked


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("fault", "cause"), PAUSES)
def test_no_text_is_to_blame(
    fault: Fault, cause: str, kind: Kind, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """And nothing is repeated of what was sent or answered: not by the error, not in a log."""
    caplog.set_level(logging.DEBUG)
    hangs = fault in (Fault.SILENCE, Fault.DRIP)
    with (
        ProviderServer(kind, faults=[fault]) as server,
        provider_of(monkeypatch, server, timeout=1 if hangs else 30) as provider,
    ):
        with pytest.raises(ProviderPaused) as caught:
            provider.embed_documents([SECRET, "two"])
        assert caught.value.cause == cause
        assert fault is not Fault.HUGE or "more than 1572864 bytes" in str(caught.value)
        shown = "".join(traceback.format_exception(caught.value))
        for secret in (SECRET, KEY, CANARY):
            assert secret not in f"{shown}{caught.value.args}{caplog.text}{provider!r}"
        # The same client goes on. The timeout is short where the server hangs, and the machine may be busy.
        assert np.allclose(until_answered(provider, "again"), expected(["again"])[0], atol=1e-6)
    assert [asked.texts for asked in server.requests].count([SECRET, "two"]) == 1
    assert {asked.path for asked in server.requests} == {server.requests[0].path}


@pytest.mark.parametrize(
    ("fault", "variable"),
    [
        (Fault.KEY, "PGRECALL_EMBEDDER_VOYAGE_API_KEY_FILE"),
        (Fault.NO_QUOTA, "PGRECALL_EMBEDDER_VOYAGE_API_KEY"),
        (Fault.NO_MODEL, "PGRECALL_EMBEDDER_VOYAGE_URL"),
        (Fault.REDIRECT, "PGRECALL_EMBEDDER_VOYAGE_URL"),
    ],
)
def test_a_refusal_says_which_setting_to_look_at(
    fault: Fault, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (
        ProviderServer("voyage", faults=[fault]) as server,
        provider_of(monkeypatch, server) as provider,
        pytest.raises(ProviderPaused, match=variable),
    ):
        provider.embed_documents(["one"])


def test_how_long_the_server_wants_to_be_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    waits = []
    with ProviderServer(retry_after=600) as server, provider_of(monkeypatch, server) as provider:
        for fault in (Fault.RATE_LIMIT, Fault.RATE_LIMIT_DATE, Fault.RATE_LIMIT_RESET, Fault.UNAVAILABLE):
            server.fail(fault)
            with pytest.raises(ProviderPaused) as caught:
                provider.embed_documents(["one"])
            waits.append(caught.value.retry_after)
    assert (waits[0], waits[2], waits[3]) == (600, 90, None)
    assert waits[1] is not None
    assert 500 < waits[1] <= 600


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after": " 20 "}, 20),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "1e9"}, None),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0),
        ({"retry-after-ms": "250", "retry-after": "1"}, 0.25),
        ({"retry-after": "3", "x-ratelimit-reset-requests": "1h"}, 3),
        ({"x-ratelimit-reset-requests": "20ms", "x-ratelimit-reset-tokens": "1m0.5s"}, 60.5),
        ({"x-ratelimit-reset-requests": "7.66", "x-ratelimit-reset-tokens": "tomorrow"}, 7.66),
        ({"x-ratelimit-reset-tokens": "1h0m1s", "x-ratelimit-remaining-tokens": "0"}, 3601),
        ({"x-ratelimit-reset-tokens": "9" * 400}, None),
    ],
)
def test_headers_that_say_when(headers: dict[str, str], seconds: float | None) -> None:
    assert seconds_to_wait(headers) == (None if seconds is None else pytest.approx(seconds))


def test_a_server_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    with ProviderServer() as server, socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))  # nobody listens
        server.url = f"http://127.0.0.1:{bound.getsockname()[1]}/v1"
        with provider_of(monkeypatch, server) as provider:
            for _ in range(3):
                with pytest.raises(ProviderPaused, match="ConnectError") as caught:
                    provider.embed_documents(["one"])
                assert caught.value.cause == "outage"


def test_a_server_that_goes_and_comes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    with ProviderServer() as server, provider_of(monkeypatch, server) as provider:
        provider.embed_documents(["one"])
        server.fail(*[Fault.CLOSED] * 4)
        for _ in range(2):  # the second time a plain text is asked for as well, in vain
            with pytest.raises(ProviderPaused) as caught:
                provider.embed_documents(["one"])
            assert caught.value.cause == "outage"
        server.fail()
        assert np.allclose(provider.embed_documents(["one"]).vectors, expected(["one"]), atol=1e-6)


# -- when a text is to blame


@pytest.mark.parametrize("kind", ["openai", "tei"])
@pytest.mark.parametrize("status", [400, 413, 422, 500])
def test_a_text_that_is_too_long_is_tried_shorter(
    status: int, kind: Kind, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "four " * 1000
    with (
        ProviderServer(kind, max_words=300, too_long_status=status) as server,
        provider_of(monkeypatch, server, prompts=("", "query: ")) as provider,
    ):
        with pytest.raises(InputRefused):
            provider.embed_documents(["short", text])
        assert len(server.requests) == 1
        found = provider.embed_documents([text])
        query = provider.embed_query(text)
        assert list(provider.embed_documents(["short"]).is_truncated) == [False]
    assert list(found.is_truncated) == [True]
    assert np.allclose(found.vectors, expected([text[:1250]]), atol=1e-6)
    assert np.allclose(query, expected(["query: " + text[:1250]])[0], atol=1e-6)


def test_what_a_service_cuts_by_itself_is_marked(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["short", "word " * 3000, "word " * 300_000]
    marks: list[tuple[Kind, str, list[bool]]] = [
        ("voyage", "voyage-3.5", [False, False, True]),
        ("cohere", "embed-english-v3.0", [False, True, True]),
        ("cohere", "embed-v4.0", [False, False, True]),
    ]
    for kind, name, is_truncated in marks:
        with (
            ProviderServer(kind, dimension=1024, max_words=10) as server,
            provider_of(monkeypatch, server, name=name) as provider,
        ):
            assert list(provider.embed_documents(texts).is_truncated) == is_truncated


def test_a_text_that_is_refused_at_any_length(monkeypatch: pytest.MonkeyPatch) -> None:
    with ProviderServer(refused="forbidden") as server, provider_of(monkeypatch, server) as provider:
        with pytest.raises(InputRefused) as caught:
            provider.embed_documents([f"forbidden {SECRET} " * 100])
        for secret in (SECRET, KEY, CANARY):
            assert secret not in "".join(traceback.format_exception(caught.value))
        lengths = [len(asked.texts[0]) for asked in server.requests]
        assert lengths == [3500, 1750, 875, 437, 256, len("memory")]
        server.requests.clear()
        with pytest.raises(InputRefused):
            provider.embed_query("forbidden")
        assert len(server.requests) == 2


@pytest.mark.parametrize("fault", [Fault.SHORTER, Fault.LONGER, Fault.NAN, Fault.ZERO])
def test_a_vector_that_is_of_no_use(fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    def one_text(asked: Asked) -> Fault | None:
        return fault if any("odd" in text for text in asked.texts) else None

    with ProviderServer(faults=one_text) as server, provider_of(monkeypatch, server) as provider:
        for texts in (["one", f"odd {SECRET}"], [f"odd {SECRET}"]):
            with pytest.raises(VectorsUnusable) as caught:
                provider.embed_documents(texts)
            assert SECRET not in "".join(traceback.format_exception(caught.value))
        provider.embed_documents(["one"])


@pytest.mark.parametrize("fault", [Fault.BAD_REQUEST, Fault.SHORTER, Fault.LONGER, Fault.NAN, Fault.ZERO])
def test_a_server_that_refuses_a_plain_text_pauses_the_provider(
    fault: Fault, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The model may be no embedding model, or another one: no memory is to be given up for that."""
    with ProviderServer(faults=lambda _: fault) as server, provider_of(monkeypatch, server) as provider:
        with pytest.raises(ValueError):  # the caller then asks for one alone
            provider.embed_documents(["one", "two"])
        with pytest.raises(ProviderPaused, match="check the model's name") as caught:
            provider.embed_documents(["one"])
    assert caught.value.cause == "refused"


@pytest.mark.parametrize("fault", [Fault.ERROR, Fault.BACKEND, Fault.CLOSED, Fault.TOO_FEW, Fault.SILENCE])
def test_a_text_that_a_server_fails_over_does_not_stop_the_others(
    fault: Fault, monkeypatch: pytest.MonkeyPatch
) -> None:
    def poisoned(asked: Asked) -> Fault | None:
        return fault if any("poison" in text for text in asked.texts) else None

    timeout = 2 if fault is Fault.SILENCE else 30
    with (
        ProviderServer(faults=poisoned) as server,
        provider_of(monkeypatch, server, timeout=timeout) as provider,
    ):
        with pytest.raises(ProviderPaused):  # the first time it could be an outage
            provider.embed_documents(["one", "poison"])
        with pytest.raises(InputRefused):
            provider.embed_documents(["one", "poison"])
        assert np.allclose(provider.embed_documents(["one"]).vectors, expected(["one"]), atol=1e-6)
        with pytest.raises(InputRefused):
            provider.embed_documents(["poison"])
        server.fail()
        assert np.allclose(provider.embed_documents(["poison"]).vectors, expected(["poison"]), atol=1e-6)
        server.fail(fault)
        with pytest.raises(ProviderPaused):  # it is no suspect any more
            provider.embed_documents(["poison"])


@pytest.mark.parametrize(
    "vectors",
    [
        [[1.0] * 8, ["x"] * 8],
        [[1.0] * 8, ["1"] * 8],
        [[1.0] * 8, [*[1.0] * 7, "0.5"]],
        [[1.0] * 8, [True] * 8],
        [[1.0] * 8, [*[1.0] * 7, False]],
        [[1.0] * 8, [None] * 8],
        [[1.0] * 8, [[1.0]] * 8],
        [[1.0] * 8, [1e400] * 8],
        [[1.0] * 8, [1e300] * 8],
        [[1.0] * 8, [10**400] * 8],
        [[1.0] * 8, {"0": 1.0}],
        [[1.0] * 8, []],
    ],
)
def test_vectors_that_are_none(vectors: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    class Odd(ProviderServer):
        def _vectors(self, asked: Asked) -> list[list[float]]:
            return vectors if len(asked.texts) == 2 else super()._vectors(asked)

    for kind in KINDS:
        with Odd(kind) as server, provider_of(monkeypatch, server) as provider:
            with pytest.raises(VectorsUnusable):
                provider.embed_documents(["one", "two"])
            provider.embed_documents(["one"])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "fault", [Fault.TOO_FEW, Fault.NOT_EMBEDDINGS, "index from 1", "true as index", "base64"]
)
def test_a_server_that_gives_no_vectors_pauses_until_somebody_looks(
    fault: Fault | str, kind: Kind, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is asked twice, and then it is no outage: it answers, and will not answer otherwise tomorrow."""

    class Odd(ProviderServer):
        def _body(self, vectors: list[list[float]], fault: Fault | None) -> bytes:
            answer = json.loads(super()._body(vectors, fault))
            for number, row in enumerate(answer.get("data", [])):
                if odd == "index from 1":
                    row["index"] = number + 1
                elif odd == "true as index":
                    row["index"] = bool(number) if len(answer["data"]) == 2 else False
                elif odd == "base64":
                    row["embedding"] = "AAAAAA=="
            if kind == "cohere" and odd is not None:
                answer["embeddings"]["float"] = ["AAAAAA=="] * len(vectors)
            return json.dumps(answer).encode()

    odd = fault if isinstance(fault, str) else None
    faults = [] if isinstance(fault, str) else [fault] * 9
    with Odd(kind, faults=faults) as server, provider_of(monkeypatch, server) as provider:
        with pytest.raises(ProviderPaused) as caught:
            provider.embed_documents(["one", "two"])
        assert caught.value.cause == "outage"
        with pytest.raises(
            ProviderPaused, match="check the model's name and dimension, and PGRECALL_EMBEDDER"
        ) as caught:
            provider.embed_documents(["one", "two"])
        assert caught.value.cause == "refused"


def test_compression_is_not_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    with ProviderServer() as server, provider_of(monkeypatch, server) as provider:
        provider.embed_documents(["one"])
    assert server.requests[0].headers["Accept-Encoding"] == "identity"


@pytest.mark.parametrize(
    "body",
    [b"", b"null", b"7", b"[]", b'"x"', b"[" * 100_000, b'{"data": 1}', b'{"data": [1]}', b'{"data": [{}]}',
     b'{"data": [{"index": 5, "embedding": [1]}]}', b'{"data": [{"index": [], "embedding": [1]}]}',
     b'{"data": [{"index": 0, "embedding": [1]}, {"index": 0, "embedding": [1]}]}',
     b'{"embeddings": []}', b'{"embeddings": {}}', b'{"embeddings": {"float": 1}}', b"\xff\xfe"],
)  # fmt: skip
@pytest.mark.parametrize("kind", ["openai", "cohere"])
def test_answers_of_another_form(kind: Kind, body: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    class Odd(ProviderServer):
        def _body(self, *_: object) -> bytes:
            return body

    with (
        Odd(kind) as server,
        provider_of(monkeypatch, server) as provider,
        pytest.raises(ProviderPaused) as caught,
    ):
        provider.embed_documents(["one", "two"])
    assert caught.value.cause == "outage"
