"""New memories and results, as frozen dataclasses."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

from pgrecall.iterators import readable_again

from .rows import Row, bounds

if TYPE_CHECKING:
    from datetime import datetime, timedelta

    from pgrecall.options import Origin

Item = TypeVar("Item", covariant=True)

OnConflict = Literal["error", "keep", "update"]
"""What happens if the external id exists: an error, keep the stored memory, or update it."""

IterativeScan = Literal["off", "relaxed_order", "strict_order"]
"""pgvector's `hnsw.iterative_scan`."""


class Listed(Sequence[Item]):
    """A result that is a sequence of what it lists."""

    __slots__ = ()

    @property
    @abstractmethod
    def _listed(self) -> tuple[Item, ...]: ...

    @overload
    def __getitem__(self, index: int) -> Item: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Item, ...]: ...
    def __getitem__(self, index: int | slice) -> Item | tuple[Item, ...]:
        return self._listed[index]

    def __len__(self) -> int:
        return len(self._listed)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewMemory:
    """One memory to remember. `UpdatableFields` and `MemoryFields` document the fields.

    Attributes:
        content: The text, not blank, at most 262,144 bytes.
        namespace: Where it goes; None takes the call's namespace.
    """

    content: str
    title: str | None = None
    category: str | None = None
    tags: Iterable[str] | None = None
    expanded_keywords: Iterable[str] | None = None
    importance: float | None = None
    metadata: Mapping[str, Any] | None = None
    source: str | None = None
    session: str | None = None
    speaker: str | None = None
    position: int | None = None
    language: str | None = None
    is_sensitive: bool | None = None
    occurred_at: datetime | str | None = None
    valid_from: datetime | str | None = None
    valid_to: datetime | str | None = None
    expires_at: datetime | str | None = None
    created_at: datetime | str | None = None
    external_id: str | None = None
    namespace: str | None = None
    origin: Origin | None = None

    def __post_init__(self) -> None:
        # A memory that is stored again after an error has its tags again: an iterator has ended by then.
        given = {name: getattr(self, name) for name in ("tags", "expanded_keywords")}
        for name, value in readable_again(given).items():
            object.__setattr__(self, name, value)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecalledMemory(Row):
    """One memory as `recall` returns it: the columns of the SQL function, in its order, and `rerank_score`.

    Attributes:
        id: The memory's id in the database.
        external_id: The caller's own id.
        title: Its short name.
        content: Its text.
        score: The fused score the list is ordered by; higher is better.
        lexical_rank: Its place in the lexical leg, from 1; None if that leg did not find it.
        dense_rank: Its place in the dense leg.
        graph_rank: Its place in the graph leg.
        lexical_score: The lexical leg's own score.
        similarity: Cosine similarity to the query vector.
        graph_score: The graph leg's own score.
        category: Its kind.
        tags: Its labels.
        metadata: Its JSON object.
        importance: 0 to 1.
        speaker: Who said it.
        session: The conversation or document it belongs to.
        source: Where it comes from.
        occurred_at: When it happened.
        created_at: When it was first recorded.
        is_sensitive: True if it is never embedded.
        chosen_strategy: The strategy that found it; 'auto' chooses 'exact' for a query to match verbatim.
        duplicates: Ids of near-duplicates, hidden by `collapse_duplicates`.
        passage: Of a long memory, the part nearest to the query's vector: `content[start:end]`.
        confidence: That the memory answers the query, 0 to 1; None with fusion rrf. Low for the first memory
            means that the answer may not be known.
        origin: Where it comes from: 'user', 'agent', 'import', 'tool' or 'web'.
        namespace_name: The namespace that holds it.
        rerank_score: The reranker's score; None if it was not reranked.
    """

    id: int
    external_id: str | None
    title: str | None
    content: str
    score: float
    lexical_rank: int | None
    dense_rank: int | None
    graph_rank: int | None
    lexical_score: float | None
    similarity: float | None
    graph_score: float | None
    category: str | None
    tags: tuple[str, ...]
    metadata: Mapping[str, Any]
    importance: float
    speaker: str | None
    session: str | None
    source: str | None
    occurred_at: datetime | None
    created_at: datetime
    is_sensitive: bool
    chosen_strategy: str
    duplicates: tuple[int, ...]
    passage: tuple[int, int] | None = None
    confidence: float | None = None
    origin: Origin = "agent"
    namespace_name: str | None = None
    rerank_score: float | None = None

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> RecalledMemory:
        """Make one from a row of `recall`, by column name."""
        lists = {name: tuple(row[name]) for name in ("tags", "duplicates")}
        return cls.of({**row, **lists, "passage": bounds(row["passage"])})


@dataclass(frozen=True, slots=True)
class Expansion:
    """The validated answer of a language model to an expansion request.

    Attributes:
        terms: Additional search terms.
        entities: Names that the query refers to.
        intent: The kind of answer, in one word, if given; recall does not use it.
    """

    terms: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    intent: str | None = None


@dataclass(frozen=True, slots=True)
class RecallResult(Listed[RecalledMemory]):
    """The memories one recall found, best first; a sequence of `RecalledMemory`.

    Attributes:
        query: The question as asked.
        memories: The memories, best first.
        legs: The legs that were asked, of 'lexical', 'dense' and 'graph'.
        notice: Why a leg, the expansion or the reranker was left out; None if nothing was.
        expansion: What a language model added to the question; None if none was asked, or it failed.
    """

    query: str
    memories: tuple[RecalledMemory, ...]
    legs: tuple[str, ...]
    notice: str | None = None
    expansion: Expansion | None = None

    @property
    def _listed(self) -> tuple[RecalledMemory, ...]:
        return self.memories


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineMemory(Row):
    """One memory as `recall_timeline` returns it: the columns of the SQL function, in its order.

    Attributes:
        id: The memory's id in the database.
        happened_at: When it happened, or was recorded where that is not known.
        session: The conversation or document it belongs to.
        speaker: Who said it.
        title: Its short name.
        content: Its text.
        score: What recall gave it.
        gap: The time since the memory before it; None for the first.
        is_new_session: True where another session begins.
        origin: Where it comes from: 'user', 'agent', 'import', 'tool' or 'web'.
        namespace_name: The namespace that holds it.
    """

    id: int
    happened_at: datetime
    session: str | None
    speaker: str | None
    title: str | None
    content: str
    score: float
    gap: timedelta | None
    is_new_session: bool
    origin: Origin
    namespace_name: str | None = None


@dataclass(frozen=True, slots=True)
class TimelineResult(Listed[TimelineMemory]):
    """The memories one recall found, in the order of their time; a sequence of `TimelineMemory`.

    Attributes:
        topic: The topic as asked.
        memories: The memories, the earliest first.
        notice: Why a leg was left out; None if nothing was.
    """

    topic: str
    memories: tuple[TimelineMemory, ...]
    notice: str | None = None

    @property
    def _listed(self) -> tuple[TimelineMemory, ...]:
        return self.memories


@dataclass(frozen=True, slots=True, kw_only=True)
class Validity(Row):
    """The validity period of one memory.

    Attributes:
        id: The memory's id in the database.
        valid_from: Since when it holds; None if that was not said.
        valid_to: Until when it holds; None if no end is known.
        superseded_by: The memory that holds instead; None if none does.
    """

    id: int
    valid_from: datetime | None
    valid_to: datetime | None
    superseded_by: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FactHit(Row):
    """One fact as `recall_facts` returns it: the columns of the SQL function, in its order.

    Attributes:
        id: The relationship's id in the database.
        subject: Name of the concept it starts from.
        label: What relates the two, such as 'works at'.
        object: Name of the concept it leads to.
        statement: The fact in a sentence, as a memory states it; else subject, label and object.
        score: 0 to 1; higher is better.
        weight: How sure it is, all evidence together, 0 to 1.
        valid_from: Since when it holds; None if that was not said.
        valid_to: Until when it holds; None if no end is known.
        recorded_at: When the first memory that states it was recorded.
        evidence: Ids of the memories that state it, the most relevant first, at most 200.
        origin: That of the most trusted of these memories.
        namespace_name: The namespace that holds it.
    """

    id: int
    subject: str
    label: str
    object: str
    statement: str
    score: float
    weight: float
    valid_from: datetime | None
    valid_to: datetime | None
    recorded_at: datetime
    evidence: tuple[int, ...]
    origin: Origin
    namespace_name: str | None = None

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> FactHit:
        """Make one from a row of `recall_facts`, by column name."""
        return cls.of({**row, "evidence": tuple(row["evidence"])})


@dataclass(frozen=True, slots=True)
class FactsResult(Listed[FactHit]):
    """The facts that answer a question, best first; a sequence of `FactHit`.

    Attributes:
        query: The question as asked.
        facts: The facts, best first.
        notice: Why a leg was left out; None if nothing was.
    """

    query: str
    facts: tuple[FactHit, ...]
    notice: str | None = None

    @property
    def _listed(self) -> tuple[FactHit, ...]:
        return self.facts


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingModel(Row):
    """The database's active embedding model.

    Attributes:
        name: Its name for the provider, or a local folder.
        dimension: The length of its vectors.
        provider: What computes them, such as 'sentence-transformers'.
        query_prompt: What the provider puts before a query.
    """

    name: str
    dimension: int
    provider: str
    query_prompt: str

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> EmbeddingModel:
        """Make one from the row of `pgrecall.active_model()`."""
        return cls.of(row)


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingInForce(Row):
    """One setting as it holds for this client's calls.

    Attributes:
        name: Its short name.
        value: What it is; None where nothing is given and the default is not a value.
        source: 'environment PGRECALL_…' or the path of the settings file, where the client sends it; else
            'parameter (SET)' for SET, ALTER ROLE and ALTER DATABASE, 'stored' for `set_setting`, 'default',
            or what else the database says.
        default_value: What it is by default.
        unit: What it is counted in, or its kind.
        description: What it does.
        group: Whom it concerns: 'everyday', another of docs/settings.md, or 'connection' for what only the
            client reads.
    """

    name: str
    value: str | None
    source: str
    default_value: str | None
    unit: str | None
    description: str
    group: str
