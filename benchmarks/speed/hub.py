"""The graph leg where one concept is in every memory of the large namespace, and in every question."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from benchmarks.speed.generator import LARGE
from benchmarks.speed.measure import alternately
from benchmarks.speed.storage import connect, drop_database, warm_up
from benchmarks.speed.systems import Seeds, Target, find_seeds, leg, recall

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

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
    RETURNING namespace_id, alias, concept_id
)
INSERT INTO pgrecall.mentions (namespace_id, concept_id, memory_id, alias, source, type, confidence)
SELECT a.namespace_id, a.concept_id, m.id, a.alias, 'phrase', 'CONCEPT', 0.8
FROM alias a JOIN pgrecall.memories m ON m.namespace_id = a.namespace_id
ORDER BY m.id
"""
_PARAMETERS = """
SELECT split_part(p, '=', 1), substr(p, strpos(p, '=') + 1)
FROM pg_db_role_setting s JOIN pg_database d ON d.oid = s.setdatabase, unnest(s.setconfig) p
WHERE d.datname = %s AND s.setrole = 0
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
    with _copy(server, dsn) as copied, connect(copied) as connection:
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


@contextmanager
def _copy(server: str, dsn: str) -> Iterator[str]:
    source = str(conninfo_to_dict(dsn)["dbname"])
    name = f"{source}_hub"
    drop_database(server, name)
    with connect(server) as connection:
        connection.execute(
            sql.SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY file_copy").format(
                sql.Identifier(name), sql.Identifier(source)
            )
        )
        # A copy has the data and not the parameters: without them the server would compile every plan.
        for parameter, value in connection.execute(_PARAMETERS, (source,)).fetchall():
            connection.execute(
                sql.SQL("ALTER DATABASE {} SET {} = {}").format(
                    sql.Identifier(name), sql.SQL(".").join(map(sql.Identifier, parameter.split("."))), value
                )
            )
    try:
        yield make_conninfo(server, dbname=name)
    finally:
        drop_database(server, name)
