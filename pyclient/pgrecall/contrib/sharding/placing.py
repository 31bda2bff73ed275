"""Where namespaces and their memories are, as the router notes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pgrecall.admin.reading import scalar
from pgrecall.errors import SchemaMismatch

if TYPE_CHECKING:
    from psycopg import Connection

__all__ = ["namespaces", "pin"]


def pin(router: Connection[Any], opened: dict[int, Connection[Any]]) -> None:
    """Keep every namespace where it is, whatever its hash says of the new number of shards."""
    holders: dict[str, list[int]] = {}
    for shard, connection in opened.items():
        for name in sorted(namespaces(connection)):
            holders.setdefault(name, []).append(shard)
    pinned = dict(router.execute("SELECT name, shard FROM pgrecall_router.namespaces").fetchall())
    moving = {
        row[0]
        for connection in opened.values()
        for row in connection.execute("SELECT namespace FROM pgrecall_shard.moves").fetchall()
    }
    changed: dict[str, int] = {}
    for name, found in holders.items():
        if name in moving:
            continue
        if name == "default":
            found = _without_empty_default(opened, found, pinned.get(name))
        if len(found) > 1:
            raise SchemaMismatch(
                f"namespace {name} is on shards {', '.join(map(str, found))}",
                hint="A namespace is on one shard: rename it, in pgrecall.namespaces, on the others.",
            )
        # Another one of this name may have been erased where it was looked for.
        if pinned.get(name) not in found:
            changed[name] = found[0]
    with router.cursor() as cursor:
        cursor.executemany(
            "INSERT INTO pgrecall_router.namespaces (name, shard) VALUES (%s, %s) "
            "ON CONFLICT (name) DO UPDATE SET shard = excluded.shard",
            list(changed.items()),
        )
    _number_moved(router, opened)


def _number_moved(router: Connection[Any], opened: dict[int, Connection[Any]]) -> None:
    """Note the namespace of moved memories by its id. An older version noted its name, which may change."""
    has_names = (
        "SELECT count(*) FROM pg_attribute WHERE attrelid = 'pgrecall_router.moved_memories'::regclass "
        "AND attname = 'namespace' AND NOT attisdropped"
    )
    if not scalar(router, has_names):
        return
    for connection in opened.values():
        named = connection.execute("SELECT name, id FROM pgrecall.namespaces").fetchall()
        router.execute(
            "UPDATE pgrecall_router.moved_memories m SET namespace_id = n.id "
            "FROM unnest(%s::text[], %s::integer[]) n (name, id) WHERE n.name = m.namespace",
            [[name for name, _ in named], [number for _, number in named]],
        )
    router.execute("ALTER TABLE pgrecall_router.moved_memories DROP COLUMN namespace")


def _without_empty_default(
    opened: dict[int, Connection[Any]], found: list[int], home: int | None
) -> list[int]:
    """Drop 'default', which every database is made with, where it is empty; one stays."""
    used = (
        "SELECT EXISTS (SELECT FROM pgrecall.memories m "
        "JOIN pgrecall.namespaces n ON n.id = m.namespace_id WHERE n.name = 'default')"
    )
    kept = [shard for shard in found if shard == home or scalar(opened[shard], used)] or found[:1]
    for shard in set(found) - set(kept):
        opened[shard].execute("DELETE FROM pgrecall.namespaces WHERE name = 'default'")
    return kept


def namespaces(connection: Connection[Any]) -> set[str]:
    """Return the names of a shard's namespaces."""
    return {row[0] for row in connection.execute("SELECT name FROM pgrecall.namespaces").fetchall()}
