"""What a router reads in the catalog of a shard, and what it has made of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from psycopg.rows import class_row

from pgrecall.admin.ours import OURS_IN_PUBLIC
from pgrecall.admin.schemas import vector_schema

if TYPE_CHECKING:
    from psycopg import Connection

__all__ = ["ROUTED", "Signature", "enums", "granted_signatures"]

# What is granted to embedders alone is not for clients.
_SIGNATURES = f"""
    WITH granted AS (
        SELECT p.oid, array_agg(r.rolname::text ORDER BY r.rolname) AS roles
        FROM pg_proc p
        CROSS JOIN LATERAL aclexplode(p.proacl) a
        JOIN pg_roles r ON r.oid = a.grantee
        WHERE p.prokind = 'f' AND a.privilege_type = 'EXECUTE' AND r.rolname LIKE 'pgrecall\\_%'
          AND (p.pronamespace = 'pgrecall'::regnamespace OR {OURS_IN_PUBLIC}
               OR p.oid = to_regproc('pgrecall_shard.recall_all'))
        GROUP BY p.oid
    )
    SELECT n.nspname AS schema, p.proname AS name, p.provolatile <> 'v' AS is_stable, p.proretset AS is_set,
           p.prorows::integer AS rows, pg_get_function_arguments(p.oid) AS arguments,
           pg_get_function_result(p.oid) AS result, obj_description(p.oid, 'pg_proc') AS comment,
           COALESCE(p.proargnames[:p.pronargs], '{{}}') AS names,
           ARRAY(SELECT format_type(a.type, NULL) FROM unnest(p.proargtypes) WITH ORDINALITY a (type, place)
                 ORDER BY a.place) AS types,
           c.columns, c.column_types, t.typtype = 'c' AS is_composite, g.roles
    FROM granted g
    JOIN pg_proc p ON p.oid = g.oid
    JOIN pg_namespace n ON n.oid = p.pronamespace
    JOIN pg_type t ON t.oid = p.prorettype
    CROSS JOIN LATERAL (
        SELECT COALESCE(array_agg(c.name::text ORDER BY c.place), '{{}}') AS columns,
               COALESCE(array_agg(format_type(c.type, NULL) ORDER BY c.place), '{{}}') AS column_types
        FROM (
            SELECT a.name, a.type, a.place
            FROM unnest(p.proargnames, p.proallargtypes, p.proargmodes)
                 WITH ORDINALITY a (name, type, mode, place)
            WHERE a.mode IN ('t', 'o')
            UNION ALL
            SELECT a.attname, a.atttypid, a.attnum
            FROM pg_attribute a
            WHERE a.attrelid = t.typrelid AND a.attnum > 0 AND NOT a.attisdropped
        ) c
    ) c
    WHERE 'pgrecall_embedder' <> ALL (g.roles) OR g.roles && ARRAY['pgrecall_reader', 'pgrecall_writer']
    ORDER BY 1, 2
"""


ROUTED = """
    SELECT 1, 'FUNCTION ' || p.oid::regprocedure FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
    WHERE n.nspname = 'pgrecall_router' AND p.proname LIKE 'run\\_%%'
       OR n.nspname IN ('public', 'pgrecall') AND NOT p.proname = ANY (%s)
          AND EXISTS (SELECT FROM pg_proc i WHERE i.pronamespace = 'pgrecall_router'::regnamespace
                      AND i.proname = 'run_' || p.proname)
    UNION ALL
    SELECT 2, 'TYPE ' || c.oid::regclass FROM pg_class c
    WHERE c.relnamespace = 'pgrecall'::regnamespace AND c.relkind = 'c'
    UNION ALL
    SELECT 3, 'TYPE ' || t.oid::regtype FROM pg_type t
    WHERE t.typnamespace = 'pgrecall'::regnamespace AND t.typtype = 'e'
    ORDER BY 1, 2
"""
"""What a router has been given of a shard, in the order to drop it, except functions of these names."""
_ENUMS = """
    SELECT format(
        'CREATE TYPE %s AS ENUM (%s)', e.enumtypid::regtype,
        string_agg(quote_literal(e.enumlabel), ', ' ORDER BY e.enumsortorder)
    )
    FROM pg_enum e JOIN pg_type t ON t.oid = e.enumtypid
    WHERE t.typnamespace = 'pgrecall'::regnamespace
    GROUP BY e.enumtypid
"""


@dataclass(frozen=True, slots=True)
class Signature:
    """A function of a shard, as its catalog has it; arguments and result as CREATE FUNCTION takes them."""

    schema: str
    name: str
    is_stable: bool
    is_set: bool
    rows: int
    arguments: str
    result: str
    comment: str | None
    names: list[str]
    types: list[str]
    columns: list[str]
    column_types: list[str]
    is_composite: bool
    roles: list[str]

    @property
    def full_name(self) -> str:
        """The name with its schema."""
        return f"{self.schema}.{self.name}"

    @property
    def has_twins(self) -> bool:
        """Whether an argument has the name of a column of the result."""
        return not set(self.names).isdisjoint(self.columns)

    @property
    def values(self) -> list[str]:
        """The arguments as the body names them."""
        return [f"${place}" for place in range(1, len(self.types) + 1)]


def granted_signatures(shard: Connection[Any]) -> list[Signature]:
    """Read the signatures of what clients may call, with `pgvector.` for the schema of its types."""
    schema = f"{vector_schema(shard)}."
    with shard.cursor(row_factory=class_row(Signature)) as cursor:
        found = cursor.execute(_SIGNATURES.encode()).fetchall()
    return [
        replace(
            signature,
            arguments=signature.arguments.replace(schema, "pgvector."),
            result=signature.result.replace(schema, "pgvector."),
            types=[type_.replace(schema, "pgvector.") for type_ in signature.types],
            column_types=[type_.replace(schema, "pgvector.") for type_ in signature.column_types],
        )
        for signature in found
    ]


def enums(shard: Connection[Any]) -> list[str]:
    """Return the statements that make the enums of a shard."""
    return [statement for (statement,) in shard.execute(_ENUMS).fetchall()]
