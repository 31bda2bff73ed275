"""Real texts with the embeddings of the bundled model: several labelled data sets in one namespace."""

from __future__ import annotations

import random
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from benchmarks.quality.datasets import Dataset, load_dataset
from benchmarks.quality.resources import Resources
from benchmarks.speed.questions import Question

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

__all__ = ["pooled", "stored"]


def pooled(folders: Sequence[Path], queries: int, seed: int) -> Dataset:
    """Put data sets into one pool, and draw some of their questions.

    Args:
        folders: The data sets.
        queries: How many questions, of all of them together; fewer if there are fewer.
        seed: The same seed draws the same questions.

    Raises:
        DataError: A data set is not sound.
    """
    sets = [load_dataset(folder) for folder in folders]
    memories = tuple(
        replace(memory, id=f"{one.name}/{memory.id}", fields=replace(memory.fields, external_id=None))
        for one in sets
        for memory in one.memories
    )
    asked = {query.text: query for one in sets for query in one.queries}
    # Drawing is seeded for repeatability; nothing secret hangs on it.
    chosen = random.Random(seed).sample(list(asked.values()), min(queries, len(asked)))  # noqa: S311
    return Dataset("+".join(one.name for one in sets), "pooled", memories, tuple(chosen))


@contextmanager
def stored(
    dataset: Dataset, server: str | None, cache: Path, say: Callable[[str], None]
) -> Iterator[tuple[str, list[Question]]]:
    """Store the pool in a database of its own, embedded and read for names; it is dropped at the end.

    Args:
        dataset: The pool.
        server: Connection string of a role that may create databases; None starts an embedded server.
        cache: Where vectors, what was read, and that server are kept.
        say: Told of progress.

    Yields:
        Its connection string, and the questions with their vectors.

    Raises:
        Unavailable: There is no server or no model.
    """
    with Resources(dataset, cache, dsn=server, say=say) as resources:
        _ = resources.loaded
        yield (
            resources.dsn,
            [Question(query.text, resources.query_texts[query.id]) for query in dataset.queries],
        )
