-- Lists the indexes of pgrecall's tables, the largest first: size, and whether queries can use them.
--
-- is_valid     false after an interrupted build: queries cannot use the index
-- is_building  it is being built now; roles that cannot see other sessions get false
CREATE OR REPLACE FUNCTION pgrecall.index_status()
RETURNS TABLE (index_name text, table_name text, method text, bytes bigint, is_valid boolean, is_building boolean)
-- Restricted, as the statistics are.
LANGUAGE sql STABLE PARALLEL RESTRICTED SECURITY DEFINER ROWS 60
SET search_path FROM CURRENT
BEGIN ATOMIC
    SELECT c.relname::text, t.relname::text, a.amname::text, pg_relation_size(c.oid), i.indisvalid AND i.indisready,
           EXISTS (SELECT FROM pg_stat_progress_create_index b WHERE b.index_relid = c.oid)
    FROM pg_index i
    JOIN pg_class c ON c.oid = i.indexrelid
    JOIN pg_class t ON t.oid = i.indrelid
    JOIN pg_am a ON a.oid = c.relam
    WHERE t.relnamespace = 'pgrecall'::regnamespace
    ORDER BY pg_relation_size(c.oid) DESC, c.relname;
END;

ALTER FUNCTION pgrecall.index_status OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.index_status TO pgrecall_reader;
