"""Recall where every tenth memory of the large namespace is long and has passages."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from benchmarks.speed.generator import LARGE
from benchmarks.speed.measure import alternately
from benchmarks.speed.storage import connect, copied_database, warm_up
from benchmarks.speed.systems import recall

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.speed.questions import Question

__all__ = ["PASSAGES", "with_passages"]

PASSAGES = 4
"""Of a long memory."""

# Their embeddings are those of the memories that follow: as far from each other as any two memories.
_ADD = """
INSERT INTO pgrecall.passages (memory_id, generation_id, number, namespace_id, starts_at, ends_at, embedding)
SELECT m.id, 1, p.number, m.namespace_id, 10 * p.number, 10 * p.number + 20, o.embedding
FROM pgrecall.namespaces n
JOIN pgrecall.memories m ON m.namespace_id = n.id
CROSS JOIN generate_series(1, %(passages)s) p (number)
JOIN pgrecall.memories o ON o.id = m.id + p.number
WHERE n.name = %(namespace)s AND m.id %% 10 = 0 AND o.embedding IS NOT NULL
"""


def with_passages(
    server: str, dsn: str, asked: Sequence[Question], seconds: float
) -> tuple[dict[str, list[float]], float]:
    """Time recall in a copy of a database that has long memories.

    Args:
        server: Connection string of a role that may create databases.
        dsn: The database to copy; nobody may be connected to it.
        asked: The questions.
        seconds: What recall may take.

    Returns:
        Milliseconds a call, and how many passages a second were stored, their index included.
    """
    with copied_database(server, dsn, "long") as copied, connect(copied) as connection:
        begun = time.perf_counter()
        stored = connection.execute(_ADD, {"namespace": LARGE, "passages": PASSAGES}).rowcount
        elapsed = time.perf_counter() - begun
        connection.execute("VACUUM ANALYZE pgrecall.passages")
        warm_up(connection)
        return alternately(connection, {"recall:long=10%": recall()}, asked, seconds), round(
            stored / elapsed, 1
        )
