-- Returns the statements that remove deleted data from the data files. Run each outside a transaction.
--
-- VACUUM alone leaves remnants in free space and in the keys of GIN indexes. VACUUM FULL rewrites each table with its
-- indexes and locks out all other sessions meanwhile. ANALYZE replaces the planner's statistics. VERBOSE reports dead rows that
-- cannot be removed yet, because an older transaction may still read them: run the statement again when that has ended.
CREATE OR REPLACE FUNCTION pgrecall.scrub_statements()
RETURNS SETOF text
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT format('VACUUM (FULL, ANALYZE, VERBOSE) %I.%I', t.schemaname, t.tablename)
    FROM pg_tables t WHERE t.schemaname = 'pgrecall' ORDER BY t.tablename;
END;
