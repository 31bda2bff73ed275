"""Addresses with a secret in them: refused wherever one is given, and never repeated."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pgrecall.cli import main
from pgrecall.errors import PgrecallError
from pgrecall.query.expansion import LlmExpander
from pgrecall.query.reranking import HttpReranker
from pgrecall_embedder.jobs.asking.llm_access import client_for
from pgrecall_embedder.jobs.setup import Setup
from pgrecall_embedder.providers.settings import endpoint_of

if TYPE_CHECKING:
    from collections.abc import Callable

SECRET = "sesame-4711"
ADDRESSES = [
    f"http://me:{SECRET}@127.0.0.1:1/v1",
    f"http://{SECRET}@127.0.0.1:1/v1",
    f"http://me/{SECRET}@127.0.0.1:1/v1",
    f"http://127.0.0.1:1/v1?api_key={SECRET}",
    f"http://127.0.0.1:1/v1#{SECRET}",
    f"http://me:{SECRET}/x@127.0.0.1/v1",
    f"HTTP://me:{SECRET}@127.0.0.1:1/v1",
]


def _language_model(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGRECALL_LLM_URL", address)
    client_for(Setup("", {"llm_model": "m", "llm_prompt_price": "", "llm_completion_price": ""}, ()))


def _embeddings(provider: str) -> Callable[[str, pytest.MonkeyPatch], None]:
    def ask(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv(f"PGRECALL_EMBEDDER_{provider.upper().replace(':', '_')}_URL", address)
        endpoint_of(provider, "https://api.example.com/v1", "/embeddings")

    return ask


def _reranker(address: str, _: pytest.MonkeyPatch) -> None:
    HttpReranker(address, "m")


def _expander(address: str, _: pytest.MonkeyPatch) -> None:
    LlmExpander(address, "m")


@pytest.mark.parametrize("address", ADDRESSES)
@pytest.mark.parametrize(
    "give",
    [
        _language_model,
        _embeddings("openai"),
        _embeddings("openai:mine"),
        _embeddings("cohere"),
        _embeddings("voyage"),
        _reranker,
        _expander,
    ],
)
def test_no_address_holds_a_secret(
    give: Callable[[str, pytest.MonkeyPatch], None], address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(PgrecallError) as caught:
        give(address, monkeypatch)
    assert SECRET not in f"{caught.value!r} {caught.value} {caught.value.hint}"
    assert caught.value.hint is not None


@pytest.mark.parametrize("address", [*ADDRESSES, f"me:{SECRET}@127.0.0.1/v1"])
@pytest.mark.parametrize(
    "options",
    [["--rerank", "ADDRESS", "--rerank-model", "m"], ["--expand", "ADDRESS", "--expand-model", "m"]],
)
def test_no_command_repeats_one(address: str, options: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    given = [address if word == "ADDRESS" else word for word in options]
    with pytest.raises(SystemExit) as caught:
        main(["recall", "quokka", "--dsn", "host=127.0.0.1 port=1", *given])
    out, err = capsys.readouterr()
    assert caught.value.code in (1, 2)
    assert err
    assert SECRET not in "".join((out + err).split())


@pytest.mark.parametrize("address", ADDRESSES)
def test_nor_does_one_without_a_model(address: str, capsys: pytest.CaptureFixture[str]) -> None:
    for option in ("--rerank", "--expand"):
        with pytest.raises(SystemExit):
            main(["recall", "quokka", "--dsn", "host=127.0.0.1 port=1", option, address])
        assert SECRET not in "".join("".join(capsys.readouterr()).split())
