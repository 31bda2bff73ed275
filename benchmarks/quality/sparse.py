"""Terms of a learned sparse model for the memories of a data set, through the daemon's queue."""

from __future__ import annotations

import time
import uuid
from typing import TYPE_CHECKING, Any

from psycopg.types.json import Jsonb

from benchmarks.quality.extractions import claim
from pgrecall_embedder.jobs.sparse.model import SparseModel

if TYPE_CHECKING:
    from collections.abc import Callable

    import psycopg

    from benchmarks.quality.extractions import ExtractionCache

__all__ = ["read_sparse"]

_CLAIM = 512
_SIZE = """
SELECT count(*), pg_total_relation_size('pgrecall.sparse_terms') / greatest(count(*), 1)
FROM pgrecall.sparse_terms
"""


def read_sparse(
    connection: psycopg.Connection[Any], cache: ExtractionCache, name: str, say: Callable[[str], None]
) -> dict[str, Any]:
    """Have a sparse model read every memory.

    Args:
        connection: To the database, in autocommit mode; nothing waits to be extracted there.
        cache: What was read before.
        name: The model.
        say: Told of progress.

    Returns:
        What the results file says of it: the `model`, how many memories were `read`, how many of these have
        `with_terms`, the `bytes` of a memory in the table and its indexes, how many texts were `new`, and
        how many of these the model read `per_second`; None if none was.

    Raises:
        EmbeddingUnavailable: There is no such model.
    """
    model = SparseModel(name)
    connection.execute("SELECT pgrecall.set_setting('extract_sparse', %s)", (name,))
    connection.execute("SELECT pgrecall.reextract(enricher => 'sparse')")
    version = f"sparse {name}"
    worker = uuid.uuid4()
    read = new = 0
    seconds = 0.0
    while claimed := claim(connection, worker, "sparse", _CLAIM):
        documents = [document for _, document in claimed]
        found = cache.get(version, documents)
        missing = [document for document in documents if document.memory_id not in found]
        started = time.monotonic()
        made = [
            (document, {"terms": terms}) for document, terms in zip(missing, model.read(missing), strict=True)
        ]
        seconds += time.monotonic() - started
        cache.put(version, made)
        found.update((document.memory_id, one) for document, one in made)
        items = [
            {"memory_id": one.memory_id, "ticket": ticket, **found[one.memory_id]} for ticket, one in claimed
        ]
        connection.execute("SELECT pgrecall.complete_sparse(%s, %s)", (name, Jsonb(items)))
        read += len(items)
        new += len(missing)
        say(f"sparse terms of {read} memories")
    row = connection.execute(_SIZE).fetchone() or (0, 0)
    return {
        "model": name,
        "read": read,
        "with_terms": row[0],
        "bytes": row[1],
        "new": new,
        "per_second": round(new / seconds, 1) if new else None,
    }
