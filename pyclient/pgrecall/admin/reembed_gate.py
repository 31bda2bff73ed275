"""Measures on the user's memories whether the embeddings of another model are good enough to switch to.

There are two measures. With judged queries: the change of recall@10. With sampled memories as queries: the
overlap of the ten nearest memories of both models. The overlap does not tell which model is better, but it is
close to zero for a wrong model, missing prompts or a broken server.
"""

from __future__ import annotations

import random
import time
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any

from psycopg.rows import class_row

from pgrecall.errors import EmbeddingUnavailable, PgrecallError
from pgrecall.formatting import counted
from pgrecall.installing import install_command
from pgrecall.query.unreadable import UnreadableText

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import psycopg

    from pgrecall.embedder import EmbeddingProvider
    from pgrecall.models import Generation

__all__ = ["Comparison", "SwitchRefused", "compare"]

_SAMPLES = 200
_BATCH = 50
_RESAMPLES = 2000
_ATTEMPTS = 5
_LONGEST_PAUSE = 60.0


class SwitchRefused(PgrecallError):  # noqa: N818 - as in pgrecall.errors
    """The new embeddings are not good enough to switch to."""

    default_hint = "--force switches anyway; `pgrecall reembed --cancel` drops them."


@dataclass(frozen=True, slots=True)
class Comparison:
    """The comparison of two models on the same memories.

    Attributes:
        judged: Number of judged queries that both models answered.
        before: Mean recall@10 of the current model; None without judged queries.
        after: Mean recall@10 of the new model.
        change_low: Lower bound of the 95 % confidence interval of the change (bootstrap over the queries).
        change_high: Upper bound.
        sampled: Number of sampled memories.
        overlap: Mean share of the ten nearest memories in common; None without samples.
    """

    judged: int
    before: float | None
    after: float | None
    change_low: float | None
    change_high: float | None
    sampled: int
    overlap: float | None

    def check(self, min_overlap: float, max_loss: float) -> None:
        """Check the comparison against the limits.

        Raises:
            SwitchRefused: A limit is exceeded.
        """
        if self.before is not None and self.after is not None and self.before - self.after > max_loss:
            raise SwitchRefused(
                f"recall@10 of the judged queries falls from {self.before:.3f} to {self.after:.3f}, by more "
                f"than {max_loss:g}",
                hint="--max-loss raises the limit, --force skips the check, --cancel drops the embeddings.",
            )
        if self.overlap is not None and self.overlap < min_overlap:
            raise SwitchRefused(
                f"the models have {self.overlap:.3f} of the ten nearest memories in common, less than "
                f"{min_overlap:g}",
                hint="First check for a wrong model, missing prompts or a wrong server. --min-overlap lowers "
                "the limit, --force skips the comparison, --cancel drops the new embeddings.",
            )

    def lines(self) -> list[str]:
        """Format both measures, one line each."""
        judged_line = "judged queries: none"
        if self.before is not None and self.after is not None:
            judged_line = (
                f"judged queries: {self.judged}, recall@10 {self.before:.3f} -> {self.after:.3f} "
                f"({self.after - self.before:+.3f}, 95 % interval "
                f"{self.change_low:+.3f} to {self.change_high:+.3f})"
            )
        sampled = "sampled memories: too few to compare"
        if self.overlap is not None:
            sampled = f"sampled memories: {self.sampled}, {self.overlap:.3f} of the ten nearest in common"
        return [judged_line, sampled]


@dataclass(frozen=True, slots=True)
class _Model:
    generation: int
    state: str
    model_id: int
    model: str
    dimension: int
    provider: str
    document_prompt: str
    query_prompt: str


def compare(
    conn: psycopg.Connection[Any], generation: int, report: Callable[[str | Generation], None]
) -> Comparison:
    """Measure a generation against the active one.

    Stores the vectors of judged queries, which are also needed after a switch, and nothing else.

    Args:
        conn: An autocommit connection.
        generation: A filled and indexed generation.
        report: Called with the results.

    Raises:
        EmbeddingUnavailable: A model cannot be loaded on this machine, or does not embed.
    """
    with conn.cursor(row_factory=class_row(_Model)) as cursor:
        models = cursor.execute("SELECT * FROM pgrecall.embedded_generations()").fetchall()
    active = next((model for model in models if model.state == "active"), None)
    new = next(model for model in models if model.generation == generation)
    if active is None:
        return _report_comparison(Comparison(0, None, None, None, None, 0, None), report)
    texts = conn.execute("SELECT memory_id, text FROM pgrecall.sample_texts(%s, %s)", [_SAMPLES, generation])
    samples: list[tuple[int, str]] = texts.fetchall()
    queries = conn.execute(
        "SELECT namespace, query_id, query FROM pgrecall.unembedded_judged(%s)", [generation]
    ).fetchall()
    report(f"comparing {new.model} with {active.model}")
    after: list[str | None] = []
    if samples or queries:
        with _Loaded(new) as model:
            for first in range(0, len(queries), _BATCH):
                _embed_judged(conn, generation, model, queries[first : first + _BATCH])
            after = [model.embed(text) for _, text in samples]
    before: list[str | None] = []
    if samples:
        with _Loaded(active) as model:
            before = [model.embed(text) for _, text in samples]
    overlaps = [
        overlap
        for (memory, _), old_vec, new_vec in zip(samples, before, after, strict=True)
        if old_vec is not None and new_vec is not None
        for (overlap,) in conn.execute(
            "SELECT pgrecall.dense_overlap(%s, %s, %s, %s)", [memory, old_vec, new_vec, generation]
        )
        if overlap is not None
    ]
    changes = conn.execute("SELECT before, after FROM pgrecall.judged_change(%s)", [generation]).fetchall()
    low, high = _interval([new_recall - old_recall for old_recall, new_recall in changes])
    return _report_comparison(
        Comparison(
            len(changes),
            fmean(old_recall for old_recall, _ in changes) if changes else None,
            fmean(new_recall for _, new_recall in changes) if changes else None,
            low,
            high,
            len(overlaps),
            fmean(overlaps) if overlaps else None,
        ),
        report,
    )


def _report_comparison(comparison: Comparison, report: Callable[[str | Generation], None]) -> Comparison:
    for line in comparison.lines():
        report(line)
    return comparison


class _Loaded:
    """A loaded model, closed on exit."""

    def __init__(self, model: _Model) -> None:
        self._model = model
        self._provider = _load(model)

    def __enter__(self) -> _Loaded:
        return self

    def __exit__(self, *_: object) -> None:
        self._provider.close()

    def embed(self, text: str) -> str | None:
        """Embed a query. Returns the vector as text, None if the model does not know its language.

        Raises:
            EmbeddingUnavailable: The model failed.
        """
        from pgrecall.embedder import ProviderPaused

        for attempt in range(_ATTEMPTS):
            try:
                vector = self._provider.embed_query(text)
            except ProviderPaused as error:
                last = str(error)
                pause = 2.0**attempt if error.retry_after is None else error.retry_after
                time.sleep(min(pause, _LONGEST_PAUSE))
            except UnreadableText:
                return None
            except Exception as error:  # noqa: BLE001 - its text may quote the query
                name = type(error).__name__
                raise _unavailable(f"model {self._model.model} does not embed queries ({name})") from None
            else:
                if len(vector) != self._model.dimension:
                    dimensions = f"{counted(len(vector), 'dimension')}, not {self._model.dimension}"
                    raise _unavailable(f"model {self._model.model} gives {dimensions}")
                return str(vector.tolist())
        raise _unavailable(f"model {self._model.model} does not embed queries: {last}")


def _load(model: _Model) -> EmbeddingProvider:
    try:
        from pgrecall.embedder import ModelSpec, load_provider
    except ModuleNotFoundError as error:
        raise EmbeddingUnavailable(
            f"the models cannot be compared here: no module {error.name}",
            hint=f"Run: {install_command('embedder')}; --force switches without comparing.",
        ) from error
    spec = ModelSpec(
        model.model_id,
        model.model,
        model.dimension,
        model.provider,
        model.document_prompt,
        model.query_prompt,
    )
    try:
        return load_provider(spec, 1)
    except EmbeddingUnavailable as error:
        hint = "" if error.hint is None else f"{error.hint} "
        raise EmbeddingUnavailable(
            error.message, hint=f"{hint}--force switches without comparing."
        ) from error


def _unavailable(message: str) -> EmbeddingUnavailable:
    return EmbeddingUnavailable(message, hint="Try again later; --force switches without comparing.")


def _embed_judged(
    conn: psycopg.Connection[Any], generation: int, model: _Loaded, queries: Sequence[tuple[str, str, str]]
) -> None:
    vectors = {query: model.embed(query[2]) for query in queries}
    readable = [query for query in queries if vectors[query] is not None]
    conn.execute(
        "SELECT pgrecall.embed_judged(%s, %s, %s, %s, %s)",
        [
            generation,
            *([query[place] for query in readable] for place in range(3)),
            [vectors[query] for query in readable],
        ],
    )


def _interval(changes: Sequence[float]) -> tuple[float | None, float | None]:
    """Return the 95 % bootstrap interval of a mean; deterministic for the same changes."""
    if not changes:
        return None, None
    draw = random.Random(len(changes))  # noqa: S311
    means = sorted(fmean(draw.choices(changes, k=len(changes))) for _ in range(_RESAMPLES))
    return means[round(0.025 * _RESAMPLES)], means[round(0.975 * _RESAMPLES) - 1]
