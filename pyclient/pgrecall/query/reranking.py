"""The second stage: a reranker reads question and memory together and reorders the best of the fused list.

Three things hold for every reranker, local or hosted:

- A sensitive memory is never given to it. It keeps the place that fusion gave it; the others change places
  among themselves, around it.
- It has so much time and no more. Late or failed, its answer does not count: the fused order is returned, and
  the result's `notice` says so. Nothing is tried twice.
- No connection to the database is held while it works.

Importing this module costs nothing: what a reranker needs is imported when it is made or first used.
"""

from __future__ import annotations

import asyncio
import importlib.util
import math
import os
import threading
from dataclasses import dataclass, replace
from functools import cached_property, partial
from queue import Empty, SimpleQueue
from time import monotonic
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from pgrecall.arguments import as_int
from pgrecall.errors import InvalidInput, PgrecallError

from .endpoints import checked_key, holds_secret, http_parts, key_in_file

if TYPE_CHECKING:
    import ssl
    from collections.abc import Sequence
    from pathlib import Path

    from pgrecall.models import RecalledMemory, RecallResult

__all__ = ["CrossEncoderReranker", "HttpReranker", "Reranker", "SecondStage", "second_stage"]

MAX_CHARACTERS = 4_000
"""How much of a memory a reranker is given: more than the 512 tokens that most of them read."""

_MAX_TOP = 1000
MAX_SECONDS = 600.0
"""The longest a reranker may be waited for."""
_BATCH = 8
"""Pairs a cross-encoder scores between two looks at the clock."""


@runtime_checkable
class Reranker(Protocol):
    """What a reranker must do; any class with this method is one."""

    def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """Say how well each text answers the query.

        It is called in a thread of its own, which is left to itself when its time is over. Whatever it raises
        only means that its order does not count.

        Args:
            query: The question.
            texts: The memories, title and content, at most `MAX_CHARACTERS` each.

        Returns:
            One finite number a text, in the order of the texts; higher is better, the scale is its own.
        """
        ...


@dataclass(frozen=True, slots=True)
class SecondStage:
    """The second stage of one recall.

    Attributes:
        reranker: Who scores.
        top: How many memories of the fused list, from the first, it may put in order.
        timeout: Seconds until its answer no longer counts.
    """

    reranker: Reranker
    top: int
    timeout: float

    def depth(self, k: int) -> int:
        """Return how many memories to recall so that `k` can be returned; a bad k is left to the server."""
        return k if as_int("k", k) < 1 else max(k, self.top)

    def apply(self, result: RecallResult, k: int) -> RecallResult:
        """Put a result in the reranker's order and cut it to `k`; on any failure, cut the fused order."""
        memories = list(result.memories)
        places = [place for place, one in enumerate(memories[: self.top]) if not one.is_sensitive]
        notice = result.notice
        if places:
            asked = [memories[place] for place in places]
            try:
                scores = self._scores(result.query, [_text(memory) for memory in asked])
            except PgrecallError as error:
                said = f"{error.message}: the order is the fused one"
                notice = said if notice is None else f"{notice}; {said}"
            else:
                # The sort is stable: equal scores stay in the fused order.
                order = sorted(range(len(asked)), key=lambda number: -scores[number])
                for place, number in zip(places, order, strict=True):
                    memories[place] = replace(asked[number], rerank_score=scores[number])
        return replace(result, memories=tuple(memories[:k]), notice=notice)

    def _scores(self, query: str, texts: list[str]) -> list[float]:
        """Ask the reranker.

        Raises:
            PgrecallError: It failed or is late. Of an error that is not pgrecall's own only the class is
                said: its text could quote a memory or a key.
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

        threading.Thread(target=ask, name="pgrecall-reranker", daemon=True).start()
        try:
            given = answer.get(timeout=self.timeout)
        except Empty:
            raise _late(self.timeout) from None
        if isinstance(given, PgrecallError):
            raise given
        return given


def second_stage(reranker: Reranker | None, top: int, timeout: float) -> SecondStage | None:
    """Check the arguments of a recall; None without a reranker.

    Raises:
        InvalidInput: It is no reranker, or a number is out of range.
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
    """A cross-encoder on this machine, by sentence-transformers, on the CPU.

    The model is loaded at the first question, which will hardly be in time then: call `load` beforehand. One
    question is scored at a time; one that finds the model busy all its time gets no answer.

    Args:
        model: A name of the hub or a folder.
        download: True may fetch the model from the hub; False takes only what is on this machine.
    """

    def __init__(self, model: str | Path, *, download: bool = False) -> None:
        self._name = str(model)
        self._download = download
        self._model: Any = None
        self._busy = threading.Lock()

    def __repr__(self) -> str:
        return f"CrossEncoderReranker({self._name!r})"

    def load(self) -> None:
        """Load the model now.

        Raises:
            PgrecallError: The library or the model is not there, or it does not give one score a pair.
        """
        with self._busy:
            self._load()

    def score(self, query: str, texts: Sequence[str], timeout: float = MAX_SECONDS) -> list[float]:
        """Say how well each text answers the query.

        Args:
            query: The question.
            texts: The memories.
            timeout: Seconds after which it stops, at the next batch.

        Raises:
            PgrecallError: As for `load`; it is busy, or the time is over.
        """
        end = monotonic() + timeout
        if not self._busy.acquire(timeout=timeout):
            raise PgrecallError("the reranker is busy with another question")
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
                "the reranker needs sentence-transformers", hint="Run: pip install 'pgrecall[embedder]'."
            )
        from sentence_transformers import CrossEncoder

        from .embedding import no_progress_bars

        try:
            with no_progress_bars():
                model = CrossEncoder(self._name, device="cpu", local_files_only=not self._download)
        except (OSError, ValueError, RuntimeError) as error:
            raise PgrecallError(
                f"the reranker {self._name} cannot be loaded",
                hint="Check its name; only download=True fetches a model that is not on this machine.",
            ) from error
        if model.config.num_labels != 1:
            raise PgrecallError(
                f"the model {self._name} gives {model.config.num_labels} scores a pair, a reranker gives one"
            )
        self._model = model
        return model


class HttpReranker:
    """A reranker behind an address, local or hosted: the question and what is recalled are sent there.

    Redirects are not followed. The key is read again for every question and kept nowhere.

    Args:
        url: The whole address, such as http://127.0.0.1:8080/rerank.
        model: The model's name, for an address that is asked as Cohere's and Jina's are (vLLM's too); None
            asks as Hugging Face's text-embeddings-inference (TEI) is asked, which serves one model.
        api_key_env: The environment variable that holds the key.
        api_key_file: The file that holds the key, instead.

    Raises:
        InvalidInput: The address is none, or holds a password; the key is not where it should be.
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
            raise PgrecallError(
                "a reranker behind an address needs httpx", hint="Run: pip install 'pgrecall[rerank]'."
            )
        if api_key_env is not None and api_key_file is not None:
            raise InvalidInput("api_key_env and api_key_file exclude each other")
        self._url = _checked_url(url)
        self._model = model
        self._key_from = (api_key_env, api_key_file)
        self._key()

    def __repr__(self) -> str:
        return f"HttpReranker({self._url!r}, model={self._model!r})"

    def score(self, query: str, texts: Sequence[str], timeout: float = MAX_SECONDS) -> list[float]:
        """Say how well each text answers the query. Not for a thread that runs an event loop.

        Args:
            query: The question.
            texts: The memories.
            timeout: Seconds after which the request is cancelled.

        Raises:
            PgrecallError: It cannot be reached, took too long, or did not answer with one score a text.
        """
        return asyncio.run(self._ask(query, list(texts), timeout))

    async def _ask(self, query: str, texts: list[str], timeout: float) -> list[float]:
        import httpx

        body = {"query": query, "texts": texts, "truncate": True}
        if self._model is not None:
            body = {"model": self._model, "query": query, "documents": texts, "top_n": len(texts)}
        key = self._key()
        headers = {} if key is None else {"Authorization": f"Bearer {key}"}
        try:
            async with (
                asyncio.timeout(timeout),
                httpx.AsyncClient(timeout=timeout, verify=self._trust, follow_redirects=False) as client,
            ):
                response = await client.post(self._url, json=body, headers=headers)
        except (TimeoutError, httpx.TimeoutException):
            raise _late(timeout) from None
        except httpx.HTTPError as error:
            raise PgrecallError(f"the reranker cannot be reached ({type(error).__name__})") from None
        if not response.is_success:
            raise PgrecallError(f"the reranker answered with HTTP status {response.status_code}")
        try:
            answer = response.json()
        except ValueError:
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

        return httpx.create_ssl_context()  # reads a file of certificates: once

    def _key(self) -> str | None:
        variable, file = self._key_from
        if variable is not None:
            key, place = os.environ.get(variable, ""), f"environment variable {variable}"
        elif file is not None:
            place = f"file {file}"
            key = key_in_file(file, f"the key's {place}")
        else:
            return None
        return checked_key(key, place)


def _checked_url(url: str) -> str:
    """Return an address that shows no secret when it is printed."""
    parts = http_parts(url)
    if parts is None:
        raise InvalidInput(
            "the reranker's address is not one of HTTP",
            hint="Write https://host/path or http://host:port/path.",
        )
    if holds_secret(url):
        raise InvalidInput(
            "the reranker's address holds a user, a password or a query",
            hint="Pass a key by api_key_env or api_key_file.",
        )
    return url


def _checked(scores: Sequence[float], count: int) -> list[float]:
    """Return the scores as finite floats, one a text."""
    if len(scores) != count:
        raise PgrecallError(f"the reranker gave {len(scores)} scores for {count} memories")
    if any(isinstance(score, str | bytes | bool) for score in scores):
        raise PgrecallError("the reranker gave a score that is no number")
    numbers = [float(score) for score in scores]
    if not all(map(math.isfinite, numbers)):
        raise PgrecallError("the reranker gave a score that is not finite")
    return numbers


def _late(timeout: float) -> PgrecallError:
    return PgrecallError(f"the reranker took longer than {timeout:g} s")


def _text(memory: RecalledMemory) -> str:
    text = memory.content if memory.title is None else f"{memory.title}\n{memory.content}"
    return text[:MAX_CHARACTERS]
