-- The tables that hold rows of a namespace and are in no export: they name a namespace or a memory.
CREATE OR REPLACE FUNCTION _pgrecall.unexported_tables()
RETURNS text[]
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT array_agg(DISTINCT c.relname::text ORDER BY c.relname::text)
    FROM pg_class c
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    WHERE c.relnamespace = 'pgrecall'::regnamespace AND c.relkind IN ('r', 'p')
      AND a.attname IN ('namespace_id', 'memory_id', 'home')
      AND NOT EXISTS (SELECT FROM _pgrecall.exported_tables() t WHERE t.name = c.relname);
END;

COMMENT ON FUNCTION _pgrecall.unexported_tables IS 'The tables that hold rows of a namespace and are in no export.';
