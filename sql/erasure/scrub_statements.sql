-- The statements that take what was deleted out of the data files, each to be run outside a transaction.
--
-- VACUUM alone leaves remnants in the free space of pages, and keys in GIN indexes. VACUUM FULL writes each table and its
-- indexes anew, and nobody else reads or writes the table meanwhile; ANALYZE replaces the planner's statistics.
CREATE OR REPLACE FUNCTION pgrecall.scrub_statements()
RETURNS SETOF text
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT format('VACUUM (FULL, ANALYZE) %I.%I', t.schemaname, t.tablename)
    FROM pg_tables t WHERE t.schemaname = 'pgrecall' ORDER BY t.tablename;
END;

COMMENT ON FUNCTION pgrecall.scrub_statements IS
    'The statements that take what was deleted out of the data files, each to be run outside a transaction.';
