"""The graph leg where one concept is in every memory of the large namespace, and in every question."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from benchmarks.speed.generator import LARGE
from benchmarks.speed.measure import alternately
from benchmarks.speed.storage import connect, copied_database, warm_up
from benchmarks.speed.systems import Seeds, Target, find_seeds, leg, recall

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.speed.questions import Question

__all__ = ["HUB", "with_hub"]

HUB = "Everyhub"
_ADD = """
WITH concept AS (
    INSERT INTO pgrecall.concepts (namespace_id, key, name)
    SELECT n.id, lower(%(hub)s), %(hub)s FROM pgrecall.namespaces n WHERE n.name = %(namespace)s
    RETURNING id, namespace_id, key, name
), alias AS (
    INSERT INTO pgrecall.concept_aliases (namespace_id, alias, concept_id, name)
    SELECT c.namespace_id, c.key, c.id, c.name FROM concept c
    RETURNING namespace_id, id, concept_id
)
INSERT INTO pgrecall.mentions (namespace_id, concept_id, memory_id, alias_id, source, confidence)
SELECT a.namespace_id, a.concept_id, m.id, a.id, 'phrase', 0.8
FROM alias a JOIN pgrecall.memories m ON m.namespace_id = a.namespace_id
ORDER BY m.id
"""


def with_hub(server: str, dsn: str, asked: Sequence[Question], seconds: float) -> dict[str, list[float]]:
    """Time the graph leg and recall in a copy of a database that has a hub.

    Args:
        server: Connection string of a role that may create databases.
        dsn: The database to copy; nobody may be connected to it.
        asked: The questions; the hub's name is added to each.
        seconds: What a system may take.

    Returns:
        Milliseconds a call, by the system's name.
    """
    naming = [replace(question, text=f"{question.text} {HUB}") for question in asked]
    seeds: Seeds = {}
    with copied_database(server, dsn, "hub") as copied, connect(copied) as connection:
        connection.execute(_ADD, {"hub": HUB, "namespace": LARGE})
        connection.execute("VACUUM ANALYZE pgrecall.mentions, pgrecall.concepts, pgrecall.concept_aliases")
        warm_up(connection)
        target = Target.read(connection)
        return alternately(
            connection,
            {"leg:graph,hub": leg("graph_leg", target, seeds), "recall:hub": recall()},
            naming,
            seconds,
            before=lambda block: seeds.update(find_seeds(connection, target, block)),
        )
