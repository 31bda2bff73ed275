"""What the features declare of their tables, and what the catalog says of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from psycopg.rows import class_row

if TYPE_CHECKING:
    from psycopg import Connection


@dataclass(frozen=True, slots=True)
class Declaration:
    """A row of _pgrecall.table_declarations()."""

    name: str
    rows: str
    home: str | None
    columns_of_memories: list[str]
    is_of_memory: bool
    written: str | None
    has_embedders: bool
    is_readable: bool
    is_truncated: bool
    policies: dict[str, dict[str, str]]
    refuses_sensitive: bool
    is_exported: bool
    exported: str | None
    not_exported: str | None
    erased: str | None
    is_kept: bool

    @property
    def is_of_tenants(self) -> bool:
        """Whether each row is of a namespace or of a memory."""
        return self.home is not None or bool(self.columns_of_memories)


def declarations(conn: Connection[Any]) -> dict[str, Declaration]:
    """The declared tables by name."""
    with conn.cursor(row_factory=class_row(Declaration)) as cursor:
        found = cursor.execute("SELECT * FROM _pgrecall.table_declarations() ORDER BY name").fetchall()
    return {one.name: one for one in found}


def shared_tables(conn: Connection[Any]) -> set[str]:
    """Tables of no tenant, by the columns that they lack: a wrong declaration does not change them."""
    query = """
        SELECT c.relname FROM pg_class c
        WHERE c.relnamespace = 'pgrecall'::regnamespace AND c.relkind = 'r' AND c.relname <> 'namespaces' AND NOT EXISTS (
            SELECT FROM pg_attribute a
            WHERE a.attrelid = c.oid AND NOT a.attisdropped AND a.attname IN ('namespace_id', 'memory_id', 'home', 'role'))
    """
    return {name for (name,) in conn.execute(query)}
