"""Facts that a language model reads out of memories, in batches, each memory by itself in the end.

What is sent is what the caller gives. A sensitive memory must not be given: there is no mark of it on a
`Document`, since the role that reads memories for this purpose does not see sensitive ones at all.

A batch holds memories of one namespace only. Should a memory talk the model into something, it can reach
other memories of its own batch at most, and there only names that they contain.
"""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TypeAlias

from pgrecall.errors import InvalidInput
from pgrecall_extract.base import Fact

from .answers import Dropped, facts_of, read_answer, rows_from_text, rows_to_text
from .errors import AnswerUnusable, LlmMisconfigured, LlmUnavailable
from .prompts import FACTS_SCHEMA, INSTRUCTIONS, cache_key, estimated_tokens, question_about

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pgrecall_extract.base import Document

    from .client import LlmClient

__all__ = ["Cache", "LlmResult", "Outcome", "Rejected", "extract_facts"]

_MAX_MEMORIES = 32


class Cache(Protocol):
    """Answers by the hash of what was asked. What it holds is as confidential as the memories."""

    async def get(self, hashes: Sequence[str]) -> Mapping[str, str]:
        """Return the values of those hashes that are there."""
        ...

    async def put(self, values: Mapping[str, str]) -> None:
        """Keep values, JSON texts, by their hashes; a value that is there already may be replaced."""
        ...


@dataclass(frozen=True, slots=True)
class Rejected:
    """A memory that the model gave no usable answer on, though asked about it alone.

    Attributes:
        reason: Why; it quotes neither the memory nor the answer.
    """

    reason: str


Outcome: TypeAlias = tuple[Fact, ...] | Rejected


@dataclass(frozen=True, slots=True)
class LlmResult:
    """What became of memories.

    Attributes:
        outcomes: By memory id the facts, none too, or why there is no answer.
        unfinished: Ids of memories on which nothing was learnt, because the server could not be asked; no
            memory is to blame. To be given again later.
        problem: Why there are unfinished ones; None if there are none.
        cached: How many memories the cache knew.
        dropped: How many facts were left out by reason ("unknown id", "malformed", "not in the memory", "too
            many"), and how many dates of facts ("date").
    """

    outcomes: Mapping[int, Outcome] = field(repr=False)
    unfinished: tuple[int, ...]
    problem: LlmUnavailable | None
    cached: int
    dropped: Mapping[str, int]


async def extract_facts(
    client: LlmClient,
    documents: Sequence[Document],
    *,
    batch_tokens: int = 3000,
    cache: Cache | None = None,
) -> LlmResult:
    """Ask a language model for the facts that memories state.

    An answer that cannot be used has its batch halved, down to the memory that is to blame; the others keep
    their facts. A memory that an answer leaves out is asked about once more. Answers are put into the cache
    as they come, so that nothing that was paid for is lost.

    Args:
        client: The model.
        documents: Memories, each id once, none of them sensitive.
        batch_tokens: About how many tokens of memories go into one request; a longer memory goes alone.
        cache: Where answers are kept; None keeps none.

    Raises:
        LlmMisconfigured: The server will not answer before something is set right.
        InvalidInput: `batch_tokens` is not positive, or an id is there twice.
    """
    if batch_tokens < 1:
        raise InvalidInput("batch_tokens must be at least 1")
    if len({document.memory_id for document in documents}) < len(documents):
        raise InvalidInput("a memory is given twice")
    work = _Work(client, cache)
    await work.run(documents, batch_tokens)
    problem = work.problem
    if isinstance(problem, LlmMisconfigured):
        raise problem
    unfinished = tuple(one.memory_id for one in documents if one.memory_id not in work.outcomes)
    return LlmResult(work.outcomes, unfinished, problem, work.cached, dict(+work.dropped))


@dataclass(frozen=True, slots=True)
class _Batch:
    """Memories to ask about, each for all that say the same.

    Attributes:
        keys: Their keys.
        is_again: They were left out of an answer once.
    """

    keys: tuple[str, ...]
    is_again: bool = False

    def halves(self) -> Iterator[_Batch]:
        middle = len(self.keys) // 2
        yield _Batch(self.keys[:middle], self.is_again)
        yield _Batch(self.keys[middle:], self.is_again)


class _Work:
    """One call of `extract_facts`."""

    def __init__(self, client: LlmClient, cache: Cache | None) -> None:
        self.outcomes: dict[int, Outcome] = {}
        self.problem: LlmUnavailable | LlmMisconfigured | None = None
        self.cached = 0
        self.dropped = Dropped()
        self._client = client
        self._cache = cache
        self._same: dict[str, list[Document]] = {}
        self._batches: deque[_Batch] = deque()

    async def run(self, documents: Sequence[Document], batch_tokens: int) -> None:
        """Do it."""
        for document in documents:
            self._same.setdefault(cache_key(self._client.model, document), []).append(document)
        missing = await self._look_up()
        self._batches.extend(self._planned(missing, batch_tokens))
        tasks = [
            asyncio.create_task(self._answer_batches())
            for _ in range(min(self._client.max_concurrency, len(self._batches)))
        ]
        try:
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _look_up(self) -> list[str]:
        """Settle what the cache knows and return the keys that it does not."""
        known = {} if self._cache is None else await self._cache.get(list(self._same))
        missing = []
        for key, documents in self._same.items():
            rows = rows_from_text(known[key]) if key in known else None
            if rows is None:
                missing.append(key)
            else:
                self.cached += len(documents)
                self._settle(key, rows)
        return missing

    def _planned(self, keys: Sequence[str], batch_tokens: int) -> Iterator[_Batch]:
        """Divide keys into batches of one namespace, in the order of the memories."""
        batch: list[str] = []
        namespace, room = None, 0
        for key in sorted(keys, key=lambda key: self._same[key][0].namespace_id):
            document = self._same[key][0]
            tokens = estimated_tokens(document)
            if batch and (tokens > room or len(batch) == _MAX_MEMORIES or document.namespace_id != namespace):
                yield _Batch(tuple(batch))
                batch = []
            if not batch:
                namespace, room = document.namespace_id, batch_tokens
            batch.append(key)
            room -= tokens
        if batch:
            yield _Batch(tuple(batch))

    async def _answer_batches(self) -> None:
        """Take batches until there are none left or the server is found to be out of reach."""
        while self._batches and self.problem is None:
            batch = self._batches.popleft()
            try:
                again = await self._answered(batch)
            except (LlmUnavailable, LlmMisconfigured) as problem:
                # Of two that fail at once, the one that waiting does not help.
                if not isinstance(self.problem, LlmMisconfigured):
                    self.problem = problem
            else:
                self._batches.extendleft(reversed(again))

    async def _answered(self, batch: _Batch) -> list[_Batch]:
        """Ask about a batch and return what of it is to be asked again."""
        question = question_about([self._same[key][0] for key in batch.keys])
        key_of = dict(zip(question.documents, batch.keys, strict=True))
        try:
            said = await self._client.ask(INSTRUCTIONS, question.text, "facts", FACTS_SCHEMA)
            entries = read_answer(said, question.documents, self.dropped)
        except AnswerUnusable as error:
            return self._smaller(batch, error.message)
        for given, entry in entries.items():
            self._settle(key_of[given], entry.rows)
        if self._cache is not None and entries:
            await self._cache.put(
                {key_of[given]: rows_to_text(entry.rows) for given, entry in entries.items()}
            )
        left = _Batch(tuple(key for given, key in key_of.items() if given not in entries), is_again=True)
        if not left.keys:
            return []
        if batch.is_again or (not entries and len(batch.keys) > 1):
            return self._smaller(left, "the language model leaves it out")
        return [left]

    def _smaller(self, batch: _Batch, reason: str) -> list[_Batch]:
        """Halve a batch on which there was no usable answer; what cannot be halved is rejected."""
        if len(batch.keys) > 1:
            return list(batch.halves())
        for document in self._same[batch.keys[0]]:
            self.outcomes[document.memory_id] = Rejected(reason)
        return []

    def _settle(self, key: str, rows: Sequence[Mapping[str, object]]) -> None:
        """Note the facts of all memories that say the same."""
        for document in self._same[key]:
            self.outcomes[document.memory_id] = facts_of(document, rows, self.dropped)
