"""Make the rows of a namespace on one shard those of another: what differs is found by hashes, and sent."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pgrecall.errors import Conflict

if TYPE_CHECKING:
    from psycopg import Connection

__all__ = ["Table", "copy_changes", "delete_rows"]

# So many that a changed row takes hardly another one along: to store one costs more than to compare many.
_BUCKETS = 65536
# Values have one text only, whatever a server or a role is set to.
_FORMS = (
    "SET TimeZone = 'UTC'; SET DateStyle = 'ISO, YMD'; SET IntervalStyle = 'postgres'; "
    "SET extra_float_digits = 1; SET bytea_output = 'hex'"
)

Digest = dict[int, tuple[int, int]]
"""Of each bucket of rows, how many there are and the sum of their hashes."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table with rows of namespaces, as `pgrecall_shard.namespace_tables()` tells it."""

    name: str
    columns: str
    hashed: str
    condition: str
    tied_by: str

    def rows_of(self, namespace_id: int) -> str:
        """Return FROM and WHERE of a namespace's rows."""
        return f"pgrecall.{self.name} WHERE {self.condition % namespace_id}"

    @property
    def bucket(self) -> str:
        """The bucket of a row: by the hash of all it says, so that a changed row is in another one."""
        return f"({self.hash} & {_BUCKETS - 1})::integer"

    @property
    def hash(self) -> str:
        """The hash of a row."""
        return f'hashtextextended(ROW({self.hashed})::text COLLATE "C", 0)'


def copy_changes(
    here: Connection[Any], there: Connection[Any], tables: list[Table], namespace_id: int
) -> tuple[dict[str, int], str]:
    """Make the rows there those that are here, in one transaction, and compare them.

    Returns:
        How many rows each table has, and the sum of their hashes.

    Raises:
        Conflict: They differ all the same.
    """
    for connection in (here, there):
        connection.execute(_FORMS)
    with here.transaction(), there.transaction(), ThreadPoolExecutor(2) as pool:
        here.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        # The rows come as they are: what triggers would derive from them comes as well.
        there.execute("SET LOCAL session_replication_role = replica")
        wanted: dict[str, Digest] = {}
        changes: list[tuple[Table, list[int]]] = []
        for table in tables:
            wanted[table.name], found = pool.map(
                lambda connection, one=table: _digest(connection, one, namespace_id), (here, there)
            )
            changed = _changed(wanted[table.name], found)
            if changed:
                changes.append((table, changed if found else []))
        for table, buckets in changes:
            if not buckets:  # There is nothing yet: all of it goes over.
                continue
            there.execute(
                f"DELETE FROM {table.rows_of(namespace_id)} AND {table.bucket} = ANY (%s)".encode(), [buckets]
            )
        for table, buckets in changes:
            _copy(here, there, table, namespace_id, buckets)
        # Once all are there: rows that only a memory ties to the namespace are not seen before it is.
        for table, _ in changes:
            if _changed(wanted[table.name], _digest(there, table, namespace_id)):
                raise Conflict(
                    f"the rows of pgrecall.{table.name} differ after they were copied",
                    hint="Nothing has changed over: the namespace is where it was.",
                )
    rows = {name: sum(count for count, _ in digest.values()) for name, digest in wanted.items()}
    total = sum(hashes for digest in wanted.values() for _, hashes in digest.values())
    return rows, f"{total % 2**64:016x}"


def delete_rows(connection: Connection[Any], tables: list[Table], namespace_id: int) -> None:
    """Delete the rows of a namespace, those that only a memory ties to it before the memories."""
    for table in tables:
        connection.execute(f"DELETE FROM {table.rows_of(namespace_id)}".encode())


def _digest(connection: Connection[Any], table: Table, namespace_id: int) -> Digest:
    rows = connection.execute(
        f"SELECT (h.hash & {_BUCKETS - 1})::integer, count(*), sum(h.hash)::numeric "
        f"FROM (SELECT {table.hash} AS hash FROM {table.rows_of(namespace_id)}) h GROUP BY 1".encode()
    ).fetchall()
    return {bucket: (count, int(total)) for bucket, count, total in rows}


def _changed(wanted: Digest, found: Digest) -> list[int]:
    return sorted(
        bucket for bucket in wanted.keys() | found.keys() if wanted.get(bucket) != found.get(bucket)
    )


def _copy(
    here: Connection[Any], there: Connection[Any], table: Table, namespace_id: int, buckets: list[int]
) -> None:
    chosen = "" if not buckets else f" AND {table.bucket} = ANY (ARRAY{buckets})"
    source = f"COPY (SELECT {table.columns} FROM {table.rows_of(namespace_id)}{chosen}) TO STDOUT"
    target = f"COPY pgrecall.{table.name} ({table.columns}) FROM STDIN"
    with here.cursor().copy(source.encode()) as sent, there.cursor().copy(target.encode()) as received:
        for block in sent:
            received.write(block)
