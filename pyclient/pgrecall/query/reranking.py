"""Reranking: a second stage that scores query and memory together and reorders the top of the fused list.

Three rules apply to every reranker, local or hosted:

- It never receives a sensitive memory. Sensitive memories keep their place in the fused order, and the others
  are reordered around them.
- It has a timeout. If it is late or fails, the fused order is returned and the result's `notice` says so.
  There are no retries.
- No connection to the database is held while it runs.

Importing this module is cheap: the dependencies of a reranker are imported when it is created or first used.
"""

from __future__ import annotations

import asyncio
import importlib.util
import json
import math
import os
from dataclasses import dataclass, replace
from functools import cached_property, partial
from queue import Empty, SimpleQueue
from threading import Thread
from time import monotonic
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from pgrecall.arguments import as_int
from pgrecall.errors import InvalidInput, PgrecallError
from pgrecall.forks import ProcessLock
from pgrecall.installing import install_command

from .endpoints import (
    UNCOMPRESSED,
    checked_key,
    holds_secret,
    http_options,
    http_parts,
    key_in_file,
    read_within,
)

if TYPE_CHECKING:
    import ssl
    from collections.abc import Sequence
    from pathlib import Path

    from pgrecall.models import RecalledMemory, RecallResult

__all__ = ["CrossEncoderReranker", "HttpReranker", "Reranker", "SecondStage", "second_stage"]

MAX_CHARACTERS = 4_000
"""Maximum length of a text for a reranker: more than the 512 tokens that most of them read."""

_MAX_TOP = 1000
MAX_SECONDS = 600.0
"""Maximum timeout of a reranker in seconds."""
# Some servers return the texts beside the scores.
_BYTES, _BYTES_A_SCORE = 2**20, 8 * MAX_CHARACTERS
_BATCH = 8
"""Pairs that a cross-encoder scores between two checks of its timeout."""


@runtime_checkable
class Reranker(Protocol):
    """The interface of a reranker. Any class with this method is one."""

    def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """Score how well each text answers the query.

        Called in a separate thread, which is abandoned after the timeout. If it raises an error, the fused
        order is kept.

        Args:
            query: The question.
            texts: The memories, title and content, at most `MAX_CHARACTERS` each.

        Returns:
            One finite number per text, in the order of the texts; higher is better, on any scale.
        """
        ...


@dataclass(frozen=True, slots=True)
class SecondStage:
    """The second stage of one recall.

    Attributes:
        reranker: The reranker.
        top: Maximum number of memories to rerank, from the top of the fused list.
        timeout: Timeout of the reranker in seconds.
    """

    reranker: Reranker
    top: int
    timeout: float

    def depth(self, k: int) -> int:
        """Return the number of memories to recall for `k` results; the server rejects an invalid k."""
        return k if as_int("k", k) < 1 else max(k, self.top)

    def apply(self, result: RecallResult, k: int) -> RecallResult:
        """Reorder a result and truncate it to `k`; on any failure, truncate the fused order."""
        memories = list(result.memories)
        places = [place for place, one in enumerate(memories[: self.top]) if not one.is_sensitive]
        notice = result.notice
        if places:
            asked = [memories[place] for place in places]
            try:
                scores = self._scores(result.query, [_text(memory) for memory in asked])
            except PgrecallError as error:
                failure = f"{error.message}: not reranked"
                notice = failure if notice is None else f"{notice}; {failure}"
            else:
                # The sort is stable: equal scores stay in the fused order.
                order = sorted(range(len(asked)), key=lambda number: -scores[number])
                for place, number in zip(places, order, strict=True):
                    memories[place] = replace(asked[number], rerank_score=scores[number])
        return replace(result, memories=tuple(memories[:k]), notice=notice)

    def _scores(self, query: str, texts: list[str]) -> list[float]:
        """Call the reranker.

        Raises:
            PgrecallError: It failed or timed out. For foreign errors the message has only the class: the text
                could quote a memory or a key.
        """
        score = self.reranker.score
        if isinstance(self.reranker, CrossEncoderReranker | HttpReranker):
            score = partial(self.reranker.score, timeout=self.timeout)
        answer: SimpleQueue[list[float] | PgrecallError] = SimpleQueue()

        def ask() -> None:
            try:
                answer.put(_checked(score(query, texts), len(texts)))
            except PgrecallError as error:
                answer.put(error)
            except Exception as error:  # noqa: BLE001 - whatever a reranker raises, recall goes on
                answer.put(PgrecallError(f"the reranker failed ({type(error).__name__})"))

        Thread(target=ask, name="pgrecall-reranker", daemon=True).start()
        try:
            given = answer.get(timeout=self.timeout)
        except Empty:
            raise _late(self.timeout) from None
        if isinstance(given, PgrecallError):
            raise given
        return given


def second_stage(reranker: Reranker | None, top: int, timeout: float) -> SecondStage | None:
    """Check the arguments for reranking; None without a reranker.

    Raises:
        InvalidInput: It is not a reranker, or a number is out of range.
    """
    if reranker is None:
        return None
    if not isinstance(reranker, Reranker):
        raise InvalidInput(
            f"rerank must be a reranker, not {type(reranker).__name__}",
            hint="Pass a CrossEncoderReranker, an HttpReranker or an object with score(query, texts).",
        )
    if not 1 <= as_int("rerank_top", top) <= _MAX_TOP:
        raise InvalidInput(f"rerank_top must lie between 1 and {_MAX_TOP}")
    if isinstance(timeout, bool) or not isinstance(timeout, int | float):
        raise InvalidInput(f"rerank_timeout must be a number of seconds, not {type(timeout).__name__}")
    if not 0 < timeout <= MAX_SECONDS:
        raise InvalidInput(f"rerank_timeout must be above 0 and at most {MAX_SECONDS:g} seconds")
    return SecondStage(reranker, top, float(timeout))


class CrossEncoderReranker:
    """A local cross-encoder from sentence-transformers, on the CPU.

    The first query loads the model and then usually times out: call `load` beforehand. One query is scored
    at a time. A query that waits for the model until its timeout fails.

    Args:
        model: A name on the hub or a folder's path.
        download: True allows a download from the hub; False uses only models on this machine.
    """

    def __init__(self, model: str | Path, *, download: bool = False) -> None:
        self._name = model if isinstance(model, str) else str(model.absolute())
        self._download = download
        self._model: Any = None
        self._busy = ProcessLock()

    def __repr__(self) -> str:
        return f"CrossEncoderReranker({self._name!r})"

    def load(self) -> None:
        """Load the model now.

        Raises:
            PgrecallError: The library or the model is missing, or it does not give one score per pair.
        """
        with self._busy:
            self._load()

    def score(self, query: str, texts: Sequence[str], timeout: float = MAX_SECONDS) -> list[float]:
        """Say how well each text answers the query.

        Args:
            query: The question.
            texts: The memories.
            timeout: Seconds after which it stops before the next batch.

        Raises:
            PgrecallError: As for `load`; it is busy, or timed out.
        """
        end = monotonic() + timeout
        if not self._busy.acquire(timeout=timeout):
            raise PgrecallError("the reranker is busy with another query")
        try:
            model = self._load()
            scores: list[float] = []
            for start in range(0, len(texts), _BATCH):
                if monotonic() > end:
                    raise _late(timeout)
                pairs = [(query, text) for text in texts[start : start + _BATCH]]
                scores += model.predict(pairs, show_progress_bar=False).tolist()
            return scores
        finally:
            self._busy.release()

    def _load(self) -> Any:
        if self._model is not None:
            return self._model
        if importlib.util.find_spec("sentence_transformers") is None:
            raise PgrecallError(
                "the reranker needs sentence-transformers", hint=f"Run: {install_command('embedder')}."
            )
        from sentence_transformers import CrossEncoder

        from .embedding import no_progress_bars
        from .embedding_models import checked_name

        try:
            with no_progress_bars():
                name = checked_name(self._name)
                model = CrossEncoder(name, device="cpu", local_files_only=not self._download)
        except (OSError, ValueError, RuntimeError) as error:
            raise PgrecallError(
                f"the reranker {self._name} cannot be loaded",
                hint="Check its name. A model that is not on this machine needs download=True.",
            ) from error
        if (labels := model.config.num_labels) != 1:
            raise PgrecallError(f"the model {self._name} gives {labels} scores per pair, not one")
        self._model = model
        return model


class HttpReranker:
    """A reranker behind an HTTP API, local or hosted: sends it the query and the recalled memories.

    Redirects are not followed. The key is read again for every query and never kept.

    Args:
        url: The full URL, such as http://127.0.0.1:8080/rerank.
        model: The name of the model, for the API of Cohere and Jina (vLLM has it too); None uses the API of
            Hugging Face's text-embeddings-inference (TEI), which serves one model.
        api_key_env: The environment variable that holds the key.
        api_key_file: The file that holds the key, instead.

    Raises:
        InvalidInput: The URL is invalid or contains a password; the key is missing.
        PgrecallError: httpx is not installed.
    """

    def __init__(
        self,
        url: str,
        model: str | None = None,
        *,
        api_key_env: str | None = None,
        api_key_file: str | Path | None = None,
    ) -> None:
        if importlib.util.find_spec("httpx") is None:
            raise PgrecallError("an HTTP reranker needs httpx", hint=f"Run: {install_command('rerank')}.")
        if api_key_env is not None and api_key_file is not None:
            raise InvalidInput("api_key_env and api_key_file exclude each other")
        self._url = _checked_url(url)
        self._model = model
        self._key_from = (api_key_env, api_key_file)
        self._key()

    def __repr__(self) -> str:
        return f"HttpReranker({self._url!r}, model={self._model!r})"

    def score(self, query: str, texts: Sequence[str], timeout: float = MAX_SECONDS) -> list[float]:
        """Score how well each text answers the query. Not for a thread with a running event loop.

        Args:
            query: The question.
            texts: The memories.
            timeout: Seconds after which the request is cancelled.

        Raises:
            PgrecallError: The server cannot be reached, timed out, or did not return one score per text.
        """
        return asyncio.run(self._ask(query, list(texts), timeout))

    async def _ask(self, query: str, texts: list[str], timeout: float) -> list[float]:
        import httpx

        body = {"query": query, "texts": texts, "truncate": True}
        if self._model is not None:
            body = {"model": self._model, "query": query, "documents": texts, "top_n": len(texts)}
        key = self._key()
        headers = {**UNCOMPRESSED} if key is None else {**UNCOMPRESSED, "Authorization": f"Bearer {key}"}
        try:
            async with (
                asyncio.timeout(timeout),
                httpx.AsyncClient(timeout=timeout, verify=self._trust, **http_options(self._url)) as client,
                client.stream("POST", self._url, json=body, headers=headers) as response,
            ):
                raw = await read_within(response, _BYTES + len(texts) * _BYTES_A_SCORE)
        except ValueError as error:
            raise PgrecallError(f"the reranker {error}") from None
        except (TimeoutError, httpx.TimeoutException):
            raise _late(timeout) from None
        except httpx.HTTPError as error:
            raise PgrecallError(f"the reranker cannot be reached ({type(error).__name__})") from None
        if not response.is_success:
            raise PgrecallError(f"the reranker answered with HTTP status {response.status_code}")
        try:
            answer = json.loads(raw)
        except (ValueError, RecursionError):
            raise PgrecallError("the reranker's answer is not JSON") from None
        return self._scores(answer, len(texts))

    def _scores(self, answer: Any, count: int) -> list[float]:
        """Read [{index, score}] of TEI, or {results: [{index, relevance_score}]} of the others."""
        name = "score"
        if self._model is not None:
            name = "relevance_score"
            answer = answer.get("results") if isinstance(answer, dict) else None
        try:
            scores = {row["index"]: row[name] for row in answer}
            in_order = [scores[number] for number in range(count)]
        except (KeyError, TypeError):
            raise PgrecallError("the reranker's answer does not have a score for each memory") from None
        if len(answer) != count:
            raise PgrecallError(f"the reranker gave {len(answer)} scores for {count} memories")
        return _checked(in_order, count)

    @cached_property
    def _trust(self) -> ssl.SSLContext:
        import httpx

        return httpx.create_ssl_context()  # reads the certificate file, so only once

    def _key(self) -> str | None:
        variable, file = self._key_from
        if variable is not None:
            return checked_key(os.environ.get(variable, ""), f"environment variable {variable}")
        if file is not None:
            return checked_key(key_in_file(file, f"the key's file {file}"), f"file {file}")
        return None


def _checked_url(url: str) -> str:
    """Return a URL that contains no secret when printed."""
    parts = http_parts(url)
    if parts is None:
        raise InvalidInput(
            "the reranker's URL is not an HTTP URL",
            hint="Write https://host/path or http://host:port/path.",
        )
    if holds_secret(url):
        raise InvalidInput(
            "the reranker's URL contains a user, a password or a query",
            hint="Pass a key by api_key_env or api_key_file.",
        )
    return url


def _checked(scores: Sequence[float], count: int) -> list[float]:
    """Return the scores as finite floats, one per text."""
    if len(scores) != count:
        raise PgrecallError(f"the reranker gave {len(scores)} scores for {count} memories")
    if any(isinstance(score, str | bytes | bool) for score in scores):
        raise PgrecallError("the reranker gave a score that is not a number")
    numbers = [float(score) for score in scores]
    if not all(map(math.isfinite, numbers)):
        raise PgrecallError("the reranker gave a score that is not finite")
    return numbers


def _late(timeout: float) -> PgrecallError:
    return PgrecallError(f"the reranker took longer than {timeout:g} s")


def _text(memory: RecalledMemory) -> str:
    text = memory.content if memory.title is None else f"{memory.title}\n{memory.content}"
    return text[:MAX_CHARACTERS]
