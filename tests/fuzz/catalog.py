"""What the catalog says a role can do: functions with their arguments, tables with their columns, types with their parts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from psycopg import Connection


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of a function, or a column."""

    name: str
    kind: str


@dataclass(frozen=True, slots=True)
class Function:
    """A function or procedure, with the arguments that a call gives."""

    name: str
    signature: str
    kind: str
    arguments: tuple[Argument, ...]
    optional: int

    @property
    def required(self) -> int:
        """How many arguments have no default."""
        return len(self.arguments) - self.optional


@dataclass(frozen=True, slots=True)
class Table:
    """A table or view, with the columns that a role may read, write and change."""

    name: str
    selected: tuple[Argument, ...]
    inserted: tuple[Argument, ...]
    updated: tuple[Argument, ...]
    deletes: bool


@dataclass(frozen=True, slots=True)
class Catalog:
    """All of it."""

    functions: tuple[Function, ...]
    tables: tuple[Table, ...]
    composites: dict[str, tuple[str, ...]]
    enums: dict[str, tuple[str, ...]]


_FUNCTIONS = """
    SELECT format('%%I.%%I', n.nspname, p.proname), p.oid::regprocedure::text, p.prokind::text,
           ARRAY(SELECT COALESCE(p.proargnames[a.place], '') FROM unnest(p.proargtypes::oid[]) WITH ORDINALITY a (type, place)
                 ORDER BY a.place),
           ARRAY(SELECT format_type(a.type, NULL) FROM unnest(p.proargtypes::oid[]) WITH ORDINALITY a (type, place)
                 ORDER BY a.place),
           p.pronargdefaults
    FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
    WHERE (n.nspname IN ('pgrecall', '_pgrecall') OR p.oid IN (
               SELECT q.oid FROM pgrecall.installation i CROSS JOIN unnest(i.public_functions) f
               JOIN pg_proc q ON q.pronamespace = 'public'::regnamespace AND q.proname = split_part(f, '(', 1)
               WHERE NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = q.oid AND d.deptype = 'e')))
      AND p.prorettype <> 'trigger'::regtype AND p.prokind IN ('f', 'p')
      AND has_schema_privilege(%(role)s, n.oid, 'USAGE') AND has_function_privilege(%(role)s, p.oid, 'EXECUTE')
    ORDER BY 2
"""
_TABLES = """
    SELECT c.oid::regclass::text, a.attname, format_type(a.atttypid, a.atttypmod),
           has_column_privilege(%(role)s, c.oid, a.attnum, 'SELECT'), has_column_privilege(%(role)s, c.oid, a.attnum, 'INSERT'),
           has_column_privilege(%(role)s, c.oid, a.attnum, 'UPDATE'), has_table_privilege(%(role)s, c.oid, 'DELETE')
    FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
    WHERE c.relnamespace = 'pgrecall'::regnamespace AND c.relkind IN ('r', 'v', 'm', 'p') AND a.attnum > 0
      AND NOT a.attisdropped
    ORDER BY c.oid, a.attnum
"""
_COMPOSITES = """
    SELECT format_type(t.oid, NULL), array_agg(format_type(a.atttypid, a.atttypmod) ORDER BY a.attnum)
    FROM pg_type t JOIN pg_attribute a ON a.attrelid = t.typrelid AND a.attnum > 0 AND NOT a.attisdropped
    WHERE t.typnamespace = 'pgrecall'::regnamespace AND t.typtype = 'c' GROUP BY t.oid
"""
_ENUMS = (
    "SELECT format_type(e.enumtypid, NULL), array_agg(e.enumlabel::text) FROM pg_enum e GROUP BY e.enumtypid"
)


def read_catalog(owner: Connection[Any], role: str) -> Catalog:
    """Read what a role may execute, read and write; every name comes with its schema."""
    with owner.transaction():
        owner.execute("SET LOCAL search_path = pg_catalog")
        functions = tuple(
            Function(name, signature, kind, tuple(map(Argument, names, kinds)), optional)
            for name, signature, kind, names, kinds, optional in owner.execute(_FUNCTIONS, {"role": role})
        )
        columns: dict[str, list[Any]] = {}
        for table, *column in owner.execute(_TABLES, {"role": role}):
            columns.setdefault(table, []).append(column)
        composites = {kind: tuple(parts) for kind, parts in owner.execute(_COMPOSITES)}
        enums = {kind: tuple(labels) for kind, labels in owner.execute(_ENUMS)}
    tables = (_table(name, found) for name, found in columns.items())
    allowed = tuple(t for t in tables if t.selected or t.inserted or t.updated or t.deletes)
    return Catalog(functions, allowed, composites, enums)


def _table(name: str, columns: list[Any]) -> Table:
    def having(place: int) -> tuple[Argument, ...]:
        return tuple(Argument(column[0], column[1]) for column in columns if column[place])

    return Table(name, having(2), having(3), having(4), deletes=bool(columns[0][5]))
