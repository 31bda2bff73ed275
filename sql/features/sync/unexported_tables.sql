-- The tables that hold rows of a namespace and are in no export: they name a namespace or a memory.
CREATE OR REPLACE FUNCTION _pgrecall.unexported_tables()
RETURNS text[]
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT array_agg(d.name ORDER BY d.name)
    FROM _pgrecall.table_declarations() d
    WHERE NOT d.is_exported AND (d.home IS NOT NULL OR d.columns_of_memories <> '{}');
END;
