"""Where an embedding provider's address and key come from, and the models that are known."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import pytest

from pgrecall.errors import EmbeddingUnavailable
from pgrecall.installing import install_command
from pgrecall.query.embedding_models import DEFAULT_MODEL, KNOWN_MODELS
from pgrecall_embedder.providers import ModelSpec, ProviderPaused, load_provider
from pgrecall_embedder.providers.settings import endpoint_of
from support.provider_servers import ProviderServer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pgrecall_embedder.providers import EmbeddingProvider
    from pgrecall_embedder.providers.settings import Endpoint

    Load: TypeAlias = Callable[[str], EmbeddingProvider]

KEY = "sk-that-nobody-may-see"
SERVICES = {
    "openai": ("https://api.openai.com/v1", "/embeddings"),
    "voyage": ("https://api.voyageai.com/v1", "/embeddings"),
    "cohere": ("https://api.cohere.com/v2", "/embed"),
}


@pytest.fixture(autouse=True)
def no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for provider in ("OPENAI", "OPENAI_TEI", "OPENAI_GPU_BOX_2", "VOYAGE", "COHERE"):
        for setting in ("URL", "API_KEY", "API_KEY_FILE", "TIMEOUT"):
            monkeypatch.delenv(f"PGRECALL_EMBEDDER_{provider}_{setting}", raising=False)


@pytest.fixture
def load() -> Iterator[Load]:
    """Load a provider; all of them are closed at the end."""
    ready = []

    def one(provider: str) -> EmbeddingProvider:
        ready.append(load_provider(ModelSpec(1, "m", 8, provider, "", ""), 2))
        return ready[-1]

    yield one
    for provider in ready:
        provider.close()


def openai_at(url: str, monkeypatch: pytest.MonkeyPatch) -> Endpoint:
    monkeypatch.setenv("PGRECALL_EMBEDDER_OPENAI_URL", url)
    return endpoint_of("openai", *SERVICES["openai"])


# -- the address


@pytest.mark.parametrize("provider", SERVICES)
def test_a_service_needs_its_key_and_nothing_else(
    load: Load, provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    prefix = f"PGRECALL_EMBEDDER_{provider.upper()}"
    with pytest.raises(EmbeddingUnavailable, match=f"{provider} wants a key") as caught:
        load(provider)
    assert f"{prefix}_API_KEY" in str(caught.value.hint)
    monkeypatch.setenv(f"{prefix}_API_KEY", KEY)
    ready = load(provider)
    assert ready.is_hosted
    base, path = SERVICES[provider]
    assert base + path in repr(ready)
    assert KEY not in f"{ready!r} {vars(ready)}"


def test_a_service_is_asked_for_more_at_once_than_others(load: Load, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGRECALL_EMBEDDER_OPENAI_API_KEY", KEY)
    service = load("openai").token_budget
    monkeypatch.setenv("PGRECALL_EMBEDDER_OPENAI_URL", "http://127.0.0.1:8080/v1")
    assert load("openai").token_budget < service


@pytest.mark.parametrize(
    ("provider", "variable"),
    [
        ("openai:tei", "PGRECALL_EMBEDDER_OPENAI_TEI_URL"),
        ("openai:gpu-box.2", "PGRECALL_EMBEDDER_OPENAI_GPU_BOX_2_URL"),
    ],
)
def test_a_further_server_has_settings_of_its_own(
    load: Load, provider: str, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without an address of its own it is not asked: its texts are not the service's."""
    monkeypatch.setenv("PGRECALL_EMBEDDER_OPENAI_API_KEY", KEY)
    monkeypatch.setenv("PGRECALL_EMBEDDER_OPENAI_URL", "http://127.0.0.1:9/v1")
    with pytest.raises(EmbeddingUnavailable, match="is not known") as caught:
        load(provider)
    assert variable in str(caught.value.hint)
    with ProviderServer("tei") as server:
        monkeypatch.setenv(variable, server.url)
        found = load(provider)
        assert found.embed_documents(["one"]).vectors.shape == (1, 8)
        assert "Authorization" not in server.requests[0].headers
        monkeypatch.setenv(variable.replace("URL", "API_KEY"), f"{KEY}-2")
        load(provider).embed_query("one")
        assert server.requests[1].headers["Authorization"] == f"Bearer {KEY}-2"


@pytest.mark.parametrize("end", ["", "/", "/embeddings", "/embeddings/"])
def test_how_an_address_may_end(end: str, monkeypatch: pytest.MonkeyPatch) -> None:
    endpoint = openai_at(f" http://127.0.0.1:8080/base/v1{end} ", monkeypatch)
    assert endpoint.url == "http://127.0.0.1:8080/base/v1/embeddings"


@pytest.mark.parametrize(
    ("host", "is_hosted"),
    [
        ("localhost", False),
        ("LOCALHOST:8080", False),
        ("tei.localhost", False),
        ("127.0.0.1", False),
        ("127.9.9.9:80", False),
        ("[::1]:8080", False),
        ("10.0.0.1", True),
        ("[::2]", True),
        ("localhost.example.com", True),
        ("127.0.0.1.example.com", True),
        ("tei", True),
    ],
)
def test_what_is_on_this_machine(host: str, is_hosted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    assert openai_at(f"http://{host}/v1", monkeypatch).is_hosted == is_hosted


@pytest.mark.parametrize(
    "url",
    [
        "v1",
        "ftp://host/v1",
        "http://",
        "http://host:port/v1",
        "http://[::1/v1",
        "http://host\n/v1",
        f"https://me:{KEY}@host/v1",
        f"https://{KEY}@host/v1",
        f"https://host/v1?key={KEY}",
        f"https://host/v1#{KEY}",
    ],
)
def test_addresses_that_are_none(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(EmbeddingUnavailable, match="PGRECALL_EMBEDDER_OPENAI_URL") as caught:
        openai_at(url, monkeypatch)
    assert caught.value.hint
    assert KEY not in f"{caught.value} {caught.value.hint}"


def test_a_proxy_sees_nothing_of_what_stays_on_this_machine(
    load: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    with ProviderServer() as server:
        monkeypatch.setenv("PGRECALL_EMBEDDER_OPENAI_URL", server.url)
        assert load("openai").embed_documents(["one"]).vectors.shape == (1, 8)


# -- the key


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])  # an editor of Windows begins a file with a BOM
def test_a_key_from_a_file(
    load: Load, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, encoding: str
) -> None:
    secret = tmp_path / "key"
    secret.write_text(f"{KEY}\n", encoding=encoding)
    monkeypatch.setenv("PGRECALL_EMBEDDER_COHERE_API_KEY_FILE", str(secret))
    with ProviderServer("cohere", key=KEY) as server:
        monkeypatch.setenv("PGRECALL_EMBEDDER_COHERE_URL", server.url)
        load("cohere").embed_query("one")
    monkeypatch.setenv("PGRECALL_EMBEDDER_COHERE_API_KEY", KEY)
    with pytest.raises(EmbeddingUnavailable, match="exclude each other"):
        load("cohere")
    monkeypatch.delenv("PGRECALL_EMBEDDER_COHERE_API_KEY")
    monkeypatch.setenv("PGRECALL_EMBEDDER_COHERE_API_KEY_FILE", str(tmp_path / "none"))
    with pytest.raises(EmbeddingUnavailable, match="PGRECALL_EMBEDDER_COHERE_API_KEY_FILE names cannot be"):
        load("cohere")


def test_a_key_file_is_read_again_after_a_refusal(
    load: Load, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    secret = tmp_path / "key"
    secret.write_text("sk-of-last-month\n")
    monkeypatch.setenv("PGRECALL_EMBEDDER_COHERE_API_KEY_FILE", str(secret))
    with ProviderServer("cohere", key=KEY) as server:
        monkeypatch.setenv("PGRECALL_EMBEDDER_COHERE_URL", server.url)
        provider = load("cohere")
        with pytest.raises(ProviderPaused) as caught:
            provider.embed_query("one")
        assert caught.value.cause == "refused"
        # The same key is not sent twice.
        assert len(server.requests) == 1
        secret.unlink()
        with pytest.raises(ProviderPaused):
            provider.embed_query("one")
        secret.write_text(f"{KEY}\n")
        assert provider.embed_query("one").shape == (8,)
        # It is kept: nothing is refused any more.
        provider.embed_query("two")
        assert len(server.requests) == 5


@pytest.mark.parametrize("key", ["", "  \n", f"{KEY} two", f"{KEY}\nsecond", f"{KEY}\x01", f"{KEY}é"])
def test_a_key_that_is_none(load: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str) -> None:
    (tmp_path / "key").write_text(key)

    def by_file() -> None:
        monkeypatch.delenv("PGRECALL_EMBEDDER_VOYAGE_API_KEY")
        monkeypatch.setenv("PGRECALL_EMBEDDER_VOYAGE_API_KEY_FILE", str(tmp_path / "key"))

    def by_variable() -> None:
        monkeypatch.setenv("PGRECALL_EMBEDDER_VOYAGE_API_KEY", key)

    for given in (by_variable, by_file):
        given()
        with pytest.raises(EmbeddingUnavailable, match="holds no key") as caught:
            load("voyage")
        assert KEY not in f"{caught.value} {caught.value.hint}"


# -- the time-out, and what has to be installed


@pytest.mark.parametrize("timeout", ["0", "-1", "nan", "inf", "1e9", "soon"])
def test_a_timeout_that_is_none(timeout: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGRECALL_EMBEDDER_OPENAI_TIMEOUT", timeout)
    with pytest.raises(EmbeddingUnavailable, match="PGRECALL_EMBEDDER_OPENAI_TIMEOUT must be a number"):
        openai_at("http://127.0.0.1/v1", monkeypatch)


def test_a_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    assert openai_at("http://127.0.0.1/v1", monkeypatch).timeout == 60
    monkeypatch.setenv("PGRECALL_EMBEDDER_OPENAI_TIMEOUT", " 2.5 ")
    assert openai_at("http://127.0.0.1/v1", monkeypatch).timeout == 2.5


def test_without_httpx(load: Load, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "httpx" else name)
    with pytest.raises(EmbeddingUnavailable, match="httpx") as caught:
        load("openai")
    assert install_command("embedder") in str(caught.value.hint)


def test_neither_torch_nor_http_is_imported_before_it_is_needed() -> None:
    code = (
        "import sys, pgrecall_embedder.providers as p; "
        "print([name for name in ('torch', 'httpx', 'numpy', 'sentence_transformers') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# -- the models that are known


def test_known_models() -> None:
    assert KNOWN_MODELS[DEFAULT_MODEL].dimensions == (384,)
    for name, spec in KNOWN_MODELS.items():
        assert all(0 < dimension <= 4000 for dimension in spec.dimensions), name
        assert len(set(spec.dimensions)) == len(spec.dimensions), name
        assert spec.provider in {"sentence-transformers", *SERVICES}, name
        # A service takes the kind of text as an argument; a model with a prompt for documents has one for queries.
        assert spec.provider not in SERVICES or not spec.query_prompt, name
        assert not spec.document_prompt or spec.query_prompt, name
        for prompt in (spec.query_prompt, spec.document_prompt):
            assert not prompt or prompt.endswith((": ", "：")), name


def test_a_server_in_a_process_of_its_own(load: Load, monkeypatch: pytest.MonkeyPatch) -> None:
    command = [sys.executable, "-m", "tests.support.provider_servers", "--kind", "voyage", "--dimension", "8"]
    root = Path(__file__).resolve().parents[2]
    with subprocess.Popen([*command, "--key", KEY], stdout=subprocess.PIPE, text=True, cwd=root) as process:
        assert process.stdout is not None
        monkeypatch.setenv("PGRECALL_EMBEDDER_VOYAGE_URL", process.stdout.readline().strip())
        monkeypatch.setenv("PGRECALL_EMBEDDER_VOYAGE_API_KEY", KEY)
        try:
            assert load("voyage").embed_documents(["one"]).vectors.shape == (1, 8)
        finally:
            process.terminate()
    assert process.returncode == 0
